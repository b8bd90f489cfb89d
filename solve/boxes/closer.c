// Opens box closers: tables and paths; and creates boxes. Boxes are closed in box.c.
#include <string.h>

#include "solve/boxes/box_internal.h"

enum {
    CELLS_COUNTED = 1 << 22,
    CELLS_PRICED = 0, // tables with and without slots counted exactly
    PATHS_MAX = 120,
    PLANS_MAX = 32
};

int box_closer_path_count(const struct box_closer *b) { return b->paths.count; }
const int *box_closer_path(const struct box_closer *b, int id)
{
    assert(id >= 0 && id < b->paths.count);
    return path_pool_at(&b->paths, id);
}

static void take_starting_paths(struct box_closer *b)
{
    int *starting;
    const int *paths;
    bool by_rank = (b->c->virtual_stages > 1 || dynamic_is_by_ranks(b->counted)) &&
                   !graph_is_chains(b->g);
    int count = by_rank ? box_rank_paths(b, &paths)
                        : graph_starting_paths(b->g, &starting, b->settings.should_stop,
                                               b->settings.argument, b->arena);
    if (!by_rank) paths = starting;
    for (int i = 0; i < count; i++)
        path_pool_add(&b->paths, paths + (size_t)i * (size_t)b->paths.size, NULL);
    b->starting_count = b->paths.count;
    assert(b->starting_count > 0);
}

// Whether the larger table leaves slots to prices.
static bool prices_slots(const struct box_closer *b)
{
    bool some = false;
    for (int g = 0; g < b->c->priced->group_count; g++)
        some = some || dynamic_resource_limit(b->counted, g) < INT64_MAX;
    return some;
}

struct box_closer *box_closer_open(const struct choices *c, struct graph *g,
                                   struct box_settings settings, struct arena *arena)
{
    struct box_closer *b = TAKE(arena, 1, struct box_closer);
    *b = (struct box_closer){.c = c,
                             .g = g,
                             .settings = settings,
                             .arena = arena,
                             .stages = c->priced->stage_count,
                             .symbols = graph_symbol_count(g)};
    path_pool_open(&b->paths, path_size(b->symbols), arena);
    assert(b->symbols ==
           symbol_count(b->stages, c->priced->slice_count)); // choices and graph are of one layout
    b->counted = settings.by_ranks
                     ? dynamic_open_by_ranks(c, arena)
                     : dynamic_open(c, settings.uncounted ? CELLS_PRICED : CELLS_COUNTED, arena);
    b->priced = dynamic_is_by_ranks(b->counted) ? b->counted : dynamic_open(c, CELLS_PRICED, arena);
    box_memory_open(b);
    bool many = dynamic_is_by_ranks(b->counted) || b->memory.count;
    int plans_max = PLANS_MAX + (many ? 2 * b->stages + 1 : 0);
    b->game =
        game_open(b->symbols + b->memory.count, PATHS_MAX + b->memory.count, plans_max, arena);
    b->work.coefficients = TAKE(arena, b->symbols, int64_t);
    b->work.durations = TAKE(arena, b->symbols + b->memory.count, int64_t);
    b->memory.counts = TAKE(arena, path_size(b->symbols + b->memory.count), int);
    b->work.prices = TAKE(arena, dynamic_resource_count(b->counted), int64_t);
    b->work.counts = TAKE(arena, b->paths.size, int);
    b->work.chosen = TAKE(arena, b->stages, int);
    b->work.fitting = TAKE(arena, b->stages, int);
    b->work.plans = TAKE(arena, b->stages * plans_max, int);
    b->work.through = TAKE(arena, b->stages, int64_t *);
    for (int s = 0; s < b->stages; s++)
        b->work.through[s] = TAKE(arena, c->stages[s].count, int64_t);
    b->work.spans_ns = TAKE(arena, c->rank_count, int64_t *);
    for (int r = 0; r < c->rank_count; r++)
        b->work.spans_ns[r] = TAKE(arena, c->priced->layer_count + 1, int64_t);
    b->now.ids = TAKE(arena, 2 * WEIGHTS_MAX, int);
    b->now.weights = TAKE(arena, 2 * WEIGHTS_MAX, int64_t);
    b->best.ids = TAKE(arena, 2 * WEIGHTS_MAX, int);
    b->best.weights = TAKE(arena, 2 * WEIGHTS_MAX, int64_t);
    take_starting_paths(b);
    box_kinds_open(b);
    b->labels = settings.labels && b->priced != b->counted && dynamic_has_labels(b->priced) &&
                prices_slots(b);
    b->label_prices = TAKE(arena, dynamic_resource_count(b->counted), int64_t);
    assert(b->stages == b->c->priced->stage_count);
    return b;
}
bool box_closer_has_labels(const struct box_closer *b) { return b->labels; }
bool box_closer_is_by_ranks(const struct box_closer *b) { return dynamic_is_by_ranks(b->counted); }

struct choice_box choice_box_copy(const struct box_closer *b, const struct choice_box *box,
                                  struct arena *arena)
{
    bool **allowed = TAKE(arena, b->stages, bool *);
    struct choice_box copy = {allowed, NULL};
    for (int s = 0; s < b->stages; s++) {
        allowed[s] = TAKE(arena, b->c->stages[s].count, bool);
        if (box) memcpy(allowed[s], box->allowed[s], (size_t)b->c->stages[s].count);
        else memset(allowed[s], true, (size_t)b->c->stages[s].count);
    }
    if (!box_closer_span_count(b)) return copy;
    copy.spans = TAKE(arena, box_closer_span_count(b), struct layer_span);
    for (int r = 0; r < box_closer_span_count(b); r++)
        copy.spans[r] = box && box->spans ? box->spans[r]
                                          : (struct layer_span){0, b->c->priced->layer_count};
    return copy;
}

struct choice_box choice_box_whole(const struct box_closer *b, struct arena *arena)
{
    return choice_box_copy(b, NULL, arena);
}

void box_closer_take_paths(struct box_closer *b, const int *counts, int count)
{
    path_pool_take(&b->paths, counts, count);
    assert(count >= b->starting_count); // starting paths keep their numbers
}

int box_closer_resource_count(const struct box_closer *b)
{
    return dynamic_resource_count(b->counted);
}
bool box_closer_counts(const struct box_closer *b, int resource)
{
    return dynamic_counts(b->counted, resource);
}

void box_closer_begin_with(struct box_closer *b, const struct box_step *step)
{
    b->current.beginning = step;
}

void box_closer_suggest(struct box_closer *b, const int *paths, const int64_t *weights,
                        int path_count)
{
    for (int i = 0; i < path_count; i++) {
        const int *path = paths + (size_t)i * (size_t)b->paths.size;
        if (!weights || weights[i] > 0)
            box_game_add_path(b, path_pool_add(&b->paths, path, NULL), path);
    }
}
