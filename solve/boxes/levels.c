// Boxes where stages have widths of their own and the table cannot count the slots of all node
// groups: their bounds by labels (labels.c), and the levels by which the whole problem is split.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/box_internal.h"

enum {
    LABEL_ROUNDS = 16,
    LABEL_TRIES = 6, // targets for one mixture
    LABEL_STALLED = 4,
    PRICE_ROUNDS = 8,    // for the prices of one mixture
    STARTING_TRIED = 24, // paths, to begin a box with
    NEAR_PERCENT = 50,   // of the target: farther off, one path tells as much
    ROOM_CELLS = 1 << 22 // of a coarse table
};

static const int64_t label_target_most = (int64_t)1 << 49;

// ---- the bound

// Towards the target in steps: most boxes have a plan far below it, which few labels find.
int64_t box_solve_labels(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                         bool *found)
{
    struct dynamic_box of = {
        .coefficients = b->work.coefficients, .prices = b->work.prices, .allowed = box->allowed};
    struct dynamic_answer answer = {.through_ns = b->work.through};
    *found = false;
    b->current.on_small_table = true, b->current.labelled = true;
    dynamic_solve(b->priced, &of, &answer);
    target_ns = smaller(target_ns, label_target_most); // of a claim that there is no plan
    struct arena *scratch = arena_open_within(b->arena);
    const struct label_rooms *rooms = answer.bound_ns < target_ns
                                          ? dynamic_label_rooms(b->priced, &of, ROOM_CELLS, scratch)
                                          : NULL;
    int64_t bound = answer.bound_ns, step;
    if (rooms) bound = larger(bound, smaller(dynamic_rooms_bound(rooms), target_ns));
    step = (target_ns - bound) / 4;
    for (int tries = 0; tries < 2 * LABEL_TRIES && bound < target_ns && !*found; tries++) {
        int64_t to = smaller(bound + larger(step, 1), target_ns);
        int64_t value = dynamic_solve_labels(b->priced, &of, rooms, to, b->work.chosen, scratch);
        step = value ? 2 * step : step / 4;
        if (!value && ++tries >= LABEL_TRIES) break;
        *found = value && value < to;
        bound = larger(bound, value);
    }
    arena_close(scratch);
    return bound;
}

// ---- closing

// Moves the prices towards those with which the least plan, b->work.chosen, uses as many slots as
// there are. false: it does.
static bool move_prices(struct box_closer *b, int64_t toward_ns, int64_t bound_ns)
{
    double over[SEATS_MAX] = {0}, norm = 0;
    int groups = b->c->priced->group_count;
    for (int r = 0; r < groups; r++) {
        int64_t limit = dynamic_resource_limit(b->priced, r);
        if (limit == INT64_MAX) continue;
        over[r] = (double)(dynamic_resource_use(b->priced, r, b->work.chosen) - limit);
        if (over[r] < 0 && !b->work.prices[r]) over[r] = 0;
        norm += over[r] * over[r];
    }
    if (norm == 0 || bound_ns >= toward_ns) return false;
    for (int r = 0; r < groups; r++) {
        double price = (double)b->work.prices[r] +
                       (double)(toward_ns - bound_ns) * (1 << PRICE_BITS) * over[r] / norm;
        b->work.prices[r] = price <= 0 ? 0 : price < 0x1p60 ? (int64_t)price : (int64_t)1 << 60;
    }
    return true;
}

// The best prices for the current weights; true: with them the box is closed.
static bool find_prices(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                        int64_t toward_ns, int path_count, struct box_answer *a, int64_t *best)
{
    size_t bytes = (size_t)b->c->priced->group_count * sizeof *b->work.prices;
    int64_t kept[SEATS_MAX];
    *best = -1;
    for (int k = 0; k < PRICE_ROUNDS; k++) {
        int removed;
        int64_t bound = box_solve(b, true, box, target_ns, &removed);
        box_take_bound(b, a, bound, path_count, removed > 0);
        if (bound >= target_ns) return true;
        if (bound > *best) memcpy(kept, b->work.prices, bytes), *best = bound;
        if (!move_prices(b, toward_ns, bound)) break;
    }
    memcpy(b->work.prices, kept, bytes);
    return false;
}

// b->now: the weights that an earlier box ended with.
static int mix_remembered(struct box_closer *b, const struct box_remembered *kept)
{
    struct box_step step = {.path_count = kept->weights.count,
                            .ids = kept->weights.ids,
                            .weights = kept->weights.weights,
                            .prices = kept->prices};
    const struct box_step *own = b->current.beginning;
    b->current.beginning = &step;
    int count = box_mix_beginning(b);
    b->current.beginning = own;
    return count;
}

// Keeps the best weights of this box for the next ones, in place of the oldest.
static void remember(struct box_closer *b)
{
    struct box_remembered *kept = &b->remembered[b->remembered_count % REMEMBERED];
    if (!b->best.count) return;
    if (b->remembered_count++ < REMEMBERED) {
        kept->weights.ids = TAKE(b->arena, WEIGHTS_MAX, int);
        kept->weights.weights = TAKE(b->arena, WEIGHTS_MAX, int64_t);
        kept->prices = TAKE(b->arena, dynamic_resource_count(b->counted), int64_t);
    }
    kept->weights.count = b->best.count;
    memcpy(kept->weights.ids, b->best.ids, (size_t)b->best.count * sizeof *b->best.ids);
    memcpy(kept->weights.weights, b->best.weights, (size_t)b->best.count * sizeof *b->best.weights);
    memcpy(kept->prices, b->label_prices,
           (size_t)b->c->priced->group_count * sizeof *b->label_prices);
}

// The weights of the enclosing box, those of an earlier one or the starting path that bounds the
// box better on its own.
static int begin(struct box_closer *b, const struct choice_box *box, int64_t target_ns)
{
    int64_t best = -1;
    int at = 0;
    for (int id = 0; id < b->starting_count; id += 1 + b->starting_count / STARTING_TRIED) {
        box_mix_one(b, id);
        int64_t bound = box_solve(b, true, box, target_ns, NULL);
        box_game_add_path(b, id, box_closer_path(b, id));
        if (bound > best) best = bound, at = id;
    }
    int mixed = -1, count = 1, tried = smaller_int(b->remembered_count, REMEMBERED);
    for (int k = 0; k < tried; k++) {
        mix_remembered(b, &b->remembered[k]);
        int64_t bound = box_solve(b, true, box, target_ns, NULL);
        if (bound > best) best = bound, mixed = k;
    }
    if (b->current.beginning) {
        count = box_mix_beginning(b);
        if (box_solve(b, true, box, target_ns, NULL) >= best) return count;
    }
    memcpy(b->work.prices, b->label_prices,
           (size_t)b->c->priced->group_count * sizeof *b->work.prices);
    if (mixed >= 0) return mix_remembered(b, &b->remembered[mixed]);
    box_mix_one(b, at);
    return 1;
}

// false: too many labels, or none of the plans is known.
static bool learn_by_labels(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                            int path_count, struct box_answer *a, int64_t *bound)
{
    bool found;
    *bound = box_solve_labels(b, box, target_ns, &found);
    box_take_bound(b, a, *bound, path_count, false);
    if (found) box_learn_from_plan(b, box, a);
    return found;
}

static bool use_labels(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                       int rounds, struct box_answer *a, bool *suited)
{
    int64_t best = 0, priced, bound;
    size_t bytes = (size_t)b->c->priced->group_count * sizeof *b->work.prices;
    memcpy(b->work.prices, b->label_prices, bytes);
    int count = begin(b, box, target_ns);
    b->best.count = 0;
    for (int round = 0, stalled = 0; round < (rounds ? rounds : LABEL_ROUNDS); round++) {
        if (stalled == LABEL_STALLED || box_is_stopped(b)) return false;
        if (round) memcpy(b->work.prices, b->label_prices, bytes);
        if (round) count = box_mix_towards(b, stalled);
        if (find_prices(b, box, target_ns, round ? best : target_ns, count, a, &priced))
            return true;
        box_drop_plans(b, box->allowed, false);
        stalled++;
        if (priced < target_ns / 100 * NEAR_PERCENT && !round) return false;
        if (priced < target_ns / 100 * NEAR_PERCENT) continue;
        bool learnt = learn_by_labels(b, box, target_ns, count, a, &bound);
        *suited = *suited || bound > priced;
        if (bound >= target_ns) return true;
        if (bound > best) box_keep_best(b, count), memcpy(b->label_prices, b->work.prices, bytes);
        if (bound > best + best / 1000) stalled = 0;
        best = larger(best, bound);
        if (!learnt) return false;
    }
    return false;
}

bool box_use_labels(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                    int rounds, struct box_answer *a, bool *suited)
{
    bool closed = use_labels(b, box, target_ns, rounds, a, suited);
    remember(b);
    return closed;
}

// ---- levels

// What a nanosecond of a stage's load adds to the longest starting path that passes all stages.
static double weight_of(const struct box_closer *b, int s, const struct choice *x)
{
    int forward = symbol_of_slice(0, SYMBOL_FORWARD),
        backward = symbol_of_slice(0, SYMBOL_BACKWARD);
    double most = 0;
    for (int id = 0; id < b->starting_count; id++) {
        const int *path = box_closer_path(b, id);
        bool all = true;
        for (int t = 0; t < b->stages; t++)
            all = all && path[symbol_index(b->stages, forward, t)] &&
                  path[symbol_index(b->stages, backward, t)];
        double ns = path[symbol_index(b->stages, forward, s)] * (double)x->forward_ns[0] +
                    path[symbol_index(b->stages, backward, s)] * (double)x->backward_ns[0];
        if (all && ns / path_laps(path, b->symbols) > most) most = ns / path_laps(path, b->symbols);
    }
    return x->load_ns > 0 && most > 0 ? most / (double)x->load_ns : 1;
}

double box_levels(const struct box_closer *b, const struct choice_box *box, double *weights,
                  double *least)
{
    double most = 0;
    *least = 0;
    for (int s = 0; s < b->stages; s++) {
        const struct choice *heavy = NULL, *light = NULL;
        for (int i = 0; i < b->c->stages[s].count; i++) {
            const struct choice *x = &b->c->stages[s].items[i];
            if (!box->allowed[s][i]) continue;
            heavy = !heavy || x->load_ns > heavy->load_ns ? x : heavy;
            light = !light || x->load_ns < light->load_ns ? x : light;
        }
        weights[s] = heavy ? weight_of(b, s, heavy) : 1;
        if (!heavy) continue;
        if ((double)heavy->load_ns * weights[s] > most) most = (double)heavy->load_ns * weights[s];
        if ((double)light->load_ns * weights[s] > *least)
            *least = (double)light->load_ns * weights[s];
    }
    return most;
}
