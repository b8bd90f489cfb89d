// A rank of the dynamic programme by ranks whose decisions are listed: all that fit into its
// memory, at every moment of the schedule. Its least cost for N layers is the least of those with N
// layers (docs/PROOFS.md 5).
#include <string.h>

#include "solve/boxes/dynamic_table.h"

enum { VISITS_MAX = 1 << 16 };

struct listing {
    const struct dynamic *d;
    const struct rank_table *k;
    int rank, *chosen, visits, capacity;
    struct rank_decisions *to;
    int64_t ahead[STAGES_MAX + 1]; // [turn]: the least bytes of this turn and those after it
};

static const struct stage_choices *stage_at(const struct listing *x, int turn)
{
    return &x->d->c->stages[x->k->stages[turn]];
}

// At the rank's first moment, without working memory: never more than the rank's memory.
static int64_t bytes_of(const struct listing *x, int turn, int choice)
{
    return x->d->stages[x->k->stages[turn]].resident[choice] +
           x->d->c->peaks[x->rank].in_flight[0][turn] *
               stage_at(x, turn)->items[choice].stash_bytes;
}

static void add_decision(struct listing *x, int layers)
{
    int turns = x->d->c->virtual_stages, n = x->to->count;
    if (n == x->capacity) {
        int capacity = n ? 2 * n : 64;
        int *choices = TAKE(x->d->arena, capacity * turns, int),
            *of = TAKE(x->d->arena, capacity, int);
        if (n) memcpy(choices, x->to->choices, (size_t)(n * turns) * sizeof *choices);
        if (n) memcpy(of, x->to->layers, (size_t)n * sizeof *of);
        x->to->choices = choices, x->to->layers = of, x->capacity = capacity;
    }
    for (int t = 0; t < turns; t++) x->to->choices[n * turns + t] = x->chosen[x->k->stages[t]];
    x->to->layers[x->to->count++] = layers;
}

// false: too many.
static bool list_from(struct listing *x, int turn, int layers, int64_t bytes)
{
    const struct stage_choices *stage = stage_at(x, turn);
    bool last = turn == x->d->c->virtual_stages - 1;
    for (int i = 0; i < stage->count; i++) {
        int64_t sum = bytes + bytes_of(x, turn, i);
        if (sum + x->ahead[turn + 1] > x->k->limit) continue;
        if (++x->visits > VISITS_MAX) return false;
        x->chosen[x->k->stages[turn]] = i;
        int n = layers + stage->items[i].layer_count;
        if (!last && !list_from(x, turn + 1, n, sum)) return false;
        if (last && choices_rank_fits(x->d->c, x->chosen, x->rank)) add_decision(x, n);
        if (x->to->count > DECISIONS_MAX) return false;
    }
    return true;
}

static void list_decisions(struct dynamic *d, int rank)
{
    struct rank_table *k = &d->ranks[rank];
    struct listing x = {.d = d, .k = k, .rank = rank, .chosen = k->chosen};
    x.to = k->decisions = TAKE(d->arena, 1, struct rank_decisions);
    for (int t = d->c->virtual_stages - 1; t >= 0; t--) {
        int64_t least = INT64_MAX;
        for (int i = 0; i < stage_at(&x, t)->count; i++)
            least = bytes_of(&x, t, i) < least ? bytes_of(&x, t, i) : least;
        x.ahead[t] = x.ahead[t + 1] + (least < INT64_MAX ? least : 0);
    }
    if (!list_from(&x, 0, 0, 0)) k->decisions->count = -1;
}

const int *dynamic_rank_decisions(struct dynamic *d, int rank, int *count)
{
    if (!d->ranks[rank].decisions) list_decisions(d, rank);
    const struct rank_decisions *x = d->ranks[rank].decisions;
    *count = x->count > 0 ? x->count : 0;
    return x->choices;
}

// NOT_REACHED: the box does not allow it.
static double cost_of(const struct dynamic *d, const struct rank_table *k, int decision)
{
    int turns = d->c->virtual_stages;
    double cost = 0;
    for (int t = 0; t < turns; t++) {
        double step = d->stages[k->stages[t]].cost[k->decisions->choices[decision * turns + t]];
        if (step >= NOT_REACHED) return NOT_REACHED;
        cost += step;
    }
    return cost;
}

bool rank_use_decisions(struct dynamic *d, int rank)
{
    struct rank_table *k = &d->ranks[rank];
    int64_t product = 1;
    for (int t = 0; t < d->c->virtual_stages && product <= DECISIONS_MAX; t++)
        product *= d->stages[k->stages[t]].active_count;
    if (product > DECISIONS_MAX) return false;
    if (!k->decisions) list_decisions(d, rank);
    if (k->decisions->count < 0) return false;
    for (int n = 0; n < d->row; n++) k->cost[n] = NOT_REACHED;
    for (int i = 0; i < k->decisions->count; i++) {
        int n = k->decisions->layers[i];
        if (n < k->least || n > k->most) continue;
        double cost = cost_of(d, k, i);
        if (cost < k->cost[n]) k->cost[n] = cost, k->by[n] = i;
    }
    return k->by_decisions = true;
}

void rank_bound_decisions(const struct dynamic *d, int rank, const double *others,
                          wide priced_limits, int64_t *const *through_ns)
{
    const struct rank_table *k = &d->ranks[rank];
    int turns = d->c->virtual_stages;
    for (int t = 0; t < turns; t++)
        for (int j = 0; j < d->stages[k->stages[t]].active_count; j++)
            through_ns[k->stages[t]][d->stages[k->stages[t]].active[j]] = DYNAMIC_NOTHING;
    for (int i = 0; i < k->decisions->count; i++) {
        int n = k->decisions->layers[i];
        if (n < k->least || n > k->most || others[n] >= NOT_REACHED) continue;
        double cost = cost_of(d, k, i);
        if (cost >= NOT_REACHED) continue;
        int64_t ns = dynamic_cost_to_ns(d, cost + others[n], priced_limits);
        for (int t = 0; t < turns; t++) {
            int64_t *to = &through_ns[k->stages[t]][k->decisions->choices[i * turns + t]];
            *to = ns < *to ? ns : *to;
        }
    }
}
