// nanotron's YAML as a run: Llama's and Qwen 2's blocks, by Megatron Core's words.
#include <string.h>
#include <strings.h>

#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"
#include "data/kinds/schedules.h"

#define EXPERTS "model.model_config.moe_config."

static bool is(const char *text, const char *word) { return text && !strcasecmp(text, word); }

// Starcoder 2: layer norms, biases, one or more KV heads, a window in every layer.
static void set_starcoder(struct run *r, struct settings *s)
{
    struct shape *m = &r->shape;
    m->linear_bias = m->qkv_bias = m->tied_embeddings = true;
    if (!r->grouped) r->groups = 1;
    if (!r->activation) m->activation = "gelu_pytorch_tanh";
    else m->activation = r->activation;
    if (!setting_of(s, "model.model_config.attn_pdrop")) r->attention_dropout = 0.1;
    if (!setting_of(s, "model.model_config.resid_pdrop")) r->hidden_dropout = 0.1;
}

// Which layers have experts, as Megatron Core's list; NULL: all, as [-1] means.
static const char *layers_of_experts(const struct run *r, const struct settings *s)
{
    static const char begin[] = EXPERTS "layers[";
    int64_t layers = r->layers < LAYERS_MAX ? r->layers : LAYERS_MAX, number;
    char *text = NULL;
    for (int i = 0; i < s->count; i++) {
        const struct setting *at = &s->items[i];
        if (strncmp(at->key, begin, sizeof begin - 1)) continue;
        if (!text) {
            text = TAKE(s->arena, 2 * layers + 2, char);
            for (int64_t k = 0; k < layers; k++) memcpy(text + 2 * k, k ? ",0" : "[0", 2);
            text[2 * layers] = ']';
        }
        if (!at->text || !word_is_whole(at->text, &number)) return NULL;
        if (number < layers) text[2 * number + 1] = '1';
    }
    return text;
}

// Qwen 2's experts: the softmax is over all, and a token's are not scaled to one (nn/moe.py).
static void set_experts(struct run *r, const struct settings *s)
{
    struct expert_shape *e = &r->experts;
    bool any = false;
    for (int i = 0; i < s->count; i++)
        any |= !strncmp(s->items[i].key, EXPERTS, sizeof EXPERTS - 1);
    if (!any) return;
    if (!e->experts) e->experts = 8;
    if (!e->top_k) e->top_k = 2;
    if (!e->ffn) e->ffn = 1408;
    if (!e->shared_ffn) e->shared_ffn = 5632;
    if (!e->shared_gate) e->shared_ffn = 0;
    e->router_all = true;
    r->frequencies = layers_of_experts(r, s);
}

static enum status set_model(struct run *r, struct settings *s, struct error *err)
{
    struct shape *m = &r->shape;
    bool starcoder = r->unmasked;
    if (r->wants_model && !r->swiglu && !starcoder)
        return refuse(err,
                      "%s: model.model_config: expected is_llama_config, is_qwen2_config or "
                      "is_starcoder2_config: write only the job (--job, without -o)",
                      r->file);
    if (r->wants_model && !starcoder && r->activation && !is(r->activation, "silu"))
        return settings_refuse(s, "model.model_config.hidden_act", err,
                               "expected silu, found %.40s", r->activation);
    set_experts(r, s);
    m->rms_norm = !starcoder, m->linear_bias = false;
    r->position_type = "rope", r->attention_dropout *= starcoder, r->hidden_dropout *= starcoder;
    if (starcoder) set_starcoder(r, s);
    if (r->positions) r->window = arena_print(r->arena, "%lld,0", (long long)r->positions - 1);
    r->positions = 0, r->grouped = r->groups > 0 && r->groups != m->heads;
    if (!r->grouped) r->groups = 0;
    if (!r->padding) r->padding = 1;
    return OK;
}

// nanotron's own defaults where the file states none: all forward passes first, sums over tensor
// ranks (parallelism_config.py).
static void set_layout(struct run *r, struct settings *s)
{
    struct layout *l = &r->job.layout;
    l->sequence_parallel = is(r->reshard, "reduce_scatter") && l->tensor > 1;
    if (r->checkpointed) r->granularity = "full";
    r->bf16 = !r->dtype || strstr(r->dtype, "bfloat16"), r->fp16 = is(r->dtype, "float16");
    if (!r->dtype) said_assume(&s->said, "model.dtype is not stated: bfloat16");
    r->gradients_in_bf16 = r->bf16 && !r->gradients_in_fp32;
    int64_t all = r->replicas * l->tensor * l->pipeline * l->context;
    if (r->gpus && r->gpus != all)
        said_assume(&s->said, "%lld GPUs, where the file states %lld", (long long)r->gpus,
                    (long long)all);
    if (!r->gpus) r->gpus = all;
    if (!r->micro_batches) r->micro_batches = 1;
    r->job.global_batch = r->gpus / (l->tensor * l->pipeline * l->context) * l->micro_batch *
                          r->micro_batches;
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct layout *l = &r->job.layout;
    if (!r->shape.vocabulary) r->shape.vocabulary = asked->vocabulary;
    TRY(set_model(r, s, err));
    if (!r->wants_job) return core_check(r, err);
    if (l->tensor < 1 || l->pipeline < 1 || l->context < 1 || r->replicas < 1 ||
        r->replicas > 1 << 20)
        return refuse(err, "%s: parallelism: expected dp, tp and pp of at least 1", r->file);
    set_layout(r, s);
    if (l->zero > 1)
        return settings_refuse(s, "optimizer.zero_stage", err, "expected 0 or 1, found %d",
                               l->zero);
    return core_check(r, err);
}

static enum status make_job(struct run *r, struct error *err)
{
    TRY(core_job(r, err));
    if (!is(r->schedule, "1f1b") && r->job.layout.pipeline > 1)
        r->job.layout.schedule = SCHEDULE_GPIPE;
    return job_check(&r->job, err);
}

static const struct importer importer = {.name = "nanotron",
                                         .framework = FRAMEWORK_ANY,
                                         .defaults = &megatron_defaults,
                                         .launched = true,
                                         .settings = settings_read_yaml_raw,
                                         .rows = &nanotron_rows,
                                         .run = read_run,
                                         .job = make_job,
                                         .model = core_model};

static const struct option_row option_rows[] = {
    ASK_JOB, ASK_GPUS, ASK_SET, ASK_ARGUMENTS, ASK_LAUNCH, ASK_IGNORE, ASK_VOCABULARY,
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_nanotron = {
    .name = "nanotron",
    .text = "nanotron YAML -> model and job",
    .usage = "plumbline import nanotron CONFIG.yaml|FILE.sh [-o model.json] [--job job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
