// What no column of a row says of a log's run: adapters on frozen layers, the optimizer on the
// host.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/least.h"
#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

// Whether the vocabulary is as the program pads it.
static bool is_padded(const struct explained *x)
{
    return told(&x->log, TOLD_PADDED) && x->asked.vocab == told_count(&x->log, TOLD_PADDED);
}

// Megatron-LM's "Et*3|(tt|)*29m|L": the last stage but one holds what predicts further tokens, and
// no other layer. A row has no such stage: it is given one layer of that before, which
// explain_adjust gives back.
void explain_take_lone(struct explained *x)
{
    const char *stages = x->log.told[TOLD_STAGES].text, *m = strrchr(stages, 'm');
    struct cell *split = &x->asked.split;
    int counts[STAGES_MAX], count = 0;
    char *end = NULL;
    if (!told(&x->log, TOLD_STAGES) || !m || m[1] != '|' || strchr(m + 2, '|')) return;
    for (const char *s = split->text; count < STAGES_MAX && s < split->text + split->length;
         s = end)
        if (counts[count++] = (int)strtol(s, &end, 10), end == s) return;
    if (count < 3 || counts[count - 2] || counts[count - 3] < 2) return;
    const char *text = "";
    counts[count - 3]--, counts[count - 2]++;
    for (int i = 0; i < count; i++)
        text = arena_print(x->arena, "%s%s%d", text, i ? " " : "", counts[i]);
    *split = (struct cell){text, (int)strlen(text)};
    x->lone_stages = count;
}

// The layer for a further token that a layout of stages names, like the last block.
static void add_further(const struct explained *x, struct model *m)
{
    struct layer_run *runs = TAKE(x->arena, m->run_count + 1, struct layer_run);
    int last = m->run_count - 1;
    memcpy(runs, m->runs, sizeof *runs * (size_t)last);
    runs[last] = runs[last - 1], runs[last].count = 1, runs[last].mtp = true;
    runs[last].name = "further";
    runs[last + 1] = m->runs[last];
    m->runs = runs, m->run_count++, m->layer_count++;
}

bool explain_adjusts(const struct explained *x)
{
    return x->model || x->lone_stages || told_count(&x->log, TOLD_ADAPTERS) > 0 ||
           told_count(&x->log, TOLD_OFFLOAD) > 0 || is_padded(x);
}

// NVIDIA's configurations of MLPerf's LoRA keep the frozen blocks' values as FP8 products read
// them, and none wider (training_results_v4.0, megatron_gpt_peft_tuning_config.yaml: fp8_params by
// FP8).
static bool keeps_narrow(const struct explained *x, const struct problem *problem)
{
    return x->log.format == LOG_MLPERF && problem->job.precision == FP8;
}

// On which products: as the text says; else as its program does unless told: peft query and value
// (utils/constants.py, of Llama and its like), LLaMA-Factory, ms-swift and unsloth all,
// Megatron-Bridge and NeMo all of a block.
static const char *modules_of(const struct explained *x, const char **why)
{
    const struct log *l = &x->log;
    bool peft = l->format == LOG_TRANSFORMERS || l->format == LOG_DEEPSPEED ||
                l->format == LOG_UNKNOWN;
    *why = NULL;
    if (told(l, TOLD_ADAPTED)) return l->told[TOLD_ADAPTED].text;
    if (l->script && l->script->adapted)
        return *why = "the text does not say which have an adapter: its program's",
               l->script->adapted;
    if (peft && !l->recomputes && !l->says_recompute)
        return *why = "the text does not say which have an adapter: peft's of Llama and its like",
               "q_proj,v_proj";
    return *why = "the text does not say which have an adapter: its program's", "all";
}

bool explain_finds_modules(const struct explained *x, const struct shape *s, bool *set)
{
    const char *why, *words = modules_of(x, &why);
    return strncasecmp(words, "all", 3) != 0 && adapters_by_words(words, s, set);
}

// Whether peft prepares the frozen model (peft 5d602fdb, utils/other.py
// prepare_model_for_kbit_training): what is not quantised is cast to fp32. LLaMA-Factory and
// ms-swift have functions of their own, which do not.
static bool widens(const struct explained *x, int bits)
{
    const struct log *l = &x->log;
    bool peft = l->format == LOG_TRANSFORMERS || l->format == LOG_UNKNOWN;
    return peft && bits > 0 && bits < 16 && !l->recomputes;
}

// bitsandbytes' NF4 (95f9af30, functional.py) has a scale of fp32 for each 64 values; quantised
// again, one of 8 bits and one of fp32 for each 64 x 256 of them, which is what weight_bits has
// (docs/FORMULAS.md 4). transformers leaves that off, axolotl (says_recompute) and LLaMA-Factory do
// it.
static bool has_wide_scales(const struct explained *x, int bits)
{
    const struct log *l = &x->log;
    if (bits != 4 || !widens(x, bits)) return false;
    if (told(l, TOLD_NARROW_SCALES)) return !told_count(l, TOLD_NARROW_SCALES);
    return !l->says_recompute;
}

// Parameters of one block, before anything is added.
static double block_values(const struct model *m)
{
    double table = (double)m->shape.vocabulary * (double)m->shape.hidden;
    int blocks = 0;
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind == LAYER_BLOCK) blocks += m->runs[i].count;
    double all = (double)model_size_of(m).all - (m->shape.tied_embeddings ? 1 : 2) * table;
    return blocks ? all / blocks : 0;
}

// As frozen values of the job's width in addition: as many again make 4 bytes of 2.
static void widen(const struct explained *x, const struct problem *problem, struct layer_run *run,
                  int bits, double values)
{
    static const double scale_bytes = 4.0 / 64 - 2.0 / 128, value_bytes = 2;
    const struct shape *s = run_shape(&problem->model, run);
    bool ends = run->kind == LAYER_EMBEDDING || (run->kind == LAYER_HEAD && !s->tied_embeddings);
    if (ends) run->more_values += (int64_t)s->vocabulary * s->hidden;
    if (run->kind == LAYER_BLOCK && has_wide_scales(x, bits))
        run->more_values += (int64_t)(scale_bytes / value_bytes * values);
}

// Adapters on experts are not priced: those of attention are, or stand for them.
static void adapt(const struct explained *x, struct layer_run *run, const struct shape *s)
{
    int rank = (int)told_count(&x->log, TOLD_ADAPTERS);
    bool *on = run->adapter_modules, named = explain_finds_modules(x, s, on);
    if (run->kind == LAYER_MOE) {
        if (!named) on[ADAPTER_QKV] = on[ADAPTER_OUTPUT] = true;
        on[ADAPTER_GATE] = on[ADAPTER_UP] = on[ADAPTER_GATE_UP] = on[ADAPTER_DOWN] = false;
        if (!adapters_spare_ffn(on)) on[ADAPTER_OUTPUT] = true;
    }
    run->adapter_dropout = told_count(&x->log, TOLD_ADAPTER_DROPOUT) > 0;
    run->adapter_rank = rank > 1 ? rank : 8;
}

void explain_adjust(const struct explained *x, struct problem *problem, struct placement *placement)
{
    double values = block_values(&problem->model);
    int64_t rank = told_count(&x->log, TOLD_ADAPTERS),
            stated = told_count(&x->log, TOLD_WEIGHT_BITS);
    if (explain_has_model(x, &problem->model)) {
        int more = x->model->layer_count - problem->model.layer_count; // for further tokens
        problem->model = *x->model;
        placement->layer_count[placement->stage_count - 1] += more;
        if (rank > 0)
            problem->model.runs = TAKE_COPY(x->arena, x->model->runs, x->model->run_count);
    }
    int further = model_mtp_depth(&problem->model), stages = placement->stage_count,
        *counts = placement->layer_count + (stages > 3 ? stages - 3 : 0);
    if (x->lone_stages && !further) {
        add_further(x, &problem->model);
        placement->layer_count[stages - 1] += further = 1;
    }
    if (stages == x->lone_stages && counts[1] == 1 && counts[2] == 1 + further)
        counts[0]++, counts[1] = further, counts[2] -= further;
    int bits = keeps_narrow(x, problem) ? 8 : stated > 0 && stated < 16 ? (int)stated : 0;
    for (int i = 0; rank > 0 && i < problem->model.run_count; i++) {
        struct layer_run *run = &problem->model.runs[i];
        run->frozen = true;
        if (widens(x, bits) && problem->job.precision != FP32) widen(x, problem, run, bits, values);
        if (run->kind != LAYER_BLOCK && run->kind != LAYER_MOE) continue;
        run->weight_bits = bits;
        adapt(x, run, run_shape(&problem->model, run));
    }
    if (is_padded(x)) problem->model.shape.vocabulary_multiple = 0;
    if (told_count(&x->log, TOLD_OFFLOAD) > 0) problem->job.layout.offload_optimizer = true;
}

static void assume_share(struct explained *x)
{
    const struct log *l = &x->log;
    double share = told(l, TOLD_OFFLOAD_SHARE) ? strtod(l->told[TOLD_OFFLOAD_SHARE].text, NULL) : 1;
    if (told_count(l, TOLD_OFFLOAD) > 0 && share < 1)
        explain_assume(x, "offload_share", "1",
                       arena_print(x->arena,
                                   "all of the optimizer's state is taken as on the host, of which "
                                   "the log has %.4g there",
                                   share));
}

void explain_assume_adapters(struct explained *x)
{
    const char *why, *words = modules_of(x, &why);
    bool set[ADAPTER_MODULE_COUNT] = {false}, all = !strncasecmp(words, "all", 3);
    int64_t rank = told_count(&x->log, TOLD_ADAPTERS);
    assume_share(x);
    if (x->lone_stages)
        explain_assume(x, "further_stage", "1",
                       "the stage of further tokens alone: its copy of the embedding is counted "
                       "where the head is, and the message from it as one state");
    if (rank <= 0) return;
    if (rank == 1) explain_assume(x, "adapter_rank", "8", "the adapters' rank is not in the text");
    if (why) explain_assume(x, "adapter_modules", words, why);
    else if (!all && !explain_finds_modules(x, &x->problem.model.shape, set))
        explain_assume(x, "adapter_modules", "all", "none of the names of products is known");
    else if (strchr(words, '?'))
        explain_assume(x, "adapter_modules", words, "a name of no known product is left out");
    const struct model *m = &x->problem.model;
    for (int i = 0; i < m->run_count; i++) {
        bool mixture = m->runs[i].kind == LAYER_MOE;
        if (!mixture ||
            (explain_finds_modules(x, run_shape(m, &m->runs[i]), set) && adapters_spare_ffn(set)))
            continue;
        explain_assume(x, "adapter_modules", "attention",
                       "adapters on a mixture's experts are not priced: those of attention are, or "
                       "stand for them");
        break;
    }
    int64_t bits = told_count(&x->log, TOLD_WEIGHT_BITS);
    if (widens(x, (int)bits))
        explain_assume(x, "weights_fp32", "embedding head norms",
                       "peft casts to fp32 what is not quantised");
    if (has_wide_scales(x, (int)bits))
        explain_assume(x, "narrow_scales", "0", "a scale of 4 bytes for each 64 values of 4 bits");
    if (keeps_narrow(x, &x->problem))
        explain_assume(x, "weight_bits", "8",
                       "the benchmark's configuration: frozen weights in FP8 alone");
}

// What a host updates with DeepSpeed's and PyTorch's Adam, all ranks on it together, as measured on
// three (docs/VALIDATION.md, 10): several passes over gradients and weights besides Adam's own, and
// launchers that give each rank one thread, or bind none. Megatron's own copes with less.
void explain_assume_host(struct explained *x)
{
    static const double values = 1.3e9, either_way = 2;
    const struct run_row *r = &x->asked;
    bool own = explained_framework(x) == FRAMEWORK_NEMO || x->log.format == LOG_MEGATRON;
    if (told_count(&x->log, TOLD_OFFLOAD_WEIGHTS) > 0)
        explain_assume(x, "offload_param", "0",
                       "its weights are taken as on the device: what fetches them is not priced");
    if (told(&x->log, TOLD_COMPRESSION))
        explain_assume(x, "compression", "none",
                       arena_print(x->arena, "%s sends fewer bits: gradients are priced whole",
                                   x->log.told[TOLD_COMPRESSION].text));
    if (told_count(&x->log, TOLD_OFFLOAD) < 1 || own) return;
    int64_t host = r->gpus_per_node > 0 ? r->gpus_per_node : 8,
            ranks = r->num_gpus > 0 ? smaller(r->num_gpus, host) : host;
    double share = values / (double)ranks;
    struct estimate e = {.value = share, .low = share / either_way, .high = share * either_way};
    predictor_assume(x->predictor, "host_update_values_per_s", &e);
    explain_assume(x, "host_update_values_per_s", arena_print(x->arena, "%.3g", share),
                   "1.3e9 of a host with DeepSpeed's or PyTorch's Adam, half to twice of it, over "
                   "its ranks");
}
