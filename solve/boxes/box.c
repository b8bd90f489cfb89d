// Closes boxes by mixtures of paths: see box.h. Each round computes the bound under the current
// weights by the dynamic programme, removes what reaches the target, and finds the next weights by
// the game of paths against plans. The game's plans are the least ones of the earlier rounds; its
// paths are critical for such a plan or for the mean of the plans.
#include "solve/boxes/box.h"

#include <string.h>

#include "data/base/grow.h"
#include "data/base/least.h"
#include "data/results/bound.h"
#include "solve/boxes/box_internal.h"

enum {
    ROUNDS = 30,
    STALLED = 4,
    ROUNDS_BY_RANKS = 100,
    STALLED_BY_RANKS = 7,
    ROUNDS_OF_SHARES = 4,
    ROUNDS_TO_MEET = 40,       // until a plan is found, if memory rows lead to it
    STARTING_PATHS_USED = 600, // one by one; the others only when the game selects them
};

// ---- steps

bool box_is_stopped(const struct box_closer *b)
{
    return b->settings.should_stop && b->settings.should_stop(b->settings.argument);
}

// NULL: none.
static const int64_t *used_prices(const struct box_closer *b)
{
    const struct dynamic *d = b->current.on_small_table ? b->priced : b->counted;
    int64_t *prices = NULL;
    for (int r = 0, count = dynamic_resource_count(d); r < count; r++) {
        int64_t price = dynamic_used_price(d, r, b->work.prices);
        if (price > 0 && !prices) prices = TAKE(b->arena, count, int64_t);
        if (prices) prices[r] = price;
    }
    return prices;
}

static void note_memory(struct box_closer *b, struct box_step *step)
{
    struct memory_price *prices = TAKE(b->arena, b->memory.count, struct memory_price);
    for (int i = 0; i < b->memory.count; i++)
        if (b->memory.rows[i].price > 0) prices[step->memory_count++] = b->memory.rows[i];
    step->memory = prices;
}

// removing: later steps rest on this one. Else it only raised the bound, and the next one that
// raises it replaces it.
static void note_step(struct box_closer *b, struct box_answer *a, int path_count, bool removing)
{
    a->step_count -= b->current.last_only_raised;
    assert(a->step_count >= 0 && path_count >= 0 && path_count <= 2 * WEIGHTS_MAX);
    b->current.last_only_raised = !removing;
    GROW(b->arena, a->steps, a->step_count, b->current.step_capacity, 8);
    int *ids = TAKE(b->arena, path_count, int);
    int64_t *weights = TAKE(b->arena, path_count, int64_t);
    memcpy(ids, b->now.ids, (size_t)path_count * sizeof *ids);
    memcpy(weights, b->now.weights, (size_t)path_count * sizeof *weights);
    struct box_step *step = &a->steps[a->step_count++];
    *step = (struct box_step){.path_count = path_count,
                              .ids = ids,
                              .weights = weights,
                              .prices = used_prices(b),
                              .relaxed = b->current.on_small_table,
                              .labelled = b->current.labelled,
                              .removes = removing};
    note_memory(b, step);
    box_kinds_note(b, step);
}

static void mix(struct box_closer *b, const int *ids, const int64_t *weights, int path_count)
{
    memset(b->work.coefficients, 0, (size_t)b->symbols * sizeof *b->work.coefficients);
    wide sum = 0;
    for (int i = 0; i < path_count; i++) {
        const int *path = box_closer_path(b, ids[i]);
        assert(weights[i] >= 0);
        sum += (wide)weights[i] * path_laps(path, b->symbols);
        for (int k = 0; k < b->symbols; k++) b->work.coefficients[k] += weights[i] * path[k];
    }
    assert(sum <= (wide)1 << WEIGHT_BITS); // what makes the mixture a bound
}

void box_take_bound(struct box_closer *b, struct box_answer *a, int64_t bound_ns, int path_count,
                    bool removed)
{
    assert(bound_ns >= 0 && a->bound_ns >= 0);
    if (bound_ns > a->bound_ns) {
        note_step(b, a, path_count, removed);
        a->bound_ns = bound_ns;
    } else if (removed) {
        b->current.last_only_raised = false; // it stays: this one raises nothing
        note_step(b, a, path_count, true);
    }
}

static bool stands_in(const struct box_closer *b, bool *const *allowed, const int *chosen)
{
    bool all = true;
    for (int s = 0; s < b->stages; s++) all = all && allowed[s][chosen[s]];
    return all;
}

static void note_removed(struct box_closer *b, int64_t bound_ns)
{
    assert(bound_ns >= 0);
    if (bound_ns < b->current.removed_ns) b->current.removed_ns = bound_ns;
}

// Cuts the ends of the spans whose bound reaches the target.
static int trim_spans(struct box_closer *b, struct layer_span *spans, int64_t target_ns)
{
    int removed = 0;
    for (int r = 0; r < b->c->rank_count; r++) {
        assert(spans[r].least >= 0 && spans[r].most <= b->c->priced->layer_count);
        for (; spans[r].least <= spans[r].most && b->work.spans_ns[r][spans[r].least] >= target_ns;
             removed++)
            note_removed(b, b->work.spans_ns[r][spans[r].least++]);
        for (; spans[r].least <= spans[r].most && b->work.spans_ns[r][spans[r].most] >= target_ns;
             removed++)
            note_removed(b, b->work.spans_ns[r][spans[r].most--]);
    }
    return removed;
}

int64_t box_solve(struct box_closer *b, bool on_small_table, const struct choice_box *box,
                  int64_t target_ns, int *removed)
{
    struct dynamic *d = on_small_table ? b->priced : b->counted;
    b->current.on_small_table = on_small_table && b->priced != b->counted;
    b->current.labelled = false;
    bool by_ranks = box_closer_is_by_ranks(b), charging = false;
    if (b->kinds) box_kinds_charge(b, box), charging = b->kinds->charging;
    struct dynamic_box dynamic_box = {.coefficients = b->work.coefficients,
                                      .prices = b->work.prices,
                                      .allowed = box->allowed,
                                      .spans = by_ranks ? box->spans : NULL,
                                      .memory = b->memory.rows,
                                      .memory_count = b->memory.count,
                                      .added = charging ? b->kinds->added : NULL,
                                      .granted = charging ? b->kinds->granted : 0};
    struct dynamic_answer answer = {.chosen = b->work.chosen,
                                    .through_ns = b->work.through,
                                    .spans_ns = by_ranks ? b->work.spans_ns : NULL};
    dynamic_solve(d, &dynamic_box, &answer);
    if (removed) *removed = 0;
    if (answer.bound_ns >= target_ns || !removed) return answer.bound_ns;
    assert(stands_in(b, box->allowed, b->work.chosen));
    for (int s = 0; s < b->stages; s++)
        for (int i = 0; i < b->c->stages[s].count; i++)
            if (box->allowed[s][i] && b->work.through[s][i] >= target_ns) {
                box->allowed[s][i] = false;
                note_removed(b, b->work.through[s][i]);
                ++*removed;
            }
    if (by_ranks) *removed += trim_spans(b, box->spans, target_ns);
    if (*removed) box_couple_ranks(b->c, box->allowed), box_narrow(b, box);
    return answer.bound_ns;
}

void box_mix_one(struct box_closer *b, int id)
{
    b->now.ids[0] = id, b->now.weights[0] = (int64_t)1 << WEIGHT_BITS;
    mix(b, b->now.ids, b->now.weights, 1);
}

// Uses each starting path on its own, on the small table: loads too heavy for any plan below the
// target are removed at once.
static bool use_starting_paths(struct box_closer *b, const struct choice_box *box,
                               int64_t target_ns, struct box_answer *a)
{
    for (int id = 0; id < b->starting_count && !box_is_stopped(b);
         id += 1 + b->starting_count / STARTING_PATHS_USED) {
        int removed;
        box_mix_one(b, id);
        int64_t bound = box_solve(b, true, box, target_ns, &removed);
        box_take_bound(b, a, bound, 1, removed > 0);
        if (bound >= target_ns) return true;
    }
    return false;
}

// Takes the game's weights, with their memory prices.
static int take_weights(struct box_closer *b)
{
    int count = game_weights(b->game, b->now.ids, b->now.weights);
    return b->memory.count ? box_memory_split(b, count) : count;
}

int box_mix_game(struct box_closer *b)
{
    int count = take_weights(b);
    mix(b, b->now.ids, b->now.weights, count);
    return count;
}

int box_mix_towards(struct box_closer *b, int stalled)
{
    static const int by_ranks[] = {5, 8, 3, 12, 2, 16}, by_labels[] = {4, 2, 1, 8, 6, 16};
    int count = take_weights(b),
        share = (b->labels ? by_labels : by_ranks)[stalled % (int)ARRAY_LENGTH(by_ranks)];
    for (int i = 0; i < count; i++) b->now.weights[i] = b->now.weights[i] / 16 * share;
    for (int i = 0; i < b->memory.count; i++)
        b->memory.rows[i].price = b->memory.rows[i].price / 16 * share +
                                  b->memory.best[i] / 16 * (16 - share);
    for (int i = 0; i < b->best.count && count < 2 * WEIGHTS_MAX; i++) {
        int at = 0;
        while (at < count && b->now.ids[at] != b->best.ids[i]) at++;
        if (at == count) {
            assert(count < 2 * WEIGHTS_MAX);
            b->now.ids[count] = b->best.ids[i];
            b->now.weights[count++] = 0;
        }
        b->now.weights[at] += b->best.weights[i] / 16 * (16 - share);
    }
    mix(b, b->now.ids, b->now.weights, count);
    return count;
}

void box_keep_best(struct box_closer *b, int count)
{
    b->best.count = 0;
    for (int i = 0; i < b->memory.count; i++) b->memory.best[i] = b->memory.rows[i].price;
    for (int i = 0; i < count && b->best.count < WEIGHTS_MAX; i++)
        if (b->now.weights[i] >> (WEIGHT_BITS - 14) > 0) {
            b->best.ids[b->best.count] = b->now.ids[i];
            b->best.weights[b->best.count++] = b->now.weights[i];
        }
}

// Adjusts the prices of resources that are only priced: up where the least plan exceeds the limit,
// down where it does not.
static void adjust_prices(struct box_closer *b, int64_t target_ns, int64_t bound_ns, int round)
{
    int64_t gap = bound_ns < target_ns ? target_ns - bound_ns : 0, price_most = (int64_t)1 << 60;
    gap = gap < bound_ns ? gap : bound_ns; // without a known plan the target is far away
    for (int r = 0; r < dynamic_resource_count(b->counted); r++) {
        int64_t limit = dynamic_resource_limit(b->counted, r);
        if (limit == INT64_MAX) continue;
        double over = (double)(dynamic_resource_use(b->counted, r, b->work.chosen) - limit);
        double step = (double)gap * (1 << PRICE_BITS) / (1 + (over < 0 ? -over : over)) /
                      (2 + round);
        double price = (double)b->work.prices[r] + step * over / (1 + (over < 0 ? -over : over));
        b->work.prices[r] = price <= 0                   ? 0
                            : price < (double)price_most ? (int64_t)price
                                                         : price_most;
    }
}

// ---- the box

// Evaluates a box with a single decision: its time, or that it is no plan of the box.
static void evaluate_only_plan(struct box_closer *b, const struct choice_box *box,
                               struct box_answer *a)
{
    bool *const *allowed = box->allowed;
    for (int s = 0; s < b->stages; s++)
        for (int i = 0; i < b->c->stages[s].count; i++)
            if (allowed[s][i]) b->work.chosen[s] = i;
    int64_t proven_ns = b->c->joint ? a->bound_ns : 0; // separate boundaries may give less
    a->single = true;
    a->bound_ns = INT64_MAX;
    if (!choices_fit_together(b->c, b->work.chosen) || !box_within_spans(b, box, b->work.chosen) ||
        !choices_durations(b->c, b->work.chosen, b->work.durations))
        return;
    a->bound_ns = graph_longest(b->g, b->work.durations, b->work.counts);
    path_pool_add(&b->paths, b->work.counts, NULL);
    if (a->bound_ns < proven_ns) a->bound_ns = proven_ns;
    if (a->bound_ns < a->found_ns) {
        a->found_ns = a->bound_ns;
        memcpy(a->found, b->work.chosen, (size_t)b->stages * sizeof *b->work.chosen);
    }
}

int box_mix_beginning(struct box_closer *b)
{
    const struct box_step *step = b->current.beginning;
    assert(step->path_count <= 2 * WEIGHTS_MAX);
    for (int i = 0; i < step->path_count; i++) {
        b->now.ids[i] = step->ids[i];
        b->now.weights[i] = step->weights[i];
        box_game_add_path(b, step->ids[i], box_closer_path(b, step->ids[i]));
    }
    for (int r = 0; r < dynamic_resource_count(b->counted) && step->prices; r++)
        b->work.prices[r] = step->prices[r];
    box_memory_repeat(b, step);
    box_kinds_repeat(b, step);
    mix(b, b->now.ids, b->now.weights, step->path_count);
    return step->path_count;
}

// true: closed. Weights are the game's; in the first round of a box, those with which the previous
// box ended. Without these a balance is found first, and nothing removed until it stalls: what is
// removed leaves the game without the plans that outline it.
static bool use_mixtures(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                         int rounds, struct box_answer *a)
{
    bool by_ranks = box_closer_is_by_ranks(b), balanced = box_closer_is_balanced(b);
    bool keeping = balanced && !b->current.beginning;
    int64_t best = 0;
    b->best.count = 0;
    for (int round = 0, stalled = 0;
         round < rounds && stalled < (balanced ? STALLED_BY_RANKS : STALLED) && !box_is_stopped(b);
         round++) {
        bool begins = round == 0 && balanced && b->current.beginning,
             towards = balanced && b->best.count > 0;
        int removed = 0, count = begins    ? box_mix_beginning(b)
                                 : towards ? box_mix_towards(b, stalled)
                                           : box_mix_game(b);
        int64_t bound = box_solve(b, false, box, target_ns, keeping ? NULL : &removed);
        box_take_bound(b, a, bound, count, removed > 0);
        if (bound >= target_ns) return true;
        stalled = removed || bound > best + best / 2000 ? 0 : stalled + 1;
        if (b->memory.count && !b->current.beginning && round < 2 * b->c->rank_count) stalled = 0;
        if (balanced && bound > best) box_keep_best(b, count);
        best = bound > best ? bound : best;
        assert(a->bound_ns >= best); // what is proven stays proven
        if (removed) box_drop_plans(b, box->allowed, false);
        if (stalled == STALLED_BY_RANKS && by_ranks && box_drop_made_up(b, box->allowed))
            stalled = 0;
        if (keeping && stalled == STALLED_BY_RANKS) keeping = false, stalled = 0;
        adjust_prices(b, target_ns, bound, round);
        box_learn_from_plan(b, box, a);
    }
    return false;
}

// As use_mixtures, with weights that fractions of layers give.
static bool use_shares(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                       struct box_answer *a)
{
    int removed = 1, count;
    int64_t before = a->bound_ns; // by mixtures: of the first box
    for (int i = 0; i < b->memory.count; i++) b->memory.rows[i].price = 0;
    for (int round = 0; round < ROUNDS_OF_SHARES && removed && !box_is_stopped(b); round++) {
        if (!box_share_weights(b, box, target_ns, &count)) return false;
        b->current.in_shares = true;
        mix(b, b->now.ids, b->now.weights, count);
        int64_t bound = box_solve(b, false, box, target_ns, &removed);
        box_take_bound(b, a, bound, count, removed > 0);
        if (bound >= target_ns) return true;
        b->shares_lag = bound < before - before / (b->kinds ? 200 : 10000);
        if (choices_durations(b->c, b->work.chosen, b->work.durations))
            box_meet_plan(b, b->work.chosen, a);
        if (b->kinds) box_meet_near_shares(b, box, a);
    }
    return false;
}

bool box_closer_is_balanced(const struct box_closer *b)
{
    return box_closer_is_by_ranks(b) || b->memory.count;
}

static bool close_box(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                      int rounds, struct box_answer *a)
{
    *a = (struct box_answer){.found = TAKE(b->arena, b->stages, int), .found_ns = INT64_MAX};
    b->current.step_capacity = 0;
    b->current.removed_ns = INT64_MAX;
    b->current.last_only_raised = false;
    if (b->memory.count) box_drop_plans(b, box->allowed, false);
    else game_truncate_plans(b->game, 0);
    memset(b->work.prices, 0, (size_t)dynamic_resource_count(b->counted) * sizeof *b->work.prices);
    box_kinds_clear(b);
    box_couple_ranks(b->c, box->allowed);
    box_narrow(b, box);
    bool by_ranks = box_closer_is_by_ranks(b),
         // Where memory is tight, mixtures meet plans, and shares of kinds do not.
        sharing = (by_ranks || (b->kinds && target_ns < NEVER_NS / 2)) && b->c->virtual_stages > 1;
    b->current.in_shares = false;
    if (sharing && b->shares && !b->shares_lag && use_shares(b, box, target_ns, a)) return true;
    if (b->memory.count) box_memory_begin(b, target_ns);
    if (by_ranks && !b->current.in_shares) {
        if (!b->started && target_ns < INT64_MAX / 8 && use_starting_paths(b, box, target_ns, a))
            return true;
        b->started = true;
        for (int id = 0; id < b->starting_count; id++)
            box_game_add_path(b, id, box_closer_path(b, id));
        box_balance(b, box, a);
    }
    if (!b->started) {
        b->started = true;
        if (use_starting_paths(b, box, target_ns, a)) return true;
        for (int id = 0; id < b->starting_count; id += 1 + b->starting_count / 24)
            box_game_add_path(b, id, box_closer_path(b, id));
        box_learn_from_plan(b, box, a);
    }
    bool suited = false, labels = b->labels && target_ns < NEVER_NS / 2;
    if (labels && box_use_labels(b, box, target_ns, rounds, a, &suited)) return true;
    if (!suited && !b->current.in_shares &&
        use_mixtures(b, box, target_ns,
                     rounds > 0                  ? rounds
                     : box_closer_is_balanced(b) ? ROUNDS_BY_RANKS
                                                 : ROUNDS,
                     a))
        return true;
    if (sharing && !b->shares && !rounds && use_shares(b, box, target_ns, a)) return true;
    a->split = box_choose_split(b, box);
    if (a->split.by) return false;
    evaluate_only_plan(b, box, a);
    return true;
}

bool box_close(struct box_closer *b, const struct choice_box *box, int64_t target_ns, int rounds,
               struct box_answer *a)
{
    bool closed = close_box(b, box, target_ns, rounds, a);
    b->current.beginning = NULL;
    a->removed_ns = b->current.removed_ns;
    assert(a->removed_ns >= target_ns); // only what reaches it is removed
    assert(closed || a->split.by);
    assert(a->single || !closed || a->bound_ns >= target_ns);
    // No plan of the box takes less than what is proven for it (where transfers are joint, it may
    // with its boundaries priced separately).
    assert(b->c->joint || box->spans || a->found_ns >= a->bound_ns || a->found_ns >= a->removed_ns);
    return closed;
}

bool box_closer_meet_plan(struct box_closer *b, int *chosen)
{
    struct choice_box whole = choice_box_whole(b, b->arena);
    struct box_answer a = {.found = chosen, .found_ns = INT64_MAX};
    if (!box_closer_is_by_ranks(b)) {
        box_close(b, &whole, NEVER_NS, ROUNDS_TO_MEET, &a);
        if (a.found_ns < INT64_MAX) memcpy(chosen, a.found, (size_t)b->stages * sizeof *chosen);
        return a.found_ns < INT64_MAX;
    }
    for (int id = 0; id < b->starting_count; id++) box_game_add_path(b, id, box_closer_path(b, id));
    box_balance(b, &whole, &a);
    return a.found_ns < INT64_MAX;
}

// ---- once more

static bool holds_within(const struct box_closer *b, const struct choice_box *box,
                         const struct choice_box *left)
{
    for (int s = 0; s < b->stages; s++)
        for (int i = 0; i < b->c->stages[s].count; i++)
            if (box->allowed[s][i] && !left->allowed[s][i]) return false;
    for (int r = 0; r < box_closer_span_count(b); r++)
        if (box->spans[r].least < left->spans[r].least || box->spans[r].most > left->spans[r].most)
            return false;
    return true;
}

static bool is_one_plan_at_least(struct box_closer *b, const struct choice_box *box,
                                 int64_t claim_ns)
{
    struct box_answer a = {.found = b->work.chosen, .found_ns = 0};
    bool empty = false;
    for (int s = 0; s < b->stages; s++) {
        int count = 0;
        for (int i = 0; i < b->c->stages[s].count; i++) count += box->allowed[s][i];
        if (count > 1) return false;
        empty = empty || count == 0;
    }
    if (!empty) evaluate_only_plan(b, box, &a);
    return empty || a.bound_ns >= claim_ns;
}

// The bound of the box before the step, which removes nothing if it did not then.
static int64_t repeat_step(struct box_closer *b, const struct choice_box *now,
                           const struct box_step *step, int64_t target_ns)
{
    int removed, *to = step->removes ? &removed : NULL;
    size_t bytes = (size_t)dynamic_resource_count(b->counted) * sizeof *b->work.prices;
    mix(b, step->ids, step->weights, step->path_count);
    if (step->prices) memcpy(b->work.prices, step->prices, bytes);
    else memset(b->work.prices, 0, bytes);
    box_memory_repeat(b, step);
    box_kinds_repeat(b, step);
    return step->labelled ? box_solve_labels(b, now, target_ns, &(bool){false})
                          : box_solve(b, step->relaxed, now, target_ns, to);
}

bool box_repeat(struct box_closer *b, const struct choice_box *box, int64_t claim_ns,
                const struct box_argument *argument, const struct choice_box *left)
{
    struct arena_mark mark = arena_set_mark(b->arena);
    struct choice_box now = choice_box_copy(b, box, b->arena);
    int64_t bound_ns = 0;
    b->current.removed_ns = INT64_MAX;
    box_couple_ranks(b->c, now.allowed);
    box_narrow(b, &now);
    for (int i = 0; i < argument->step_count; i++)
        bound_ns = larger(bound_ns, repeat_step(b, &now, &argument->steps[i], argument->target_ns));
    bool holds = b->current.removed_ns >= claim_ns &&
                 (bound_ns >= claim_ns ||
                  (left ? holds_within(b, &now, left) : is_one_plan_at_least(b, &now, claim_ns)));
    arena_reset(b->arena, mark);
    return holds;
}
