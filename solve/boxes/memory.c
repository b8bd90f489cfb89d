// Memory of ranks with several stages where the dynamic programme works stage by stage. At one of
// the rank's fullest moments, with the working memory of one stage, its bytes are a sum over its
// stages and within the limit for every plan, so price x (bytes - limit) may be added for any price
// >= 0 (docs/PROOFS.md 5). Good prices come from the game: such a limit is a row in addition to the
// paths, and its pay-off rises steeply with the missing bytes.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/box_internal.h"

enum { MOMENTS_MAX = 3 };          // of a rank: the fullest
static const double steepness = 1; // times a plan's time: pay-off of a rank at twice its limit

int64_t box_resident_bytes(const struct choice *x)
{
    return memory_total(&x->memory) - x->memory.activation_bytes - x->memory.working_bytes;
}

// ---- the rows

static int64_t held_at(const struct choices *c, int rank, int moment)
{
    int64_t sum = 0;
    for (int t = 0; t < c->virtual_stages; t++) sum += c->peaks[rank].in_flight[moment][t];
    return sum;
}

// The stage whose least working memory is the greatest.
static int working_turn(const struct choices *c, int rank)
{
    int at = 0;
    int64_t most = -1;
    for (int t = 0; t < c->virtual_stages; t++) {
        const struct stage_choices *stage = &c->stages[choices_stage_of(c, rank, t)];
        int64_t least = INT64_MAX;
        for (int i = 0; i < stage->count; i++)
            least = smaller(least, stage->items[i].memory.working_bytes);
        if (least > most) most = least, at = t;
    }
    return at;
}

static void add_rows(struct box_closer *b, int rank)
{
    const struct choices *c = b->c;
    bool used[256] = {false};
    int moments = smaller_int(c->peaks[rank].count, 256), turn = working_turn(c, rank);
    for (int k = 0; k < MOMENTS_MAX && k < moments; k++) {
        int best = -1;
        for (int q = 0; q < moments; q++)
            if (!used[q] && (best < 0 || held_at(c, rank, q) > held_at(c, rank, best))) best = q;
        used[best] = true;
        b->memory.rows[b->memory.count++] = (struct memory_price){rank, best, turn, 0};
    }
}

// Whether all choices are on one group: otherwise a rank's limit depends on the plan.
static bool on_one_group(const struct choices *c, int *group)
{
    *group = -1;
    for (int s = 0; s < c->priced->stage_count; s++)
        for (int i = 0; i < c->stages[s].count; i++) {
            if (*group >= 0 && c->stages[s].items[i].group != *group) return false;
            *group = c->stages[s].items[i].group;
        }
    return *group >= 0;
}

void box_memory_open(struct box_closer *b)
{
    int group;
    b->memory.count = 0;
    if (b->c->virtual_stages == 1 || dynamic_is_by_ranks(b->counted) || !on_one_group(b->c, &group))
        return;
    b->memory.limit = b->c->priced->groups[group].memory_limit_bytes;
    if (b->memory.limit < 1) return;
    b->memory.rows = TAKE(b->arena, b->c->rank_count * MOMENTS_MAX, struct memory_price);
    b->memory.best = TAKE(b->arena, b->c->rank_count * MOMENTS_MAX, int64_t);
    for (int r = 0; r < b->c->rank_count; r++) add_rows(b, r);
}

// A row is one path (any one) plus the price of the rank's bytes beyond the limit.
static int row_path(const struct box_closer *b) { return b->starting_count - 1; }

static void add_rows_to_game(struct box_closer *b)
{
    const int *path = box_closer_path(b, row_path(b));
    for (int i = 0; i < b->memory.count; i++) {
        memset(b->memory.counts, 0, (size_t)(b->symbols + b->memory.count) * sizeof(int));
        memcpy(b->memory.counts, path, (size_t)b->symbols * sizeof(int));
        b->memory.counts[b->symbols + i] = b->memory.counts[b->symbols + b->memory.count] =
            path_laps(path, b->symbols);
        game_add_path(b->game, -1 - i, b->memory.counts);
    }
}

void box_game_add_path(struct box_closer *b, int id, const int *counts)
{
    if (b->memory.count) {
        memset(b->memory.counts, 0, (size_t)(b->symbols + b->memory.count) * sizeof(int));
        memcpy(b->memory.counts, counts, (size_t)b->symbols * sizeof(int));
        b->memory.counts[b->symbols + b->memory.count] = path_laps(counts, b->symbols);
        counts = b->memory.counts;
    }
    game_add_path(b->game, id, counts);
}

// The approximate time of a plan: that of the lightest choices if none is known.
static void set_scale(struct box_closer *b, int64_t target_ns)
{
    int64_t sum = 1;
    for (int s = 0; s < b->stages; s++) {
        int64_t least = INT64_MAX;
        for (int i = 0; i < b->c->stages[s].count; i++)
            least = smaller(least, b->c->stages[s].items[i].load_ns);
        sum += b->c->stages[s].count ? least : 0;
    }
    b->memory.scale_ns = target_ns < INT64_MAX / 8
                             ? target_ns
                             : sum * (1 + b->c->priced->micro_batches / b->c->rank_count);
    // All prices times limits are at most this, and so is what each stage of a rank pays: sums of
    // costs stay exact.
    if (b->memory.scale_ns > (int64_t)1 << 42) b->memory.scale_ns = (int64_t)1 << 42;
    if (b->memory.scale_ns < 1) b->memory.scale_ns = 1;
}

void box_memory_begin(struct box_closer *b, int64_t target_ns)
{
    for (int i = 0; i < b->memory.count; i++) b->memory.rows[i].price = 0;
    if (!b->memory.scale_ns) set_scale(b, target_ns);
    add_rows_to_game(b);
}

void box_memory_repeat(struct box_closer *b, const struct box_step *step)
{
    for (int i = 0, k = 0; i < b->memory.count; i++) {
        struct memory_price *m = &b->memory.rows[i];
        const struct memory_price *of = k < step->memory_count ? &step->memory[k] : NULL;
        bool same = of && of->rank == m->rank && of->moment == m->moment && of->turn == m->turn;
        m->price = same ? of->price : 0;
        k += same;
    }
}

static int64_t bytes_of(const struct box_closer *b, const struct memory_price *row,
                        const int *chosen)
{
    const struct choices *c = b->c;
    int64_t sum = 0;
    for (int t = 0; t < c->virtual_stages; t++) {
        int stage = choices_stage_of(c, row->rank, t);
        const struct choice *x = &c->stages[stage].items[chosen[stage]];
        sum += box_resident_bytes(x) +
               c->peaks[row->rank].in_flight[row->moment][t] * x->stash_bytes +
               (t == row->turn ? x->memory.working_bytes : 0);
    }
    return sum;
}

static double price_of_row(const struct box_closer *b)
{
    return steepness * (double)b->memory.scale_ns / (double)b->memory.limit;
}

void box_memory_measure(struct box_closer *b, const int *chosen)
{
    for (int i = 0; i < b->memory.count; i++) {
        int64_t over = bytes_of(b, &b->memory.rows[i], chosen) - b->memory.limit;
        double ns = price_of_row(b) * (double)over;
        b->work.durations[b->symbols + i] = (int64_t)(ns > 0x1p60    ? 0x1p60
                                                      : ns < -0x1p60 ? -0x1p60
                                                                     : ns);
    }
}

// Weights of rows count for their path, and become prices.
int box_memory_split(struct box_closer *b, int count)
{
    int kept = 0, at = -1, laps = path_laps(box_closer_path(b, row_path(b)), b->symbols);
    int64_t sum = 0;
    double most = 0x1p59 / b->memory.count; // together they are below 2^60
    for (int i = 0; i < b->memory.count; i++) b->memory.rows[i].price = 0;
    for (int i = 0; i < count; i++) {
        int id = b->now.ids[i];
        int64_t weight = b->now.weights[i];
        if (id < 0) {
            double price = (double)weight * laps * price_of_row(b);
            b->memory.rows[-1 - id].price = (int64_t)(price < most ? price : most);
            sum += weight;
            continue;
        }
        if (id == row_path(b)) at = kept;
        b->now.ids[kept] = id;
        b->now.weights[kept++] = weight;
    }
    if (sum > 0 && at < 0) b->now.ids[at = kept++] = row_path(b), b->now.weights[at] = 0;
    if (sum > 0) b->now.weights[at] += sum;
    return kept;
}

// ---- plans that fit, near the least one

// One rank of a plan that does not fit. Bytes above the limit, summed over all of the rank's
// moments (over_bytes), fall with every change that is taken, so a refit ends. The bytes of one
// moment alone would not do: a change may lower the fullest moment and raise another, which is then
// the fullest and whose cheapest change goes back.
struct refit {
    struct box_closer *b;
    bool *const *allowed;
    int rank, moment;   // the fullest moment
    int64_t excess;     // of that moment, above the limit
    int64_t over_bytes; // of all moments, each above the limit
};

static void weigh(struct refit *f, const int *chosen)
{
    const struct choices *c = f->b->c;
    int64_t working = 0, resident = 0;
    for (int t = 0; t < c->virtual_stages; t++) {
        int s = choices_stage_of(c, f->rank, t);
        const struct choice *x = &c->stages[s].items[chosen[s]];
        resident += box_resident_bytes(x);
        working = larger(working, x->memory.working_bytes);
    }
    assert(c->peaks[f->rank].count > 0);
    f->excess = INT64_MIN;
    f->over_bytes = 0;
    for (int q = 0; q < c->peaks[f->rank].count; q++) {
        int64_t over = resident + working - f->b->memory.limit;
        for (int t = 0; t < c->virtual_stages; t++) {
            int s = choices_stage_of(c, f->rank, t);
            over += c->peaks[f->rank].in_flight[q][t] * c->stages[s].items[chosen[s]].stash_bytes;
        }
        if (over > f->excess) f->excess = over, f->moment = q;
        if (over > 0 && __builtin_add_overflow(f->over_bytes, over, &f->over_bytes))
            f->over_bytes = INT64_MAX;
    }
}

static bool lowers_excess(const struct refit *f, int *chosen, int stage, int choice)
{
    struct refit then = *f;
    int now = chosen[stage];
    chosen[stage] = choice;
    weigh(&then, chosen);
    chosen[stage] = now;
    return then.over_bytes < f->over_bytes;
}

static bool same_place(const struct choice *a, const struct choice *b)
{
    return a->first_layer == b->first_layer && a->layer_count == b->layer_count &&
           a->boundary_option == b->boundary_option && a->cut == b->cut;
}

// Bytes that the stage's other choice saves at the fullest moment.
static int64_t saved_bytes(const struct refit *f, int turn, const struct choice *now,
                           const struct choice *then)
{
    return box_resident_bytes(now) - box_resident_bytes(then) +
           f->b->c->peaks[f->rank].in_flight[f->moment][turn] *
               (now->stash_bytes - then->stash_bytes);
}

// The change of one stage's choice that adds the least load per byte saved, among those that lower
// the excess. false: none does.
static bool change_cheapest(const struct refit *f, int *chosen)
{
    const struct choices *c = f->b->c;
    int stage = -1, choice = -1;
    double least = 0;
    for (int t = 0; t < c->virtual_stages; t++) {
        int s = choices_stage_of(c, f->rank, t);
        const struct choice *now = &c->stages[s].items[chosen[s]];
        for (int i = 0; i < c->stages[s].count; i++) {
            const struct choice *x = &c->stages[s].items[i];
            if (!f->allowed[s][i] || !same_place(now, x)) continue;
            int64_t saved = saved_bytes(f, t, now, x);
            if (saved <= 0) continue;
            double price = (double)larger(1, x->load_ns - now->load_ns) /
                           (double)smaller(saved, f->excess);
            if (stage >= 0 && price >= least) continue;
            if (lowers_excess(f, chosen, s, i)) stage = s, choice = i, least = price;
        }
    }
    if (stage >= 0) chosen[stage] = choice;
    return stage >= 0;
}

bool box_memory_refit(struct box_closer *b, bool *const *allowed, int *chosen)
{
    for (int r = 0; r < b->c->rank_count; r++) {
        struct refit f = {.b = b, .allowed = allowed, .rank = r};
        for (weigh(&f, chosen); f.excess > 0; weigh(&f, chosen))
            if (box_is_stopped(b) || !change_cheapest(&f, chosen)) return false;
    }
    return true;
}
