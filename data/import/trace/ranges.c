// Work on the device belongs to the ranges that were open when the host launched it: the
// correlation number joins the two. The backward pass is launched by a separate thread, on which
// nothing is annotated; then the ranges open anywhere in its process count. If a trace has no
// launches, the profiler's own device ranges are used, by stream and time. All open ranges count,
// both outer and inner. One sweep over points in time, with ranges ordered by start.
#include "data/import/trace/ranges.h"

#include <stdlib.h>
#include <string.h>

enum {
    NAMES_FIRST = 64,
    SLOTS_PER_NAME = 4,
    OPEN_MAX = 1024
}; // TRACE_NAMES_MAX is NAMES_FIRST times a power of two

struct point {
    int64_t ns;
    double seconds;
    int thread, process;
};

void trace_begin(struct trace *t) { *t = (struct trace){0}; }

// The slot with the number of a text plus one, or the slot where it belongs: names->room *
// SLOTS_PER_NAME of them.
static int *find_slot(const struct trace_names *names, const char *text)
{
    uint32_t hash = 2166136261u, slots = (uint32_t)names->room * SLOTS_PER_NAME;
    for (const char *p = text; *p; p++) hash = (hash ^ (unsigned char)*p) * 16777619u;
    uint32_t slot = hash % slots;
    while (names->slots[slot] && strcmp(names->texts[names->slots[slot] - 1], text))
        slot = (slot + 1) % slots;
    return &names->slots[slot];
}

static void make_room(struct trace_names *names, struct arena *arena)
{
    int room = names->room ? 2 * names->room : NAMES_FIRST;
    names->texts =
        arena_grow(arena, names->texts, (size_t)names->count, (size_t)room, sizeof *names->texts);
    names->slots = TAKE(arena, room * SLOTS_PER_NAME, int);
    names->room = room;
    for (int i = 0; i < names->count; i++) *find_slot(names, names->texts[i]) = i + 1;
}

int trace_name(struct trace_names *names, const char *text, struct arena *arena)
{
    if (names->count == names->room && names->count < TRACE_NAMES_MAX) make_room(names, arena);
    int *slot = find_slot(names, text);
    if (*slot) return *slot - 1;
    if (names->count == TRACE_NAMES_MAX) return -1;
    names->texts[names->count] = arena_copy_text(arena, text);
    *slot = names->count + 1;
    return names->count++;
}

static int compare_launches(const void *a, const void *b)
{
    const struct trace_launch *x = a, *y = b;
    if (x->correlation != y->correlation) return x->correlation < y->correlation ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int compare_ranges(const void *a, const void *b)
{
    const struct trace_range *x = a, *y = b;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

// The first launch with this number; NULL: none.
static const struct trace_launch *find_launch(const struct trace *t, int64_t correlation)
{
    int low = 0, high = t->launch_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (t->launches[middle].correlation < correlation) low = middle + 1;
        else high = middle;
    }
    return low < t->launch_count && t->launches[low].correlation == correlation ? &t->launches[low]
                                                                                : NULL;
}

static struct point *make_points(const struct trace *t, struct arena *arena)
{
    struct point *points = TAKE(arena, t->work_count, struct point);
    for (int i = 0; i < t->work_count; i++) {
        const struct trace_work *w = &t->work[i];
        const struct trace_launch *launch =
            t->rule == TRACE_BY_LAUNCH ? find_launch(t, w->correlation) : NULL;
        points[i] =
            launch ? (struct point){launch->start_ns, w->seconds, launch->thread, launch->process}
                   : (struct point){w->start_ns, w->seconds, w->thread, -1};
    }
    qsort(points, (size_t)t->work_count, sizeof *points, compare_points);
    return points;
}

// Assigns one point to those of the open ranges to which it belongs; false: there is none.
static bool give(struct trace *t, const struct point *p, const int *open, int open_count,
                 int *stamps, int stamp)
{
    bool given = false;
    for (int any_thread = 0; any_thread < 2 && !given; any_thread++)
        for (int i = 0; i < open_count; i++) {
            struct trace_range *r = &t->used[open[i]];
            if (any_thread ? r->process != p->process : r->thread != p->thread) continue;
            given = true;
            r->seconds += p->seconds;
            r->work++;
            if (stamps[r->name] != stamp) t->name_seconds[r->name] += p->seconds;
            stamps[r->name] = stamp;
        }
    return given;
}

static enum status sweep(struct trace *t, const struct point *points, const char *file,
                         struct arena *arena, struct error *err)
{
    int *open = TAKE(arena, OPEN_MAX, int), *stamps = TAKE(arena, t->names.count, int);
    int open_count = 0, next = 0;
    for (int i = 0; i < t->work_count; i++) {
        int kept = 0;
        for (int k = 0; k < open_count; k++)
            if (t->used[open[k]].end_ns >= points[i].ns) open[kept++] = open[k];
        open_count = kept;
        for (; next < t->used_count && t->used[next].start_ns <= points[i].ns; next++) {
            if (t->used[next].end_ns < points[i].ns) continue;
            if (open_count == OPEN_MAX)
                return refuse(err, "%s: more than %d ranges are open at once", file, OPEN_MAX);
            open[open_count++] = next;
        }
        if (give(t, &points[i], open, open_count, stamps, i + 1)) continue;
        t->outside_s += points[i].seconds;
        t->outside++;
    }
    return OK;
}

enum status trace_attribute(struct trace *t, const char *file, struct arena *arena,
                            struct error *err)
{
    bool launched = t->range_count[0] && t->launch_count;
    t->rule = !t->work_count                   ? TRACE_BY_HOST
              : launched || !t->range_count[1] ? TRACE_BY_LAUNCH
                                               : TRACE_BY_DEVICE;
    int which = t->rule == TRACE_BY_DEVICE;
    t->used = t->ranges[which];
    t->used_count = t->range_count[which];
    t->name_seconds = TAKE(arena, t->names.count, double);
    if (t->used_count) qsort(t->used, (size_t)t->used_count, sizeof *t->used, compare_ranges);
    if (t->rule == TRACE_BY_HOST) {
        for (int i = 0; i < t->used_count; i++) {
            struct trace_range *r = &t->used[i];
            r->seconds = 1e-9 * (double)(r->end_ns - r->start_ns);
            t->name_seconds[r->name] += r->seconds;
        }
        return OK;
    }
    if (t->launch_count)
        qsort(t->launches, (size_t)t->launch_count, sizeof *t->launches, compare_launches);
    return sweep(t, make_points(t, arena), file, arena, err);
}
