// Where the time goes: of every stage (computing, blocked by transfers, waiting), and of the critical path by kind.
#include "solve/report.h"

enum path_class {
    CLASS_FORWARD,
    CLASS_BACKWARD,
    CLASS_SEND_FORWARD,
    CLASS_SEND_BACKWARD,
    CLASS_SYNC,
    CLASS_EMBEDDING,
    CLASS_OPTIMIZER,
    CLASS_COUNT
};

static enum path_class class_of(int kind)
{
    if (kind == SYMBOL_FORWARD) return CLASS_FORWARD;
    if (kind == SYMBOL_BACKWARD) return CLASS_BACKWARD;
    if (kind == SYMBOL_SYNC) return CLASS_SYNC;
    if (kind == SYMBOL_OPTIMIZER) return CLASS_OPTIMIZER;
    if (kind == SYMBOL_EMBEDDING_SYNC) return CLASS_EMBEDDING;
    return kind < SYMBOL_SEND_BACKWARD ? CLASS_SEND_FORWARD : CLASS_SEND_BACKWARD;
}

void report_critical_path(struct report_out *out, const struct plan *plan, const struct report_replay *r)
{
    static const char *const names[CLASS_COUNT] = {"forward compute",
                                                   "backward compute",
                                                   "exposed transfers forward",
                                                   "exposed transfers backward",
                                                   "gradient sync",
                                                   "embedding sync",
                                                   "optimizer"};
    static const char *const headings[] = {"what", "time", "share", "", "times"};
    int64_t sums[CLASS_COUNT] = {0}, *of_stage = TAKE(out->arena, plan->stage_count, int64_t);
    int counts[CLASS_COUNT] = {0}, heaviest = 0;
    struct report_table t;
    for (int i = 0; i < r->path_length; i++) {
        enum path_class c = class_of(report_kind_of(r, r->path[i]));
        sums[c] += report_duration_of(r, r->path[i]);
        counts[c]++;
        if (c == CLASS_FORWARD || c == CLASS_BACKWARD)
            of_stage[report_place_of(r, r->path[i])] += report_duration_of(r, r->path[i]);
    }
    for (int s = 1; s < plan->stage_count; s++)
        if (of_stage[s] > of_stage[heaviest]) heaviest = s;
    double whole = r->iteration_ns > 0 ? (double)r->iteration_ns : 1;
    report_table_begin(&t, headings, "lrrlr", out->arena);
    for (int c = 0; c < CLASS_COUNT; c++) {
        if (!counts[c]) continue;
        report_cell(&t, names[c]);
        report_cell(&t, report_time(sums[c], out->arena));
        report_cell(&t, arena_print(out->arena, "%.2f %%", 100 * (double)sums[c] / whole));
        report_cell(&t, report_bar((double)sums[c] / whole, 30, out->arena));
        report_cell(&t, arena_print(out->arena, "%d", counts[c]));
    }
    report_print(out, "\nCritical path (%s): what the iteration waits for, from its start to its end\n",
                 report_time(r->iteration_ns, out->arena));
    report_table_print(out, &t);
    report_print(out, "  the stage that is longest on it: %d, with %.1f %% of the iteration\n", heaviest,
                 100 * (double)of_stage[heaviest] / whole);
}

// Busy time of a stage by use. Syncs stand behind its last backward, when it computes nothing.
struct use { int64_t compute, blocked, sync, optimizer; };

static struct use use_of(const struct report_replay *r, const struct plan *plan, int stage)
{
    bool end = stage == 0 || stage == plan->stage_count - 1;
    struct use u = {0, 0, plan->stages[stage].sync_ns + (end ? plan->embedding_sync_ns : 0), 0};
    for (int i = 0; i < r->schedule.stream_count; i++) {
        const struct stream *stream = &r->schedule.streams[i];
        if (stream->kind != STREAM_COMPUTE || stream->rank != stage) continue;
        for (int k = 0; k < stream->count; k++) {
            int kind = report_kind_of(r, stream->operations[k]);
            int64_t duration = report_duration_of(r, stream->operations[k]);
            if (kind == SYMBOL_OPTIMIZER) u.optimizer += duration;
            else if (kind <= SYMBOL_BACKWARD) u.compute += duration;
            else u.blocked += duration;
        }
    }
    return u;
}

static const char *share_text(int64_t part, double whole, struct arena *arena)
{
    return part ? arena_print(arena, "%.2f %%", 100 * (double)part / whole) : "-";
}

void report_use_of_time(struct report_out *out, const struct plan *plan, const struct report_replay *r)
{
    static const char *const headings[] = {"stage",  "computing", "in transfers", "in sync", "optimizer",
                                           "bubble", "",          "in flight"};
    struct report_table t;
    double whole = r->iteration_ns > 0 ? (double)r->iteration_ns : 1, idle_sum = 0;
    report_table_begin(&t, headings, "rrrrrrlr", out->arena);
    for (int s = 0; s < plan->stage_count; s++) {
        struct use u = use_of(r, plan, s);
        int64_t idle = r->iteration_ns - u.compute - u.blocked - u.sync - u.optimizer;
        idle_sum += (double)idle;
        report_cell(&t, arena_print(out->arena, "%d", s));
        report_cell(&t, share_text(u.compute, whole, out->arena));
        report_cell(&t, share_text(u.blocked, whole, out->arena));
        report_cell(&t, share_text(u.sync, whole, out->arena));
        report_cell(&t, share_text(u.optimizer, whole, out->arena));
        report_cell(&t, share_text(idle, whole, out->arena));
        report_cell(&t, report_bar(1 - (double)idle / whole, 24, out->arena));
        report_cell(&t, arena_print(out->arena, "%d", r->schedule.in_flight[s]));
    }
    report_print(out,
                 "\nUse of each stage's time (bubble: nothing to do; mean %.2f %%; in flight: micro-batches held)\n",
                 100 * idle_sum / whole / plan->stage_count);
    report_table_print(out, &t);
}
