// Further sharded layers, degrees of the vocabulary, and tiers, for random priced documents, from
// numbers of their own.
#include "data/kinds/schedules.h"
#include "tests/support/random_priced.h"

#define UNIT ((int64_t)1000000000) // of most bytes of a draw

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

static int64_t *moved(const int64_t *values, int count, int up, int down, uint64_t *state,
                      struct arena *arena)
{
    int64_t *copy = TAKE_COPY(arena, values, count);
    for (int i = 0; i < count; i++) {
        copy[i] += random_less(state, up + 1) - random_less(state, down + 1);
        if (copy[i] < 0) copy[i] = values[i] < 0 ? values[i] : 0;
    }
    return copy;
}

static int64_t part_of(int64_t bytes, uint64_t *state) { return bytes * random_less(state, 5) / 4; }

static void draw_sharded(struct priced_run *to, const struct priced *p, uint64_t *state,
                         struct arena *arena)
{
    int passes = p->slice_count * p->group_count;
    const int64_t *sync = to->sync_ns[0];
    to->forward_ns = moved(to->forward_ns, passes, 6, 0, state, arena);
    to->backward_ns = moved(to->backward_ns, passes, 8, 1, state, arena);
    to->sync_ns = TAKE(arena, 1, int64_t *);
    to->sync_ns[0] = moved(sync, p->group_count, 3, 12, state, arena);
    to->optimizer_ns = moved(to->optimizer_ns, p->group_count, 0, 4, state, arena);
    to->weight_bytes = part_of(to->weight_bytes, state);
    to->gradient_bytes = part_of(to->gradient_bytes, state);
    to->optimizer_bytes = part_of(to->optimizer_bytes, state);
    to->unsharded_bytes += random_less(state, 3);
    if (random_less(state, 4) == 0) // senseless, but allowed: recomputation keeps more
        to->stash_bytes[RECOMPUTE_FULL] = to->stash_bytes[RECOMPUTE_NONE] +
                                          random_less(state, 9) * UNIT;
}

void priced_draw_sharded(struct priced *p, uint64_t *state, struct arena *arena)
{
    p->gradient_option_count = 1;
    p->recompute[RECOMPUTE_SWAP] = false;
    p->tier_count = p->local_head_count = 0;
    if (random_less(state, 3) == 0) p->objective = OBJECTIVE_MAX_LOAD;
    for (int i = 0; i < p->run_count; i++) {
        struct priced_run *r = &p->runs[i];
        r->tiered = NULL, r->tiered_count = 0;
        r->recomputable = random_less(state, 4) > 0;
        r->weight_bytes += random_less(state, 12), r->gradient_bytes += random_less(state, 6);
    }
    p->sharded_runs = TAKE_COPY(arena, p->runs, p->run_count);
    p->sharded_run_count = p->run_count;
    for (int i = 0; i < p->run_count; i++) draw_sharded(&p->sharded_runs[i], p, state, arena);
    for (int g = 0; g < p->group_count; g++)
        p->groups[g].memory_limit_bytes -= random_less(state, 2) * p->groups[g].memory_limit_bytes /
                                           4;
}

// The first run and mostly the last one at up to three degrees, with more or less of everything.
void priced_draw_vocabulary(struct priced *p, uint64_t *state, struct arena *arena)
{
    int degrees = 1 + (int)random_less(state, 3), tensor = 0, last = p->run_count - 1,
        ends = last && random_less(state, 4) ? 2 : 1, passes = p->slice_count * p->group_count;
    p->has_embedding_sync = false, p->embedding_sync_ns = NULL;
    p->vocabulary_runs = TAKE(arena, degrees * ends, struct priced_run);
    for (int k = 0; k < degrees; k++) {
        tensor += 1 + (int)random_less(state, 3);
        for (int end = 0; end < ends; end++) {
            struct priced_run *own = &p->runs[end ? last : 0],
                              *to = &p->vocabulary_runs[p->vocabulary_run_count++];
            own->recomputable = false;
            if (p->sharded_run_count) p->sharded_runs[end ? last : 0].recomputable = false;
            *to = *own;
            to->tensor = tensor;
            to->forward_ns = moved(to->forward_ns, passes, 5, 5, state, arena);
            to->backward_ns = moved(to->backward_ns, passes, 6, 6, state, arena);
            if (schedule_splits_backward(p->layout.schedule))
                to->weight_ns = moved(to->weight_ns, p->group_count, 3, 3, state, arena);
            to->sync_ns = TAKE(arena, 1, int64_t *);
            to->sync_ns[0] = moved(own->sync_ns[0], p->group_count, 6, 8, state, arena);
            to->optimizer_ns = moved(to->optimizer_ns, p->group_count, 3, 4, state, arena);
            to->weight_bytes = 2 * part_of(to->weight_bytes, state);
            to->optimizer_bytes = part_of(to->optimizer_bytes, state);
            to->stash_bytes[0] = 2 * part_of(to->stash_bytes[0], state);
            to->working_bytes[0] = 2 * part_of(to->working_bytes[0], state);
            to->unsharded_bytes += random_less(state, 3);
        }
    }
}

static void draw_tiered(struct priced *p, struct priced_run *run, bool energies, uint64_t *state,
                        struct arena *arena)
{
    int passes = p->slice_count * p->group_count;
    run->tiered_count = p->gradient_option_count;
    run->tiered = TAKE(arena, run->tiered_count, struct priced_tiered);
    for (int o = 0; o < run->tiered_count; o++) {
        struct priced_tiered *t = &run->tiered[o];
        bool moves = p->gradient_options[o].tier_option;
        t->weight_bytes = moves ? part_of(run->weight_bytes, state) : run->weight_bytes;
        t->buffer_bytes = moves ? random_less(state, 3) : 0;
        t->tier_bytes = TAKE(arena, p->tier_count, int64_t);
        for (int i = 0; i < p->tier_count && moves; i++) t->tier_bytes[i] = random_less(state, 5);
        t->optimizer_bytes = moves ? part_of(run->optimizer_bytes, state) : run->optimizer_bytes;
        t->optimizer_ns = run->optimizer_ns;
        if (moves) t->optimizer_ns = moved(run->optimizer_ns, p->group_count, 6, 2, state, arena);
        if (moves && below(state, 2))
            t->forward_ns = moved(run->forward_ns, passes, 5, 0, state, arena);
        if (moves && below(state, 2))
            t->backward_ns = moved(run->backward_ns, passes, 5, 0, state, arena);
        int64_t **const all[] = {&t->energy_uj, &t->again_uj, &t->swap_uj};
        for (int i = 0; i < 3 && energies; i++) {
            *all[i] = TAKE(arena, p->group_count, int64_t);
            for (int g = 0; g < p->group_count; g++) (*all[i])[g] = random_less(state, 12);
        }
    }
}

bool priced_draw_tiers(struct priced *p, uint64_t *state, struct arena *arena)
{
    static const char *const names[] = {"host", "flash"};
    bool energies = below(state, 3) > 0;
    if (p->gradient_option_count < 2 || p->local_head_count) return false;
    priced_without_swaps(p);
    p->tier_count = 1 + below(state, 2);
    p->tiers = TAKE(arena, p->tier_count, const char *);
    for (int i = 0; i < p->tier_count; i++) p->tiers[i] = names[i];
    for (int o = 1; o < p->gradient_option_count; o++) {
        struct compression_option *x = &p->gradient_options[o];
        x->tier_option = NULL;
        if (x->form.amount < 1) x->form.amount = 1;
        if (o == 1 || below(state, 2)) x->tier_option = o == 1 ? "near" : "far";
        if (x->tier_option && below(state, 2)) x->form = (struct compression_form){0};
        if (!x->form.amount) x->quality_cost = 0;
    }
    for (int g = 0; g < p->group_count; g++) {
        p->groups[g].tier_limit_bytes = TAKE(arena, p->tier_count, int64_t);
        for (int i = 0; i < p->tier_count; i++)
            p->groups[g].tier_limit_bytes[i] = random_less(state, 14) - 1;
        p->groups[g].memory_limit_bytes -= random_less(state, 2) * p->groups[g].memory_limit_bytes /
                                           4;
    }
    for (int r = 0; r < p->run_count; r++) draw_tiered(p, &p->runs[r], energies, state, arena);
    if (energies) p->budget.energy_max_uj = 1 + random_less(state, 14 * p->layer_count);
    return true;
}
