// Ranks with several stages in the local search: when layers move, the recomputation of a stage
// follows from the rank's memory. Each stage of a changed rank starts from its lightest choice with
// its layers; while the rank is too full, the stage is changed that adds the least load per byte
// saved at the fullest moment.

#include "data/base/least.h"
#include "solve/incumbent/internal.h"

struct refit {
    const struct choices *c;
    int rank;
    int *chosen;
    int64_t excess;       // bytes over the limit at the fullest moment
    const int *in_flight; // at that moment
};

static const struct choice *at(const struct refit *f, int turn)
{
    int stage = choices_stage_of(f->c, f->rank, turn);
    return &f->c->stages[stage].items[f->chosen[stage]];
}

static int64_t resident_bytes(const struct choice *x)
{
    return memory_total(&x->memory) - x->memory.activation_bytes - x->memory.working_bytes;
}

static void weigh(struct refit *f)
{
    int64_t resident = 0, working = 0, most = -1;
    for (int t = 0; t < f->c->virtual_stages; t++) {
        resident += resident_bytes(at(f, t));
        working = larger(working, at(f, t)->memory.working_bytes);
    }
    const struct rank_peaks *peaks = &f->c->peaks[f->rank];
    for (int k = 0; k < peaks->count; k++) {
        int64_t sum = 0;
        for (int t = 0; t < f->c->virtual_stages; t++)
            sum += peaks->in_flight[k][t] * at(f, t)->stash_bytes;
        if (sum > most) most = sum, f->in_flight = peaks->in_flight[k];
    }
    f->excess = resident + working + most -
                f->c->priced->groups[at(f, 0)->group].memory_limit_bytes;
}

struct step {
    int stage, choice;
    int64_t saved;
    double price;
};

// Among equally cheap steps the smallest that is enough, else the largest.
static bool is_better(const struct step *a, const struct step *b, int64_t excess)
{
    if (b->stage < 0 || a->price < b->price * (1 - 1e-9)) return true;
    if (a->price > b->price * (1 + 1e-9)) return false;
    bool enough = a->saved >= excess, other_enough = b->saved >= excess;
    return enough != other_enough ? enough : enough ? a->saved < b->saved : a->saved > b->saved;
}

static bool take_cheapest_step(struct refit *f, int *const *next, const int *heads)
{
    struct step best = {.stage = -1};
    for (int t = 0; t < f->c->virtual_stages; t++) {
        int stage = choices_stage_of(f->c, f->rank, t);
        const struct choice *now = at(f, t);
        for (int i = heads[stage]; i >= 0; i = next[stage][i]) {
            const struct choice *x = &f->c->stages[stage].items[i];
            int64_t saved = resident_bytes(now) - resident_bytes(x) +
                            f->in_flight[t] * (now->stash_bytes - x->stash_bytes);
            if (saved <= 0) continue;
            struct step step = {stage, i, saved,
                                (double)larger(0, x->load_ns - now->load_ns) / (double)saved +
                                    1e-30};
            if (is_better(&step, &best, f->excess)) best = step;
        }
    }
    if (best.stage < 0) return false;
    assert(best.saved > 0); // so that the steps terminate
    f->chosen[best.stage] = best.choice;
    return true;
}

// Takes the step back that saves most load and still fits. false: there is none.
static bool take_back(struct refit *f, int *const *next, const int *heads)
{
    int stage = -1, choice = -1;
    int64_t best = 0;
    for (int t = 0; t < f->c->virtual_stages; t++) {
        int s = choices_stage_of(f->c, f->rank, t), now = f->chosen[s];
        int64_t load = at(f, t)->load_ns;
        for (int i = heads[s]; i >= 0; i = next[s][i]) {
            f->chosen[s] = i;
            if (load - at(f, t)->load_ns <= best) break; // the chain is ordered from light to heavy
            weigh(f);
            if (f->excess > 0) continue;
            best = load - at(f, t)->load_ns, stage = s, choice = i;
            break;
        }
        f->chosen[s] = now;
    }
    if (stage >= 0) f->chosen[stage] = choice;
    return stage >= 0;
}

bool search_refit_rank(const struct choices *c, int rank, int *const *next, const int *heads,
                       int *chosen)
{
    struct refit f = {.c = c, .rank = rank, .chosen = chosen};
    assert(c->peaks && rank >= 0 && rank < c->rank_count);
    for (int t = 0; t < c->virtual_stages; t++) {
        int stage = choices_stage_of(c, rank, t);
        assert(heads[stage] >= 0 && heads[stage] < c->stages[stage].count);
        chosen[stage] = heads[stage];
    }
    for (int steps = 0; steps < 4 * c->virtual_stages; steps++) {
        weigh(&f);
        if (f.excess <= 0) {
            while (take_back(&f, next, heads)) continue;
            return true;
        }
        if (!take_cheapest_step(&f, next, heads)) return false;
    }
    return false;
}
