// The layouts document. Fates are stored as run lengths, [reason, count] one after the other, and
// so are the values of the layouts that have one, so that a space of a million layouts is a file of
// a megabyte.
#include "data/results/layouts.h"

#include <assert.h>
#include <string.h>

#include "data/results/bound.h"
#include "data/inputs/job_fields.h"
#include "data/kinds/schedules.h"

const char *const layout_fate_names[] = {"solved",     "bound",   "same", "memory",
                                         "infeasible", "refused", "open", NULL};

enum layout_fate layouts_fate(const struct layouts *l, int64_t number)
{
    return l->reasons[l->reason[number]].fate;
}

struct space_limits layouts_limits(const struct layouts *l)
{
    return (struct space_limits){.layout = &l->base,
                                 .devices = l->devices,
                                 .global_batch = l->global_batch,
                                 .sequence = l->sequence,
                                 .layers = l->layers,
                                 .experts = l->experts,
                                 .pools = l->pools,
                                 .precision = l->precision,
                                 .context_kind = l->context_kind,
                                 .sinks = l->sinks,
                                 .windows = l->windows,
                                 .hybrid = l->hybrid,
                                 .latent = l->latent,
                                 .mtp_depth = l->mtp_depth,
                                 .tied = l->tied,
                                 .key_heads = l->key_heads,
                                 .recompute = l->recompute,
                                 .uneven_stages = l->space.uneven_stages};
}

const char *layouts_space_words(const struct layouts *l, struct arena *arena)
{
    const struct space *space = &l->space;
    const struct space_axis *schedule = &space->axes[SPACE_SCHEDULE];
    bool winds = schedule->kind == AXIS_FIXED ? l->base.schedule == SCHEDULE_INTERLEAVED
                                              : schedule->kind == AXIS_ALL;
    for (int i = 0; schedule->kind == AXIS_LIST && i < schedule->count; i++)
        winds |= schedule->values[i] == SCHEDULE_INTERLEAVED;
    winds &= space->axes[SPACE_PIPELINE].kind != AXIS_FIXED || l->base.pipeline > 1;
    if (space->framework == FRAMEWORK_ANY) return "";
    return arena_print(
        arena, " of the space for %s%s", framework_names[space->framework],
        !winds || !framework_evens_stages(space->framework) ? ""
        : space->uneven_stages
            ? ", interleaved stages in any number"
            : ", interleaved stages in numbers that divide the layers (--uneven-stages: in any)");
}

static int find_reason(const struct layouts *l, enum layout_fate fate, const char *text)
{
    for (int i = 0; i < l->reason_count; i++)
        if (l->reasons[i].fate == fate &&
            (l->reasons[i].text == text || !strcmp(l->reasons[i].text, text)))
            return i;
    return -1;
}

bool layouts_reason_known(const struct layouts *l, enum layout_fate fate, const char *text)
{
    return find_reason(l, fate, text) >= 0;
}

int layouts_reason(struct layouts *l, enum layout_fate fate, const char *text, struct arena *arena)
{
    int found = find_reason(l, fate, text);
    if (found >= 0) return found;
    if (l->reason_count >= LAYOUTS_REASONS_MAX - FATE_COUNT)
        text = "for one of many other reasons", found = find_reason(l, fate, text);
    if (found >= 0) return found;
    assert(l->reason_count < LAYOUTS_REASONS_MAX);
    if (!l->reasons) l->reasons = TAKE(arena, LAYOUTS_REASONS_MAX, struct layouts_reason);
    l->reasons[l->reason_count] = (struct layouts_reason){fate, arena_copy_text(arena, text), 0};
    return l->reason_count++;
}

bool layout_fate_has_no_plan(enum layout_fate fate)
{
    return fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE;
}

void layouts_take(struct layouts *l, const struct layouts *known, struct arena *arena)
{
    int *reasons = TAKE(arena, known->reason_count, int);
    assert(l->count == known->count);
    for (int i = 0; i < known->reason_count; i++) {
        const struct layouts_reason *r = &known->reasons[i];
        bool closed = layout_fate_has_no_plan(r->fate);
        reasons[i] = layouts_reason(l, closed ? r->fate : FATE_OPEN,
                                    closed ? r->text : "its bound leaves room for a better plan",
                                    arena);
    }
    for (int64_t i = 0; i < l->count; i++) {
        bool more = layout_fate_has_no_plan(layouts_fate(known, i)) ||
                    (!layout_fate_has_no_plan(layouts_fate(l, i)) && known->value[i] > l->value[i]);
        if (more) l->reason[i] = (uint16_t)reasons[known->reason[i]], l->value[i] = known->value[i];
    }
}

void layouts_count(struct layouts *l)
{
    for (int i = 0; i < l->reason_count; i++) l->reasons[i].count = 0;
    for (int64_t i = 0; i < l->count; i++) {
        assert(l->reason[i] < l->reason_count);
        l->reasons[l->reason[i]].count++;
    }
}

static bool has_value(enum layout_fate fate)
{
    return fate != FATE_REFUSED && fate != FATE_INFEASIBLE;
}

// ---- reading

static const struct member reason_rows[] = {
    KEY_NAME(layouts_reason, fate, REQUIRED, ALWAYS_WRITTEN, layout_fate_names),
    KEY_COUNT(layouts_reason, count, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_TEXT(layouts_reason, text, REQUIRED),
};
static MEMBERS(reason, struct layouts_reason, NULL, true, NULL);

// The arrays are as long as another part of the file says: nothing is allocated for a count that no
// array confirms.
GET_MEMBER(get_fates)
{
    struct layouts *l = to;
    int64_t *runs, at = 0, sum = 0;
    int length;
    TRY(json_counts(value, 0, JSON_COUNT_MAX, &runs, &length, arena, err));
    if (length % 2)
        return json_refuse(value, err, "expected pairs of a reason and a number of layouts");
    for (int i = 0; i < length; i += 2) {
        if (runs[i] >= l->reason_count)
            return json_refuse(value, err, "expected reasons below %d, found %lld", l->reason_count,
                               (long long)runs[i]);
        if (runs[i + 1] < 1 || runs[i + 1] > SPACE_COUNT_MAX - sum)
            return json_refuse(value, err, "expected 1 to %d layouts in all", SPACE_COUNT_MAX);
        sum += runs[i + 1];
    }
    if (sum != l->count)
        return json_refuse(value, err, "expected %lld layouts, found %lld", (long long)l->count,
                           (long long)sum);
    l->reason = TAKE(arena, sum, uint16_t);
    for (int i = 0; i < length; i += 2)
        for (int64_t k = 0; k < runs[i + 1]; k++) l->reason[at++] = (uint16_t)runs[i];
    int64_t *counted = TAKE(arena, l->reason_count, int64_t);
    for (int i = 0; i < length; i += 2) counted[runs[i]] += runs[i + 1];
    for (int i = 0; i < l->reason_count; i++)
        if (counted[i] != l->reasons[i].count)
            return json_refuse(value, err, "expected %lld layouts of reason %d, found %lld",
                               (long long)l->reasons[i].count, i, (long long)counted[i]);
    return OK;
}

// As documents had them before value_runs: a value for each.
GET_MEMBER(get_values)
{
    struct layouts *l = to;
    int64_t *values;
    int length, at = 0;
    if (l->value) return OK;
    TRY(json_counts(value, 0, JSON_COUNT_MAX, &values, &length, arena, err));
    l->value = TAKE(arena, l->count, int64_t);
    for (int64_t i = 0; i < l->count; i++) {
        if (!has_value(layouts_fate(l, i))) continue;
        if (at == length)
            return json_refuse(value, err,
                               "expected a value for every layout that is not refused, found %d",
                               length);
        l->value[i] = values[at++];
    }
    return at == length ? OK : json_refuse(value, err, "expected %d values, found %d", at, length);
}

GET_MEMBER(get_value_runs)
{
    struct layouts *l = to;
    int64_t *runs, valued = 0, sum = 0;
    int length, at = 0;
    for (int64_t i = 0; i < l->count; i++) valued += has_value(layouts_fate(l, i));
    TRY(json_counts(value, 0, JSON_COUNT_MAX, &runs, &length, arena, err));
    if (!length) return OK;
    for (int i = 0; i + 1 < length; i += 2)
        sum += runs[i + 1] > 0 && runs[i + 1] <= valued - sum ? runs[i + 1] : valued + 1;
    if (length % 2 || sum != valued)
        return json_refuse(value, err,
                           "expected pairs of a value and a number of layouts, for the %lld that "
                           "are neither refused nor infeasible",
                           (long long)valued);
    l->value = TAKE(arena, l->count, int64_t);
    for (int64_t i = 0; i < l->count; i++) {
        if (!has_value(layouts_fate(l, i))) continue;
        l->value[i] = runs[at];
        if (!--runs[at + 1]) at += 2;
    }
    return OK;
}

enum { WORK_CELLS = 4 };

GET_MEMBER(get_work)
{
    struct layouts *l = to;
    int64_t *cells;
    int length;
    TRY(json_counts(value, -1, JSON_COUNT_MAX, &cells, &length, arena, err));
    if (length % WORK_CELLS)
        return json_refuse(value, err, "expected groups of %d numbers", WORK_CELLS);
    l->work_count = length / WORK_CELLS;
    l->work = TAKE(arena, l->work_count, struct layouts_work);
    for (int64_t i = 0; i < l->work_count; i++) {
        const int64_t *c = cells + i * WORK_CELLS;
        if (c[0] < 0 || c[0] >= l->count || (i && c[0] <= l->work[i - 1].number) || c[1] < 0 ||
            c[2] >= l->count || c[3] < 0)
            return json_refuse(value, err, "group %lld: expected ascending layouts of the space",
                               (long long)i);
        l->work[i] = (struct layouts_work){c[0], c[1], c[2], c[3]};
    }
    return OK;
}

// ---- writing

PUT_MEMBER(put_fates)
{
    const struct layouts *l = from;
    json_open_flat_array(w, key);
    for (int64_t i = 0, run = 0; i < l->count; i++) {
        run++;
        if (i + 1 < l->count && l->reason[i + 1] == l->reason[i]) continue;
        json_put_count(w, NULL, l->reason[i]);
        json_put_count(w, NULL, run);
        run = 0;
    }
    json_close_array(w);
}

PUT_MEMBER(put_value_runs)
{
    const struct layouts *l = from;
    int64_t value = 0, run = 0;
    json_open_flat_array(w, key);
    for (int64_t i = 0; i <= l->count; i++) {
        if (i < l->count && !has_value(layouts_fate(l, i))) continue;
        if (run && (i == l->count || l->value[i] != value)) {
            json_put_count(w, NULL, value);
            json_put_count(w, NULL, run);
            run = 0;
        }
        if (i < l->count) value = l->value[i], run++;
    }
    json_close_array(w);
}

PUT_MEMBER(put_work)
{
    const struct layouts *l = from;
    json_open_flat_array(w, key);
    for (int64_t i = 0; i < l->work_count; i++) {
        const struct layouts_work *k = &l->work[i];
        json_put_count(w, NULL, k->number);
        json_put_count(w, NULL, k->iteration_ns);
        json_put_count(w, NULL, k->other);
        json_put_count(w, NULL, k->boxes);
    }
    json_close_array(w);
}

// ---- the document

static bool counts_only(void *argument, int64_t number, const struct layout *layout)
{
    (void)layout;
    return number < *(const int64_t *)argument;
}

GET_MEMBER(finish_layouts)
{
    struct layouts *l = to;
    struct layouts_reason *reasons = TAKE(arena, LAYOUTS_REASONS_MAX, struct layouts_reason);
    memcpy(reasons, l->reasons, (size_t)l->reason_count * sizeof *reasons);
    l->reasons = reasons; // with room for more
    TRY(claim_check(value, l->claim, l->taken_over_count, err));
    TRY(fail_within(err, layout_check(&l->base, err), "%s: ", l->document.path));
    if (l->chosen >= l->count)
        return json_refuse(value, err, "chosen: expected a layout below %lld", (long long)l->count);
    struct space_limits bounds = layouts_limits(l);
    int64_t visited = space_each(&l->space, &bounds, counts_only, &l->count);
    if (visited == l->count) return OK;
    return json_refuse(value, err, "count: expected the space's number of layouts, found %lld",
                       (long long)l->count);
}

static const struct member limits_rows[] = {
    KEY_COUNT(layouts, devices, REQUIRED, ALWAYS_WRITTEN, 1, JSON_COUNT_MAX),
    KEY_COUNT(layouts, global_batch, REQUIRED, ALWAYS_WRITTEN, 1, JSON_COUNT_MAX),
    KEY_COUNT(layouts, sequence, REQUIRED, ALWAYS_WRITTEN, 1, JSON_COUNT_MAX),
    KEY_INT(layouts, layers, REQUIRED, ALWAYS_WRITTEN, 1, 1 << 20),
    KEY_COUNT(layouts, experts, OPTIONAL, IF_SET, 1, EXPERTS_MAX),
    KEY_NAME(layouts, pools, OPTIONAL, IF_SET, pool_span_names),
    KEY_NAME(layouts, precision, OPTIONAL, IF_SET, precision_names),
    KEY_NAME(layouts, context_kind, OPTIONAL, IF_SET, context_kind_names),
    KEY_BOOL(layouts, sinks, OPTIONAL, IF_SET),
    KEY_BOOL(layouts, windows, OPTIONAL, IF_SET),
    KEY_BOOL(layouts, hybrid, OPTIONAL, IF_SET),
    KEY_BOOL(layouts, latent, OPTIONAL, IF_SET),
    KEY_BOOL(layouts, tied, OPTIONAL, IF_SET),
    KEY_INT(layouts, mtp_depth, OPTIONAL, IF_SET, 0, 1 << 20),
    KEY_COUNT(layouts, key_heads, OPTIONAL, IF_SET, 1, 1 << 16),
    KEY_SET(layouts, recompute, OPTIONAL, ALWAYS_WRITTEN, recompute_names),
};
static MEMBERS(limits, struct layouts, NULL, true, NULL);

static const struct member layouts_rows[] = {
    KEY_TEXT(layouts, name, REQUIRED),
    KEY_OBJECT("layout", layouts, base, REQUIRED, ALWAYS_WRITTEN, &layout_members),
    KEY_SPACE(layouts, space, REQUIRED),
    KEY_OBJECT("limits", layouts, document, REQUIRED, ALWAYS_WRITTEN, &limits_members),
    KEY_NUMBER(layouts, gap_asked, REQUIRED, ALWAYS_WRITTEN, 0, 1),
    KEY_NAME(layouts, objective, OPTIONAL, IF_SET, objective_names),
    KEY_COUNT(layouts, iteration_ns, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(layouts, bound_ns, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_NAME(layouts, claim, OPTIONAL, ALWAYS_WRITTEN, bound_claim_names),
    KEY_LIST(layouts, taken_over, taken_over_count, OPTIONAL, IF_SET, TAKEN_OVER_MAX,
             &taken_over_members),
    KEY_COUNT(layouts, count, REQUIRED, ALWAYS_WRITTEN, 0, SPACE_COUNT_MAX),
    KEY_COUNT(layouts, chosen, OPTIONAL, IF_STATED, 0, SPACE_COUNT_MAX),
    KEY_LIST(layouts, reasons, reason_count, REQUIRED, ALWAYS_WRITTEN, LAYOUTS_REASONS_MAX,
             &reason_members),
    KEY_PART("fates", JSON_ARRAY, REQUIRED, 0, get_fates, put_fates),
    KEY_PART("value_runs", JSON_ARRAY, OPTIONAL, 0, get_value_runs, put_value_runs),
    KEY_OF("values", JSON_ARRAY, OPTIONAL, NOT_BY_TABLE, 0, 0, 0, NULL, get_values, NULL),
    KEY_PART("work", JSON_ARRAY, REQUIRED, 0, get_work, put_work),
};
MEMBERS(layouts, struct layouts, NULL, false, finish_layouts);

enum status layouts_load(struct layouts *l, const char *path, struct arena *arena,
                         struct error *err)
{
    *l = (struct layouts){.chosen = -1};
    path = path_of_document(path, "plan.layouts.json", arena);
    return document_load(&l->document, path, "plumbline.layouts", &layouts_members, l, NULL, arena,
                         err);
}

enum status layouts_save(const struct layouts *l, const char *path, struct arena *arena,
                         struct error *err)
{
    assert(l->chosen >= -1 && l->chosen < l->count);
    assert(l->chosen < 0 || l->bound_ns <= l->iteration_ns);
    bound_stated(l->bound_ns, l->iteration_ns, 0);
    return document_save(&l->document, "plumbline.layouts", &layouts_members, l, NULL, path, arena,
                         err);
}
