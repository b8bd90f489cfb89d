// The model as the arguments that Megatron-LM printed state it, by the reader of `import megatron`:
// layers of several kinds, latents, windows, norms and biases that a row has no column for.
#include "data/import/jobs/importer.h"
#include "solve/explain/internal.h"

// Whether --set states something of the model.
static bool sets_model(const struct run_row *a, const struct run_row *b)
{
    return a->layers != b->layers || a->hidden != b->hidden || a->ffn != b->ffn ||
           a->heads != b->heads || a->kv_heads != b->kv_heads || a->head_width != b->head_width ||
           a->vocab != b->vocab || a->positions != b->positions || a->experts != b->experts ||
           a->top_k != b->top_k || a->expert_ffn != b->expert_ffn ||
           a->shared_ffn != b->shared_ffn || a->dense_layers != b->dense_layers ||
           a->kv_rank != b->kv_rank || a->query_rank != b->query_rank || a->gated != b->gated ||
           a->rms_norm != b->rms_norm || a->tied != b->tied || a->dropout != b->dropout ||
           a->bias != b->bias || a->model.length;
}

void explain_read_model(struct explained *x, const struct run_row *of_log)
{
    const char *path = x->log.path;
    struct asked *asked = TAKE(x->arena, 1, struct asked);
    struct error err = {OK, ""};
    if (x->log.format != LOG_MEGATRON || !x->log.dumped || !x->log.arguments ||
        sets_model(&x->asked, of_log))
        return;
    *asked = *(const struct asked *)import_megatron.defaults;
    asked->import.path = path, asked->import.output = "-", asked->import.arena = x->arena;
    asked->import.text = x->log.arguments;
    asked->gpus = 1; // of the layout nothing is asked
    if (x->asked.vocab != NOT_STATED) asked->vocabulary = x->asked.vocab;
    if (asked->import.reader->read(asked, &err) == OK) x->model = &asked->model;
    else explain_assume(x, "model", "as the columns above", arena_copy_text(x->arena, err.text));
}

bool explain_has_model(const struct explained *x, const struct model *of_row)
{
    return x->model &&
           x->model->layer_count - model_mtp_depth(x->model) ==
               of_row->layer_count - model_mtp_depth(of_row) &&
           x->model->shape.hidden == of_row->shape.hidden;
}
