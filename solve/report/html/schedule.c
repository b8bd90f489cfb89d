// The operations of an iteration as columns of integers, track by track. A track is a stream of
// the schedule; operations on no stream (delays, the embedding sync) have one track per symbol.
// For each operation: `s` its symbol, as an index into the track's own table; `g` the time from
// the end of the previous operation to its start; `m` the difference between its micro-batch and
// the one expected after that symbol's last. So most are 0. `c`: operations on the critical path,
// each as the distance from the previous one.
#include <inttypes.h>
#include <string.h>

#include "solve/report/html/html.h"

enum { OPERATIONS_MAX = 1 << 19 };

struct writer {
    struct text *out;
    const struct report_replay *replay;
    bool *critical, *in_stream; // [operation]
    int *local;                 // [symbol]: its index in the track's table, -1: not in it
    int *last;                  // [symbol]: micro-batch
    int *symbols;               // of the track
    int *kept;                  // [operation]: those of the track that take time
    int symbol_count, kept_count;
    bool any; // a track has been written
};

static void keep(struct writer *w, int operation)
{
    int symbol = w->replay->schedule.operations[operation].symbol;
    if (!report_duration_of(w->replay, operation)) return;
    if (w->local[symbol] < 0) {
        w->local[symbol] = w->symbol_count;
        w->symbols[w->symbol_count++] = symbol;
    }
    w->kept[w->kept_count++] = operation;
}

static void put_symbols(struct writer *w)
{
    int stages = w->replay->schedule.request.stage_count;
    text_put(w->out, "\"symbols\":[");
    for (int i = 0; i < w->symbol_count; i++) {
        int symbol = w->symbols[i];
        text_put(w->out, "%s[\"%s\",%d,%" PRId64 "]", i ? "," : "",
                 symbol_kind_name(symbol / stages), symbol % stages, w->replay->durations[symbol]);
    }
    text_put(w->out, "]");
}

static void put_columns(struct writer *w)
{
    const struct report_replay *r = w->replay;
    const struct operation *operations = r->schedule.operations;
    const char *const no[] = {"", ","};
    int64_t end = 0;
    text_put(w->out, ",\"s\":[");
    for (int i = 0; i < w->kept_count; i++)
        text_put(w->out, "%s%d", no[i > 0], w->local[operations[w->kept[i]].symbol]);
    text_put(w->out, "],\"g\":[");
    for (int i = 0; i < w->kept_count; i++) {
        text_put(w->out, "%s%" PRId64, no[i > 0], r->start_ns[w->kept[i]] - end);
        end = r->end_ns[w->kept[i]];
    }
    text_put(w->out, "],\"m\":[");
    for (int i = 0; i < w->kept_count; i++) {
        const struct operation *o = &operations[w->kept[i]];
        text_put(w->out, "%s%d", no[i > 0], o->micro_batch - w->last[o->symbol] - 1);
        w->last[o->symbol] = o->micro_batch;
    }
    text_put(w->out, "],\"c\":[");
    for (int i = 0, before = -1; i < w->kept_count; i++) {
        if (!w->critical[w->kept[i]]) continue;
        text_put(w->out, "%s%d", no[before >= 0], before < 0 ? i : i - before);
        before = i;
    }
    text_put(w->out, "]");
}

// Writes the kept operations and clears the list.
static void put_track(struct writer *w, const char *kind, int rank, int to)
{
    if (w->kept_count) {
        text_put(w->out, "%s{\"kind\":\"%s\",\"rank\":%d,\"to\":%d,", w->any ? ",\n" : "\n", kind,
                 rank, to);
        put_symbols(w);
        put_columns(w);
        text_put(w->out, "}");
        w->any = true;
    }
    for (int i = 0; i < w->symbol_count; i++) w->local[w->symbols[i]] = w->last[w->symbols[i]] = -1;
    w->symbol_count = w->kept_count = 0;
}

static void put_streams(struct writer *w)
{
    static const char *const kinds[] = {
        [STREAM_COMPUTE] = "compute", [STREAM_LINK] = "link", [STREAM_SYNC] = "sync"};
    const struct schedule *s = &w->replay->schedule;
    for (int i = 0; i < s->stream_count; i++) {
        const struct stream *stream = &s->streams[i];
        for (int k = 0; k < stream->count; k++) {
            w->in_stream[stream->operations[k]] = true;
            keep(w, stream->operations[k]);
        }
        put_track(w, kinds[stream->kind], stream->rank, stream->to_rank);
    }
}

// The tables hold a symbol's operations in the order of their starts.
static void put_others(struct writer *w)
{
    const struct schedule *s = &w->replay->schedule;
    int stages = s->request.stage_count;
    int symbols = symbol_count(stages, s->request.slice_count),
        *next = TAKE(w->out->arena, s->operation_count, int),
        *first = TAKE(w->out->arena, symbols, int);
    for (int i = 0; i < symbols; i++) first[i] = -1;
    for (int i = s->operation_count - 1; i >= 0; i--) {
        if (w->in_stream[i]) continue;
        next[i] = first[s->operations[i].symbol];
        first[s->operations[i].symbol] = i;
    }
    for (int symbol = 0; symbol < symbols; symbol++) {
        if (first[symbol] < 0) continue;
        int kind = symbol_base_kind(symbol / stages), place = symbol % stages,
            rank = schedule_rank_of(&s->request, s->operations[first[symbol]].stage);
        for (int i = first[symbol]; i >= 0; i = next[i]) keep(w, i);
        if (kind == SYMBOL_EMBEDDING_SYNC || kind == SYMBOL_SYNC) put_track(w, "sync", rank, rank);
        else if (kind >= SYMBOL_AWAY) put_track(w, "swap", rank, rank);
        else
            put_track(w, "delay", rank,
                      schedule_rank_of(&s->request, place + (kind < SYMBOL_SEND_BACKWARD)));
    }
}

bool html_schedule(struct text *out, const struct report_replay *r)
{
    const struct schedule *s = &r->schedule;
    struct arena *arena = out->arena;
    int n = s->operation_count,
        symbols = symbol_count(s->request.stage_count, s->request.slice_count);
    if (n > OPERATIONS_MAX) return false;
    struct writer w = {.out = out,
                       .replay = r,
                       .critical = TAKE(arena, n, bool),
                       .in_stream = TAKE(arena, n, bool),
                       .local = TAKE(arena, symbols, int),
                       .last = TAKE(arena, symbols, int),
                       .symbols = TAKE(arena, symbols, int),
                       .kept = TAKE(arena, n, int)};
    memset(w.local, -1, (size_t)symbols * sizeof *w.local);
    memset(w.last, -1, (size_t)symbols * sizeof *w.last);
    for (int i = 0; i < r->path_length; i++) w.critical[r->path[i]] = true;
    text_put(out,
             "<script type=\"application/json\" id=\"schedule-data\">{\"ranks\":%d,"
             "\"virtual_stages\":%d,\"iteration\":%" PRId64 ",\"span\":%" PRId64 ",\"tracks\":[",
             s->request.rank_count, s->request.virtual_stages, r->iteration_ns, r->span_ns);
    put_streams(&w);
    put_others(&w);
    text_put(out, "]}</script>\n");
    return true;
}
