// See ranges.h. A range's name is behind its domain and a colon, ":" alone for the default one.
// With emit_nvtx(record_shapes=True) an operator is "aten::mm, seq = 3, op_id = 7, sizes = [[8, 4],
// [4, 2]]".
#include "data/import/trace/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/text/table.h"

static const char of_trace[] = "Projected Duration (ns)", of_sum[] = "Proj Med (ns)";

bool nsight_is(const char *path, struct arena *arena)
{
    char head[512];
    FILE *from;
    struct error unread = {OK, ""};
    if (!strcmp(path, "-") || file_open(&from, path, arena, &unread) != OK) return false;
    size_t got = fread(head, 1, sizeof head - 1, from);
    head[got] = '\0';
    head[strcspn(head, "\r\n")] = '\0';
    return strstr(head, of_trace) || strstr(head, of_sum);
}

// Without its domain; an operator's own name has two colons.
static const char *range_name(struct cell cell, struct arena *arena)
{
    const char *name = cell_copy(cell, arena), *colon = strchr(name, ':');
    return colon && colon[1] != ':' &&
                   (colon == name || !strchr(name, ' ') || colon < strchr(name, ' '))
               ? colon + 1
               : name;
}

// "[[8, 4], [4, 2], []]" into arrays of the given type.
static void read_sizes(struct trace_arguments *a, const char *sizes, const char *type)
{
    int depth = 0, input = -1;
    for (const char *p = sizes; *p; p++) {
        depth += (*p == '[') - (*p == ']');
        if (*p == '[' && depth == 2) input++;
        if (depth < 0 || input >= TRACE_INPUTS) return;
        if (depth != 2 || *p < '0' || *p > '9') continue;
        struct trace_input *x = &a->inputs[input];
        char *end;
        int64_t value = strtoll(p, &end, 10);
        if (x->dimension_count < TRACE_DIMENSIONS) x->dimensions[x->dimension_count] = value;
        if (x->dimension_count <= TRACE_DIMENSIONS) x->dimension_count++;
        snprintf(x->type, sizeof x->type, "%s", type);
        p = end - 1;
    }
}

static void take_operator(struct trace *t, const char *name, double seconds, int precision,
                          struct arena *arena)
{
    static const char *const types[PRECISION_COUNT] = {
        [FP32] = "float", [FP16] = "c10::Half", [BF16] = "c10::BFloat16"};
    const char *sizes = strstr(name, ", sizes = ");
    if (!sizes || precision < 0 || !types[precision]) return;
    struct trace_arguments *a = TAKE(arena, 1, struct trace_arguments);
    const char *own = arena_print(arena, "%.*s", (int)strcspn(name, ","), name);
    read_sizes(a, sizes + strlen(", sizes = "), types[precision]);
    trace_ops_take(&t->ops, own, TRACE_OPERATOR, a, seconds, arena);
}

static enum status take_row(struct trace *t, const struct table *table, int name_at, int time_at,
                            int precision, struct arena *arena, struct error *err)
{
    double ns = 0;
    const char *text = range_name(table->cells[name_at], arena);
    TRY(table_number(table, time_at, 0, 1e15, &ns, err));
    take_operator(t, text, 1e-9 * ns, precision, arena);
    int name =
        trace_name(&t->names, arena_print(arena, "%.*s", (int)strcspn(text, ","), text), arena);
    if (name < 0 || t->used_count == TRACE_RANGES_MAX)
        return table_refuse(table, name_at, err, "more than %d ranges, or %d names of them",
                            TRACE_RANGES_MAX, TRACE_NAMES_MAX);
    GROW(arena, t->used, t->used_count, t->used_room, 1024);
    t->used[t->used_count++] =
        (struct trace_range){.end_ns = (int64_t)ns, .name = name, .seconds = 1e-9 * ns, .work = 1};
    return OK;
}

enum status nsight_read(struct trace *t, const char *path, int precision, bool *medians,
                        struct arena *arena, struct error *err)
{
    struct table table;
    bool more = true;
    trace_begin(t);
    TRY(table_open(&table, path, arena, err));
    int time_at = table_column(&table, of_trace), name_at = table_column(&table, "Name");
    *medians = time_at < 0;
    if (*medians) time_at = table_column(&table, of_sum), name_at = table_column(&table, "Range");
    if (time_at < 0 || name_at < 0)
        return refuse(
            err,
            "%s: expected the columns Name and %s of nsys's nvtx_gpu_proj_trace, or Range "
            "and %s of nvtx_gpu_proj_sum",
            path, of_trace, of_sum);
    while (more) {
        TRY(table_next(&table, &more, err));
        if (more) TRY(take_row(t, &table, name_at, time_at, precision, arena, err));
    }
    if (!t->used_count) return refuse(err, "%s: has no ranges", path);
    t->rule = TRACE_BY_NSIGHT;
    t->name_seconds = TAKE(arena, t->names.count, double);
    for (int i = 0; i < t->used_count; i++) t->name_seconds[t->used[i].name] += t->used[i].seconds;
    return OK;
}
