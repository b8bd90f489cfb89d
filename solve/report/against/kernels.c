// What passes and syncs of a run consist of: every kernel and ring that was timed, and what the
// plan's costs say of it.
#include <string.h>

#include "data/numbers/intervals.h"
#include "solve/report/against/against.h"

void against_take_costs(struct against *a, const struct problem *problem)
{
    if (!problem || !a->plan->group_gpus) return;
    a->gpu = costs_find_gpu(&problem->costs, a->plan->group_gpus[0]);
    a->group = &problem->cluster.groups[0];
    a->precision = problem->job.precision;
    a->intra_efficiency = problem->costs.intra_efficiency.value;
}

struct kernel_row {
    const struct sample *sample; // the first of its operation and size
    int count;
    double seconds, priced_s; // seconds: of all; priced_s: of each; 0: no cost says
};

static double or_else(double rate, double other) { return rate > 0 ? rate : other; }

// Products by the rate of their direction.
static double product_rate(const struct precision_costs *p, const struct sample *s)
{
    double gemm = p->gemm_flop_per_s.value, data = or_else(p->data_gradient_flop_per_s.value, gemm),
           weight = or_else(p->weight_gradient_flop_per_s.value, gemm);
    bool back = strstr(s->operation, "gradient") != NULL,
         of_weights = strstr(s->operation, "weight gradient") != NULL;
    double plain = !back ? gemm : of_weights ? weight : data;
    if (s->kind != SAMPLE_GROUPED) return plain;
    double grouped = p->grouped_flop_per_s.value;
    return or_else(back ? or_else(p->backward_grouped_flop_per_s.value, grouped) : grouped, plain);
}

// Steps around the members by the link of a node, on which they all are.
static double collective_s(const struct against *a, const struct sample *s)
{
    const struct node_group *g = a->group;
    double members = (double)s->member_count, steps = members - 1,
           times = strcmp(s->operation, "all_reduce") ? 1 : 2;
    if (!g || g->nodes > 1 || members < 2) return 0;
    return times * (steps / members * s->bytes / (g->intra.bytes_per_s * a->intra_efficiency) +
                    steps * g->intra.latency_s);
}

static double priced_s(const struct against *a, const struct sample *s)
{
    const struct gpu_costs *g = a->gpu;
    const struct precision_costs *p = g ? costs_find_precision(g, a->precision) : NULL;
    if (!g || !p) return 0;
    double memory = g->memory_bytes_per_s.value;
    switch (s->kind) {
    case SAMPLE_GEMM:
    case SAMPLE_GROUPED: return s->flop / product_rate(p, s);
    case SAMPLE_MEMORY:
        return s->bytes / (strstr(s->operation, "backward")
                               ? or_else(g->backward_memory_bytes_per_s.value, memory)
                               : memory);
    case SAMPLE_OPTIMIZER:
        return (s->bytes + (double)s->dimensions[0] * g->step_bytes_per_value.value) /
               or_else(g->step_bytes_per_s.value, memory);
    case SAMPLE_COLLECTIVE: return collective_s(a, s);
    default: return 0;
    }
}

static bool is_alike(const struct sample *a, const struct sample *b)
{
    return a->kind == b->kind && !strcmp(a->operation, b->operation) &&
           !memcmp(a->dimensions, b->dimensions, sizeof a->dimensions);
}

// Messages are rows of their own, and a step of a ring is timed beside what it is a part of.
static int find_rows(struct kernel_row *rows, const struct against *a, struct arena *arena)
{
    const struct samples *all = &a->run->samples;
    int count = 0;
    for (int i = 0; i < all->sample_count; i++) {
        const struct sample *s = &all->samples[i];
        int at = 0;
        if (s->kind == SAMPLE_LINK || s->kind == SAMPLE_CONTEXT || !s->repetitions) continue;
        while (at < count && !is_alike(rows[at].sample, s)) at++;
        if (at == count) rows[count++] = (struct kernel_row){s, 0, 0, priced_s(a, s)};
        bool scaled = s->kind != SAMPLE_LAYER && s->kind != SAMPLE_COLLECTIVE && a->run->speed > 0;
        // A ring is noted once for all of its members, who spend this time each.
        int times = s->repetitions * (s->member_count > 1 ? s->member_count : 1);
        rows[at].count += times;
        rows[at].seconds += times * sample_median(s, arena).value * (scaled ? a->run->speed : 1);
    }
    return count;
}

static const char *size_of(const struct sample *s, struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < s->dimension_count; i++)
        text = arena_print(arena, "%s%s%lld", text, i ? " x " : "", (long long)s->dimensions[i]);
    return text;
}

bool against_kernels_table(struct report_table *t, const struct against *a, struct arena *arena)
{
    static const char *const headings[] = {"what",     "size",  "count",   "predicted",
                                           "measured", "off %", "share %", "added"};
    struct kernel_row *rows = TAKE(arena, a->run->samples.sample_count + 1, struct kernel_row);
    int count = find_rows(rows, a, arena);
    double all = 0, each = (double)a->run->iteration_count * a->run->rank_count;
    for (int i = 0; i < count; i++) all += rows[i].seconds;
    report_table_begin(t, headings, "llrrrrrr", arena);
    for (int i = 0; i < count && all > 0; i++) {
        const struct kernel_row *r = &rows[i];
        double measured = r->seconds / r->count, added = r->seconds - r->count * r->priced_s;
        bool priced = r->priced_s > 0;
        int64_t added_ns = (int64_t)(1e9 * (added < 0 ? -added : added) / each);
        report_cell(t, r->sample->operation);
        report_cell(t, size_of(r->sample, arena));
        report_cell(t, arena_print(arena, "%d", r->count));
        report_cell(t, priced ? report_time((int64_t)(1e9 * r->priced_s), arena) : "-");
        report_cell(t, report_time((int64_t)(1e9 * measured), arena));
        report_cell(t,
                    priced ? arena_print(arena, "%+.1f", 100 * (measured / r->priced_s - 1)) : "-");
        report_cell(t, arena_print(arena, "%.1f", 100 * r->seconds / all));
        report_cell(t, priced ? arena_print(arena, "%s%s", added < 0 ? "-" : "+",
                                            report_time(added_ns, arena))
                              : "-");
    }
    return count > 0 && all > 0;
}
