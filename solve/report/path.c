// Where the time goes: for every stage (computing, blocked by transfers, waiting), and for the
// critical path by kind.
#include "solve/report/report.h"

static enum report_path_class class_of(int symbol_kind)
{
    int kind = symbol_base_kind(symbol_kind);
    if (kind == SYMBOL_WEIGHT) return REPORT_WEIGHT;
    if (kind == SYMBOL_FORWARD) return REPORT_FORWARD;
    if (kind == SYMBOL_BACKWARD) return REPORT_BACKWARD;
    if (kind == SYMBOL_SYNC || kind == SYMBOL_QUEUED_SYNC) return REPORT_SYNC;
    if (kind == SYMBOL_OPTIMIZER) return REPORT_OPTIMIZER;
    if (kind >= SYMBOL_AWAY) return REPORT_SWAPS;
    if (kind == SYMBOL_EMBEDDING_SYNC) return REPORT_EMBEDDING;
    return kind < SYMBOL_SEND_BACKWARD ? REPORT_SEND_FORWARD : REPORT_SEND_BACKWARD;
}

// Computation on the path for each stage; returns the stage with most of it.
static int heaviest_stage(const struct plan *plan, const struct report_replay *r,
                          struct arena *arena, int64_t *most_ns)
{
    int64_t *of_stage = TAKE(arena, plan->stage_count, int64_t);
    int heaviest = 0;
    for (int i = 0; i < r->path_length; i++)
        if (class_of(report_kind_of(r, r->path[i])) <= REPORT_WEIGHT)
            of_stage[report_place_of(r, r->path[i])] += report_duration_of(r, r->path[i]);
    for (int s = 1; s < plan->stage_count; s++)
        if (of_stage[s] > of_stage[heaviest]) heaviest = s;
    *most_ns = of_stage[heaviest];
    return heaviest;
}

const char *const report_path_class_names[] = {"forward compute",
                                               "backward compute",
                                               "weight gradients",
                                               "exposed transfers forward",
                                               "exposed transfers backward",
                                               "gradient sync",
                                               "embedding sync",
                                               "optimizer",
                                               "swapped layers"};

struct report_path_parts report_path_parts_of(const struct report_replay *r)
{
    struct report_path_parts parts = {{0}, {0}};
    for (int i = 0; i < r->path_length; i++) {
        enum report_path_class c = class_of(report_kind_of(r, r->path[i]));
        parts.ns[c] += report_duration_of(r, r->path[i]);
        parts.counts[c]++;
    }
    return parts;
}

void report_path_table(struct report_table *t, const struct report_replay *r, struct arena *arena)
{
    static const char *const headings[] = {"what", "time", "share", "", "times"};
    struct report_path_parts parts = report_path_parts_of(r);
    double whole = r->iteration_ns > 0 ? (double)r->iteration_ns : 1;
    report_table_begin(t, headings, "lrrlr", arena);
    for (int c = 0; c < REPORT_PATH_CLASSES; c++) {
        if (!parts.counts[c]) continue;
        report_cell(t, report_path_class_names[c]);
        report_cell(t, report_time(parts.ns[c], arena));
        report_cell(t, arena_print(arena, "%.2f %%", 100 * (double)parts.ns[c] / whole));
        report_cell(t, report_bar((double)parts.ns[c] / whole, 30, arena));
        report_cell(t, arena_print(arena, "%d", parts.counts[c]));
    }
}

void report_critical_path(struct text *out, const struct plan *plan, const struct report_replay *r)
{
    struct report_table t;
    int64_t most_ns;
    int heaviest = heaviest_stage(plan, r, out->arena, &most_ns);
    double whole = r->iteration_ns > 0 ? (double)r->iteration_ns : 1;
    if (r->schedule.request.barrier)
        text_put(out,
                 "\nCritical path (%s): what the iteration waits for, from its start to its end\n",
                 report_time(r->iteration_ns, out->arena));
    else
        text_put(out,
                 "\nLongest path to the end of one iteration (iterations follow each other "
                 "every %s, without a barrier)\n",
                 report_time(r->iteration_ns, out->arena));
    report_path_table(&t, r, out->arena);
    report_table_print(out, &t);
    text_put(out, "  the stage that is longest on it: %d, with %.1f %% of the iteration\n",
             heaviest, 100 * (double)most_ns / whole);
}

static int64_t compute_ns_of(const struct report_use *u)
{
    return u->compute_ns[SYMBOL_FORWARD] + u->compute_ns[SYMBOL_BACKWARD] +
           u->compute_ns[SYMBOL_WEIGHT];
}

bool report_syncs_rank(const struct report_replay *r, int operation, int rank)
{
    const struct schedule_request *q = &r->schedule.request;
    int kind = report_kind_of(r, operation);
    if (kind == SYMBOL_EMBEDDING_SYNC)
        return rank == schedule_rank_of(q, 0) || rank == schedule_rank_of(q, q->stage_count - 1);
    return (kind == SYMBOL_SYNC || kind == SYMBOL_QUEUED_SYNC) &&
           schedule_rank_of(q, report_place_of(r, operation)) == rank;
}

// From the rank's last pass to the end of the last of its syncs: they overlap each other.
static int64_t queued_syncs_ns(const struct report_replay *r, int rank)
{
    int64_t synced = 0, passed = 0;
    for (int i = 0; i < r->schedule.operation_count; i++) {
        int kind = symbol_base_kind(report_kind_of(r, i));
        bool passes = kind <= SYMBOL_WEIGHT &&
                      schedule_rank_of(&r->schedule.request, report_place_of(r, i)) == rank;
        if (passes && r->end_ns[i] > passed) passed = r->end_ns[i];
        if (report_syncs_rank(r, i, rank) && r->end_ns[i] > synced) synced = r->end_ns[i];
    }
    return synced > passed ? synced - passed : 0;
}

static int64_t syncs_ns(const struct report_replay *r, const struct plan *plan, int rank)
{
    const struct schedule_request *q = &r->schedule.request;
    int64_t sum = 0;
    if (q->virtual_stages > 1 && q->sync_overlapped) return queued_syncs_ns(r, rank);
    for (int k = 0; k < q->virtual_stages; k++) {
        int stage = schedule_stage_of(q, rank, k);
        bool end = stage == 0 || stage == plan->stage_count - 1;
        sum += plan->stages[stage].sync_ns + (end ? plan->embedding_sync_ns : 0);
    }
    return sum;
}

struct report_use report_use_of(const struct report_replay *r, const struct plan *plan, int rank)
{
    struct report_use u = {{0}, 0, syncs_ns(r, plan, rank), 0, 0};
    for (int i = 0; i < r->schedule.stream_count; i++) {
        const struct stream *stream = &r->schedule.streams[i];
        if (stream->kind != STREAM_COMPUTE || stream->rank != rank) continue;
        for (int k = 0; k < stream->count; k++) {
            int kind = symbol_base_kind(report_kind_of(r, stream->operations[k]));
            int64_t duration = report_duration_of(r, stream->operations[k]);
            if (kind == SYMBOL_OPTIMIZER) u.optimizer_ns += duration;
            else if (kind <= SYMBOL_WEIGHT) u.compute_ns[kind] += duration;
            else u.blocked_ns += duration;
        }
    }
    u.idle_ns = r->iteration_ns - compute_ns_of(&u) - u.blocked_ns - u.sync_ns - u.optimizer_ns;
    if (r->schedule.request.virtual_stages > 1 && u.idle_ns < 0) u.idle_ns = 0;
    return u;
}

static const char *share_text(int64_t part, double whole, struct arena *arena)
{
    return part ? arena_print(arena, "%.2f %%", 100 * (double)part / whole) : "-";
}

// "4 + 3" where a rank has two stages: each stage's own maximum, not always at the same moment.
static const char *in_flight_text(const struct report_replay *r, int rank, struct arena *arena)
{
    const struct schedule_request *q = &r->schedule.request;
    const char *text = "";
    for (int k = 0; k < q->virtual_stages; k++)
        text = arena_print(arena, "%s%s%d", text, k ? " + " : "",
                           r->schedule.in_flight[schedule_stage_of(q, rank, k)]);
    return text;
}

double report_use_table(struct report_table *t, const struct plan *plan,
                        const struct report_replay *r, struct arena *arena)
{
    const struct schedule_request *q = &r->schedule.request;
    bool several = q->virtual_stages > 1;
    const char *headings[] = {several ? "rank" : "stage",
                              "computing",
                              "in transfers",
                              "in sync",
                              "optimizer",
                              "bubble",
                              "",
                              "in flight"};
    double whole = r->iteration_ns > 0 ? (double)r->iteration_ns : 1, idle_sum = 0;
    report_table_begin(t, headings, "rrrrrrlr", arena);
    for (int s = 0; s < q->rank_count; s++) {
        struct report_use u = report_use_of(r, plan, s);
        idle_sum += (double)u.idle_ns;
        report_cell(t, arena_print(arena, "%d", s));
        report_cell(t, share_text(compute_ns_of(&u), whole, arena));
        report_cell(t, share_text(u.blocked_ns, whole, arena));
        report_cell(t, share_text(u.sync_ns, whole, arena));
        report_cell(t, share_text(u.optimizer_ns, whole, arena));
        report_cell(t, share_text(u.idle_ns, whole, arena));
        report_cell(t, report_bar(1 - (double)u.idle_ns / whole, 24, arena));
        report_cell(t, in_flight_text(r, s, arena));
    }
    return idle_sum / whole / q->rank_count;
}

void report_use_of_time(struct text *out, const struct plan *plan, const struct report_replay *r)
{
    struct report_table t;
    bool several = r->schedule.request.virtual_stages > 1;
    double idle = report_use_table(&t, plan, r, out->arena);
    text_put(out,
             "\nUse of each %s's time (bubble: nothing to do; mean %.2f %%; in flight: "
             "micro-batches held%s)\n",
             several ? "rank" : "stage", 100 * idle, several ? ", by stage" : "");
    report_table_print(out, &t);
}
