// Limits as rows of the game in addition to its paths. Where the dynamic programme prices a limit,
// price x (use - limit) may be added for any price >= 0, as every plan keeps it. Good prices come
// from the game: a row is one path (any one) plus a pay-off that rises steeply with what a plan
// uses beyond the limit, and its weight becomes the price. Rows are of the memory of ranks
// (memory.c), or of slots where a stage's width decides how many of them it takes.
#include <math.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/box_internal.h"

static const double steepness = 1; // times a plan's time: pay-off of a plan at twice a limit

void box_rows_open(struct box_closer *b)
{
    int resources = dynamic_resource_count(b->counted);
    box_memory_open(b);
    b->rows.count = b->memory.count;
    b->rows.resources = TAKE(b->arena, resources, int);
    for (int r = 0; r < resources && priced_has_widths(b->c->priced); r++)
        if (dynamic_resource_limit(b->counted, r) < INT64_MAX)
            b->rows.resources[b->rows.count++] = r;
    b->rows.best = TAKE(b->arena, b->rows.count, int64_t);
}

static bool is_memory(const struct box_closer *b) { return b->memory.count > 0; }

// In 2^-40 ns a byte, or 2^-20 ns a slot.
static int64_t *price_of(struct box_closer *b, int row)
{
    return is_memory(b) ? &b->memory.rows[row].price : &b->work.prices[b->rows.resources[row]];
}

static double limit_of(const struct box_closer *b, int row)
{
    return is_memory(b)
               ? (double)b->memory.limit
               : (double)larger(1, dynamic_resource_limit(b->counted, b->rows.resources[row]));
}

static double over(const struct box_closer *b, int row, const int *chosen)
{
    if (is_memory(b)) return box_memory_over(b, row, chosen);
    int resource = b->rows.resources[row];
    return (double)(dynamic_resource_use(b->counted, resource, chosen) -
                    dynamic_resource_limit(b->counted, resource));
}

static double pay_off(const struct box_closer *b, int row) // of a unit
{
    return steepness * (double)b->rows.scale_ns / limit_of(b, row);
}

// ---- in the game

static int row_path(const struct box_closer *b) { return b->starting_count - 1; }

// counts, with no row's
static int *extended(struct box_closer *b, const int *counts)
{
    memset(b->rows.counts, 0, (size_t)(b->symbols + b->rows.count) * sizeof(int));
    memcpy(b->rows.counts, counts, (size_t)b->symbols * sizeof(int));
    b->rows.counts[b->symbols + b->rows.count] = path_laps(counts, b->symbols);
    return b->rows.counts;
}

void box_game_add_path(struct box_closer *b, int id, const int *counts)
{
    game_add_path(b->game, id, b->rows.count ? extended(b, counts) : counts);
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
    b->rows.scale_ns = target_ns < INT64_MAX / 8
                           ? target_ns
                           : sum * (1 + b->c->priced->micro_batches / b->c->rank_count);
    // All prices times limits are at most this, and so is what each stage of a rank pays: sums of
    // costs stay exact.
    if (b->rows.scale_ns > (int64_t)1 << 42) b->rows.scale_ns = (int64_t)1 << 42;
    if (b->rows.scale_ns < 1) b->rows.scale_ns = 1;
}

void box_rows_begin(struct box_closer *b, int64_t target_ns)
{
    const int *path = box_closer_path(b, row_path(b));
    if (!b->rows.scale_ns) set_scale(b, target_ns);
    for (int i = 0; i < b->rows.count; i++) {
        int *counts = extended(b, path);
        *price_of(b, i) = 0;
        counts[b->symbols + i] = path_laps(path, b->symbols);
        game_add_path(b->game, -1 - i, counts);
    }
}

void box_rows_measure(struct box_closer *b, const int *chosen)
{
    for (int i = 0; i < b->rows.count; i++) {
        double ns = pay_off(b, i) * over(b, i, chosen);
        b->work.durations[b->symbols + i] = (int64_t)(ns > 0x1p60    ? 0x1p60
                                                      : ns < -0x1p60 ? -0x1p60
                                                                     : ns);
    }
}

// Weights of rows count for their path, and become prices.
int box_rows_split(struct box_closer *b, int count)
{
    int kept = 0, at = -1, laps = path_laps(box_closer_path(b, row_path(b)), b->symbols);
    int64_t sum = 0;
    double most = 0x1p59 / b->rows.count; // together they are below 2^60
    for (int i = 0; i < b->rows.count; i++) *price_of(b, i) = 0;
    for (int i = 0; i < count; i++) {
        int id = b->now.ids[i];
        int64_t weight = b->now.weights[i];
        if (id < 0) {
            double price = (double)weight * laps * pay_off(b, -1 - id);
            if (!is_memory(b)) price = ldexp(price, PRICE_BITS - WEIGHT_BITS);
            *price_of(b, -1 - id) = (int64_t)(price < most ? price : most);
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

void box_rows_keep(struct box_closer *b)
{
    for (int i = 0; i < b->rows.count; i++) b->rows.best[i] = *price_of(b, i);
}

void box_rows_mix(struct box_closer *b, int sixteenths)
{
    for (int i = 0; i < b->rows.count; i++) {
        int64_t *price = price_of(b, i);
        *price = *price / 16 * sixteenths + b->rows.best[i] / 16 * (16 - sixteenths);
    }
}
