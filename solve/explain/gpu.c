// Which GPU it ran on: by its name, by its card's memory, by the peak behind a log's utilisation,
// and last by what most people trained on whose time is near.
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/explain/internal.h"

// "h100-80gb" -> 80, "ascend-910b-64gb" -> 64; 0: it has none.
static int named_gb(const char *gpu)
{
    const char *dash = strrchr(gpu, '-');
    int digits = dash ? (int)strspn(dash + 1, "0123456789") : 0;
    return digits && !strcmp(dash + 1 + digits, "gb") ? atoi(dash + 1) : 0;
}

// A shipped GPU by a name that may lack its memory ("a100"), or state another ("gb200-192gb"): of
// that model the one whose memory is nearest to the card's, or to the name's.
static const char *gpu_by_card(const struct explained *x, const char *named,
                               const char *const *gpus, int count)
{
    const struct log_memory *m = &x->log.memory;
    int64_t card = m->card_bytes, held = larger(m->reserved_bytes, m->allocated_bytes);
    const char *best = NULL;
    double best_off = HUGE_VAL;
    size_t length = strcspn(named, "-");
    double bytes = card ? (double)card : named_gb(named) * 1073741824.0;
    for (int i = 0; i < count; i++) {
        double own = named_gb(gpus[i]) * 1073741824.0, off = bytes > 0 ? fabs(log(bytes / own)) : 0;
        bool same = !length || (!strncmp(gpus[i], named, length) && gpus[i][length] == '-');
        if (!strcmp(gpus[i], named)) return gpus[i];
        if ((double)held > own) continue;
        if (same && off < best_off && (length || off < 0.15)) best = gpus[i], best_off = off;
    }
    return best;
}

static bool has_memory(const char *gpu, int64_t card)
{
    return gpu && fabs(log((double)card / (named_gb(gpu) * 1073741824.0))) < 0.15;
}

// Of two GPUs that a post names the one whose memory its report states.
static const char *gpu_by_name(struct explained *x, const char *const *gpus, int count)
{
    const struct log *l = &x->log;
    int64_t card = l->memory.card_bytes;
    const char *gpu = gpu_by_card(x, l->told[TOLD_GPU].text, gpus, count), *other;
    if (!card || !*l->other_gpu || has_memory(gpu, card)) return gpu;
    other = gpu_by_card(x, l->other_gpu, gpus, count);
    if (!has_memory(other, card)) return gpu;
    explain_assume(x, "gpu", other, "it is named too, and has the memory of the log's card");
    return other;
}

// A page about several: the card that a report states is none of the named GPU's.
static const char *without_other_card(const struct explained *x, const char *gpu)
{
    int64_t card = x->log.failure.card_bytes;
    double own = gpu ? named_gb(gpu) * 1073741824.0 : 0;
    return card && own > 0 && fabs(log((double)card / own)) > 0.5 ? NULL : gpu;
}

// "a800-40gb", where only a card of 80 is known: its costs, and the memory that is named.
static const char *with_named_memory(struct explained *x, const char *gpu)
{
    const char *named = x->log.told[TOLD_GPU].text;
    int gb = named_gb(named);
    int64_t card = x->log.memory.card_bytes;
    bool all = gpu && gb == named_gb(gpu) * x->asked.num_gpus; // "dual RTX 3090 (48 GB)"
    if (!gpu || !gb || all || has_memory(gpu, (int64_t)gb << 30) || (card && has_memory(gpu, card)))
        return gpu;
    x->settings.likeness =
        (struct gpu_likeness){.known = gpu, .memory_gb = (double)((int64_t)gb << 30) / 1e9};
    predictor_set_likeness(x->predictor, &x->settings.likeness);
    explain_assume(x, "gpu", named,
                   arena_print(x->arena, "as %s, but for its memory of %d GiB", gpu, gb));
    return named;
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

// What most people trained on, by year; the first whose time is near is the likeliest.
static const struct {
    int from;
    const char *gpus[8];
} usual_gpus[] = {{202401, {"h100-80gb", "a100-80gb", "h200-141gb", "b200-180gb", "a100-40gb"}},
                  {202201, {"a100-80gb", "a100-40gb", "h100-80gb", "v100-32gb"}},
                  {0, {"v100-32gb", "v100-16gb", "a100-40gb", "a100-80gb"}}};
static const double near_enough = 0.25;

// Whether it computes as fast as the log says; the log's count may be a tenth too high.
static bool is_fast_enough(const struct explained *x, const char *gpu)
{
    double tflops = log_rate_of(&x->log.series[MEASURED_TFLOPS], true, x->arena).value;
    const struct gpu_costs *g = costs_find_gpu(predictor_costs(x->predictor), gpu);
    const struct precision_costs *p = g ? costs_find_precision(g, BF16) : NULL;
    bool wide = !told(&x->log, TOLD_FP8) && !told(&x->log, TOLD_FP4);
    return !p || !wide || !(tflops * 1e12 > 0.9 * p->peak_flop_per_s.value);
}

// How far its time is from the log's, as a logarithm; HUGE_VAL: it cannot be, or has no room for
// what the log says was held.
static double time_off(struct explained *x, const char *gpu)
{
    const struct log_memory *m = &x->log.memory;
    int64_t held = larger(m->reserved_bytes, m->allocated_bytes);
    struct prediction p;
    struct run_row row = x->asked;
    row.gpu = (struct cell){gpu, (int)strlen(gpu)};
    if ((double)held > named_gb(gpu) * 1073741824.0 || !is_fast_enough(x, gpu) ||
        !explain_try(x, &row, &p))
        return HUGE_VAL;
    return fabs(log((double)p.iteration_ns * 1e-9 / x->measured_s));
}

static int year_month(const struct explained *x)
{
    const char *version = x->log.told[TOLD_VERSION].text;
    return told(&x->log, TOLD_VERSION) ? atoi(version) * 100 + atoi(version + 5) : 202401;
}

static const char *gpu_by_time(struct explained *x, const char *const *gpus, int count)
{
    const char *best = NULL;
    double best_off = HUGE_VAL;
    int row = 0;
    if (!(x->measured_s > 0)) return NULL;
    while (usual_gpus[row].from > year_month(x)) row++;
    for (const char *const *gpu = usual_gpus[row].gpus; *gpu; gpu++)
        if (time_off(x, *gpu) < near_enough) return *gpu;
    for (int i = 0; i < count; i++) {
        // AMD's print their memory, and hosts of eight hold no superchips.
        bool other = !strncmp(gpus[i], "mi", 2) ||
                     (x->asked.gpus_per_node > 4 && !strncmp(gpus[i], "gb", 2));
        double off = other ? HUGE_VAL : time_off(x, gpus[i]);
        if (off < best_off) best = gpus[i], best_off = off;
    }
    return best;
}

// A name without its memory is taken for the smallest card, on which what ran has to fit.
bool explain_fit_card(struct explained *x)
{
    const char *const *gpus, *named = x->log.told[TOLD_GPU].text, *best = NULL;
    struct error err = {OK, ""};
    int count, own = (int)(x->own.capacity_bytes >> 30);
    bool stated = x->settings.gpu || x->log.memory.card_bytes || x->log.failure.out_of_memory ||
                  strchr(named, '-');
    if (!told(&x->log, TOLD_GPU) || stated || *x->own.reason ||
        x->own.device_bytes <= x->own.capacity_bytes ||
        shipped_gpus(&gpus, &count, "clusters", x->arena, &err) != OK)
        return false;
    for (int i = 0; i < count; i++)
        if (!strncmp(gpus[i], named, strlen(named)) && gpus[i][strlen(named)] == '-' &&
            !cell_is(x->asked.gpu, gpus[i]) && named_gb(gpus[i]) > own &&
            (!best || named_gb(gpus[i]) > named_gb(best)))
            best = gpus[i];
    if (!best) return false;
    x->asked.gpu = (struct cell){best, (int)strlen(best)};
    x->assumed_count = x->asked_count;
    explain_assume(x, "gpu", best, "it ran, and is predicted not to fit on a smaller card");
    x->asked_count = x->assumed_count;
    return true;
}

// Cards that no cluster has, as one with much the same chip, but for its memory.
static const char *gpu_by_likeness(struct explained *x)
{
    static const struct {
        const char *named, *like;
        int gb;
    } likes[] = {{"a10", "a40-48gb", 24},         {"a10g", "a40-48gb", 24},
                 {"a5000", "rtx3090-24gb", 24},   {"l40", "a40-48gb", 48},
                 {"rtx6000ada", "l40s-48gb", 48}, {"gh", "h100-96gb", 96}}; // GH200
    const char *named = x->log.told[TOLD_GPU].text;
    size_t length = strcspn(named, "-");
    for (size_t i = 0; i < ARRAY_LENGTH(likes) && !x->settings.likeness.known; i++) {
        if (strlen(likes[i].named) != length || strncmp(named, likes[i].named, length) != 0)
            continue;
        x->settings.likeness = (struct gpu_likeness){
            .known = likes[i].like, .memory_gb = (double)((int64_t)likes[i].gb << 30) / 1e9};
        predictor_set_likeness(x->predictor, &x->settings.likeness);
        explain_assume(x, "gpu", named,
                       arena_print(x->arena, "as %s, but for its memory of %d GiB", likes[i].like,
                                   likes[i].gb));
        return named;
    }
    return NULL;
}

// Where memory alone is asked for, any card stands in for another, but for its memory: as the
// report states it, or else as the name of the card does.
static const char *gpu_for_memory(struct explained *x, const char *gpu, const char *const *gpus,
                                  int count)
{
    static const struct {
        const char *named;
        int gb;
    } memories[] = {
        {"ascend-910b", 64}, {"ascend-910a", 32}, {"ascend-910b4", 32}, {"ascend-910c", 64},
        {"mi250", 64},       {"mi210", 64},       {"mi100", 32},        {"titan-rtx", 24},
        {"rtx6000", 24},     {"rtx6000ada", 48},  {"rtx8000", 48},      {"w7900", 48},
        {"w6800", 32},       {"rx7900xtx", 24},   {"rtx2080ti", 11},    {"rtx3080", 10},
        {"rtx3060", 12},     {"rtx3070", 8},      {"a4000", 16},        {"a4500", 20},
        {"rtx4080", 16},     {"rtx4070", 12},     {"rtx5090", 32},      {"l4", 24},
        {"a30", 24},         {"p100", 16},        {"p40", 24},          {"m40", 24},
        {"gb10", 119}};
    const char *named = gpu ? gpu : "", *like = NULL;
    double best_off = HUGE_VAL, bytes = (double)x->log.memory.card_bytes;
    bool shipped = false;
    for (int i = 0; i < count; i++) shipped |= !strcmp(named, gpus[i]);
    if (!x->log.failure.out_of_memory || shipped || x->settings.likeness.known ||
        x->settings.cluster || x->settings.gpu)
        return gpu;
    if (!(bytes > 0)) bytes = named_gb(named) * 1073741824.0;
    for (size_t i = 0; i < ARRAY_LENGTH(memories) && !(bytes > 0); i++)
        if (!strcmp(named, memories[i].named)) bytes = memories[i].gb * 1073741824.0;
    if (!(bytes > 0) && *named) return gpu;
    if (!(bytes > 0)) {
        x->guessed = x->guessed ? "GPU and number of GPUs are" : "the GPU is";
        explain_assume(x, "gpu", "a100-80gb", "not in the log: of usual cards a large one (--gpu)");
        return "a100-80gb";
    }
    for (int i = 0; i < count; i++) {
        double off = fabs(log(bytes / (named_gb(gpus[i]) * 1073741824.0)));
        if (off < best_off) like = gpus[i], best_off = off;
    }
    if (!like) return gpu;
    if (!*named) named = "card";
    x->settings.likeness = (struct gpu_likeness){.known = like, .memory_gb = bytes / 1e9};
    predictor_set_likeness(x->predictor, &x->settings.likeness);
    explain_assume(
        x, "gpu", named,
        arena_print(x->arena,
                    "as %s, but for its memory of %.1f GiB: nothing else of it counts here", like,
                    bytes / 1073741824.0));
    return named;
}

enum status explain_find_gpu(struct explained *x, struct error *err)
{
    const char *const *gpus, *gpu = x->settings.gpu;
    int count;
    if (x->settings.cluster && !gpu) return OK; // its first group
    TRY(shipped_gpus(&gpus, &count, "clusters", x->arena, err));
    if (!gpu && told(&x->log, TOLD_GPU)) gpu = gpu_by_likeness(x);
    if (!gpu && told(&x->log, TOLD_GPU)) {
        gpu = gpu_by_name(x, gpus, count);
        const char *named = gpu;
        gpu = without_other_card(x, gpu);
        if (gpu && !x->settings.likeness.known) gpu = with_named_memory(x, gpu);
        if (!gpu && named) x->log.told[TOLD_GPU].by = BY_NONE;
        else if (!gpu) gpu = x->log.told[TOLD_GPU].text; // which is in no shipped cluster
    }
    if (!gpu && (gpu = gpu_by_peak(x, gpus, count)))
        explain_assume(x, "gpu", gpu, "the peak behind the log's utilisation, and its card");
    if (!gpu && x->log.memory.card_bytes) {
        gpu = gpu_by_card(x, "", gpus, count);
        if (gpu) explain_assume(x, "gpu", gpu, "the memory of the log's card");
    }
    if (!gpu) {
        gpu = gpu_by_time(x, gpus, count);
        if (gpu) x->guessed = x->guessed ? "GPU and number of GPUs are" : "the GPU is";
        if (gpu)
            explain_assume(x, "gpu", gpu,
                           "not in the log: of those with enough memory a usual one of the year "
                           "whose time is near, so that its time proves little (--gpu states it)");
    }
    gpu = gpu_for_memory(x, gpu, gpus, count);
    // Their hosts have 4 GPUs, which are of domains of 72.
    bool domains = gpu && (!strncmp(gpu, "gb200", 5) || !strncmp(gpu, "gb300", 5));
    if (domains && x->asked.gpus_per_node <= 4) x->asked.gpus_per_node = NOT_STATED;
    x->asked.gpu = gpu ? (struct cell){gpu, (int)strlen(gpu)} : (struct cell){"", 0};
    return OK;
}
