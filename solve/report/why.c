// Why this layout: of each key the values that the plan has not, the nearest first, with what the
// best known plan with it loses and what any plan with it takes at least; from the outcomes of the
// space.
#include <stdlib.h>

#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "solve/report/report.h"

enum { OTHERS_SHOWN = 3, VALUES_MOST = 512 };

// Times of the layouts that have a value; INT64_MAX: there is none.
struct outcome_of_value {
    int value;
    int64_t plan_ns, least_ns; // the best known plan; a bound on every plan
};

struct of_key {                  // the outcomes of a key's values
    int chosen, count, last;     // last: the place of the value seen last
    bool unused;                 // the chosen layout has no such value
    struct outcome_of_value *of; // [VALUES_MOST]
};

static const struct shown {
    enum space_key key;
    const char *name;
} shown[] = {{SPACE_TENSOR, "tensor"},
             {SPACE_CONTEXT, "context"},
             {SPACE_PIPELINE, "pipeline"},
             {SPACE_CONTEXT_KIND, "kind"},
             {SPACE_DATA, "data"},
             {SPACE_EXPERT, "expert"},
             {SPACE_OVERLAPPED_DISPATCH, "dispatch"},
             {SPACE_POOL, "pool"},
             {SPACE_SCHEDULE, "schedule"},
             {SPACE_MICRO_BATCH, "batch"},
             {SPACE_ZERO, "ZeRO"}};

struct why {
    const struct layouts *layouts;
    int64_t work; // the first of the layouts' work that is not behind the walk
    struct of_key keys[ARRAY_LENGTH(shown)];
};

static struct outcome_of_value *find_value(struct of_key *k, int value)
{
    if (k->last < k->count && k->of[k->last].value == value) return &k->of[k->last];
    for (k->last = 0; k->last < k->count; k->last++)
        if (k->of[k->last].value == value) return &k->of[k->last];
    if (k->count == VALUES_MOST) return NULL;
    k->of[k->count] = (struct outcome_of_value){value, INT64_MAX, INT64_MAX};
    return &k->of[k->count++];
}

static bool note_layout(void *argument, int64_t number, const struct layout *layout)
{
    struct why *w = argument;
    const struct layouts *l = w->layouts;
    while (w->work < l->work_count && l->work[w->work].number < number) w->work++;
    bool worked = w->work < l->work_count && l->work[w->work].number == number,
         chosen = number == l->chosen, has_time = report_has_time(layouts_fate(l, number));
    int64_t plan_ns = chosen ? l->iteration_ns : worked ? l->work[w->work].iteration_ns : 0;
    for (size_t i = 0; i < ARRAY_LENGTH(shown); i++) {
        bool unused = shown[i].key == SPACE_CONTEXT_KIND && layout->context == 1;
        if (chosen) w->keys[i].unused = unused;
        if (unused) continue;
        int value = layout_value(layout, shown[i].key);
        struct outcome_of_value *of = find_value(&w->keys[i], value);
        if (chosen) w->keys[i].chosen = value;
        if (of && plan_ns > 0) of->plan_ns = smaller(of->plan_ns, plan_ns);
        if (of && has_time) of->least_ns = smaller(of->least_ns, l->value[number]);
    }
    return true;
}

// The best known plan first; without one, by the bound.
static int nearest_first(const void *a, const void *b)
{
    const struct outcome_of_value *x = a, *y = b;
    int64_t at_x = smaller(x->plan_ns, INT64_MAX - 1), at_y = smaller(y->plan_ns, INT64_MAX - 1);
    if (at_x != at_y) return at_x < at_y ? -1 : 1;
    if (x->least_ns != y->least_ns) return x->least_ns < y->least_ns ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

static const char *value_name(const struct layouts *l, enum space_key key, int value,
                              struct arena *arena)
{
    if (key == SPACE_SCHEDULE) return schedule_names[value];
    if (key == SPACE_POOL && !value) return "whole";
    if (key == SPACE_OVERLAPPED_DISPATCH) return value ? "overlapped" : "exposed";
    if (key == SPACE_CONTEXT_KIND)
        return context_kind_names[value ? value - 1 : (int)l->context_kind];
    return arena_print(arena, "%d", value);
}

// Of a plan's time, in percent, how much longer ns is; least: rounded down, as no plan loses less.
static const char *percent(const struct layouts *l, int64_t ns, bool least, struct arena *arena)
{
    double more = 100 * ((double)ns / (double)l->iteration_ns - 1);
    int digits = more < 10 && more > -10;
    if (least) more = digits ? floor(10 * more) / 10 : floor(more);
    if (least && more < 0) return arena_print(arena, "at most %.*f %% faster", digits, -more);
    return arena_print(arena, "%s%+.*f %%", least ? "at least " : "", digits, more);
}

static const char *loss_text(const struct layouts *l, const struct outcome_of_value *of,
                             struct arena *arena)
{
    if (of->least_ns == INT64_MAX) return "no plan";
    const char *least = of->least_ns > 0 ? percent(l, of->least_ns, true, arena) : "not bounded";
    if (of->plan_ns == INT64_MAX) return least;
    return arena_print(arena, "%s (%s)", percent(l, of->plan_ns, false, arena), least);
}

static void put_key(struct text *out, const struct layouts *l, const struct shown *key,
                    const struct of_key *k)
{
    struct outcome_of_value *of = k->of;
    if (k->count < 2 || k->unused) return;
    qsort(of, (size_t)k->count, sizeof *of, nearest_first);
    text_put(out, "  %-10s %s;", key->name, value_name(l, key->key, k->chosen, out->arena));
    int put = 0, without = 0;
    for (int i = 0; i < k->count; i++) {
        if (of[i].value == k->chosen) continue;
        without += of[i].least_ns == INT64_MAX;
        if (of[i].least_ns == INT64_MAX || put == OTHERS_SHOWN) continue;
        text_put(out, "%s %s: %s", put++ ? "," : "",
                 value_name(l, key->key, of[i].value, out->arena),
                 loss_text(l, &of[i], out->arena));
    }
    if (without) text_put(out, "%s %d more without a plan", put ? "," : "", without);
    text_put(out, "\n");
}

void report_why(struct text *out, const struct layouts *l)
{
    struct why w = {.layouts = l};
    struct space_limits limits = layouts_limits(l);
    if (l->chosen < 0 || l->bound_ns <= 0) return;
    for (size_t i = 0; i < ARRAY_LENGTH(shown); i++)
        w.keys[i].of = TAKE(out->arena, VALUES_MOST, struct outcome_of_value);
    space_each(&l->space, &limits, note_layout, &w);
    text_put(out, "\nWhy this layout (chosen; other values: the best plan known with each, and "
                  "what any takes)\n");
    for (size_t i = 0; i < ARRAY_LENGTH(shown); i++) put_key(out, l, &shown[i], &w.keys[i]);
}
