// What most probably explains the difference between predicted and measured; where no model does, a
// class. Plain causes that the log itself states come first.
#include <string.h>

#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

const char *const verdict_names[] = {"agrees",         "not predicted",      "not measured",
                                     "out of memory",  "killed by its host", "warm-up only",
                                     "not stationary", "allocator retries",  "the host's floor",
                                     "a slow network", "unstated values",    "not read",
                                     "not explained"};

int64_t explained_allocated(const struct prediction *p)
{
    return memory_total(&p->memory) - p->outside_bytes;
}

static enum explained_verdict conclude(struct explained *x, enum explained_verdict verdict,
                                       const char *why)
{
    x->why = why;
    return verdict;
}

// A difference that no one would ask about, where the costs state no interval.
static const double near = 0.1;

static bool is_inside(const struct explained *x, double seconds)
{
    const struct prediction *p = &x->own;
    double low = (double)p->low_ns * 1e-9, high = (double)p->high_ns * 1e-9,
           time = (double)p->iteration_ns * 1e-9;
    if (p->high_ns && seconds >= low && seconds <= high) return true;
    return fabs(seconds / time - 1) <= near;
}

// ---- the host: launching the kernels of a layer takes it some time, whatever they do

enum { FLOOR_LEAST_US = 1500, FLOOR_MOST_US = 12000 };

// The host launches for one rank: its layers, of each micro-batch, forward and backward.
static double host_us(const struct explained *x)
{
    double layers = (double)(x->problem.model.layer_count - 2) / x->problem.job.layout.pipeline,
           passes = layers * x->own.micro_batches;
    return passes > 0 ? x->measured_s * 1e6 / passes : 0;
}

static bool is_host(const struct explained *x)
{
    double us = host_us(x),
           kernels = (double)(x->own.block_forward_ns + x->own.block_backward_ns) * 1e-3;
    return us >= FLOOR_LEAST_US && us <= FLOOR_MOST_US && kernels < 0.6 * us;
}

// ---- the network: by what it would have to be slower

static bool leaves_nodes(const struct explained *x)
{
    return x->own.gpus > x->problem.cluster.groups[0].gpus_per_node;
}

static double time_with_network(struct explained *x, double share)
{
    struct problem changed = x->problem;
    struct node_group group = x->problem.cluster.groups[0];
    struct prediction p;
    group.nics = TAKE_COPY(x->arena, group.nics, group.nic_count);
    for (int i = 0; i < group.nic_count; i++) group.nics[i].link.bytes_per_s *= share;
    if (!leaves_nodes(x)) group.intra.bytes_per_s *= share;
    changed.cluster.groups = &group, changed.cluster.group_count = 1;
    predictor_ask_ranges(x->predictor, false);
    predict_problem(x->predictor, &changed, &x->placement, &p);
    return *p.reason ? 0 : (double)p.iteration_ns * 1e-9;
}

// The share of the network's rate with which the time is the measured one; 0: none.
static double network_share(struct explained *x)
{
    double low = leaves_nodes(x) ? 0.01 : 0.001, high = 1;
    if (x->own.gpus < 2 || time_with_network(x, low) < x->measured_s) return 0;
    for (int turn = 0; turn < 30; turn++) {
        double middle = sqrt(low * high);
        *(time_with_network(x, middle) > x->measured_s ? &low : &high) = middle;
    }
    return sqrt(low * high);
}

static double node_rate(const struct explained *x)
{
    const struct node_group *g = &x->problem.cluster.groups[0];
    double rate = 0;
    if (!leaves_nodes(x)) return g->intra.bytes_per_s;
    for (int i = 0; i < g->nic_count; i++) rate += g->nics[i].count * g->nics[i].link.bytes_per_s;
    return rate;
}

// ---- values that are not stated

static const struct {
    const char *column, *value, *words;
} open_values[] = {{"recompute", "full", "full recomputation"},
                   {"recompute", "selective", "selective recomputation"},
                   {"recompute", "none", "no recomputation"},
                   {"flash", "te", "fused attention"},
                   {"flash", "0", "unfused attention"},
                   {"zero", "1", "ZeRO 1"},
                   {"zero", "2", "ZeRO 2"},
                   {"zero", "3", "ZeRO 3"},
                   {"sp", "1", "sequence parallelism"},
                   {"fused_loss", "1", "a fused loss"},
                   {"gradient_bytes", "2", "gradients of 2 bytes"},
                   {"overlap", "1", "overlapped gradient sync"},
                   {"overlap", "0", "exposed gradient sync"},
                   {"overlap_tensor", "1", "overlapped tensor collectives"},
                   {"precision", "fp8", "fp8"},
                   {"precision", "nvfp4", "NVFP4"},
                   {"gpu", "gb300-288gb", "a GB300, which its programs call gb200"},
                   {"micro_batch", "2", "a micro-batch of 2"},
                   {"micro_batch", "4", "a micro-batch of 4"},
                   {"micro_batch", "8", "a micro-batch of 8"}};

static bool is_told(const struct explained *x, const char *column)
{
    for (int i = 0; i < TOLD_COLUMNS; i++)
        if (!strcmp(told_names[i], column)) return told(&x->log, (enum told)i);
    return false;
}

// Whether the log leaves this value open; which batch fails is found as a range.
static bool is_open(const struct explained *x, int i)
{
    const char *column = open_values[i].column;
    if (!strcmp(column, "gpu")) return !strncmp(x->log.told[TOLD_GPU].text, "gb200", 5);
    bool batch = !strcmp(column, "micro_batch");
    return !is_told(x, column) && (!batch || !x->log.failure.out_of_memory);
}

// Whether the run's own facts are met: it fitted, with the time that it took; or it did not fit.
static bool resolves(const struct explained *x, const struct prediction *p)
{
    double time = (double)p->iteration_ns * 1e-9;
    bool fits = p->device_bytes <= p->capacity_bytes;
    if (x->log.failure.out_of_memory) return p->device_bytes > p->limit_bytes;
    if (x->ran_too_full && !fits) return false;
    if (x->room_alone) return true;
    return x->measured_s > 0 ? fabs(time / x->measured_s - 1) <= near : fits;
}

// Whether values of two columns together, or one alone (k == i), give what the run was.
static bool are_enough(struct explained *x, int i, int k)
{
    struct prediction p;
    struct run_row row = x->row;
    struct error err = {OK, ""};
    const char *set = arena_print(x->arena, "%s=%s", open_values[i].column, open_values[i].value);
    if (k > i)
        set = arena_print(x->arena, "%s,%s=%s", set, open_values[k].column, open_values[k].value);
    return (k == i || strcmp(open_values[i].column, open_values[k].column)) && is_open(x, i) &&
           is_open(x, k) && row_set_columns(&row, "", set, x->arena, &err) == OK &&
           explain_try(x, &row, &p) && resolves(x, &p);
}

static void add_alternative(struct explained *x, int i)
{
    x->alternatives[x->alternative_count++] =
        (struct assumed){open_values[i].column, open_values[i].value, open_values[i].words};
}

// Each value that the log leaves open, alone; if none is enough, two together.
void explain_find_alternatives(struct explained *x)
{
    enum { COUNT = ARRAY_LENGTH(open_values) };
    for (int i = 0; i < COUNT && x->alternative_count < 2; i++)
        if (are_enough(x, i, i)) add_alternative(x, i);
    bool pairs = !x->log.failure.out_of_memory;
    for (int i = 0; pairs && i < COUNT && !x->alternative_count; i++)
        for (int k = i + 1; k < COUNT && !x->alternative_count; k++)
            if (are_enough(x, i, k)) add_alternative(x, i), add_alternative(x, k);
}

// ---- the difference

// Kernels, links and switches nobody measured are off by up to a third (docs/VALIDATION.md): only
// beyond that is a machine suspected.
static const double alarming = 1.5;

// What GPUs of a node fall back to is the host's bus and memory (PCIe 3.0: 12 GB/s, through the
// host half of it); a network, its slowest cards. No link that is there is slower.
static bool is_fallback(const struct explained *x, double share)
{
    static const double host_bytes_per_s = 6e9, least = 0.02;
    if (share >= 0.97) return false;
    return leaves_nodes(x) ? share > least : share * node_rate(x) >= host_bytes_per_s;
}

static enum explained_verdict explain_slow(struct explained *x)
{
    double time = (double)x->own.iteration_ns * 1e-9;
    if (is_host(x))
        return conclude(
            x, VERDICT_HOST,
            arena_print(x->arena,
                        "%.1f ms for each layer and micro-batch, of which kernels need %.1f: the "
                        "host launches no faster; larger micro-batches, fewer tensor ranks or CUDA "
                        "graphs help",
                        host_us(x) / 1000,
                        (double)(x->own.block_forward_ns + x->own.block_backward_ns) * 1e-6));
    if (told_count(&x->log, TOLD_OFFLOAD) > 0)
        return conclude(x, VERDICT_NOT_EXPLAINED,
                        "slower than predicted, with state on the host: the rate of its memory and "
                        "of the link to it is not in the log");
    explain_find_alternatives(x);
    if (x->alternative_count) return conclude(x, VERDICT_UNSTATED, "");
    bool suspect = x->measured_s > alarming * time;
    double share = suspect ? network_share(x) : 0;
    bool leaves = leaves_nodes(x);
    if (is_fallback(x, share))
        return conclude(x, VERDICT_NETWORK,
                        arena_print(x->arena,
                                    "%s that behaves as at %.1f GB/s%s (of %.0f) would take this "
                                    "long",
                                    leaves ? "a network" : "a link between the node's GPUs",
                                    share * node_rate(x) / 1e9, leaves ? " of a node" : "",
                                    node_rate(x) / 1e9));
    return conclude(x, VERDICT_NOT_EXPLAINED,
                    arena_print(x->arena,
                                "%.0f %% slower than predicted, and no value that the log leaves "
                                "open%s makes up for it",
                                100 * (x->measured_s / time - 1),
                                suspect ? ", nor the network," : ""));
}

// Whether the model's own FLOP in the measured time are more than these GPUs compute, and what then
// is not as it was read; NULL: they are not. Adapters alone leave out a third.
static const char *beyond_peak(struct explained *x)
{
    const struct gpu_costs *g = costs_find_gpu(predictor_costs(x->predictor), x->own.gpu);
    const struct precision_costs *p = g ? costs_find_precision(g, x->problem.job.precision) : NULL;
    double flop = 6 * (double)model_size_of(&x->problem.model).active;
    if (told_count(&x->log, TOLD_ADAPTERS) > 0) flop *= 2.0 / 3;
    flop *= (double)(x->own.sequences * x->problem.job.sequence) / x->measured_s;
    double each = flop / x->own.gpus, most = p ? p->peak_flop_per_s.value : 0;
    if (!(most > 0) || !(each > most)) return NULL;
    return arena_print(
        x->arena,
        "in this time each GPU would compute %.0f TFLOP/s, and %s does %.0f at most: "
        "it was no fewer than %.0f of them, or batch, sequence or model are not as "
        "read",
        each * 1e-12, x->own.gpu, most * 1e-12, ceil(flop / most));
}

static enum explained_verdict explain_fast(struct explained *x)
{
    const char *beyond = beyond_peak(x);
    if (beyond) return conclude(x, VERDICT_NOT_READ, beyond);
    explain_find_alternatives(x);
    if (x->alternative_count) return conclude(x, VERDICT_UNSTATED, "");
    return conclude(x, VERDICT_NOT_EXPLAINED,
                    "faster than predicted, and no value that the log leaves open makes up for it");
}

// A page that names several GPUs may give the times of another one.
static enum explained_verdict explain_difference(struct explained *x)
{
    const struct log *l = &x->log;
    bool slow = x->measured_s * 1e9 > (double)x->own.iteration_ns;
    enum explained_verdict verdict = (slow ? explain_slow : explain_fast)(x);
    if (verdict != VERDICT_NOT_EXPLAINED || !*l->other_gpu || !told(l, TOLD_GPU) ||
        l->told[TOLD_GPU].by != BY_WORDS || l->memory.card_bytes || x->settings.gpu)
        return verdict;
    return conclude(x, VERDICT_UNSTATED,
                    arena_print(x->arena,
                                "%s and %s are both named: which has this time is not stated "
                                "(--gpu states it)",
                                x->log.told[TOLD_GPU].text, l->other_gpu));
}

static bool is_refused(const struct explained *x)
{
    const struct certificate *c = &x->certificate;
    return c->by_log > 0 && c->found < 0;
}

// A rank of the model holds many times what the log counts, or the opposite: it is another's shape.
static bool is_of_another(const struct explained *x)
{
    static const double apart = 2;
    double own = x->certificate.rank_parameters, counted = (double)x->log.rank_parameters;
    return counted > 0 && own > 0 && (own > apart * counted || counted > apart * own);
}

// Whether the text has anything that was measured; else it may only say what is to be run.
static bool has_run(const struct log *l)
{
    const struct log_memory *m = &l->memory;
    bool any = m->allocated_bytes || m->reserved_bytes || m->device_bytes || l->average_s > 0;
    for (int i = 0; i < MEASURED_COUNT; i++) any |= l->series[i].count > 0;
    return any;
}

static enum explained_verdict judge(struct explained *x)
{
    const struct log *l = &x->log;
    bool predicted = !*x->own.reason;
    if (l->failure.out_of_memory) return conclude(x, VERDICT_OUT_OF_MEMORY, explain_failure(x));
    if (l->failure.killed && !(x->measured_s > 0))
        return conclude(x, VERDICT_KILLED, explain_killed(x));
    if (x->rate.only_first)
        return conclude(x, VERDICT_WARM_UP,
                        "only the first iterations are in the log, which take several times the "
                        "usual time");
    if (x->rate.moves)
        return conclude(x, VERDICT_NOT_STATIONARY,
                        arena_print(x->arena,
                                    "from its first to its last third it moves from %.4g to %.4g: "
                                    "no cost model explains a run that changes",
                                    x->rate.early, x->rate.late));
    if (l->retries)
        return conclude(x, VERDICT_RETRIES,
                        arena_print(x->arena,
                                    "%lld retries of the allocator, each of which synchronises the "
                                    "device: less memory (a smaller micro-batch, recomputation, "
                                    "expandable segments) ends them",
                                    (long long)l->retries));
    if (!predicted) return conclude(x, VERDICT_NOT_PREDICTED, x->own.reason);
    x->ran_too_full = x->own.device_bytes > x->own.capacity_bytes;
    if (!(x->measured_s > 0) && (!x->ran_too_full || !has_run(l)))
        return conclude(x, VERDICT_NOT_MEASURED, "the log states no time or rate");
    if (is_refused(x))
        return conclude(x, VERDICT_NOT_READ,
                        "the log's FLOP of a token are not the model's by any known count: model, "
                        "sequence, batch or GPUs are not as read");
    if (is_of_another(x))
        return conclude(x, VERDICT_NOT_READ,
                        "a rank of the model does not hold the parameters that the log counts: "
                        "shape or degrees are another run's");
    if (x->ran_too_full) {
        explain_find_alternatives(x);
        x->room_alone = !x->alternative_count && x->measured_s > 0;
        if (x->room_alone) explain_find_alternatives(x);
        if (x->alternative_count) return conclude(x, VERDICT_UNSTATED, "");
    }
    if (!(x->measured_s > 0))
        return conclude(x, VERDICT_NOT_EXPLAINED, "it ran, and should not fit");
    if (is_inside(x, x->measured_s))
        return conclude(x, VERDICT_AGREES,
                        x->guessed ? arena_print(x->arena, "but %s not in the log", x->guessed)
                        : x->ran_too_full
                            ? "in time; by its memory it should not fit, and no value "
                              "that the log leaves open makes room"
                            : "");
    if (x->guessed)
        return conclude(x, VERDICT_UNSTATED,
                        arena_print(x->arena,
                                    "%s not in the log, and what was taken is only the "
                                    "likeliest: --gpu and --set state it",
                                    x->guessed));
    return explain_difference(x);
}

void explain_judge(struct explained *x)
{
    const struct log *l = &x->log;
    x->verdict = judge(x);
    if (l->unknown_count)
        x->why = arena_print(x->arena,
                             "%s%s--%s%s no flag that is known (the nearest is --%s), so what it "
                             "states was not read",
                             x->why, *x->why ? "; " : "", l->unknown[0].flag,
                             l->unknown_count > 1 ? " and others are" : " is",
                             l->unknown[0].nearest);
}
