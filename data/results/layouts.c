// The layouts document. Fates come as run lengths, [reason, how many] one after the other, and
// numbers as one array over the layouts that have one, in their order: a space of a million layouts
// is a file of some megabytes.
#include "data/results/layouts.h"

#include <assert.h>
#include <string.h>

#include "data/results/bound.h"
#include "data/inputs/job_fields.h"

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
                                 .layers = l->layers};
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

static enum status read_reasons(struct layouts *l, const struct json *array, struct arena *arena,
                                struct error *err)
{
    int count = json_length(array);
    if (count > LAYOUTS_REASONS_MAX)
        return json_refuse(array, err, "expected at most %d reasons, found %d", LAYOUTS_REASONS_MAX,
                           count);
    l->reasons = TAKE(arena, LAYOUTS_REASONS_MAX, struct layouts_reason);
    for (int i = 0; i < count; i++) {
        struct json element = json_element(array, i, arena);
        struct layouts_reason *r = &l->reasons[i];
        int fate = 0;
        struct json_field fields[] = {
            FIELD_NAME("fate", REQUIRED, &fate, layout_fate_names),
            FIELD_TEXT("text", REQUIRED, &r->text),
            FIELD_COUNT("count", REQUIRED, &r->count, 0, JSON_COUNT_MAX),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        r->fate = (enum layout_fate)fate;
    }
    l->reason_count = count;
    return OK;
}

// The arrays are as long as the file says elsewhere: nothing is taken for a count that no array
// bears out.
static enum status read_fates(struct layouts *l, const struct json *fates, struct arena *arena,
                              struct error *err)
{
    int64_t *runs, at = 0, sum = 0;
    int length;
    TRY(json_counts(fates, 0, JSON_COUNT_MAX, &runs, &length, arena, err));
    if (length % 2)
        return json_refuse(fates, err, "expected pairs of a reason and a number of layouts");
    for (int i = 0; i < length; i += 2) {
        if (runs[i] >= l->reason_count)
            return json_refuse(fates, err, "expected reasons below %d, found %lld", l->reason_count,
                               (long long)runs[i]);
        if (runs[i + 1] < 1 || runs[i + 1] > SPACE_COUNT_MAX - sum)
            return json_refuse(fates, err, "expected 1 to %d layouts in all", SPACE_COUNT_MAX);
        sum += runs[i + 1];
    }
    if (sum != l->count)
        return json_refuse(fates, err, "expected %lld layouts, found %lld", (long long)l->count,
                           (long long)sum);
    l->reason = TAKE(arena, sum, uint16_t);
    for (int i = 0; i < length; i += 2)
        for (int64_t k = 0; k < runs[i + 1]; k++) l->reason[at++] = (uint16_t)runs[i];
    int64_t *counted = TAKE(arena, l->reason_count, int64_t);
    for (int i = 0; i < length; i += 2) counted[runs[i]] += runs[i + 1];
    for (int i = 0; i < l->reason_count; i++)
        if (counted[i] != l->reasons[i].count)
            return json_refuse(fates, err, "expected %lld layouts of reason %d, found %lld",
                               (long long)l->reasons[i].count, i, (long long)counted[i]);
    return OK;
}

static enum status read_values(struct layouts *l, const struct json *array, struct arena *arena,
                               struct error *err)
{
    int64_t *values;
    int length, at = 0;
    TRY(json_counts(array, 0, JSON_COUNT_MAX, &values, &length, arena, err));
    l->value = TAKE(arena, l->count, int64_t);
    for (int64_t i = 0; i < l->count; i++) {
        if (!has_value(layouts_fate(l, i))) continue;
        if (at == length)
            return json_refuse(array, err,
                               "expected a value for every layout that is not refused, found %d",
                               length);
        l->value[i] = values[at++];
    }
    return at == length ? OK : json_refuse(array, err, "expected %d values, found %d", at, length);
}

enum { WORK_CELLS = 4 };

static enum status read_work(struct layouts *l, const struct json *array, struct arena *arena,
                             struct error *err)
{
    int64_t *cells;
    int length;
    TRY(json_counts(array, -1, JSON_COUNT_MAX, &cells, &length, arena, err));
    if (length % WORK_CELLS)
        return json_refuse(array, err, "expected groups of %d numbers", WORK_CELLS);
    l->work_count = length / WORK_CELLS;
    l->work = TAKE(arena, l->work_count, struct layouts_work);
    for (int64_t i = 0; i < l->work_count; i++) {
        const int64_t *c = cells + i * WORK_CELLS;
        if (c[0] < 0 || c[0] >= l->count || (i && c[0] <= l->work[i - 1].number) || c[1] < 0 ||
            c[2] >= l->count || c[3] < 0)
            return json_refuse(array, err, "group %lld: expected ascending layouts of the space",
                               (long long)i);
        l->work[i] = (struct layouts_work){c[0], c[1], c[2], c[3]};
    }
    return OK;
}

static enum status read_limits(struct layouts *l, const struct json *object, struct arena *arena,
                               struct error *err)
{
    struct json_field fields[] = {
        FIELD_COUNT("devices", REQUIRED, &l->devices, 1, JSON_COUNT_MAX),
        FIELD_COUNT("global_batch", REQUIRED, &l->global_batch, 1, JSON_COUNT_MAX),
        FIELD_COUNT("sequence", REQUIRED, &l->sequence, 1, JSON_COUNT_MAX),
        FIELD_INT("layers", REQUIRED, &l->layers, 1, 1 << 20),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

static bool counts_only(void *argument, int64_t number, const struct layout *layout)
{
    (void)layout;
    return number < *(const int64_t *)argument;
}

enum status layouts_load(struct layouts *l, const char *path, struct arena *arena,
                         struct error *err)
{
    struct json base = {0}, space = {0}, limits = {0}, reasons = {0}, fates = {0}, values = {0},
                work = {0};
    *l = (struct layouts){.chosen = -1};
    TRY(document_read(&l->document, path, "plumbline.layouts", arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &l->name),
        FIELD_OBJECT("layout", REQUIRED, &base),
        FIELD_OBJECT("space", REQUIRED, &space),
        FIELD_OBJECT("limits", REQUIRED, &limits),
        FIELD_NUMBER("gap_asked", REQUIRED, &l->gap_asked, 0, 1),
        FIELD_NAME("objective", OPTIONAL, &l->objective, objective_names),
        FIELD_COUNT("iteration_ns", REQUIRED, &l->iteration_ns, 0, JSON_COUNT_MAX),
        FIELD_COUNT("bound_ns", REQUIRED, &l->bound_ns, 0, JSON_COUNT_MAX),
        FIELD_COUNT("count", REQUIRED, &l->count, 0, SPACE_COUNT_MAX),
        FIELD_COUNT("chosen", OPTIONAL, &l->chosen, 0, SPACE_COUNT_MAX),
        FIELD_ARRAY("reasons", REQUIRED, &reasons),
        FIELD_ARRAY("fates", REQUIRED, &fates),
        FIELD_ARRAY("values", REQUIRED, &values),
        FIELD_ARRAY("work", REQUIRED, &work),
    };
    TRY(document_fields(&l->document, fields, ARRAY_LENGTH(fields), arena, err));
    TRY(layout_get(&base, &l->base, arena, err));
    TRY(layout_check(&l->base, path, err));
    TRY(space_get(&space, &l->space, arena, err));
    TRY(read_limits(l, &limits, arena, err));
    TRY(read_reasons(l, &reasons, arena, err));
    TRY(read_fates(l, &fates, arena, err));
    TRY(read_values(l, &values, arena, err));
    TRY(read_work(l, &work, arena, err));
    if (l->chosen >= l->count)
        return fail(err, BAD_INPUT, "%s: chosen: expected a layout below %lld", path,
                    (long long)l->count);
    struct space_limits bounds = layouts_limits(l);
    int64_t visited = space_each(&l->space, &bounds, counts_only, &l->count);
    if (visited == l->count) return OK;
    return fail(err, BAD_INPUT, "%s: count: expected the space's number of layouts, found %lld",
                path, (long long)l->count);
}

// ---- writing

static void put_fates(struct json_writer *w, const struct layouts *l)
{
    json_open_flat_array(w, "fates");
    for (int64_t i = 0, run = 0; i < l->count; i++) {
        run++;
        if (i + 1 < l->count && l->reason[i + 1] == l->reason[i]) continue;
        json_put_count(w, NULL, l->reason[i]);
        json_put_count(w, NULL, run);
        run = 0;
    }
    json_close_array(w);
}

static void put_reasons(struct json_writer *w, const struct layouts *l)
{
    json_open_array(w, "reasons");
    for (int i = 0; i < l->reason_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "fate", layout_fate_names[l->reasons[i].fate]);
        json_put_count(w, "count", l->reasons[i].count);
        json_put_text(w, "text", l->reasons[i].text);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_numbers(struct json_writer *w, const struct layouts *l)
{
    put_fates(w, l);
    json_open_flat_array(w, "values");
    for (int64_t i = 0; i < l->count; i++)
        if (has_value(layouts_fate(l, i))) json_put_count(w, NULL, l->value[i]);
    json_close_array(w);
    json_open_flat_array(w, "work");
    for (int64_t i = 0; i < l->work_count; i++) {
        const struct layouts_work *k = &l->work[i];
        json_put_count(w, NULL, k->number);
        json_put_count(w, NULL, k->iteration_ns);
        json_put_count(w, NULL, k->other);
        json_put_count(w, NULL, k->boxes);
    }
    json_close_array(w);
}

enum status layouts_save(const struct layouts *l, const char *path, struct arena *arena,
                         struct error *err)
{
    struct json_writer w;
    assert(l->chosen >= -1 && l->chosen < l->count);
    assert(l->chosen < 0 || l->bound_ns <= l->iteration_ns);
    document_begin(&w, "plumbline.layouts", l->document.sources, l->document.source_count, arena);
    json_put_text(&w, "name", l->name);
    layout_put(&w, "layout", &l->base);
    space_put(&w, "space", &l->space);
    json_open_flat_object(&w, "limits");
    json_put_count(&w, "devices", l->devices);
    json_put_count(&w, "global_batch", l->global_batch);
    json_put_count(&w, "sequence", l->sequence);
    json_put_count(&w, "layers", l->layers);
    json_close_object(&w);
    json_put_number(&w, "gap_asked", l->gap_asked);
    if (l->objective != OBJECTIVE_ITERATION_TIME)
        json_put_text(&w, "objective", objective_names[l->objective]);
    json_put_count(&w, "iteration_ns", l->iteration_ns);
    json_put_count(&w, "bound_ns", bound_stated(l->bound_ns, l->iteration_ns, 0));
    json_put_count(&w, "count", l->count);
    if (l->chosen >= 0) json_put_count(&w, "chosen", l->chosen);
    put_reasons(&w, l);
    put_numbers(&w, l);
    return document_write(&w, path, err);
}
