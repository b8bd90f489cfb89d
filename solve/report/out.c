// Quantities and tables of the reports.
#include "solve/report/report.h"

#include <string.h>

#include "data/base/grow.h"

const char *report_time(int64_t ns, struct arena *arena)
{
    double x = (double)ns;
    if (ns >= 1000000000) return arena_print(arena, "%.6f s", x / 1e9);
    if (ns >= 1000000) return arena_print(arena, "%.3f ms", x / 1e6);
    return arena_print(arena, "%.3f us", x / 1e3);
}

const char *report_value(const struct plan *plan, int64_t value_ns, struct arena *arena)
{
    if (plan->objective != OBJECTIVE_ENERGY) return report_time(value_ns, arena);
    return arena_print(arena, "%.6f J", (double)value_ns / 1e6);
}

const char *report_milliseconds(int64_t ns, struct arena *arena)
{
    return arena_print(arena, "%.3f", (double)ns / 1e6);
}

const char *report_gigabytes(int64_t bytes, struct arena *arena)
{
    return arena_print(arena, "%.2f", (double)bytes / 1e9);
}

const char *report_in_flight(const struct layout *l, struct arena *arena)
{
    const char *text = l->in_flight[0] ? "" : "-";
    for (int s = 0; s < LISTED_STAGES_MAX && l->in_flight[s]; s++)
        text = arena_print(arena, "%s%s%d", text, s ? " " : "", l->in_flight[s]);
    return text;
}

void report_put_in_flight(struct text *out, const struct layout *l)
{
    if (!l->in_flight[0]) return;
    text_put(out,
             "# Not in it: micro-batches in flight %s by stage; 1f1b's own times and memory are "
             "others.\n",
             report_in_flight(l, out->arena));
}

const char *report_bar(double share, int width, struct arena *arena)
{
    char *bar = arena_take(arena, (size_t)width + 1, 1);
    int filled = share <= 0 ? 0 : share >= 1 ? width : (int)(share * width + 0.5);
    memset(bar, '#', (size_t)filled);
    memset(bar + filled, '.', (size_t)(width - filled));
    return bar;
}

void report_table_begin(struct report_table *t, const char *const *headings, const char *align,
                        struct arena *arena)
{
    *t = (struct report_table){.align = align, .column_count = (int)strlen(align), .arena = arena};
    t->headings = TAKE_COPY(arena, headings, t->column_count);
}

void report_cell(struct report_table *t, const char *text)
{
    *GROWN(t->arena, t->cells, t->cell_count, t->cell_capacity, 64) = text;
}

int report_column_width(const struct report_table *t, int column)
{
    int width = (int)strlen(t->headings[column]);
    bool says = false;
    for (int i = column; i < t->cell_count; i += t->column_count) {
        int length = (int)strlen(t->cells[i]);
        if (length > width) width = length;
        says |= strcmp(t->cells[i], "-") != 0;
    }
    return says ? width : 0;
}

static void print_row(struct text *out, const struct report_table *t, const char *const *cells)
{
    size_t line = out->length;
    for (int c = 0; c < t->column_count; c++) {
        int width = report_column_width(t, c);
        if (width) text_put(out, t->align[c] == 'r' ? "  %*s" : "  %-*s", width, cells[c]);
    }
    while (out->length > line && out->text[out->length - 1] == ' ') out->length--;
    text_put(out, "\n");
}

void report_table_print(struct text *out, const struct report_table *t)
{
    print_row(out, t, t->headings);
    for (int i = 0; i + t->column_count <= t->cell_count; i += t->column_count)
        print_row(out, t, (const char *const *)&t->cells[i]);
}
