// Elimination by bound: the whole problem as one box (box.h), whose steps are repeated until
// nothing more is removed. What is removed from the box is removed from the choices, with the bound
// as the reason.
#include "solve/layout/internal.h"

#include <string.h>

enum { SWEEPS_MAX = 8 };

static int count_allowed(const struct choices *c, bool *const *allowed)
{
    int count = 0;
    for (int s = 0; s < c->priced->stage_count; s++)
        for (int i = 0; i < c->stages[s].count; i++) count += allowed[s][i];
    return count;
}

// Appends all steps of a sweep to those of the sweeps before.
static void keep_steps(struct box_proof *p, const struct box_answer *a, int resources,
                       struct arena *arena)
{
    struct box_record *r = &p->records[0];
    int count = r->step_count + a->step_count;
    struct box_step *steps =
        arena_grow(arena, r->steps, (size_t)r->step_count, (size_t)count, sizeof *steps);
    if (a->step_count)
        memcpy(steps + r->step_count, box_steps_copy(a->steps, a->step_count, resources, arena),
               (size_t)a->step_count * sizeof *steps);
    r->steps = steps;
    r->step_count = count;
}

static int64_t sweep(struct choices *c, struct graph *g, struct box_closer *closer,
                     int64_t target_ns, struct box_proof *proof, int64_t *removed_ns,
                     struct arena *scratch, struct arena *arena)
{
    int stages = c->priced->stage_count;
    assert(target_ns >= 0);
    struct choice_box box = choice_box_whole(closer, scratch);
    int64_t **amount = TAKE(scratch, stages, int64_t *), bound_ns = 0, left_ns = INT64_MAX;
    for (int s = 0; s < stages; s++) {
        amount[s] = TAKE(scratch, c->stages[s].count, int64_t);
        for (int i = 0; i < c->stages[s].count; i++) amount[s][i] = target_ns;
    }
    bool closed = false;
    for (int sweep = 0, before = -1;
         !closed && sweep < SWEEPS_MAX && before != count_allowed(c, box.allowed); sweep++) {
        struct box_answer answer;
        before = count_allowed(c, box.allowed);
        closed = box_close(closer, &box, target_ns, 0, &answer);
        bound_ns = answer.bound_ns > bound_ns ? answer.bound_ns : bound_ns;
        left_ns = answer.removed_ns < left_ns ? answer.removed_ns : left_ns;
        if (proof) {
            keep_steps(proof, &answer, c->priced->group_count + BUDGET_COUNT, arena);
            proof->records[0].single = answer.single;
        }
    }
    assert(bound_ns >= 0 && left_ns >= target_ns); // only what reaches it was removed
    // A closed box need not have lost every choice one by one: the remaining choices stay, and the
    // bound covers them.
    choices_remove(c, box.allowed, amount, REMOVED_BY_BOUND);
    if (proof) box_proof_take_paths(proof, closer, graph_symbol_count(g), arena);
    if (removed_ns) *removed_ns = left_ns;
    bound_ns = left_ns < bound_ns ? left_ns : bound_ns;
    return bound_ns > target_ns && !removed_ns ? target_ns : bound_ns;
}

int64_t eliminate(struct choices *c, struct graph *g, int64_t target_ns, const int *paths,
                  const int64_t *weights, int path_count, bool (*should_stop)(void *argument),
                  void *argument, int64_t *removed_ns, struct arena *arena)
{
    struct arena *scratch =
        arena_open_within(arena); // the list of removed choices may grow in the other arena
    struct box_closer *closer =
        box_closer_open(c, g, (struct box_settings){false, should_stop, argument}, scratch);
    box_closer_suggest(closer, paths, weights, path_count);
    int64_t bound_ns = sweep(c, g, closer, target_ns, NULL, removed_ns, scratch, arena);
    arena_close(scratch);
    return bound_ns;
}

int64_t eliminate_recorded(struct choices *c, struct graph *g, int64_t target_ns,
                           bool (*should_stop)(void *argument), void *argument,
                           struct box_proof *proof, int64_t *removed_ns, struct arena *arena)
{
    struct arena *scratch = arena_open_within(arena);
    struct box_closer *closer =
        box_closer_open(c, g, (struct box_settings){false, should_stop, argument}, scratch);
    *proof = (struct box_proof){0};
    box_proof_add(proof, NULL, 0, NULL, 0, arena);
    int64_t bound_ns = sweep(c, g, closer, target_ns, proof, removed_ns, scratch, arena);
    assert(proof->count == 1);
    proof->records[0].proven_ns = bound_ns;
    arena_close(scratch);
    return bound_ns;
}
