// The schedule as characters: one row per rank, one column per slice of time. F12, B12 and W12
// begin the forward, backward and weight gradient of micro-batch 12 (only the last digits where
// space is short). '-', '=' and '+' fill them, or a letter for the rank's stage or the sequence's
// slice if there are several; '.' is bubble. An iteration too long to read at once is shown by its
// first and last micro-batches.
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/report/report.h"

enum { CHART_COLUMNS = 88, CHART_ROWS_MAX = 48, TICK_COLUMNS = 22 };

struct window {
    int64_t from_ns, column_ns;
};

// The column of an instant, counted from the window's left edge; negative before it.
static int64_t column_of(struct window w, int64_t at_ns)
{
    int64_t since = at_ns - w.from_ns;
    return since >= 0 ? since / w.column_ns : -((-since + w.column_ns - 1) / w.column_ns);
}

// Fills the columns of [start, end) that lie in the window: the label's characters first, then
// `fill`.
static void draw(char *cells, struct window w, int64_t start, int64_t end, const char *label,
                 char fill)
{
    int64_t first = column_of(w, start), last = column_of(w, end), length = (int64_t)strlen(label);
    for (int64_t i = first < 0 ? 0 : first; i < last && i < CHART_COLUMNS; i++)
        cells[i] = i - first < length ? label[i - first] : fill;
}

// "F12" in two columns is "F2". In one it is "F", even where rounding gives it two.
static const char *label_of(char letter, int micro_batch, int64_t columns, char label[24])
{
    char digits[12];
    int length = snprintf(digits, sizeof digits, "%d", micro_batch);
    int64_t room = columns - 1;
    const char *kept = room >= length ? digits : room > 0 ? digits + (length - room) : "";
    snprintf(label, 24, "%c%s", letter, kept);
    return label;
}

enum { LETTERS = 26 };
static const char letters[LETTERS + 1] = "abcdefghijklmnopqrstuvwxyz";

static void draw_operation(char *cells, struct window w, const struct report_replay *r,
                           int operation)
{
    const struct schedule_request *q = &r->schedule.request;
    int symbol_kind = report_kind_of(r, operation), kind = symbol_base_kind(symbol_kind),
        micro_batch = r->schedule.operations[operation].micro_batch;
    int64_t start = r->start_ns[operation], end = r->end_ns[operation];
    int64_t columns = end - start < 2 * w.column_ns ? 1 : column_of(w, end) - column_of(w, start);
    char label[24];
    if (kind <= SYMBOL_WEIGHT) {
        char fill = "-=+"[kind];
        if (q->virtual_stages > 1)
            fill = letters[report_place_of(r, operation) / q->rank_count % LETTERS];
        if (q->slice_count > 1) fill = letters[symbol_slice(symbol_kind)];
        draw(cells, w, start, end, label_of("FBW"[kind], micro_batch, columns, label), fill);
    } else if (kind == SYMBOL_OPTIMIZER) draw(cells, w, start, end, "", 'o');
    else if (kind == SYMBOL_SYNC || kind == SYMBOL_QUEUED_SYNC) draw(cells, w, start, end, "", 's');
    else if (kind == SYMBOL_EMBEDDING_SYNC) draw(cells, w, start, end, "", 'e');
    else draw(cells, w, start, end, "", kind < SYMBOL_SEND_BACKWARD ? '>' : '<');
}

static void print_row(struct text *out, const struct report_replay *r, struct window w, int rank)
{
    char cells[CHART_COLUMNS + 1];
    memset(cells, '.', CHART_COLUMNS);
    cells[CHART_COLUMNS] = '\0';
    // Syncs first, compute drawn over them. The ending comes last in the tables.
    for (int i = r->schedule.operation_count - 1;
         i >= 0 && r->schedule.operations[i].micro_batch < 0; i--)
        if (report_syncs_rank(r, i, rank)) draw_operation(cells, w, r, i);
    for (int i = 0; i < r->schedule.stream_count; i++) {
        const struct stream *stream = &r->schedule.streams[i];
        if (stream->kind != STREAM_COMPUTE || stream->rank != rank) continue;
        for (int k = 0; k < stream->count; k++) draw_operation(cells, w, r, stream->operations[k]);
    }
    text_put(out, "  %3d |%s|\n", rank, cells);
}

static void print_axis(struct text *out, struct window w)
{
    char line[CHART_COLUMNS + 24];
    memset(line, ' ', sizeof line);
    for (int c = 0; c <= CHART_COLUMNS; c += TICK_COLUMNS) {
        char text[24];
        double at_ms = (double)(w.from_ns + c * w.column_ns) / 1e6;
        int length = snprintf(text, sizeof text, at_ms < 1000 ? "%.4g" : "%.0f", at_ms),
            at = c == CHART_COLUMNS ? c - length : c;
        memcpy(line + at, text, (size_t)length);
    }
    line[CHART_COLUMNS] = '\0';
    text_put(out, "   ms  %s\n", line);
}

static void print_chart(struct text *out, const struct report_replay *r, struct window w)
{
    int p = r->schedule.request.rank_count, rows = p < CHART_ROWS_MAX ? p : CHART_ROWS_MAX;
    print_axis(out, w);
    for (int i = 0; i < rows; i++)
        print_row(out, r, w, rows == p ? i : (int)((int64_t)i * (p - 1) / (rows - 1)));
    if (rows < p)
        text_put(out, "  (%d of %d %s)\n", rows, p,
                 r->schedule.request.virtual_stages > 1 ? "ranks" : "stages");
}

// Narrow enough for three columns per forward, unless the fill of the pipeline would then take over
// half the chart.
static int64_t readable_column(const struct report_replay *r)
{
    int64_t p = r->schedule.request.stage_count, forward_sum = 0, fill = 0;
    for (int i = 0; i < r->schedule.operation_count; i++) {
        int kind = report_kind_of(r, i);
        if (symbol_base_kind(kind) == SYMBOL_FORWARD &&
            r->schedule.operations[i].micro_batch == 0) {
            forward_sum += report_duration_of(r, i);
            if (r->end_ns[i] > fill) fill = r->end_ns[i];
        }
    }
    int64_t column = forward_sum / p / 3, least = fill / (CHART_COLUMNS / 2);
    if (column < least) column = least;
    return column > 0 ? column : 1;
}

void report_gantt(struct text *out, const struct report_replay *r)
{
    const struct schedule_request *q = &r->schedule.request;
    int64_t column = readable_column(r), whole = (r->span_ns + CHART_COLUMNS - 1) / CHART_COLUMNS,
            last_from = r->span_ns - CHART_COLUMNS * column;
    if (r->span_ns <= 0) return;
    text_put(out,
             "\nSchedule: F forward, B backward%s of a micro-batch (last digits where tight), "
             "> < in a transfer,\n"
             "s gradient sync, e embedding sync, o optimizer, . bubble%s\n",
             schedule_splits_backward(q->kind) ? ", W weight gradient" : "",
             q->virtual_stages > 1 ? "; a row is a rank, a b c its stages"
             : q->slice_count > 1  ? "; a b c the slices of a sequence"
                                   : "");
    if (!q->barrier)
        text_put(
            out,
            "  one iteration of many: without a barrier the next begins before it ends, every %s\n",
            report_time(r->iteration_ns, out->arena));
    if (whole <= column) {
        print_chart(out, r, (struct window){0, whole});
        return;
    }
    text_put(out, "  the first micro-batches (a column is %s)\n", report_time(column, out->arena));
    print_chart(out, r, (struct window){0, column});
    text_put(out, "  the last micro-batches\n");
    print_chart(out, r, (struct window){last_from, column});
}
