// See core.h. Defaults and dependences are those of Megatron-LM's arguments.py.
#include "data/import/jobs/core.h"

#include <stdlib.h>
#include <string.h>

#include "data/frameworks/models.h"
#include "data/import/jobs/settings.h"
#include "data/kinds/schedules.h"

enum { DEGREE_MAX = 1000000 };

static bool has_sinks(const struct run *r)
{
    return r->softmax && !strcmp(r->softmax, "learnable");
}

static bool is_sparse(const struct run *r) { return r->variant && !strcmp(r->variant, "dsa"); }

// ---- contradictions

enum status core_check(const struct run *r, struct error *err)
{
    const struct shape *s = &r->shape;
    const struct layout *l = &r->job.layout;
    bool made = r->wants_model && !r->known;
    const struct {
        bool wrong;
        const char *text;
    } checks[] = {
        {made && (!r->layers || !s->hidden || !s->heads),
         "the model's sizes are not here (--num-layers, --hidden-size, --num-attention-heads): "
         "write only the job (--job, without -o), and take the model from its config.json "
         "(plumbline import hf) or from plumbline models"},
        {r->variant && strcmp(r->variant, "gated_delta_net") && strcmp(r->variant, "gdn") &&
             !is_sparse(r),
         "--experimental-attention-variant: expected gated_delta_net, gdn or dsa"},
        {made && is_sparse(r) &&
             (!r->latent || !s->query_rank || !s->index_heads || !s->index_width ||
              !s->index_top_k),
         "--experimental-attention-variant dsa: expected latents with --q-lora-rank, and "
         "--dsa-indexer-n-heads, -head-dim and -topk"},
        {r->bf16 && r->fp16, "--bf16 and --fp16: expected one of them"},
        {r->swiglu + r->quick_geglu + r->squared_relu > 1,
         "--swiglu, --quick-geglu and --squared-relu: expected one of them"},
        {r->mtp && has_sinks(r), "--mtp-num-layers with --softmax-type learnable"},
        {r->groups && !r->grouped && !r->latent && r->groups != r->shape.heads,
         "--num-query-groups without --group-query-attention, which Megatron-LM ignores: add the "
         "flag, or remove the number"},
        {r->latent && r->grouped, "--multi-latent-attention with --group-query-attention"},
        {!r->latent && s->query_rank, "--q-lora-rank without --multi-latent-attention"},
        {made && !r->experts.experts && (l->expert > 1 || r->frequencies || r->experts.shared_ffn),
         "flags of experts without --num-experts"},
        {r->layers_of_stage && r->stages_of_rank,
         "--num-layers-per-virtual-pipeline-stage and --num-virtual-stages-per-pipeline-rank: "
         "expected one of them"},
        {r->stages && r->layers_of_stage,
         "--pipeline-model-parallel-layout together with virtual stages: expected one of them"},
        {r->wants_job && (r->layers_of_stage || r->stages_of_rank > 1) && l->pipeline < 2,
         "virtual stages without a pipeline"},
        {r->wants_job && r->stages && (r->first_stage || r->last_stage),
         "--pipeline-model-parallel-layout together with --decoder-first- or "
         "--decoder-last-pipeline-num-layers: expected one of them"},
        {r->gradients_in_fp32 && megatron_gradient_bytes(r) < 4,
         "--accumulate-allreduce-grads-in-fp32 with --grad-reduce-in-bf16 or a narrower "
         "--main-grads-dtype: expected one of them"},
        {r->selective && r->granularity && strcmp(r->granularity, "selective"),
         "--recompute-activations with another --recompute-granularity"},
        {r->recomputed && !r->granularity,
         "--recompute-num-layers without --recompute-granularity"},
        {l->tensor > DEGREE_MAX || l->pipeline > DEGREE_MAX || l->context > DEGREE_MAX ||
             l->expert > DEGREE_MAX || r->expert_tensor > DEGREE_MAX,
         "expected degrees of at most 1e6"},
        {!l->tensor, "--tensor-model-parallel-size: expected at least 1"},
        {!l->pipeline, "--pipeline-model-parallel-size: expected at least 1"},
        {!l->context, "--context-parallel-size: expected at least 1"},
        {!l->expert, "--expert-model-parallel-size: expected at least 1"},
    };
    if (!checks[0].wrong) TRY(core_ask(r, made, err));
    for (size_t i = 0; i < ARRAY_LENGTH(checks); i++)
        if (checks[i].wrong) return refuse(err, "%s: %s", r->file, checks[i].text);
    return OK;
}

// ---- the model

static enum status read_kinds(struct core_kinds *k, const struct run *r, struct arena *arena,
                              struct error *err)
{
    struct run again = *r;
    *k = (struct core_kinds){TAKE(arena, r->layers, bool), TAKE(arena, r->layers, bool),
                             TAKE(arena, r->layers, bool), TAKE(arena, r->layers, bool),
                             TAKE(arena, r->layers, bool)};
    if (r->hybrid) return core_hybrid(k, &again, err);
    if (r->experts.experts)
        TRY(core_pattern(k->mixture, r, "--moe-layer-freq", r->frequencies ? r->frequencies : "1",
                         CORE_EVERY_NTH, err));
    for (int64_t i = 0; i < r->layers; i++) k->window[i] = r->window != NULL;
    if (r->window && r->windowed)
        TRY(core_pattern(k->window, r, "--window-attn-skip-freq", r->windowed, CORE_ALL_BUT_NTH,
                         err));
    if (!r->variant || is_sparse(r)) return OK;
    if (!r->linear_layers)
        return refuse(
            err, "%s: --linear-attention-freq is missing with --experimental-attention-variant",
            r->file);
    return core_pattern(k->linear, r, "--linear-attention-freq", r->linear_layers, CORE_ALL_BUT_NTH,
                        err);
}

static bool same_kind(const struct core_kinds *k, int64_t a, int64_t b)
{
    return k->mixture[a] == k->mixture[b] && k->window[a] == k->window[b] &&
           k->linear[a] == k->linear[b] && k->no_attention[a] == k->no_attention[b] &&
           k->no_feed_forward[a] == k->no_feed_forward[b];
}

// "127,0", "(127, 0)": the tokens before one that it looks back to, and the ones behind it.
static enum status read_window(int64_t *tokens, const struct run *r, struct error *err)
{
    if (!r->window) return OK;
    int64_t back = strtoll(r->window + strspn(r->window, "([ "), NULL, 10);
    const char *comma = strchr(r->window, ',');
    if (comma && back >= 0 && strtoll(comma + 1, NULL, 10) == 0) return *tokens = back + 1, OK;
    return refuse(err, "%s: --window-size: expected a number of tokens and 0, found \"%.40s\"",
                  r->file, r->window);
}

static enum status set_runs(struct model *m, const struct run *r,
                            const struct expert_shape *experts, struct arena *arena,
                            struct error *err)
{
    struct core_kinds k;
    int64_t window = 0;
    if (r->layers + r->mtp > LAYERS_MAX - 2)
        return refuse(err, "%s: --num-layers: expected at most %d, found %lld", r->file,
                      LAYERS_MAX - 2, (long long)(r->layers + r->mtp));
    TRY(read_kinds(&k, r, arena, err));
    TRY(read_window(&window, r, err));
    m->runs = TAKE(arena, r->layers + 3, struct layer_run);
    m->runs[m->run_count++] =
        (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    for (int64_t i = 0, end; i < r->layers; i = end) {
        for (end = i; end < r->layers && same_kind(&k, i, end);) end++;
        struct layer_run *run = &m->runs[m->run_count++];
        *run = (struct layer_run){.kind = k.mixture[i] ? LAYER_MOE : LAYER_BLOCK,
                                  .count = (int)(end - i),
                                  .recomputable = true,
                                  .window = k.window[i] && !k.linear[i] ? window : 0,
                                  .linear = k.linear[i],
                                  .no_attention = k.no_attention[i],
                                  .no_feed_forward = k.no_feed_forward[i]};
        const char *name = k.mixture[i]            ? "mixture"
                           : !k.no_feed_forward[i] ? "dense"
                           : k.linear[i]           ? "state"
                                                   : "attention";
        run->name = end - i == r->layers ? "block"
                                         : arena_print(arena, "%s-%d", name, m->run_count - 1);
        if (k.mixture[i]) core_set_experts(run, experts, &m->shape);
    }
    if (r->mtp) { // each like the last layer
        struct layer_run *run = &m->runs[m->run_count++];
        *run = m->runs[m->run_count - 2];
        run->name = "mtp", run->mtp = true, run->count = (int)r->mtp;
    }
    m->runs[m->run_count++] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    m->layer_count = (int)(r->layers + r->mtp) + 2;
    return OK;
}

// What flags leave open has Megatron's own values: of Llama 3's method, of latent attention's.
static void set_rotary(struct shape *s, const struct run *r)
{
    struct rotary_scaling stated = s->rotary_scaling, *to = &s->rotary_scaling;
    bool yarn = !strcmp(r->position_type, "yarn"), rope = !strcmp(r->position_type, "rope"),
         plain = r->rope_type && !strcmp(r->rope_type, "rope");
    *to = (struct rotary_scaling){.type = NULL};
    if (!(s->rotary_share < 1)) s->rotary_share = 0;
    if (!rope && !yarn) {
        s->rotary_base = s->rotary_share = 0;
    } else if (r->stretched) {
        s->rotary_factor = r->stretch;
        to->type = "llama3", to->original_positions = 8192;
        to->low_freq_factor = 1, to->high_freq_factor = 4;
    } else if (r->interpolation > 1) {
        s->rotary_factor = r->interpolation, to->type = "linear";
    } else if (r->yarn > 1 && !plain && (r->latent || yarn)) {
        *to = stated, s->rotary_factor = r->yarn, to->type = "yarn";
        if (!(to->beta_fast > 0)) to->beta_fast = 32;
        if (!(to->beta_slow > 0)) to->beta_slow = 1;
        if (!to->original_positions) to->original_positions = 4096;
    }
}

static void set_latents(struct shape *s, const struct run *r)
{
    if (r->latent) s->head_width = r->plain_width + s->rotary_width;
    else s->query_rank = s->kv_rank = s->rotary_width = s->value_width = 0;
    if (r->hybrid && strchr(r->hybrid, 'M'))
        s->linear = (struct linear_shape){.rule = LINEAR_STATE_SPACE,
                                          .key_heads = r->state_groups,
                                          .key_width = r->state_width,
                                          .value_heads = r->state_heads ? r->state_heads
                                                         : r->state_head_width > 0
                                                             ? 2 * s->hidden / r->state_head_width
                                                             : 0,
                                          .value_width = r->state_head_width,
                                          .convolution = 4};
    else if (!r->variant || is_sparse(r)) s->linear = (struct linear_shape){0};
}

// In every layer but those of linear attention; with the biases of router and experts where all
// layers are as model_has_sinks wants them.
static void set_sinks(struct model *m, const struct run *r)
{
    struct shape *s = &m->shape;
    bool biased = s->linear_bias && s->gated_ffn && !r->latent && !r->experts.shared_ffn;
    for (int i = 1; i < m->run_count - 1; i++)
        biased = biased && m->runs[i].kind == LAYER_MOE && !m->runs[i].linear;
    if (!has_sinks(r)) return;
    if (biased) s->linear_bias = false, s->output_bias = 1;
    for (int i = 1; i < m->run_count - 1; i++) {
        struct layer_run *run = &m->runs[i];
        if (!run->linear) run->more_values = biased ? sink_values(s, &run->experts) : s->heads;
    }
}

// Scores that no model has, and groups that do not fit, decide nothing here.
static void read_router(struct expert_shape *e, const struct run *r)
{
    bool sigmoid = r->router_score && !strcmp(r->router_score, "sigmoid");
    e->router_score = sigmoid ? ROUTER_SIGMOID : ROUTER_SOFTMAX;
    e->router_all &= !sigmoid, e->router_bias &= sigmoid;
    if (e->experts && router_fault(e)) e->router_groups = e->router_top_groups = 0;
}

enum status core_model(struct model *m, const struct run *r, struct arena *arena, struct error *err)
{
    struct shape *s = &m->shape;
    struct expert_shape experts = r->experts;
    struct document document = m->document;
    if (r->known) return *m = *r->known, m->document = document, OK;
    *s = r->shape;
    if (r->latent && !r->qk_norm)
        fprintf(stderr, "norms of the latents are counted, which Megatron has only with "
                        "--qk-layernorm\n");
    if (!s->ffn) s->ffn = r->swiglu ? 4 * s->hidden * 2 / 3 / 64 * 64 : 4 * s->hidden;
    if (!experts.ffn) experts.ffn = s->ffn;
    read_router(&experts, r);
    if (!s->head_width && s->hidden % s->heads)
        return refuse(err, "%s: --hidden-size: expected a multiple of the %lld heads, found %lld",
                      r->file, (long long)s->heads, (long long)s->hidden);
    if (!s->head_width) s->head_width = s->hidden / s->heads;
    s->kv_heads = !r->grouped ? s->heads : r->groups ? r->groups : 1;
    if (!strcmp(r->position_type, "learned_absolute")) s->positions = r->positions;
    // A multiple that covers the whole vocabulary is how a launch states that nothing is padded.
    if (r->padding > 1 && r->padding * r->job.layout.tensor != s->vocabulary)
        s->vocabulary_multiple = r->padding;
    s->qk_norm = r->qk_norm && !r->latent ? QK_NORM_HEAD : QK_NORM_NONE;
    if (core_layer_is(r->spec, "norms_behind") || core_layer_is(r->spec, "whole_norms"))
        s->qk_norm = QK_NORM_WHOLE;
    s->score_width = core_spec_scale(r->spec);
    if (s->score_width > 0) s->norms = 4, s->activation = "gelu_pytorch_tanh";
    s->gated_ffn |= r->swiglu || r->quick_geglu, s->qkv_bias |= s->linear_bias && r->attention_bias;
    s->dropout = r->attention_dropout > 0 || r->hidden_dropout > 0;
    if (!s->activation)
        s->activation = r->swiglu || r->quick_geglu      ? "silu"
                        : r->squared_relu                ? "relu2"
                        : core_layer_is(r->spec, "relu") ? "relu"
                        : r->openai_gelu                 ? "gelu_new"
                                                         : "gelu";
    if (!r->mtp) s->mtp_loss_scale = 0;
    set_rotary(s, r);
    set_latents(s, r);
    if (!is_sparse(r)) s->index_heads = s->index_width = s->index_top_k = 0;
    m->has_shape = true, m->document.path = r->file;
    experts.imbalance = 1;
    TRY(set_runs(m, r, &experts, arena, err));
    set_sinks(m, r);
    return model_check(m, err);
}

// ---- the job

// The set of modules that a text lists, however it separates them; core_attn alone is what
// selective recomputation is.
static enum status find_modules(const char *text, const char *file, enum recompute *mode,
                                struct error *err)
{
    bool listed[MODULE_COUNT] = {false};
    size_t length;
    for (const char *s = text; *s; s += length ? length : 1) {
        int module = 0;
        length = strspn(s, "abcdefghijklmnopqrstuvwxyz_");
        while (length && module < MODULE_COUNT &&
               (strlen(recompute_module_names[module]) != length ||
                strncmp(recompute_module_names[module], s, length)))
            module++;
        if (module == MODULE_COUNT)
            return refuse(err,
                          "%s: recompute modules: expected core_attn, mla_up_proj, moe_act, "
                          "layernorm, mlp or moe, found %.*s",
                          file, (int)length, s);
        if (length) listed[module] = true;
    }
    if (listed[MODULE_MOE]) listed[MODULE_MOE_ACT] = false; // a part of it
    for (*mode = RECOMPUTE_SWAP; *mode < RECOMPUTE_COUNT; ++*mode) {
        int same = 0;
        for (int m = 0; m < MODULE_COUNT; m++)
            same += listed[m] == recompute_repeats(*mode, (enum recompute_module)m);
        if (same == MODULE_COUNT) break;
    }
    if (*mode == RECOMPUTE_SWAP) *mode = RECOMPUTE_NONE; // no module
    else if (!strcmp(recompute_names[*mode], "core_attn")) *mode = RECOMPUTE_SELECTIVE;
    return OK;
}

enum status core_recompute(struct run *r, const char *granularity, const char *method,
                           const char *modules, struct error *err)
{
    const struct megatron_mode *m = megatron_modes;
    if (!granularity || !strcmp(granularity, "none")) return OK; // as ms-swift states it
    for (; m->mode != RECOMPUTE_COUNT; m++)
        if (m->granularity && !strcmp(m->granularity, granularity) &&
            (!m->method || (method && !strcmp(m->method, method))))
            break;
    if (m->mode == RECOMPUTE_COUNT)
        return refuse(err, "%s: --recompute-granularity: expected selective or full, found \"%s\"",
                      r->file, granularity);
    enum recompute mode = m->mode;
    if (mode == RECOMPUTE_SELECTIVE && modules) TRY(find_modules(modules, r->file, &mode, err));
    r->job.recompute[mode] = true;
    return OK;
}

static enum status set_recompute(struct run *r, struct error *err)
{
    return core_recompute(r, r->selective ? "selective" : r->granularity, r->method,
                          r->modules ? r->modules : r->module_list, err);
}

// Counts the "|" of "Et*3|(tt|)*29|L", each of which ends a stage, up to the closing bracket or the
// end.
static int64_t count_strokes(const char **at)
{
    int64_t strokes = 0;
    for (; **at && **at != ')'; ++*at) {
        if (**at == '|') strokes++;
        if (**at != '(') continue;
        ++*at;
        int64_t inside = count_strokes(at), times = 1;
        if (!**at) return strokes + inside;
        if ((*at)[1] == '*') times = strtol(*at + 2, NULL, 10);
        strokes += times > 0 && times < LAYERS_MAX && inside < LAYERS_MAX ? times * inside : inside;
    }
    return strokes;
}

// Several stages per rank: Megatron-LM wants a last group that is full or has a micro-batch for
// every rank (core/pipeline_parallel/schedules.py); a job has equal groups of one size.
static enum status check_group(const struct run *r, int64_t micro_batches, struct error *err)
{
    int64_t group = r->group ? r->group : r->job.layout.pipeline, last = micro_batches % group;
    if (micro_batches < r->job.layout.pipeline || micro_batches > MICRO_BATCHES_MAX)
        return OK; // job_check
    int own = schedule_group((int)micro_batches, (int)r->job.layout.pipeline);
    const char *who = group < r->job.layout.pipeline || group > micro_batches ||
                              (last && last < r->job.layout.pipeline)
                          ? "Megatron-LM does not run them"
                          : "a job has the smallest equal groups";
    if (group == own) return OK;
    return refuse(
        err,
        "%s: %lld micro-batches of a replica in groups of %lld on %lld pipeline ranks: %s; "
        "expected --microbatch-group-size-per-virtual-pipeline-stage %d",
        r->file, (long long)micro_batches, (long long)group, (long long)r->job.layout.pipeline, who,
        own);
}

// The layers of the first and the last pipeline rank, and of those between: rules that state them.
static enum status set_uneven(struct run *r, struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    int stages = layout_stage_count(l), ends = (r->first_stage > 0) + (r->last_stage > 0);
    int64_t rest = r->layers - r->first_stage - r->last_stage;
    if (!ends && !r->rank_layers) return OK;
    if (!r->layers && l->virtual_stages > 1)
        return refuse(err, "%s: the layers of the first or last stage without --num-layers",
                      r->file);
    if (ends && (l->pipeline < 2 || stages > STAGES_MAX || r->rank_layers ||
                 (r->layers &&
                  (rest < 0 || (l->pipeline > ends ? rest % (l->pipeline - ends) : rest != 0)))))
        return refuse(err,
                      "%s: --decoder-first-pipeline-num-layers %lld, "
                      "--decoder-last-pipeline-num-layers %lld: expected the other %lld of %lld "
                      "layers to divide over the other ranks of a pipeline of %d",
                      r->file, (long long)r->first_stage, (long long)r->last_stage, (long long)rest,
                      (long long)r->layers, l->pipeline);
    j->rules = TAKE(r->arena, stages, struct rule);
    for (int k = 0; k < stages; k++) {
        int rank = k % l->pipeline;
        int64_t own = r->rank_layers                             ? r->rank_layers[rank]
                      : rank == 0 && r->first_stage              ? r->first_stage
                      : rank == l->pipeline - 1 && r->last_stage ? r->last_stage
                                                                 : rest / (l->pipeline - ends);
        if (own <= 0 && !r->layers) continue; // of a model that is not here
        if (own % l->virtual_stages)
            return refuse(err,
                          "%s: --decoder-first- and --decoder-last-pipeline-num-layers: expected "
                          "multiples of %d virtual stages, found a rank of %lld layers",
                          r->file, l->virtual_stages, (long long)own);
        own = own / l->virtual_stages + (k == 0) + (k == stages - 1 ? 1 + r->mtp : 0);
        struct rule *rule = &j->rules[j->rule_count++];
        *rule = rule_empty;
        rule->stage = k, rule->layers_min = rule->layers_max = (int)own;
    }
    return OK;
}

static enum status set_stages(struct run *r, struct error *err)
{
    struct layout *l = &r->job.layout;
    const char *stages = r->stages                             ? r->stages
                         : r->hybrid && strchr(r->hybrid, '|') ? r->hybrid
                                                               : "";
    l->virtual_stages = r->stages_of_rank ? (int)r->stages_of_rank : 1;
    if (*stages)
        TRY(settings_divide(r->file, "stages of --pipeline-model-parallel-layout",
                            count_strokes(&stages) + 1, l->pipeline, &l->virtual_stages, err));
    if (r->stages && r->stages_of_rank && r->stages_of_rank != l->virtual_stages)
        return refuse(err,
                      "%s: --pipeline-model-parallel-layout together with virtual stages: expected "
                      "%lld of them on each rank, found %d",
                      r->file, (long long)r->stages_of_rank, l->virtual_stages);
    if (r->layers_of_stage)
        TRY(settings_divide(r->file, "--num-layers",
                            r->layers + r->counts_embedding + r->counts_loss,
                            r->layers_of_stage * l->pipeline, &l->virtual_stages, err));
    TRY(set_uneven(r, err));
    l->schedule = l->virtual_stages > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
    return OK;
}

static bool is(const char *text, const char *word) { return text && !strcmp(text, word); }

// "flex" without a back end is DeepEP's; "local" graphs of a whole iteration are of older versions.
static void set_dispatch(struct run *r)
{
    struct job *j = &r->job;
    const char *modules = r->graph_modules ? r->graph_modules : r->graph_module_list;
    bool whole = modules && strstr(modules, "full_iteration");
    j->dispatcher = r->deepep                             ? DISPATCH_DEEPEP
                    : !is(r->dispatcher, "flex")          ? DISPATCH_ALL_TO_ALL
                    : is(r->dispatch_kernels, "hybridep") ? DISPATCH_HYBRIDEP
                                                          : DISPATCH_DEEPEP;
    j->fixed_capacity &= r->capacity > 0;
    j->expert_padding = j->fixed_capacity && r->capacity != 1 ? r->capacity : 0;
    j->graphs = r->graphed && !whole                       ? GRAPHS_PARTS
                : r->graphed                               ? GRAPHS_STEP
                : !r->graphs || is(r->graphs, "none")      ? GRAPHS_NONE
                : is(r->graphs, "full_iteration") || whole ? GRAPHS_STEP
                                                           : GRAPHS_PARTS;
}

enum status core_job(struct run *r, struct error *err)
{
    struct job *j = &r->job;
    struct layout *l = &j->layout;
    int micro_batches = 0;
    TRY(core_ranks(r, err));
    TRY(set_stages(r, err));
    TRY(core_batch(r, &micro_batches, err));
    if (l->virtual_stages > 1) TRY(check_group(r, micro_batches, err));
    j->precision = r->fp4    ? NVFP4
                   : r->fp8  ? precision_of_recipe(r->fp8_recipe)
                   : r->bf16 ? BF16
                   : r->fp16 ? FP16
                             : FP32;
    j->gradient_bytes_per_value = megatron_gradient_bytes(r);
    TRY(megatron_set_states(r, err));
    if (!r->swiglu) { // whose fusion the other flag is of
        bool *unfused = &j->unfused[UNFUSED_ACTIVATION];
        *unfused = r->unfused_gelu || (*unfused && !r->quick_geglu);
    }
    j->loss_in_place = j->fused_loss && r->fusion && !strcmp(r->fusion, "te");
    j->fused_loss &= !j->loss_in_place;
    set_dispatch(r);
    l->sequence_parallel &= l->tensor > 1, j->overlapped_tensor &= l->sequence_parallel;
    j->overlapped_messages &= l->schedule == SCHEDULE_INTERLEAVED;
    bool fused = r->flash || (strcmp(r->backend, "unfused") && strcmp(r->backend, "local"));
    l->fused_attention = fused && j->precision != FP32;
    TRY(set_recompute(r, err));
    return job_check(j, err);
}
