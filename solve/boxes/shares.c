// Path weights of a box by ranks, as if the lightest choices of a stage rose evenly. With any
// fraction of a layer on a stage, the least time is a linear program: its rows are paths, to
// which the longest one of each solution is added until it is no longer than the solution says.
// A rank whose memory binds has parts of its decisions that fit instead
// (dynamic_ranks_memory.c). The rows' multipliers are the weights; the dynamic programme turns
// them into a bound. The game of paths against plans (box_internal.h) has the same solution, but
// needs far more plans to outline it.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/shares.h"

enum { ROWS_PER_STAGE = 12, ROWS_MAX = 1500, STEPS_MAX = 4000 };
enum { PARTS_MAX = 40 }; // of a rank: decisions that it has parts of
enum { BYTES_ROWS_PER_RANK = 12 };
static const double exact = 2e-5;  // how far the longest path may be from the solution
static const double beyond = 1.25; // of the target: what a box without a solution is weighed to

// Of the stage's choices in the box the lightest with the least layers, and the one that adds the
// least load per layer to it (of several the one with the most layers). false: it has none.
static bool find_ends(struct box_closer *b, const struct choice_box *box, int stage, int *ends)
{
    const struct stage_choices *stage_choices = &b->c->stages[stage];
    const struct choice *items = stage_choices->items, *least = NULL, *steady = NULL;
    int most = 0;
    for (int i = 0; i < stage_choices->count; i++) {
        const struct choice *x = &items[i];
        if (!box->allowed[stage][i]) continue;
        bool fewer = !least || x->layer_count < least->layer_count;
        if (fewer || (x->layer_count == least->layer_count && x->load_ns < least->load_ns))
            least = x;
        if (x->layer_count > most) most = x->layer_count;
    }
    if (!least) return false;
    for (int i = 0; i < stage_choices->count; i++) {
        const struct choice *x = &items[i];
        int more = x->layer_count - least->layer_count;
        if (!box->allowed[stage][i] || !more) continue;
        int64_t slope = (x->load_ns - least->load_ns) / more,
                other = steady ? (steady->load_ns - least->load_ns) /
                                     (steady->layer_count - least->layer_count)
                               : slope + 1;
        if (slope < other || (slope == other && x->layer_count > steady->layer_count)) steady = x;
    }
    ends[0] = (int)(least - items), ends[1] = (int)((steady ? steady : least) - items);
    b->shares->least[stage] = least->layer_count, b->shares->most[stage] = most;
    return true;
}

// The durations with the least layers of each stage, and what they rise by per layer. false: this
// is no box for shares.
static bool find_durations(struct box_closer *b, const struct choice_box *box)
{
    struct box_shares *h = b->shares;
    int *chosen = b->work.fitting, spans[STAGES_MAX];
    for (int s = 0; s < b->stages; s++) {
        int ends[2];
        if (!find_ends(b, box, s, ends)) return false;
        const struct choice *items = b->c->stages[s].items;
        chosen[s] = ends[0];
        spans[s] = items[ends[1]].layer_count - items[ends[0]].layer_count;
        choices_stage_durations(b->c, s, &items[ends[1]], h->durations);
    }
    if (!choices_durations(b->c, chosen, h->base)) return false;
    for (int k = 0; k < b->symbols; k++) {
        int s = k % b->stages;
        h->rise[k] =
            box_is_own(b, k) && spans[s] ? (double)(h->durations[k] - h->base[k]) / spans[s] : 0;
    }
    return true;
}

// bytes[stage * 4]: the least that the stage keeps, and the least stash, with its least layers, and
// what each rises by per layer, to its most.
static void find_bytes(struct box_closer *b, const struct choice_box *box)
{
    for (int s = 0; s < b->stages; s++) {
        double *at = b->shares->bytes + 4 * s, ends[2][2];
        int least = b->shares->least[s], more = b->shares->most[s] - least;
        for (int end = 0; end < 2; end++) {
            int64_t kept = INT64_MAX, stash = INT64_MAX;
            for (int i = 0; i < b->c->stages[s].count; i++) {
                const struct choice *x = &b->c->stages[s].items[i];
                if (!box->allowed[s][i] || x->layer_count != least + end * more) continue;
                kept = smaller(kept, box_resident_bytes(x));
                stash = smaller(stash, x->stash_bytes);
            }
            ends[end][0] = (double)kept, ends[end][1] = (double)stash;
        }
        for (int part = 0; part < 2; part++) {
            at[part] = ends[0][part];
            at[2 + part] = more ? (ends[1][part] - ends[0][part]) / more : 0;
        }
    }
}

static int *symbols_of(struct box_closer *b, const int *path)
{
    int count = 0, *symbols;
    for (int k = 0; k < b->symbols; k++) count += path[k] > 0;
    symbols = TAKE(b->arena, count + 1, int);
    symbols[count] = -1;
    for (int k = b->symbols - 1; k >= 0; k--)
        if (path[k]) symbols[--count] = k;
    return symbols;
}

static double *slopes_of(const struct box_closer *b, int place)
{
    return b->shares->slopes + (size_t)place * (size_t)(b->stages * b->shares->kinds);
}

static void weigh_path(struct box_closer *b, int place)
{
    struct box_shares *h = b->shares;
    const int *path = box_closer_path(b, h->ids[place]);
    double *slopes = slopes_of(b, place), part = 1 / (h->scale * path_laps(path, b->symbols));
    if (!h->symbols[place]) h->symbols[place] = symbols_of(b, path);
    h->constants[place] = 0;
    memset(slopes, 0, (size_t)(b->stages * h->kinds) * sizeof *slopes);
    for (const int *k = h->symbols[place]; *k >= 0; k++) {
        h->constants[place] += path[*k] * (double)h->base[*k] * part;
        for (int i = 0; i < h->kinds; i++)
            slopes[*k % b->stages * h->kinds + i] += path[*k] * h->rise[i * b->symbols + *k] * part;
    }
}

// Where a share's number i, of a turn and a kind, is among those of all stages.
static int cell_of(const struct box_closer *b, int rank, int i)
{
    int kinds = b->shares->kinds;
    return choices_stage_of(b->c, rank, i / kinds) * kinds + i % kinds;
}

static bool add_path_row(struct box_closer *b, int place)
{
    struct box_shares *h = b->shares;
    const double *slopes = slopes_of(b, place);
    int row = simplex_row_count(h->program);
    double least = h->constants[place];
    h->row[0] = 1;
    for (int i = 0; i < b->stages * h->kinds; i++) least += slopes[i] * h->start[i];
    for (int j = 0; j < h->share_count; j++) {
        const struct share *x = &h->shares[j];
        h->row[1 + j] = 0;
        for (int i = 0; i < b->c->virtual_stages * h->kinds; i++)
            h->row[1 + j] -= slopes[cell_of(b, x->rank, i)] * x->layers[i];
    }
    if (!simplex_add_row(h->program, h->row, least)) return false;
    h->path_of[row] = place;
    return h->used[place] = true;
}

static struct share *add_share(struct box_closer *b, int rank, double upper)
{
    struct box_shares *h = b->shares;
    struct share *x = &h->shares[h->share_count++];
    x->rank = rank;
    memset(x->layers, 0, (size_t)(b->c->virtual_stages * h->kinds) * sizeof *x->layers);
    h->upper[h->share_count] = upper;
    return x;
}

// Whether the memory of the rank binds, and few of its decisions that fit are in the box: then each
// but the first has a share. Without the rows that these need.
static bool add_decisions(struct box_closer *b, const struct choice_box *box, int rank)
{
    struct box_shares *h = b->shares;
    int count, turns = b->c->virtual_stages, found = 0, within = 0, before = h->share_count;
    const int *choices = dynamic_rank_decisions(b->counted, rank, box->spans[rank].most, &count);
    int64_t product = 1;
    for (int t = 0; t < turns; t++) {
        int s = choices_stage_of(b->c, rank, t), allowed = 0;
        for (int i = 0; i < b->c->stages[s].count; i++) allowed += box->allowed[s][i];
        product *= allowed;
    }
    for (int i = 0; i < count; i++) {
        const int *decision = choices + (size_t)i * (size_t)turns;
        int layers = 0, stays = 1;
        for (int t = 0; t < turns; t++) {
            int s = choices_stage_of(b->c, rank, t);
            stays &= box->allowed[s][decision[t]];
            layers += b->c->stages[s].items[decision[t]].layer_count;
        }
        found += stays;
        if (!stays || layers < box->spans[rank].least || layers > box->spans[rank].most) continue;
        if (++within > PARTS_MAX) break;
        struct share *x = within > 1 ? add_share(b, rank, 1) : NULL;
        for (int t = 0; t < turns; t++) {
            int s = choices_stage_of(b->c, rank, t),
                above = b->c->stages[s].items[decision[t]].layer_count - h->least[s];
            if (x) x->layers[t] = above - (int)h->start[s];
            else h->start[s] = above;
        }
    }
    if (within > 0 && within <= PARTS_MAX && found < product) return true;
    for (int t = 0; t < turns; t++) h->start[choices_stage_of(b->c, rank, t)] = 0;
    h->share_count = before;
    return false;
}

static void add_stages(struct box_closer *b, int rank)
{
    struct box_shares *h = b->shares;
    for (int i = 0; i < b->c->virtual_stages * h->kinds; i++) {
        int cell = cell_of(b, rank, i);
        add_share(b, rank, h->most[cell] - h->least[cell])->layers[i] = 1;
    }
}

// The parts of a rank's decisions sum to one.
static void add_parts_row(struct box_closer *b, int rank)
{
    struct box_shares *h = b->shares;
    memset(h->row, 0, (size_t)(h->share_count + 1) * sizeof *h->row);
    for (int j = 0; j < h->share_count; j++)
        if (h->shares[j].rank == rank) h->row[1 + j] = -1;
    h->path_of[simplex_row_count(h->program)] = -1;
    simplex_add_row(h->program, h->row, -1);
}

static void begin(struct box_closer *b, const struct choice_box *box)
{
    struct box_shares *h = b->shares;
    bool *by_decisions = h->by_decisions;
    h->share_count = h->bytes_rows = 0;
    memset(h->start, 0, (size_t)(b->stages * h->kinds) * sizeof *h->start);
    for (int r = 0; r < b->c->rank_count; r++) {
        by_decisions[r] = !b->kinds && add_decisions(b, box, r);
        if (!by_decisions[r]) add_stages(b, r);
    }
    simplex_begin(h->program, 1 + h->share_count, h->upper);
    if (b->kinds) shares_add_kind_rows(b, box);
    else shares_add_layers_row(b, -1, 0, 1, b->c->priced->layer_count);
    for (int r = 0; r < b->c->rank_count && !b->kinds; r++) {
        if (by_decisions[r]) {
            add_parts_row(b, r);
            continue;
        }
        if (box->spans[r].most < b->c->priced->layer_count)
            shares_add_layers_row(b, r, 0, -1, box->spans[r].most);
        if (box->spans[r].least > 0) shares_add_layers_row(b, r, 0, 1, box->spans[r].least);
    }
    memset(h->used, 0, (size_t)h->rows_max * sizeof *h->used);
    for (int i = 0; i < h->id_count; i++) weigh_path(b, i);
    for (int i = 0; i < h->id_count; i++)
        if (h->counted[i]) add_path_row(b, i);
}

static void take_solution(struct box_closer *b)
{
    struct box_shares *h = b->shares;
    memcpy(h->layers, h->start, (size_t)(b->stages * h->kinds) * sizeof *h->layers);
    for (int j = 0; j < h->share_count; j++) {
        double value = simplex_value(h->program, 1 + j);
        if (value == 0) continue;
        for (int i = 0; i < b->c->virtual_stages * h->kinds; i++)
            h->layers[cell_of(b, h->shares[j].rank, i)] += value * h->shares[j].layers[i];
    }
    for (int i = 0; i < b->stages * h->kinds; i++) h->held[i] = h->least[i] + h->layers[i];
}

// The least working memory that the rank's stages need, whatever they choose.
static double working_bytes(const struct box_closer *b, const struct choice_box *box, int rank)
{
    int64_t most = 0;
    for (int t = 0; t < b->c->virtual_stages; t++) {
        int s = choices_stage_of(b->c, rank, t);
        int64_t least = INT64_MAX;
        for (int i = 0; i < b->c->stages[s].count; i++)
            if (box->allowed[s][i])
                least = smaller(least, b->c->stages[s].items[i].memory.working_bytes);
        most = larger(most, least);
    }
    return (double)most;
}

// What a layer of the turn counts at the moment; *none: the stage with its least layers.
static double layer_bytes(const struct box_closer *b, int rank, int moment, int turn, double *none)
{
    const double *bytes = b->shares->bytes + 4 * choices_stage_of(b->c, rank, turn);
    int held = b->c->peaks[rank].in_flight[moment][turn];
    *none = bytes[0] + held * bytes[1];
    return bytes[2] + held * bytes[3];
}

// The rank's moment at which the present solution has most bytes.
static int fullest_moment(const struct box_closer *b, int rank, double *most)
{
    int at = 0;
    *most = -1;
    for (int i = 0; i < b->c->peaks[rank].count; i++) {
        double sum = 0, none;
        for (int t = 0; t < b->c->virtual_stages; t++) {
            double layer = layer_bytes(b, rank, i, t, &none);
            sum += none + layer * b->shares->layers[choices_stage_of(b->c, rank, t)];
        }
        if (sum > *most) *most = sum, at = i;
    }
    return at;
}

// Of a rank without parts of decisions whose bytes exceed its limit: a row of its fullest moment.
// false: nothing was added.
static bool add_bytes_rows(struct box_closer *b, const struct choice_box *box)
{
    struct box_shares *h = b->shares;
    bool added = false;
    int group = b->c->stages[0].items[0].group;
    double limit = (double)b->c->priced->groups[group].memory_limit_bytes;
    for (int r = 0; r < b->c->rank_count; r++) {
        double most, none, room = limit - working_bytes(b, box, r);
        if (h->by_decisions[r] || h->bytes_rows == BYTES_ROWS_PER_RANK * b->c->rank_count) continue;
        int moment = fullest_moment(b, r, &most);
        if (most <= room + exact * limit) continue;
        memset(h->row, 0, (size_t)(h->share_count + 1) * sizeof *h->row);
        for (int t = 0; t < b->c->virtual_stages; t++) {
            double layer = layer_bytes(b, r, moment, t, &none);
            room -= none + layer * h->start[choices_stage_of(b->c, r, t)];
            for (int j = 0; j < h->share_count; j++)
                if (h->shares[j].rank == r) h->row[1 + j] -= layer * h->shares[j].layers[t] / limit;
        }
        int row = simplex_row_count(h->program);
        if (!simplex_add_row(h->program, h->row, -room / limit)) return added;
        h->path_of[row] = -1;
        h->bytes_rows++;
        added = true;
    }
    return added;
}

// The longest of the paths used so far, at the present solution.
static int longest_known(const struct box_closer *b, double *length)
{
    const struct box_shares *h = b->shares;
    int at = -1;
    *length = 0;
    for (int i = 0; i < h->id_count; i++) {
        const double *slopes = slopes_of(b, i);
        double sum = h->constants[i];
        if (h->used[i]) continue;
        for (int s = 0; s < b->stages * h->kinds; s++) sum += slopes[s] * h->layers[s];
        if (at < 0 || sum > *length) at = i, *length = sum;
    }
    return at;
}

// The place of the longest path at the present solution, added where it is new; -1: it is a row
// already, or there is no room.
static int longest(struct box_closer *b, double *length)
{
    struct box_shares *h = b->shares;
    for (int k = 0; k < b->symbols; k++) {
        double more = 0.5;
        for (int i = 0; i < h->kinds; i++)
            more += h->rise[i * b->symbols + k] * h->layers[k % b->stages * h->kinds + i];
        h->durations[k] = h->base[k] + (int64_t)more;
    }
    *length = (double)graph_longest(b->g, h->durations, b->work.counts) / h->scale;
    int id = path_pool_add(&b->paths, b->work.counts, NULL);
    for (int i = 0; i < h->id_count; i++)
        if (h->ids[i] == id) return h->used[i] ? -1 : i;
    if (h->id_count == h->rows_max) return -1;
    h->ids[h->id_count] = id;
    weigh_path(b, h->id_count);
    return h->id_count++;
}

static int take_weights(struct box_closer *b)
{
    const struct box_shares *h = b->shares;
    int64_t left = (int64_t)1 << WEIGHT_BITS;
    int count = 0;
    if (b->kinds) memset(h->counted, 0, (size_t)h->rows_max * sizeof *h->counted);
    for (int r = 0; r < simplex_row_count(h->program) && count < WEIGHTS_MAX; r++) {
        if (h->path_of[r] < 0) continue;
        int id = h->ids[h->path_of[r]], laps = path_laps(box_closer_path(b, id), b->symbols);
        int64_t weight = (int64_t)ldexp(simplex_multiplier(h->program, r), WEIGHT_BITS);
        weight = (weight < left ? weight : left) / laps;
        if (weight <= 0) continue;
        left -= weight * laps;
        h->counted[h->path_of[r]] = b->kinds != NULL;
        b->now.ids[count] = id;
        b->now.weights[count++] = weight;
    }
    if (b->kinds) shares_take_prices(b);
    return count;
}

static void open_shares(struct box_closer *b)
{
    struct box_shares *h = b->shares = TAKE(b->arena, 1, struct box_shares);
    h->kinds = b->kinds ? b->kinds->count : 1;
    int rows = ROWS_PER_STAGE * b->stages * h->kinds,
        extra =
            (2 * b->c->rank_count + 1) * h->kinds + b->memory.count +
            (b->kinds ? 2 * b->stages * (h->kinds - 1) : BYTES_ROWS_PER_RANK * b->c->rank_count);
    h->rows_max = rows < ROWS_MAX ? rows : ROWS_MAX;
    int shares_max = b->stages * h->kinds + (b->kinds ? 0 : PARTS_MAX * b->c->rank_count);
    h->program = simplex_open(shares_max + 1, h->rows_max + extra, b->arena);
    h->shares = TAKE(b->arena, shares_max, struct share);
    for (int i = 0; i < shares_max; i++)
        h->shares[i].layers = TAKE(b->arena, b->c->virtual_stages * h->kinds, int);
    h->symbols = TAKE(b->arena, h->rows_max, int *);
    h->ids = TAKE(b->arena, h->rows_max, int);
    h->path_of = TAKE(b->arena, h->rows_max + extra, int);
    h->slopes = TAKE(b->arena, h->rows_max * b->stages * h->kinds, double);
    h->constants = TAKE(b->arena, h->rows_max, double);
    h->used = TAKE(b->arena, h->rows_max, bool);
    h->counted = TAKE(b->arena, h->rows_max, bool);
    h->least = TAKE(b->arena, b->stages * h->kinds, int);
    h->most = TAKE(b->arena, b->stages * h->kinds, int);
    h->base = TAKE(b->arena, b->symbols, int64_t);
    h->durations = TAKE(b->arena, b->symbols, int64_t);
    h->rise = TAKE(b->arena, b->symbols * h->kinds, double);
    h->layers = TAKE(b->arena, b->stages * h->kinds, double);
    h->held = TAKE(b->arena, b->stages * h->kinds, double);
    h->start = TAKE(b->arena, b->stages * h->kinds, double);
    h->rows = TAKE(b->arena, 2 * b->c->rank_count * h->kinds, int);
    h->by_decisions = TAKE(b->arena, b->c->rank_count, bool);
    h->bytes = TAKE(b->arena, 4 * b->stages, double);
    h->row = TAKE(b->arena, shares_max + 1, double);
    h->upper = TAKE(b->arena, shares_max + 1, double);
    for (int i = 0; i < b->starting_count && i < h->rows_max / 2; i++) h->ids[h->id_count++] = i;
    if (b->kinds) {
        h->none = TAKE(b->arena, b->symbols, double);
        box_kinds_rises(b, h->rise, h->none);
    }
}

bool box_share_weights(struct box_closer *b, const struct choice_box *box, int64_t target_ns,
                       int *count)
{
    bool closes = false; // without a path: no fractions keep the rows
    if (!b->shares) open_shares(b);
    struct box_shares *h = b->shares;
    if (!(b->kinds ? shares_find_least(b, box) : find_durations(b, box))) return false;
    h->scale = (double)graph_longest(b->g, h->base, NULL) + 1;
    if (!b->kinds) find_bytes(b, box);
    begin(b, box);
    for (double time = 0; !box_is_stopped(b);) {
        double length;
        if (!simplex_solve(h->program, STEPS_MAX)) {
            closes = b->kinds && simplex_climb(h->program, beyond * (double)target_ns / h->scale);
            break;
        }
        time = simplex_value(h->program, 0);
        take_solution(b);
        if (!b->kinds && add_bytes_rows(b, box)) continue;
        if (time * h->scale > (double)target_ns * (1 + exact)) break;
        int place = longest_known(b, &length);
        if (place < 0 || length < time * (1 + 4 * exact)) place = longest(b, &length);
        if (length < time * (1 + exact) || place < 0 || !add_path_row(b, place)) break;
    }
    *count = take_weights(b);
    return closes || *count > 0;
}

double box_share_of(const struct box_closer *b, int stage, int kind)
{
    return b->shares->held[stage * b->shares->kinds + kind];
}

double box_share_worth(const struct box_closer *b, int kind)
{
    double own = 0, most = 0;
    for (int i = 0; i < b->shares->kinds; i++) {
        double sum = 0;
        for (int k = 0; k < b->symbols; k++) sum += b->shares->rise[i * b->symbols + k];
        own = i == kind ? sum : own;
        most = sum > most ? sum : most;
    }
    return most > 0 ? own / most : 1;
}

double box_share_weight(const struct box_closer *b, int stage)
{
    double sum = 0;
    for (int i = 0; i < b->shares->kinds; i++)
        for (int x = stage; x < b->symbols; x += b->stages)
            sum += (double)b->work.coefficients[x] * b->shares->rise[i * b->symbols + x];
    return sum;
}
