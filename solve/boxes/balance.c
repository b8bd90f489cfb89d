// Starting path weights of a box where a rank has several stages. If weights are slightly off, the
// dynamic programme answers with extreme plans (all layers where they are slightly cheaper), and it
// takes a hundred of them to outline where the balance is. So the first answers are made up: around
// a balanced plan, some more layers on one stage, taken from the others in equal shares. They are
// not plans, and need not be: whatever weights the game finds, the dynamic programme turns them
// into a bound. This is done twice, the second time closer, around the mean of the first.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/box_internal.h"

enum { TURNS = 40 };

struct balance {
    struct box_closer *b;
    const struct choice_box *box;
    const struct priced_run *run; // the one of most layers: what a stage gains with one more layer
    int ranks, turns, group;
    int64_t *base, *shift; // [symbol]: durations at the centre; scratch
    double *layers,
        *full; // [stage]: layers at the centre, and how many of them are recomputed in full
    double *shift_layers, *shift_full;
    double *atom_layers, *atom_full; // [atom * stages + stage]
    bool *gains, *loses;             // [stage]: the box allows more layers; fewer
    const int **in_flight; // [rank]: the fullest moment at the centre; NULL: memory does not bind
};

static const struct priced_run *long_run(const struct priced *p)
{
    const struct priced_run *run = p->runs;
    for (int i = 1; i < p->run_count; i++) run = p->runs[i].count > run->count ? &p->runs[i] : run;
    return run;
}

static int rank_of(const struct balance *k, int stage) { return choices_rank_of(k->b->c, stage); }
static int stage_of(const struct balance *k, int rank, int turn)
{
    return choices_stage_of(k->b->c, rank, turn);
}

// ---- shifts: k->shift is the centre with some layers and some recomputation moved

static void begin_shift(struct balance *k)
{
    size_t bytes = (size_t)k->b->stages * sizeof(double);
    memcpy(k->shift, k->base, (size_t)k->b->symbols * sizeof *k->base);
    memcpy(k->shift_layers, k->layers, bytes);
    memcpy(k->shift_full, k->full, bytes);
}

static void add_to(struct balance *k, int kind, int stage, double ns)
{
    k->shift[symbol_index(k->b->stages, kind, stage)] += (int64_t)ns;
}

static void add_full(struct balance *k, int stage, double layers)
{
    int slices = k->b->c->priced->slice_count, groups = k->b->c->priced->group_count;
    for (int slice = 0; slice < slices; slice++)
        add_to(k, symbol_of_slice(slice, SYMBOL_BACKWARD), stage,
               layers * (double)k->run->again_ns[RECOMPUTE_FULL][slice * groups + k->group]);
    k->shift_full[stage] += layers;
}

static void add_layers(struct balance *k, int stage, double layers)
{
    int slices = k->b->c->priced->slice_count, groups = k->b->c->priced->group_count;
    for (int slice = 0; slice < slices; slice++) {
        int price = slice * groups + k->group;
        add_to(k, symbol_of_slice(slice, SYMBOL_FORWARD), stage,
               layers * (double)k->run->forward_ns[price]);
        add_to(k, symbol_of_slice(slice, SYMBOL_BACKWARD), stage,
               layers * (double)k->run->backward_ns[price]);
    }
    add_to(k, SYMBOL_WEIGHT, stage, layers * (double)k->run->weight_ns[k->group]);
    add_to(k, SYMBOL_OPTIMIZER, stage, layers * (double)k->run->optimizer_ns[k->group]);
    k->shift_layers[stage] += layers;
}

// Bytes that a layer at one of the rank's stages needs at the rank's fullest moment; bytes that
// recomputing it saves.
static double layer_bytes(const struct balance *k, int rank, int turn)
{
    const struct priced_run *run = k->run;
    return (double)(run->weight_bytes + run->gradient_bytes + run->optimizer_bytes) +
           k->in_flight[rank][turn] * (double)run->stash_bytes[RECOMPUTE_NONE];
}

static double saved_bytes(const struct balance *k, int rank, int turn)
{
    return k->in_flight[rank][turn] *
           (double)(k->run->stash_bytes[RECOMPUTE_NONE] - k->run->stash_bytes[RECOMPUTE_FULL]);
}

// What a rank whose memory binds recomputes more (or less) for this many bytes, distributed where
// there is room.
static void answer_bytes(struct balance *k, int rank, int but_turn, double bytes)
{
    double room = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < k->turns; t++) {
            int s = stage_of(k, rank, t);
            double share = t == but_turn ? 0 : bytes > 0 ? k->layers[s] - k->full[s] : k->full[s];
            if (share <= 0) continue;
            if (!pass) room += share * saved_bytes(k, rank, t);
            else if (room > 0) add_full(k, s, bytes * share / room);
        }
}

static double rank_layers(const struct balance *k, int rank)
{
    double sum = 0;
    for (int t = 0; t < k->turns; t++) sum += k->layers[stage_of(k, rank, t)];
    return sum;
}

static bool rank_gains(const struct balance *k, int rank)
{
    return rank_layers(k, rank) < k->box->spans[rank].most - 1e-6;
}
static bool rank_loses(const struct balance *k, int rank)
{
    return rank_layers(k, rank) > k->box->spans[rank].least + 1e-6;
}

// Adjusts recomputation to every rank's memory after layers moved.
static void answer_memory(struct balance *k)
{
    for (int r = 0; r < k->ranks; r++) {
        double bytes = 0;
        for (int t = 0; t < k->turns && k->in_flight[r]; t++) {
            int s = stage_of(k, r, t);
            bytes += (k->shift_layers[s] - k->layers[s]) * layer_bytes(k, r, t);
        }
        if (bytes != 0) answer_bytes(k, r, -1, bytes);
    }
}

static void put_atom(struct balance *k)
{
    struct box_closer *b = k->b;
    size_t bytes = (size_t)b->stages * sizeof(double);
    for (int i = 0; i < b->symbols; i++) k->shift[i] = k->shift[i] > 0 ? k->shift[i] : 0;
    int at = game_add_plan(b->game, k->shift);
    assert(at < 2 * b->stages + 1); // the atoms' room
    memcpy(k->atom_layers + at * b->stages, k->shift_layers, bytes);
    memcpy(k->atom_full + at * b->stages, k->shift_full, bytes);
    for (int s = 0; s < b->stages; s++) b->work.plans[at * b->stages + s] = -1;
}

// `more` layers on one stage, taken from those stages of other ranks that can lose some; from its
// own rank's if the rank can hold no more.
static void put_layer_atom(struct balance *k, int stage, double more)
{
    int own = rank_of(k, stage), losers = 0;
    bool inside = !rank_gains(k, own);
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !losers) return;
        if (pass) {
            begin_shift(k);
            add_layers(k, stage, more);
        }
        for (int s = 0; s < k->b->stages; s++) {
            int r = rank_of(k, s);
            if (s == stage || !k->loses[s] || (inside ? r != own : r == own || !rank_loses(k, r)))
                continue;
            double by = pass ? more / losers : 0;
            if (pass) add_layers(k, s, by < 0.9 * k->layers[s] ? -by : -0.9 * k->layers[s]);
            losers += !pass;
        }
    }
    answer_memory(k);
    put_atom(k);
}

// `more` layers recomputed on one stage, fewer on the rank's others.
static void put_full_atom(struct balance *k, int rank, int turn, double more)
{
    begin_shift(k);
    add_full(k, stage_of(k, rank, turn), more);
    answer_bytes(k, rank, turn, -more * saved_bytes(k, rank, turn));
    put_atom(k);
}

static void put_atoms(struct balance *k, double more)
{
    game_truncate_plans(k->b->game, 0);
    begin_shift(k);
    put_atom(k);
    for (int s = 0; s < k->b->stages; s++)
        if (k->gains[s]) put_layer_atom(k, s, more);
    for (int r = 0; r < k->ranks; r++)
        for (int t = 0; t < k->turns && k->in_flight[r] && k->turns > 1; t++)
            put_full_atom(k, r, t, k->turns * k->layers[stage_of(k, r, t)]);
}

// Moves the centre to the mean of the game's plans.
static void move_centre(struct balance *k)
{
    struct box_closer *b = k->b;
    game_mean_durations(b->game, k->base);
    assert(game_plan_count(b->game) > 0);
    memset(k->layers, 0, (size_t)b->stages * sizeof *k->layers);
    memset(k->full, 0, (size_t)b->stages * sizeof *k->full);
    for (int x = 0; x < game_plan_count(b->game); x++)
        for (int s = 0; s < b->stages; s++) {
            k->layers[s] += game_plan_share(b->game, x) * k->atom_layers[x * b->stages + s];
            k->full[s] += game_plan_share(b->game, x) * k->atom_full[x * b->stages + s];
        }
}

static void balance_around(struct balance *k, double more)
{
    struct box_closer *b = k->b;
    put_atoms(k, more);
    graph_longest(b->g, k->base, b->work.counts);
    box_game_add_path(b, path_pool_add(&b->paths, b->work.counts, NULL), b->work.counts);
    for (int turn = 0; turn < TURNS && !box_is_stopped(b); turn++) {
        game_solve_exactly(b->game);
        game_mean_durations(b->game, b->work.durations);
        double known = game_longest(b->game, b->work.durations),
               time = (double)graph_longest(b->g, b->work.durations, b->work.counts);
        if (time <= known * 1.0005) break;
        box_game_add_path(b, path_pool_add(&b->paths, b->work.counts, NULL), b->work.counts);
    }
    game_solve_exactly(b->game);
    move_centre(k);
}

// ---- the starting plan

// The least decision under b->work.coefficients (fitting: whose ranks fit), near the given layers
// on every stage and rank. false: none.
static bool find_near(struct box_closer *b, const struct choice_box *box, const double *layers,
                      int slack, bool fitting)
{
    struct arena_mark mark = arena_set_mark(b->arena);
    struct choice_box near = choice_box_copy(b, box, b->arena);
    for (int s = 0; s < b->stages; s++)
        for (int i = 0; i < b->c->stages[s].count; i++) {
            int n = b->c->stages[s].items[i].layer_count;
            if (n < (int)layers[s] - slack || n > (int)(layers[s] + 0.999) + slack)
                near.allowed[s][i] = false;
        }
    for (int r = 0; r < b->c->rank_count; r++) {
        double sum = 0;
        for (int t = 0; t < b->c->virtual_stages; t++) sum += layers[choices_stage_of(b->c, r, t)];
        near.spans[r].least = larger_int(near.spans[r].least, (int)sum - slack);
        near.spans[r].most = smaller_int(near.spans[r].most, (int)(sum + 0.999) + slack);
    }
    struct dynamic_box dynamic_box = {.coefficients = b->work.coefficients,
                                      .prices = b->work.prices,
                                      .allowed = near.allowed,
                                      .spans = near.spans,
                                      .fit_ranks = fitting};
    struct dynamic_answer answer = {.chosen = b->work.fitting};
    dynamic_solve(b->counted, &dynamic_box, &answer);
    arena_reset(b->arena, mark);
    return answer.bound_ns != DYNAMIC_NOTHING;
}

// A box without any plan that fits is balanced around one that does not.
static bool find_near_widening(struct box_closer *b, const struct choice_box *box,
                               const double *layers)
{
    static const int slacks[] = {0, 1, 3, 9};
    for (int fitting = 1; fitting >= 0; fitting--)
        for (size_t i = 0; i < ARRAY_LENGTH(slacks); i++)
            if (find_near(b, box, layers, slacks[i], fitting)) return true;
    return false;
}

// The moment at which the rank holds most, if it recomputes at all.
static const int *fullest_moment(const struct balance *k, int rank, const int *chosen)
{
    const struct choices *c = k->b->c;
    const int *at = NULL;
    int64_t most = -1;
    double full = 0;
    for (int t = 0; t < k->turns; t++) full += k->full[stage_of(k, rank, t)];
    for (int i = 0; c->peaks && i < c->peaks[rank].count && full > 0; i++) {
        int64_t sum = 0;
        for (int t = 0; t < k->turns; t++)
            sum += c->peaks[rank].in_flight[i][t] *
                   c->stages[stage_of(k, rank, t)].items[chosen[stage_of(k, rank, t)]].stash_bytes;
        if (sum > most) most = sum, at = c->peaks[rank].in_flight[i];
    }
    return at;
}

// At a plan these are whole numbers, so the sum is exact.
static double all_layers(const struct balance *k)
{
    double sum = 0;
    for (int r = 0; r < k->ranks; r++) sum += rank_layers(k, r);
    return sum;
}

static void take_centre(struct balance *k, const int *chosen)
{
    const struct choices *c = k->b->c;
    for (int s = 0; s < k->b->stages; s++) {
        const struct choice *x = &c->stages[s].items[chosen[s]];
        k->layers[s] = x->layer_count;
        k->full[s] = x->recompute == RECOMPUTE_FULL ? x->layer_count : x->recomputed_layers;
        k->gains[s] = k->loses[s] = false;
        for (int i = 0; i < c->stages[s].count; i++) {
            int n = c->stages[s].items[i].layer_count;
            k->gains[s] = k->gains[s] || (k->box->allowed[s][i] && n > x->layer_count);
            k->loses[s] = k->loses[s] || (k->box->allowed[s][i] && n < x->layer_count);
        }
    }
    assert(all_layers(k) == c->priced->layer_count);
    for (int r = 0; r < k->ranks; r++) k->in_flight[r] = fullest_moment(k, r, chosen);
    choices_durations(c, chosen, k->base);
}

static void weigh_starting_paths(struct box_closer *b)
{
    memset(b->work.coefficients, 0, (size_t)b->symbols * sizeof *b->work.coefficients);
    for (int i = 0; i < b->starting_count; i++)
        for (int s = 0; s < b->symbols; s++)
            b->work.coefficients[s] += ((int64_t)1 << WEIGHT_BITS) / b->starting_count *
                                       box_closer_path(b, i)[s];
}

static void open_balance(struct balance *k, struct box_closer *b, const struct choice_box *box)
{
    *k = (struct balance){.b = b,
                          .box = box,
                          .run = long_run(b->c->priced),
                          .ranks = b->c->rank_count,
                          .turns = b->c->virtual_stages,
                          .group = b->c->stages[0].items[0].group};
    k->base = TAKE(b->arena, b->symbols, int64_t);
    k->shift = TAKE(b->arena, b->symbols, int64_t);
    double **rows[] = {&k->layers, &k->full, &k->shift_layers, &k->shift_full};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) *rows[i] = TAKE(b->arena, b->stages, double);
    k->atom_layers = TAKE(b->arena, (2 * b->stages + 1) * b->stages, double);
    k->atom_full = TAKE(b->arena, (2 * b->stages + 1) * b->stages, double);
    k->gains = TAKE(b->arena, b->stages, bool);
    k->loses = TAKE(b->arena, b->stages, bool);
    k->in_flight = TAKE(b->arena, k->ranks, const int *);
    for (int s = 0; s < b->stages; s++)
        k->layers[s] = (double)b->c->priced->layer_count / b->stages;
}

void box_balance(struct box_closer *b, const struct choice_box *box, struct box_answer *a)
{
    struct balance k;
    open_balance(&k, b, box);
    weigh_starting_paths(b);
    if (!find_near_widening(b, box, k.layers)) return;
    take_centre(&k, b->work.fitting);
    memcpy(b->work.durations, k.base, (size_t)b->symbols * sizeof *k.base);
    box_meet_plan(b, b->work.fitting, a);
    if (box_is_stopped(b)) return;
    balance_around(&k, b->stages);
    balance_around(&k, 0.5 * b->stages);
    box_mix_game(b);
    if (find_near_widening(b, box, k.layers) &&
        choices_durations(b->c, b->work.fitting, b->work.durations))
        box_meet_plan(b, b->work.fitting, a);
}
