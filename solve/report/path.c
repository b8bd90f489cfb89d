// Where the time goes: of every stage (computing, blocked by transfers, waiting), and of the
// critical path by kind.
#include "solve/report/report.h"

enum path_class {
    CLASS_FORWARD,
    CLASS_BACKWARD,
    CLASS_WEIGHT, // the last of computation
    CLASS_SEND_FORWARD,
    CLASS_SEND_BACKWARD,
    CLASS_SYNC,
    CLASS_EMBEDDING,
    CLASS_OPTIMIZER,
    CLASS_COUNT
};

static enum path_class class_of(int symbol_kind)
{
    int kind = symbol_base_kind(symbol_kind);
    if (kind == SYMBOL_WEIGHT) return CLASS_WEIGHT;
    if (kind == SYMBOL_FORWARD) return CLASS_FORWARD;
    if (kind == SYMBOL_BACKWARD) return CLASS_BACKWARD;
    if (kind == SYMBOL_SYNC) return CLASS_SYNC;
    if (kind == SYMBOL_OPTIMIZER) return CLASS_OPTIMIZER;
    if (kind == SYMBOL_EMBEDDING_SYNC) return CLASS_EMBEDDING;
    return kind < SYMBOL_SEND_BACKWARD ? CLASS_SEND_FORWARD : CLASS_SEND_BACKWARD;
}

// Computation on the path of each stage; returns the stage with most of it.
static int heaviest_stage(const struct plan *plan, const struct report_replay *r,
                          struct arena *arena, int64_t *most_ns)
{
    int64_t *of_stage = TAKE(arena, plan->stage_count, int64_t);
    int heaviest = 0;
    for (int i = 0; i < r->path_length; i++)
        if (class_of(report_kind_of(r, r->path[i])) <= CLASS_WEIGHT)
            of_stage[report_place_of(r, r->path[i])] += report_duration_of(r, r->path[i]);
    for (int s = 1; s < plan->stage_count; s++)
        if (of_stage[s] > of_stage[heaviest]) heaviest = s;
    *most_ns = of_stage[heaviest];
    return heaviest;
}

void report_path_table(struct report_table *t, const struct report_replay *r, struct arena *arena)
{
    static const char *const names[CLASS_COUNT] = {"forward compute",
                                                   "backward compute",
                                                   "weight gradients",
                                                   "exposed transfers forward",
                                                   "exposed transfers backward",
                                                   "gradient sync",
                                                   "embedding sync",
                                                   "optimizer"};
    static const char *const headings[] = {"what", "time", "share", "", "times"};
    int64_t sums[CLASS_COUNT] = {0};
    int counts[CLASS_COUNT] = {0};
    for (int i = 0; i < r->path_length; i++) {
        enum path_class c = class_of(report_kind_of(r, r->path[i]));
        sums[c] += report_duration_of(r, r->path[i]);
        counts[c]++;
    }
    double whole = r->iteration_ns > 0 ? (double)r->iteration_ns : 1;
    report_table_begin(t, headings, "lrrlr", arena);
    for (int c = 0; c < CLASS_COUNT; c++) {
        if (!counts[c]) continue;
        report_cell(t, names[c]);
        report_cell(t, report_time(sums[c], arena));
        report_cell(t, arena_print(arena, "%.2f %%", 100 * (double)sums[c] / whole));
        report_cell(t, report_bar((double)sums[c] / whole, 30, arena));
        report_cell(t, arena_print(arena, "%d", counts[c]));
    }
}

void report_critical_path(struct report_out *out, const struct plan *plan,
                          const struct report_replay *r)
{
    struct report_table t;
    int64_t most_ns;
    int heaviest = heaviest_stage(plan, r, out->arena, &most_ns);
    double whole = r->iteration_ns > 0 ? (double)r->iteration_ns : 1;
    if (r->schedule.request.barrier)
        report_print(
            out, "\nCritical path (%s): what the iteration waits for, from its start to its end\n",
            report_time(r->iteration_ns, out->arena));
    else
        report_print(out,
                     "\nLongest way to the end of one iteration (iterations follow each other "
                     "every %s, without a barrier)\n",
                     report_time(r->iteration_ns, out->arena));
    report_path_table(&t, r, out->arena);
    report_table_print(out, &t);
    report_print(out, "  the stage that is longest on it: %d, with %.1f %% of the iteration\n",
                 heaviest, 100 * (double)most_ns / whole);
}

// Busy time of a rank by use. Syncs stand behind its last gradient, when it computes nothing; with
// several stages one's may lie under another's passes.
struct use {
    int64_t compute, blocked, sync, optimizer;
};

static struct use use_of(const struct report_replay *r, const struct plan *plan, int rank)
{
    const struct schedule_request *q = &r->schedule.request;
    struct use u = {0, 0, 0, 0};
    for (int k = 0; k < q->virtual_stages; k++) {
        int stage = schedule_stage_of(q, rank, k);
        bool end = stage == 0 || stage == plan->stage_count - 1;
        u.sync += plan->stages[stage].sync_ns + (end ? plan->embedding_sync_ns : 0);
    }
    for (int i = 0; i < r->schedule.stream_count; i++) {
        const struct stream *stream = &r->schedule.streams[i];
        if (stream->kind != STREAM_COMPUTE || stream->rank != rank) continue;
        for (int k = 0; k < stream->count; k++) {
            int kind = symbol_base_kind(report_kind_of(r, stream->operations[k]));
            int64_t duration = report_duration_of(r, stream->operations[k]);
            if (kind == SYMBOL_OPTIMIZER) u.optimizer += duration;
            else if (kind <= SYMBOL_WEIGHT) u.compute += duration;
            else u.blocked += duration;
        }
    }
    return u;
}

static const char *share_text(int64_t part, double whole, struct arena *arena)
{
    return part ? arena_print(arena, "%.2f %%", 100 * (double)part / whole) : "-";
}

// "4 + 3" where a rank has two stages: each one's own most, not always at the same moment.
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
        struct use u = use_of(r, plan, s);
        int64_t idle = r->iteration_ns - u.compute - u.blocked - u.sync - u.optimizer;
        if (several && idle < 0) idle = 0;
        idle_sum += (double)idle;
        report_cell(t, arena_print(arena, "%d", s));
        report_cell(t, share_text(u.compute, whole, arena));
        report_cell(t, share_text(u.blocked, whole, arena));
        report_cell(t, share_text(u.sync, whole, arena));
        report_cell(t, share_text(u.optimizer, whole, arena));
        report_cell(t, share_text(idle, whole, arena));
        report_cell(t, report_bar(1 - (double)idle / whole, 24, arena));
        report_cell(t, in_flight_text(r, s, arena));
    }
    return idle_sum / whole / q->rank_count;
}

void report_use_of_time(struct report_out *out, const struct plan *plan,
                        const struct report_replay *r)
{
    struct report_table t;
    bool several = r->schedule.request.virtual_stages > 1;
    double idle = report_use_table(&t, plan, r, out->arena);
    report_print(out,
                 "\nUse of each %s's time (bubble: nothing to do; mean %.2f %%; in flight: "
                 "micro-batches held%s)\n",
                 several ? "rank" : "stage", 100 * idle, several ? ", by stage" : "");
    report_table_print(out, &t);
}
