// The plans of the game: adds each round's least plan, and removes plans that are no longer in the
// box.
#include <string.h>

#include "solve/boxes/box_internal.h"

enum { GAME_STEPS = 200 };

static void add_plan(struct box_closer *b)
{
    if (b->memory.count) box_memory_measure(b, b->work.chosen);
    int at = game_add_plan(b->game, b->work.durations);
    assert(at >= 0 && at < game_plan_count(b->game));
    memcpy(b->work.plans + at * b->stages, b->work.chosen,
           (size_t)b->stages * sizeof *b->work.chosen);
}

static bool is_made_up(const struct box_closer *b, int place)
{
    return b->work.plans[place * b->stages] < 0;
}

static bool plan_allowed(const struct box_closer *b, int place, bool *const *allowed)
{
    for (int s = 0; s < b->stages; s++)
        if (b->work.plans[place * b->stages + s] >= 0 &&
            !allowed[s][b->work.plans[place * b->stages + s]])
            return false;
    return true;
}

// Removes from the game the plans that are no longer in the box, and with `real` also those that
// balance.c made up.
void box_drop_plans(struct box_closer *b, bool *const *allowed, bool real)
{
    int count = game_plan_count(b->game), kept = 0;
    for (int x = 0; x < count; x++)
        if (plan_allowed(b, x, allowed) && !(real && is_made_up(b, x))) {
            memmove(b->work.plans + kept * b->stages, b->work.plans + x * b->stages,
                    (size_t)b->stages * sizeof *b->work.plans);
            game_move_plan(b->game, x, kept++);
        }
    assert(kept <= count);
    game_truncate_plans(b->game, kept);
}

// Made-up plans show quickly where good weights are, but may be better than anything that the box
// allows: then the bound stays below what it can reach with real plans. false: there was none.
bool box_drop_made_up(struct box_closer *b, bool *const *allowed)
{
    bool any = false;
    for (int x = 0; x < game_plan_count(b->game); x++) any = any || is_made_up(b, x);
    if (any) box_drop_plans(b, allowed, true);
    return any;
}

void box_meet_plan(struct box_closer *b, const int *chosen, struct box_answer *a)
{
    int64_t time = graph_longest(b->g, b->work.durations, b->work.counts);
    assert(time >= 0);
    if (time >= a->found_ns || !choices_fit_together(b->c, chosen)) return;
    a->found_ns = time;
    memcpy(a->found, chosen, (size_t)b->stages * sizeof *chosen);
}

// By ranks the least plan may not fit into memory: tries one that does, under the same weights.
static void meet_fitting_plan(struct box_closer *b, const struct choice_box *box,
                              struct box_answer *a)
{
    struct dynamic_box dynamic_box = {.coefficients = b->work.coefficients,
                                      .prices = b->work.prices,
                                      .allowed = box->allowed,
                                      .spans = box->spans,
                                      .fit_ranks = true};
    struct dynamic_answer answer = {.chosen = b->work.fitting};
    dynamic_solve(b->counted, &dynamic_box, &answer);
    if (answer.bound_ns != DYNAMIC_NOTHING &&
        choices_durations(b->c, b->work.fitting, b->work.durations))
        box_meet_plan(b, b->work.fitting, a);
}

// Tries the least plan, with other choices where it does not fit.
static void meet_fitting(struct box_closer *b, const struct choice_box *box, struct box_answer *a)
{
    memcpy(b->work.fitting, b->work.chosen, (size_t)b->stages * sizeof *b->work.chosen);
    if (!box_memory_refit(b, box->allowed, b->work.fitting) ||
        !choices_durations(b->c, b->work.fitting, b->work.durations))
        return;
    if (b->c->joint) b->c->joint->put(b->c->joint->of, b->work.durations);
    box_meet_plan(b, b->work.fitting, a);
}

// Replays the least plan; adds its path and the mean plan's to the game.
void box_learn_from_plan(struct box_closer *b, const struct choice_box *box, struct box_answer *a)
{
    bool fits = true;
    if (choices_durations(b->c, b->work.chosen, b->work.durations)) {
        if (b->c->joint) b->c->joint->put(b->c->joint->of, b->work.durations);
        box_meet_plan(b, b->work.chosen, a);
        box_game_add_path(b, path_pool_add(&b->paths, b->work.counts, NULL), b->work.counts);
        add_plan(b);
        for (int r = 0; r < b->c->rank_count && fits; r++)
            fits = choices_rank_fits(b->c, b->work.chosen, r);
        if (!fits && b->memory.count) meet_fitting(b, box, a);
    }
    if (box_closer_is_balanced(b) || b->labels) game_solve_exactly(b->game);
    else game_solve(b->game, GAME_STEPS);
    if (!game_plan_count(b->game)) return;
    game_mean_durations(b->game, b->work.durations);
    graph_longest(b->g, b->work.durations, b->work.counts);
    box_game_add_path(b, path_pool_add(&b->paths, b->work.counts, NULL), b->work.counts);
    if (!fits && box_closer_is_by_ranks(b)) meet_fitting_plan(b, box, a);
}

void box_meet_near_shares(struct box_closer *b, const struct choice_box *box, struct box_answer *a)
{
    struct arena_mark mark = arena_set_mark(b->arena);
    struct choice_box near = choice_box_copy(b, box, b->arena);
    int kinds = b->kinds->count;
    for (int s = 0; s < b->stages; s++)
        for (int j = 0; j < b->c->stages[s].count; j++)
            for (int i = 0; i < kinds; i++) {
                int held = b->kinds->held[s][j * kinds + i];
                double share = box_share_of(b, s, i);
                if (held < (int)share || held > (int)(share + 0.999)) near.allowed[s][j] = false;
            }
    if (box_solve(b, false, &near, INT64_MAX, NULL) != DYNAMIC_NOTHING) meet_fitting(b, box, a);
    arena_reset(b->arena, mark);
}
