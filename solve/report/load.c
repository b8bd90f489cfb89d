// The loads of one micro-batch, for a plan that minimises the greatest of them: who is busiest,
// how busy the others are, and the limit of the throughput of a long stream of micro-batches
// (docs/FORMULAS.md section 17).

#include "solve/report/report.h"

struct load {
    int64_t compute_ns, transfer_ns;
};

static int64_t sum_of(const struct load *l) { return l->compute_ns + l->transfer_ns; }

static struct load load_of(const struct schedule *s, const struct stream *stream,
                           const int64_t *durations)
{
    struct load l = {0, 0};
    for (int k = 0; k < stream->count; k++) {
        int symbol = s->operations[stream->operations[k]].symbol;
        if (symbol_base_kind(symbol / s->request.stage_count) <= SYMBOL_WEIGHT)
            l.compute_ns += durations[symbol];
        else l.transfer_ns += durations[symbol];
    }
    return l;
}

static const char *links_text(const struct schedule *s, const int64_t *durations, int rank,
                              struct arena *arena)
{
    const char *text = "";
    for (int i = 0; i < s->stream_count; i++) {
        const struct stream *stream = &s->streams[i];
        if (stream->kind != STREAM_LINK || stream->rank != rank) continue;
        struct load l = load_of(s, stream, durations);
        text = arena_print(arena, "%s%s%s to %d", text, *text ? ", " : "",
                           report_milliseconds(l.transfer_ns, arena), stream->to_rank);
    }
    return *text ? text : "-";
}

static void print_busiest(struct text *out, const struct plan *plan, const struct schedule *s,
                          const int64_t *durations)
{
    const struct stream *busiest = NULL;
    int64_t most = -1;
    for (int i = 0; i < s->stream_count; i++) {
        struct load l = load_of(s, &s->streams[i], durations);
        if (sum_of(&l) <= most) continue;
        most = sum_of(&l);
        busiest = &s->streams[i];
    }
    double sequences = (double)plan->layout.micro_batch * (double)plan->layout.data;
    if (plan->placement && most < plan->objective_ns)
        text_put(out, "  busiest    a rank or link of another replica than the one shown\n");
    else if (busiest && busiest->kind == STREAM_LINK)
        text_put(out, "  busiest    the link from rank %d to rank %d\n", busiest->rank,
                 busiest->to_rank);
    else if (busiest) text_put(out, "  busiest    rank %d\n", busiest->rank);
    if (plan->objective_ns > 0)
        text_put(
            out,
            "  throughput %.2f sequences/s at most, approached by a long stream of micro-batches\n",
            sequences / ((double)plan->objective_ns / 1e9));
}

enum status report_loads(struct text *out, const struct plan *plan, const struct report_replay *r,
                         struct error *err)
{
    static const char *const headings[] = {"rank", "computing",   "in transfers", "load",
                                           "",     "of the most", "links"};
    struct schedule s;
    struct report_table t;
    if (plan->objective != OBJECTIVE_MAX_LOAD) return OK;
    TRY(schedule_build_load(&s, &r->schedule.request, out->arena, err));
    report_table_begin(&t, headings, "rrrrlrl", out->arena);
    for (int i = 0; i < s.stream_count; i++) {
        const struct stream *stream = &s.streams[i];
        struct load l = load_of(&s, stream, r->durations);
        double share = plan->objective_ns > 0 ? (double)sum_of(&l) / (double)plan->objective_ns : 0;
        if (stream->kind != STREAM_COMPUTE) continue;
        report_cell(&t, arena_print(out->arena, "%d", stream->rank));
        report_cell(&t, report_milliseconds(l.compute_ns, out->arena));
        report_cell(&t, l.transfer_ns ? report_milliseconds(l.transfer_ns, out->arena) : "-");
        report_cell(&t, report_milliseconds(sum_of(&l), out->arena));
        report_cell(&t, report_bar(share, 24, out->arena));
        report_cell(&t, arena_print(out->arena, "%.1f %%", 100 * share));
        report_cell(&t, links_text(&s, r->durations, stream->rank, out->arena));
    }
    text_put(out, "\nLoads of one micro-batch in ms (the greatest was minimised)\n");
    report_table_print(out, &t);
    print_busiest(out, plan, &s, r->durations);
    return OK;
}
