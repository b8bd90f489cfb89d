// Which operations the schedule's graph has. A plan states it, since where the one price of a kind sits at half a nanosecond
// two correct computations of it may disagree; everywhere else the judge's own prices decide (docs/FORMULAS.md, section 9):
// a kind of operation stands in the graph if any of its prices, for any choice, rounds to more than nothing.
#include "solve/verify_parts.h"

// Around a half, in nanoseconds: far above what double and long double can differ by at such prices.
#define HALF_WIDTH_NS 1e-6L

static void raise_to(long double *largest, long double ns)
{
    if (ns > *largest) *largest = ns;
}

static void raise_parts(const struct assay *a, int run, int from, int to, struct largest_prices *largest)
{
    const struct job *j = &a->problem->job;
    struct sending there = {.run = run, .sender = from, .receiver = to},
                   back = {.run = run, .sender = to, .receiver = from, .backward = true};
    long double price[PART_COUNT], price_back[PART_COUNT];
    if (!transfer_unrounded_ns(a, there, price) || !transfer_unrounded_ns(a, back, price_back)) return;
    for (int k = 0; k < PART_COUNT; k++) {
        raise_to(&largest->parts_ns[k], price[k]);
        raise_to(&largest->parts_ns[k], price_back[k]);
    }
    for (int i = 0; i < j->boundary_option_count; i++) {
        if (j->boundary_options[i].rank < j->budget.rank_min) continue;
        back.rank = j->boundary_options[i].rank;
        transfer_unrounded_ns(a, back, price_back);
        for (int k = 0; k < PART_COUNT; k++) raise_to(&largest->parts_ns[k], price_back[k]);
    }
}

static void raise_sync(const struct assay *a, int run, int group, long double *largest)
{
    const struct job *j = &a->problem->job;
    raise_to(largest, layer_sync_unrounded_ns(a, run, group, 0));
    for (int i = 0; i < j->gradient_option_count; i++)
        if (j->gradient_options[i].rank >= j->budget.rank_min)
            raise_to(largest, layer_sync_unrounded_ns(a, run, group, j->gradient_options[i].rank));
}

struct largest_prices largest_prices_of(const struct assay *a)
{
    const struct cluster *c = &a->problem->cluster;
    struct largest_prices largest = {{0}, 0, 0};
    for (int g = 0; g < c->group_count; g++) {
        if (exclusion_of(a, g)) continue;
        raise_to(&largest.sync_ns, sync_constant_unrounded_ns(a, g));
        for (int r = 0; r < a->problem->model.run_count; r++) {
            raise_sync(a, r, g, &largest.sync_ns);
            raise_to(&largest.optimizer_ns, optimizer_unrounded_ns(a, r, g));
            for (int h = 0; h < c->group_count; h++)
                if (!exclusion_of(a, h)) raise_parts(a, r, g, h, &largest);
        }
    }
    return largest;
}

bool offers_epilogue(const struct assay *a)
{
    const struct job *j = &a->problem->job;
    for (int i = 0; i < j->boundary_option_count; i++)
        if (j->boundary_options[i].epilogue_only && j->boundary_options[i].rank >= j->budget.rank_min) return true;
    return false;
}

static void hear_kind(struct hearing *h, const char *what, bool stated, long double largest_ns, bool claimed)
{
    if (!stated && largest_ns >= 0.5L + HALF_WIDTH_NS)
        verdict_add(h->verdict, h->arena, "schedule", -1, "the plan's graph has no %s, whose largest price is %.9Lg ns", what,
                    largest_ns);
    else if (!stated && claimed)
        verdict_add(h->verdict, h->arena, "schedule", -1, "the plan's graph has no %s, yet it claims a time for it", what);
    // Of a replica on nodes only its own links are looked at, not all that it could stand on.
    if (stated && !h->rings && largest_ns < 0.5L - HALF_WIDTH_NS)
        verdict_add(h->verdict, h->arena, "schedule", -1, "the plan's graph has %s, whose largest price is %.9Lg ns", what,
                    largest_ns);
}

static void hear_same(struct hearing *h, const char *what, bool stated, bool own)
{
    if (stated != own)
        verdict_add(h->verdict, h->arena, "schedule", -1, "the plan's graph has %s%s, the problem has %s", stated ? "" : "no ",
                    what, own ? "one" : "none");
}

void hear_graph(struct hearing *h)
{
    const struct plan *p = h->plan;
    struct largest_prices largest = largest_prices_of(&h->assay);
    bool parts[PART_COUNT] = {false}, sync = false, optimizer = false;
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        sync = sync || x->sync_ns;
        optimizer = optimizer || x->optimizer_ns;
        for (int k = 0; k < PART_COUNT; k++)
            parts[k] = parts[k] || x->send_forward_ns[k] || x->send_backward_ns[k] || x->send_epilogue_ns[k];
    }
    for (int k = 0; k < PART_COUNT; k++)
        hear_kind(h, arena_print(h->arena, "transfer part %s", transfer_part_names[k]), p->graph.parts[k],
                  largest.parts_ns[k], parts[k]);
    hear_kind(h, "gradient sync", p->graph.sync, largest.sync_ns, sync);
    hear_kind(h, "optimizer step", p->graph.optimizer, largest.optimizer_ns, optimizer);
    hear_same(h, "drain of its own", p->graph.epilogue, offers_epilogue(&h->assay));
    hear_same(h, "embedding sync", p->graph.embedding_sync, h->assay.embedding_sync);
}
