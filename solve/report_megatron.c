// A plan as Megatron-LM flags: a bash array to be sourced. What the flags cannot say follows as comments, so that nobody
// believes a plan was handed over that was not. Layout grammar: stages separated by '|', E embedding, t decoder layer,
// L loss, x*n repeats; one E first, one L last.
#include <inttypes.h>

#include "solve/report.h"

struct exporter {
    struct report_out *out;
    const struct plan *plan;
    const struct problem *problem;      // NULL: not at hand
    int layer_count;
    int *blocks;                        // [stage]: decoder layers
    bool *holds_embedding, *holds_head; // [stage]
    bool ends_assumed;                  // first and last layer are taken for embedding and head
    int unknown_layers;                 // neither embedding, block nor head
};

static char letter_of(const struct exporter *e, int layer)
{
    const struct model *model = e->problem ? &e->problem->model : NULL;
    char by_place = layer == 0 ? 'E' : layer == e->layer_count - 1 ? 'L' : 't';
    if (!model) return by_place;
    const struct layer_run *run = &model->runs[model_run_of(model, layer)];
    switch (run->kind) {
    case LAYER_EMBEDDING: return 'E';
    case LAYER_BLOCK: case LAYER_MOE: return 't';
    case LAYER_MEMORY: return '?';
    case LAYER_HEAD: return 'L';
    case LAYER_MEASURED: return run->recomputable ? 't' : by_place == 't' ? '?' : by_place;
    }
    return '?';
}

static void count_layers(struct exporter *e, struct arena *arena)
{
    const struct plan *plan = e->plan;
    const struct plan_stage *last = &plan->stages[plan->stage_count - 1];
    e->layer_count = last->first_layer + last->layer_count;
    e->blocks = TAKE(arena, plan->stage_count, int);
    e->holds_embedding = TAKE(arena, plan->stage_count, bool);
    e->holds_head = TAKE(arena, plan->stage_count, bool);
    for (int s = 0; s < plan->stage_count; s++)
        for (int i = 0; i < plan->stages[s].layer_count; i++) {
            char letter = letter_of(e, plan->stages[s].first_layer + i);
            e->blocks[s] += letter == 't';
            e->holds_embedding[s] |= letter == 'E';
            e->holds_head[s] |= letter == 'L';
            e->unknown_layers += letter == '?';
        }
    e->ends_assumed = !e->problem || !e->holds_embedding[0] || !e->holds_head[plan->stage_count - 1];
    e->holds_embedding[0] = e->holds_head[plan->stage_count - 1] = true;
}

static const char *layout_text(const struct exporter *e, struct arena *arena)
{
    struct report_out text;
    report_out_begin(&text, arena);
    for (int s = 0; s < e->plan->stage_count; s++) {
        report_print(&text, "%s%s", s ? "|" : "", e->holds_embedding[s] ? "E" : "");
        if (e->blocks[s] == 1) report_print(&text, "t");
        if (e->blocks[s] > 1) report_print(&text, "t*%d", e->blocks[s]);
        if (e->holds_head[s]) report_print(&text, "L");
    }
    return text.text;
}

static void put_count(struct report_out *out, const char *flag, int64_t value)
{
    report_print(out, "  --%s %" PRId64 "\n", flag, value);
}
static void put_flag(struct report_out *out, const char *flag, bool wanted)
{
    if (wanted) report_print(out, "  --%s\n", flag);
}

static void put_parallel(const struct exporter *e)
{
    const struct plan *plan = e->plan;
    const struct layout *l = &plan->layout;
    put_count(e->out, "tensor-model-parallel-size", l->tensor);
    put_count(e->out, "context-parallel-size", l->context);
    put_count(e->out, "pipeline-model-parallel-size", plan->stage_count);
    if (plan->stage_count > 1)
        report_print(e->out, "  --pipeline-model-parallel-layout '%s'\n", layout_text(e, e->out->arena));
    put_count(e->out, "micro-batch-size", l->micro_batch);
    put_count(e->out, "global-batch-size", (int64_t)plan->micro_batches * l->micro_batch * l->data);
    put_flag(e->out, "sequence-parallel", l->sequence_parallel && l->tensor > 1);
    put_flag(e->out, "use-distributed-optimizer", l->zero == 1);
    put_flag(e->out, "overlap-grad-reduce", l->gradient_sync == SYNC_OVERLAPPED);
    put_flag(e->out, "attention-backend flash", l->fused_attention);
}

static void put_model(const struct exporter *e)
{
    int blocks = 0;
    for (int s = 0; s < e->plan->stage_count; s++) blocks += e->blocks[s];
    put_count(e->out, "num-layers", blocks);
    if (!e->problem) return;
    const struct job *job = &e->problem->job;
    put_count(e->out, "seq-length", job->sequence);
    put_flag(e->out, "bf16", job->precision == BF16);
    put_flag(e->out, "fp16", job->precision == FP16);
    put_flag(e->out, "accumulate-allreduce-grads-in-fp32",
             job->precision != FP32 && job->gradient_bytes_per_value == 4);
    if (!e->problem->model.has_shape) return;
    const struct shape *m = &e->problem->model.shape;
    put_count(e->out, "max-position-embeddings", m->positions ? m->positions : job->sequence);
    put_flag(e->out, "position-embedding-type rope", !m->positions);
    put_count(e->out, "hidden-size", m->hidden);
    put_count(e->out, "ffn-hidden-size", m->ffn);
    put_count(e->out, "num-attention-heads", m->heads);
    if (m->kv_heads != m->heads)
        report_print(e->out, "  --group-query-attention\n  --num-query-groups %" PRId64 "\n", m->kv_heads);
    if (m->head_width * m->heads != m->hidden) put_count(e->out, "kv-channels", m->head_width);
    put_flag(e->out, "swiglu", m->gated_ffn);
    put_flag(e->out, "normalization RMSNorm", m->rms_norm);
    put_flag(e->out, "disable-bias-linear", !m->linear_bias);
    put_flag(e->out, "add-qkv-bias", m->qkv_bias && !m->linear_bias);
    put_flag(e->out, "untie-embeddings-and-output-weights", !m->tied_embeddings);
    if (!m->dropout) report_print(e->out, "  --attention-dropout 0\n  --hidden-dropout 0\n");
}

// Decoder layers of a stage that are fully recomputed, or -1 for selective.
static int full_layers(const struct exporter *e, int s)
{
    const struct plan_stage *stage = &e->plan->stages[s];
    if (stage->recompute == RECOMPUTE_SELECTIVE) return -1;
    if (stage->recompute == RECOMPUTE_FULL) return e->blocks[s];
    return stage->recompute == RECOMPUTE_FIRST_LAYERS ? stage->recomputed_layers : 0;
}

// One setting for the whole model: all selective, or the first k layers of every stage (fewer where a stage has fewer).
// Returns whether that is what the plan says.
static bool put_recompute(const struct exporter *e)
{
    int most = 0, selective = 0;
    bool all_layers = true, uniform = true;
    for (int s = 0; s < e->plan->stage_count; s++) {
        int full = full_layers(e, s);
        selective += full < 0;
        if (full > most) most = full;
        all_layers &= full == e->blocks[s];
    }
    for (int s = 0; s < e->plan->stage_count; s++)
        uniform &= full_layers(e, s) == (most < e->blocks[s] ? most : e->blocks[s]);
    if (selective == e->plan->stage_count) {
        report_print(e->out, "  --recompute-granularity selective\n");
        return true;
    }
    if (!most && !selective) return true;
    if (selective || !uniform) return false;
    report_print(e->out, "  --recompute-granularity full\n");
    if (all_layers) report_print(e->out, "  --recompute-method uniform\n  --recompute-num-layers 1\n");
    else report_print(e->out, "  --recompute-method block\n  --recompute-num-layers %d\n", most);
    return true;
}

static void put_placement(const struct exporter *e)
{
    const struct plan *plan = e->plan;
    report_print(e->out, "\n# Placement. Default rank order (tp-cp-ep-dp-pp): list the hosts (hostfile, "
                         "SLURM_HOSTFILE) so that the ranks\n"
                         "# fall on these node groups:\n");
    for (int s = 0; s < plan->stage_count; s++) {
        int64_t rank = s * plan->devices_per_stage;
        report_print(e->out, "#   ranks %" PRId64 "-%" PRId64 ": stage %d on %s (%s)\n", rank,
                     rank + plan->devices_per_stage - 1, s, plan->group_names[plan->stages[s].group],
                     plan->group_gpus[plan->stages[s].group]);
    }
}

static void put_recompute_notes(const struct exporter *e)
{
    report_print(e->out, "#   - recomputation that differs between stages; no recompute flag is set, and without it "
                         "stages may run out of\n"
                         "#     memory (full granularity everywhere is safe and slower). The plan:\n");
    for (int s = 0; s < e->plan->stage_count; s++) {
        const struct plan_stage *stage = &e->plan->stages[s];
        report_print(e->out, "#       stage %d: %s", s, recompute_names[stage->recompute]);
        if (stage->recompute == RECOMPUTE_FIRST_LAYERS) report_print(e->out, " %d", stage->recomputed_layers);
        report_print(e->out, "\n");
    }
}

static void put_compression_notes(const struct exporter *e)
{
    const struct plan *plan = e->plan;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *stage = &plan->stages[s];
        if (stage->gradient_option)
            report_print(e->out, "#   - low-rank gradient sync of stage %d, rank %d\n", s,
                         plan->gradient_options[stage->gradient_option].rank);
        if (stage->boundary_option)
            report_print(e->out, "#   - low-rank backward transfers from stage %d to stage %d, rank %d%s\n", s, s - 1,
                         plan->boundary_options[stage->boundary_option].rank,
                         plan->boundary_options[stage->boundary_option].epilogue_only ? ", in the drain only" : "");
    }
}

static void put_notes(const struct exporter *e, bool recompute_said)
{
    const struct plan *plan = e->plan;
    size_t before = (report_print(e->out, "\n# Not expressed by these flags:\n"), e->out->length);
    if (!recompute_said) put_recompute_notes(e);
    put_compression_notes(e);
    if (plan->layout.schedule == SCHEDULE_GPIPE)
        report_print(e->out, "#   - the gpipe schedule: Megatron-LM runs 1F1B\n");
    if (plan->layout.fused_embedding_sync) report_print(e->out, "#   - the fused embedding synchronisation\n");
    for (int s = 1; s < plan->stage_count; s++)
        if (plan->stages[s].group != plan->stages[0].group) {
            report_print(e->out, "#   - stages on unlike node groups: only the order of the hosts does it (above)\n");
            break;
        }
    if (!e->problem)
        report_print(e->out, "#   - the model's shape, sequence length and precision: the plan's problem was not found "
                             "or has changed since\n");
    if (e->problem && !e->problem->model.has_shape)
        report_print(e->out, "#   - the model's shape: its layers were measured, not described\n");
    if (e->ends_assumed)
        report_print(e->out, "#   - (assumed: the embedding stands on the first stage and the loss on the last%s)\n",
                     e->problem ? "" : ", as layers of their own");
    if (e->unknown_layers)
        report_print(e->out, "#   - %d measured layers that are neither embedding, decoder layer nor head\n",
                     e->unknown_layers);
    if (e->out->length == before) report_print(e->out, "#   (nothing)\n");
}

// A plan that was edited since may name layers that the model lacks.
static bool fits(const struct problem *problem, const struct plan *plan)
{
    for (int s = 0; s < plan->stage_count; s++)
        if (plan->stages[s].first_layer + plan->stages[s].layer_count > problem->model.layer_count) return false;
    return true;
}

enum status report_megatron(const struct plan *plan, const struct problem *problem, const char **text, size_t *length,
                            struct arena *arena, struct error *err)
{
    struct report_out out;
    if (!plan->stage_count)
        return fail(err, BAD_INPUT, "the plan holds no stages (%s): there is nothing to launch",
                    outcome_names[plan->outcome]);
    report_out_begin(&out, arena);
    struct exporter e = {.out = &out, .plan = plan, .problem = problem && fits(problem, plan) ? problem : NULL};
    count_layers(&e, arena);
    report_print(&out,
                 "# Megatron-LM flags of the plan %s: %s per iteration, at least %s proven. By plumbline %s.\n"
                 "# In bash: source this file, then run pretrain_gpt.py \"${MEGATRON_ARGS[@]}\" with data, tokenizer "
                 "and learning rate\n"
                 "# on %" PRId64 " GPUs.\nMEGATRON_ARGS=(\n",
                 plan->name ? plan->name : "", report_time(plan->iteration_ns, arena),
                 report_time(plan->bound_ns, arena), PLUMBLINE_VERSION, plan->stage_count * plan->devices_per_stage);
    put_parallel(&e);
    put_model(&e);
    bool recompute_said = put_recompute(&e);
    report_print(&out, ")\n");
    put_placement(&e);
    put_notes(&e, recompute_said);
    *text = out.text;
    *length = out.length;
    return OK;
}
