// See other_trials.h.
#include "tests/support/trials/other_trials.h"

#include "data/kinds/in_flight.h"
#include "data/kinds/schedules.h"
#include "tests/support/check.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"

enum { PLANS_MOST = 20000 };

const char *const other_names[] = {"sharded layers", "tiers and energies", "widths", "local losses",
                                   "lists of what is in flight"};

// Segments of one or two stages, with heads of their own and stored inputs now and then.
static void draw_local(struct priced *p, uint64_t *state, struct arena *arena)
{
    p->layout.local_loss_every = 1 + (int)random_less(state, 2);
    p->layout.stored_inputs = random_less(state, 2);
    p->local_forward_ns = random_less(state, 12);
    p->local_backward_ns = random_less(state, 12);
    p->local_bytes = random_less(state, 6);
    if (p->run_count < 2 || random_less(state, 2)) return;
    priced_without_swaps(p);
    for (int o = 0; o < p->gradient_option_count; o++)
        if (p->gradient_options[o].tier_option) return;
    p->local_heads = TAKE_COPY(arena, p->runs, 1);
    p->local_heads->name = "own head";
    p->local_heads->count = 1, p->local_heads->recomputable = false;
    p->local_head_count = 1;
}

// From the last stage on, which has one: none before has fewer, the first at times all.
static void draw_listed(struct priced *p, uint64_t *state)
{
    int depth = 1, stages = p->layout.pipeline;
    p->layout.local_loss_every = 0, p->layout.stored_inputs = false;
    for (int s = stages - 1; s >= 0 && stages <= LISTED_STAGES_MAX; s--) {
        p->layout.in_flight[s] = (unsigned char)depth;
        if (random_less(state, 2)) depth += 1 + (int)random_less(state, 2);
    }
    in_flight_settle(p->layout.in_flight, stages, p->micro_batches);
}

bool other_trial_answer(struct check_trial *t, struct arena *arena)
{
    struct priced *p = &t->priced;
    struct error err = {OK, ""};
    struct oracle e;
    if (p->layer_count < p->stage_count || priced_check(p, &err) != OK ||
        schedule_build_priced(&t->schedule, p, arena, &err) != OK ||
        oracle_size(p, PLANS_MOST, arena) > PLANS_MOST ||
        oracle_answer(&e, p, &t->schedule, arena, &err) != OK)
        return false;
    t->best_ns = e.plans ? e.best_ns : INT64_MAX;
    t->best = e.plans ? e.best : NULL;
    return true;
}

bool other_trial_open(struct check_trial *t, enum other_kind kind, uint64_t seed,
                      struct arena *arena)
{
    uint64_t state = seed * 7919 + 11;
    bool one_stage = kind == OTHER_SHARDED || kind == OTHER_WIDTHS;
    int schedule;
    *t = (struct check_trial){.seed = seed};
    do schedule = (int)random_less(&state, SCHEDULE_KIND_COUNT);
    while (one_stage && schedule_kinds[schedule].virtual_stages != 1);
    if (kind == OTHER_LISTED) schedule = SCHEDULE_1F1B;
    random_priced_of(&t->priced, schedule, &state, arena);
    if (kind == OTHER_SHARDED) priced_draw_sharded(&t->priced, &state, arena);
    if (kind == OTHER_WIDTHS) priced_draw_widths(&t->priced, state, arena);
    if (kind == OTHER_LOCAL) draw_local(&t->priced, &state, arena);
    if (kind == OTHER_LISTED) draw_listed(&t->priced, &state);
    if (kind == OTHER_TIERS && !priced_draw_tiers(&t->priced, &state, arena)) return false;
    t->priced.objective = OBJECTIVE_ITERATION_TIME;
    if (!other_trial_answer(t, arena)) return false;
    if (t->best_ns == INT64_MAX && random_less(&state, 4)) return false;
    t->text = check_trial_save(&t->priced, "priced.json", arena);
    return check_trial_certify(t, arena);
}
