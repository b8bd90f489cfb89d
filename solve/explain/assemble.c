// The run as a row of runs: what the log states, what the user says instead, and what had to be
// taken for the rest, with its reason. What a program does by itself is filled by the prediction.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/shipped.h"
#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

void explain_assume(struct explained *x, const char *column, const char *value, const char *why)
{
    if (x->assumed_count == ASSUMED_MOST) return;
    x->assumed[x->assumed_count++] = (struct assumed){column, value, why};
}

static const char *count_text(const struct explained *x, int64_t value)
{
    return arena_print(x->arena, "%lld", (long long)value);
}

// ---- the GPU

// "h100-80gb" -> 80; 0: it has none.
static int named_gb(const char *gpu)
{
    const char *dash = strchr(gpu, '-');
    return dash ? atoi(dash + 1) : 0;
}

// A name without its memory ("a100"), and the card's bytes: the GPU of that name with the nearest
// memory. GB of names are 2^30 bytes but for a tenth that is kept back.
static const char *gpu_by_card(const char *named, int64_t card, const char *const *gpus, int count)
{
    const char *best = named;
    double best_off = 0.15;
    size_t length = strlen(named);
    for (int i = 0; i < count && card; i++) {
        double off = fabs(log((double)card / (named_gb(gpus[i]) * 1073741824.0)));
        bool same = !length || (!strncmp(gpus[i], named, length) && gpus[i][length] == '-');
        if (same && named_gb(gpus[i]) && off < best_off) best = gpus[i], best_off = off;
    }
    return best;
}

// The GPU by whose peak the log computes utilisation, and its card.
static const char *gpu_by_peak(const struct explained *x, const char *const *gpus, int count)
{
    const struct log *l = &x->log;
    double peak = l->peak_flop,
           tflops = log_rate_of(&l->series[MEASURED_TFLOPS], true, x->arena).value,
           mfu = log_rate_of(&l->series[MEASURED_MFU], true, x->arena).value;
    if (!(peak > 0) && tflops > 0 && mfu > 0) peak = tflops * 1e14 / mfu;
    const char *best = NULL;
    double best_off = 0;
    for (int i = 0; i < count && peak > 0; i++) {
        const struct gpu_costs *g = costs_find_gpu(predictor_costs(x->predictor), gpus[i]);
        const struct precision_costs *p = g ? costs_find_precision(g, BF16) : NULL;
        double own = p ? p->peak_flop_per_s.value : 0;
        if (!(own > 0) || fabs(own / peak - 1) > 0.02) continue;
        double off =
            l->memory.card_bytes
                ? fabs(log((double)l->memory.card_bytes / (named_gb(gpus[i]) * 1073741824.0)))
                : 0;
        if (!best || off < best_off) best = gpus[i], best_off = off;
    }
    return best;
}

// Those that can hold what the log says was held: the one whose time is nearest.
static const char *gpu_by_time(struct explained *x, const char *const *gpus, int count)
{
    const struct log_memory *m = &x->log.memory;
    int64_t held = m->reserved_bytes > m->allocated_bytes ? m->reserved_bytes : m->allocated_bytes;
    const char *best = NULL;
    double best_off = 1e9;
    for (int i = 0; i < count && x->measured_s > 0; i++) {
        struct prediction p;
        x->row.gpu = (struct cell){gpus[i], (int)strlen(gpus[i])};
        if ((double)held > named_gb(gpus[i]) * 1073741824.0 || !explain_try(x, &x->row, &p))
            continue;
        double off = fabs(log((double)p.iteration_ns * 1e-9 / x->measured_s));
        if (off < best_off) best = gpus[i], best_off = off;
    }
    return best;
}

static enum status find_gpu(struct explained *x, struct error *err)
{
    const char *const *gpus, *gpu = x->settings.gpu;
    int count;
    if (x->settings.cluster && !gpu) return OK; // its first group
    TRY(shipped_gpus(&gpus, &count, "clusters", x->arena, err));
    if (!gpu && told(&x->log, TOLD_GPU))
        gpu = gpu_by_card(x->log.told[TOLD_GPU].text, x->log.memory.card_bytes, gpus, count);
    if (!gpu && (gpu = gpu_by_peak(x, gpus, count)))
        explain_assume(x, "gpu", gpu, "the peak behind the log's utilisation, and its card");
    if (!gpu && x->log.memory.card_bytes) {
        gpu = gpu_by_card("", x->log.memory.card_bytes, gpus, count);
        if (*gpu) explain_assume(x, "gpu", gpu, "the memory of the log's card");
    }
    if (!gpu || !*gpu) {
        gpu = gpu_by_time(x, gpus, count);
        if (gpu)
            explain_assume(x, "gpu", gpu,
                           "not in the log: of those with enough memory the one whose time is "
                           "nearest, so that its time proves nothing (--gpu states it)");
    }
    x->row.gpu = gpu ? (struct cell){gpu, (int)strlen(gpu)} : (struct cell){"", 0};
    return OK;
}

// ---- what the log states

static bool is_plain(const char *text) { return !strpbrk(text, ",=\"\n"); }

static enum status row_of_log(struct explained *x, struct error *err)
{
    const char *words[TOLD_COLUMNS + 1];
    const struct log *l = &x->log;
    bool shaped = told(l, TOLD_LAYERS) && told(l, TOLD_HIDDEN) &&
                  (l->dumped || told(l, TOLD_FFN)) && l->told[TOLD_LAYERS].by >= BY_SETTING;
    int count = 0;
    for (int i = 0; i < TOLD_COLUMNS; i++) {
        if (!told(l, (enum told)i) || i == TOLD_GPU || !is_plain(l->told[i].text)) continue;
        if (i == TOLD_MODEL && shaped) continue;
        words[count++] = arena_print(x->arena, "%s=%s", told_names[i], l->told[i].text);
    }
    if (x->settings.gpus)
        words[count++] = arena_print(x->arena, "num_gpus=%lld", (long long)x->settings.gpus);
    TRY(row_of_words(&x->row, words, count, x->arena, err));
    return OK;
}

// Columns that the user states instead of the log.
static enum status set_columns(struct explained *x, struct error *err)
{
    if (!x->settings.set) return OK;
    struct run_row *row = &x->row;
    return row_set_columns(row, "--set", x->settings.set, x->arena, err);
}

// ---- what neither states

static void assume_count(struct explained *x, int64_t *cell, const char *column, int64_t value,
                         const char *why)
{
    if (*cell != NOT_STATED || value < 1) return;
    *cell = value;
    explain_assume(x, column, count_text(x, value), why);
}

static bool is_trainer(const struct explained *x)
{
    return x->log.format == LOG_TRANSFORMERS || x->log.format == LOG_LLAMA_FACTORY ||
           x->log.format == LOG_UNKNOWN || x->log.format == LOG_DEEPSPEED;
}

static void assume_gpus(struct explained *x)
{
    struct run_row *r = &x->row;
    int64_t replica = (r->tp > 0 ? r->tp : 1) * (r->pp > 0 ? r->pp : 1) * (r->cp > 0 ? r->cp : 1);
    if (r->num_gpus == NOT_STATED && r->dp > 0)
        assume_count(x, &r->num_gpus, "num_gpus", replica * r->dp, "the product of the degrees");
    int64_t nodes = told_count(&x->log, TOLD_NODES);
    assume_count(x, &r->num_gpus, "num_gpus",
                 nodes         ? 8 * nodes
                 : replica > 8 ? replica
                               : 8,
                 nodes ? "8 GPUs in each of the nodes that are stated"
                       : "not in the log: a node of 8 (--gpus states it)");
    if (r->tp == NOT_STATED && r->dp > 0 && r->num_gpus % (r->dp * replica) == 0)
        assume_count(x, &r->tp, "tp", r->num_gpus / (r->dp * replica),
                     "what the replicas leave of the GPUs");
}

static void assume_batch(struct explained *x)
{
    struct run_row *r = &x->row;
    int64_t steps = told_count(&x->log, TOLD_ACCUMULATION), replica, data;
    replica = (r->tp > 0 ? r->tp : 1) * (r->pp > 0 ? r->pp : 1) * (r->cp > 0 ? r->cp : 1);
    data = r->dp > 0 ? r->dp : r->num_gpus / replica;
    if (data < 1) data = 1;
    if (r->global_batch > 0 && steps && r->global_batch % (data * steps) == 0)
        assume_count(x, &r->micro_batch, "micro_batch", r->global_batch / (data * steps),
                     "the batch over replicas and accumulation");
    assume_count(x, &r->micro_batch, "micro_batch", 1, "not in the log");
    assume_count(x, &r->global_batch, "global_batch",
                 r->micro_batch * data *
                     (steps       ? steps
                      : r->pp > 1 ? r->pp
                                  : 1),
                 steps ? "micro_batch x replicas x accumulation"
                       : "not in the log: no accumulation");
}

// The sequence: by the FLOP of a token, where the log has a rate; else a program's default.
static void assume_sequence(struct explained *x)
{
    struct run_row *r = &x->row;
    struct problem problem;
    struct placement placement;
    struct prediction p;
    double flop = explain_flop_of_log(x);
    if (r->seq != NOT_STATED) return;
    r->seq = 2048;
    if (flop > 0 && explain_try(x, r, &p)) {
        predictor_problem(x->predictor, &problem, &placement, x->arena);
        int64_t found = certify_sequence(&problem.model, flop);
        r->seq = NOT_STATED;
        x->certificate.solved = found > 0;
        assume_count(x, &r->seq, "seq", found,
                     "with it, the model's FLOP of a token are the log's");
        if (found) return;
    }
    r->seq = NOT_STATED;
    assume_count(x, &r->seq, "seq", is_trainer(x) ? 1024 : 4096, "not in the log (--set seq=N)");
}

static void set_trainer(struct explained *x)
{
    static const int trainers[LOG_FORMAT_COUNT] = {[LOG_UNKNOWN] = TRAINER_DEEPSPEED,
                                                   [LOG_TRANSFORMERS] = TRAINER_DEEPSPEED,
                                                   [LOG_LLAMA_FACTORY] = TRAINER_DEEPSPEED,
                                                   [LOG_DEEPSPEED] = TRAINER_DEEPSPEED,
                                                   [LOG_TORCHTITAN] = TRAINER_TORCHTITAN,
                                                   [LOG_MEGATRON] = TRAINER_MEGATRON,
                                                   [LOG_MEGATRON_DEEPSPEED] = TRAINER_DEEPSPEED,
                                                   [LOG_NEMO] = TRAINER_MEGATRON,
                                                   [LOG_BRIDGE] = TRAINER_MEGATRON,
                                                   [LOG_MLPERF] = TRAINER_MEGATRON};
    if (x->row.trainer == NOT_STATED) x->row.trainer = trainers[x->log.format];
}

// ---- the prediction

bool explain_try(struct explained *x, const struct run_row *row, struct prediction *to)
{
    predictor_ask_ranges(x->predictor, false);
    predict_row(x->predictor, row, to);
    return !*to->reason;
}

// As Megatron-LM lays out stages, where the log states how: it needs the model's layers.
static void set_split(struct explained *x)
{
    struct prediction p;
    struct problem problem;
    struct placement placement;
    if (x->row.split.length || told(&x->log, TOLD_LAYERS) || x->row.pp < 2) return;
    if (!told(&x->log, TOLD_EMBEDDING_COUNTS) && !told(&x->log, TOLD_FIRST_LAYERS)) return;
    if (!explain_try(x, &x->row, &p)) return;
    predictor_problem(x->predictor, &problem, &placement, x->arena);
    log_take_layers(&x->log, problem.model.layer_count - 2);
    const char *split = x->log.told[TOLD_SPLIT].text;
    if (told(&x->log, TOLD_SPLIT)) x->row.split = (struct cell){split, (int)strlen(split)};
}

enum status explain_assemble(struct explained *x, struct error *err)
{
    TRY(row_of_log(x, err));
    TRY(set_columns(x, err));
    set_trainer(x);
    assume_gpus(x);
    assume_batch(x);
    explain_measured(x);
    TRY(find_gpu(x, err));
    assume_sequence(x);
    explain_measured(x);
    if (!x->row.gpu.length) TRY(find_gpu(x, err));
    set_split(x);
    predictor_ask_ranges(x->predictor, true);
    predict_row(x->predictor, &x->row, &x->own);
    if (*x->own.reason) return OK;
    predictor_problem(x->predictor, &x->problem, &x->placement, x->arena);
    x->problem.costs = *predictor_costs(x->predictor);
    return OK;
}
