// Reports of a plan: for people, for a trace viewer, for a launcher. Each is a text in the arena;
// includes only data.
#pragma once

#include "data/results/checked.h"
#include "data/results/layouts.h"
#include "data/inputs/figures.h"
#include "solve/report/heatmap.h"

// Output of the reports: readable quantities, tables with aligned columns.

// "1.234567 s", "12.346 ms", "3.200 us".
const char *report_time(int64_t ns, struct arena *arena);
struct plan;
const char *report_value(const struct plan *plan, int64_t value_ns,
                         struct arena *arena);                     // or bound
const char *report_milliseconds(int64_t ns, struct arena *arena);  // "12.346"
const char *report_gigabytes(int64_t bytes, struct arena *arena);  // "12.35", of 1e9 bytes
int64_t report_gap_millionths(int64_t value_ns, int64_t bound_ns); // rounded up
const char *report_escape_tex(const char *text, struct arena *arena);
void report_csv_text(struct text *out, const char *text); // csv_cell
struct layout;
// "7 5 3 1", of each stage; "-": as the schedule has them.
const char *report_in_flight(const struct layout *l, struct arena *arena);
// Of a script that starts a trainer: a comment that the plan's list is not in it.
void report_put_in_flight(struct text *out, const struct layout *l);
// `width` characters, filled in proportion to share (0..1).
const char *report_bar(double share, int width, struct arena *arena);

// A table, its cells row by row. A column whose cells are all "-" is left out; one without a
// heading holds bars.
struct report_table {
    const char **headings;
    const char *align; // one letter per column: 'l' or 'r'
    int column_count;
    const char **cells;
    int cell_count, cell_capacity;
    struct arena *arena;
};

void report_table_begin(struct report_table *t, const char *const *headings, const char *align,
                        struct arena *arena);
void report_cell(struct report_table *t, const char *text);
int report_column_width(const struct report_table *t,
                        int column); // 0 if all its cells are "-"
void report_table_print(struct text *out, const struct report_table *t);

// The reports' own walk of a plan's schedule: when every operation starts and ends, and the
// critical path.

struct report_replay {
    struct schedule schedule;
    int64_t *durations;         // [symbol]
    const int64_t *each_ns;     // [operation]: its own duration, as measured; NULL: its symbol's
    int64_t *start_ns, *end_ns; // [operation]
    int *path;                  // the critical path in order of time
    int path_length;
    int64_t iteration_ns; // with a barrier the last end, without one the period
    int64_t span_ns;      // from the first start to the last end
};

// Without a barrier: an iteration after enough others that it no longer changes, with its first
// start at 0. The path is then the longest one to its last end, from where the previous iteration
// lets a rank begin.
enum status report_replay(struct report_replay *r, const struct plan *plan, struct arena *arena,
                          struct error *err);
// The same walk once more, with other durations of operations.
enum status report_replay_again(struct report_replay *r, const struct plan *plan,
                                const int64_t *each_ns, struct arena *arena, struct error *err);

static inline int report_kind_of(const struct report_replay *r, int operation)
{
    return r->schedule.operations[operation].symbol / r->schedule.request.stage_count;
}

// The stage, or for a transfer the boundary, that the operation's symbol names.
static inline int report_place_of(const struct report_replay *r, int operation)
{
    return r->schedule.operations[operation].symbol % r->schedule.request.stage_count;
}

// Whether the operation is a sync that the rank takes part in. path.c
bool report_syncs_rank(const struct report_replay *r, int operation, int rank);

static inline int64_t report_duration_of(const struct report_replay *r, int operation)
{
    return r->each_ns ? r->each_ns[operation]
                      : r->durations[r->schedule.operations[operation].symbol];
}

enum status report_expect_stages(const struct plan *plan, struct error *err); // BAD_INPUT: none

// report_text: verdict, placement, times, memory, critical path, Gantt chart, origin. At most 100
// columns where names are short. links: for a plan with a placement, the `top` slowest (0: all);
// NULL: not known. problem: NULL where it is not available or has changed; the figures of the run
// are then left out. report_brief: the beginning of it: verdict, layout, figures, where the layers
// are.
enum status report_brief(struct text *out, const struct plan *plan, const struct problem *problem,
                         struct error *err);
// What the costs leave open of its time, in the time's unit: " (11.1 to 14.6)"; "": not known.
const char *report_interval(const struct plan *plan, struct arena *arena);
enum status report_text(struct text *out, const struct plan *plan, const struct problem *problem,
                        const struct report_links *links, int64_t top, struct error *err);

// Chrome/Perfetto trace: pid = stage, tid = stream. BAD_INPUT: there is no plan to show.
// measured: a run of it, as further processes beside the plan's; NULL: none.
enum status report_trace(struct text *out, const struct plan *plan,
                         const struct report_replay *measured, struct error *err);

// What a stage decides, in words, one row a decision; the last row's `what` is NULL. text: "" where
// the stage does nothing of the kind; label: before it, in a list.
struct report_decision {
    const char *what, *label;
    const char *(*text)(const struct plan *plan, const struct decision *d, struct arena *arena);
};
extern const struct report_decision report_decisions[];
// All rows but recomputation in one text, "" if there is nothing.
const char *report_options_text(const struct plan *plan, const struct decision *d,
                                struct arena *arena);

// A script to start on each node, which finds its number among the hosts and runs torchrun with the
// configuration next to it, one for each run of ranks on the node; and a Slurm batch script that
// starts it.
enum status report_sbatch(struct text *out, const struct plan *plan, const struct problem *problem,
                          struct error *err);
enum status report_torchrun(struct text *out, const struct plan *plan,
                            const struct problem *problem, struct error *err);
// A script that runs iterations on mock data by the script before, and prints what the framework's
// log measured beside what was predicted.
enum status report_try(struct text *out, const struct plan *plan, const struct problem *problem,
                       struct error *err);

// Which host gets which global rank, for a plan with a placement:
// - one host per rank (SLURM_HOSTFILE, Open MPI's seq mapper),
// - an Open MPI rankfile,
// - or hosts with their numbers of ranks, in the order in which torchrun and DeepSpeed must number
// them.
// Megatron-LM numbers ranks with data before pipeline or, with --use-tp-pp-dp-mapping, after it.
// Without a placement nodes have no names: the ranks of a group fill its nodes in the order
// tp-cp-ep-dp-pp. BAD_INPUT: neither placement nor problem; a number of hosts other than that of
// the nodes; or, in the last form, a host whose ranks are not consecutive.
enum launch_format { LAUNCH_HOSTFILE, LAUNCH_RANKFILE, LAUNCH_HOSTS };
enum rank_order { RANK_ORDER_DATA_FIRST, RANK_ORDER_PIPELINE_FIRST };
extern const char *const rank_order_names[]; // "tp-cp-ep-dp-pp", "tp-pp-dp"
struct launch_request {
    enum launch_format format;
    enum rank_order order;
    int cores_per_rank;            // of a rankfile
    const struct problem *problem; // for a plan without placement
    const char *const *hosts;      // names of its nodes in their order; NULL: GROUP-0, GROUP-1 ...
    int host_count;
};
enum status report_launch(struct text *out, const struct plan *plan,
                          const struct launch_request *request, struct error *err);
// The nodes in the order of their first ranks, and the runs of ranks that follow each other on a
// node: a torchrun starts each. In the order tp-cp-ep-dp-pp.
struct launch_nodes {
    struct launch_node {
        const char *host;
        int64_t ranks;
        int group; // of the cluster; -1: of a placement
    } * items;
    struct launch_run {
        int64_t node, first, count; // first: of the node's GPUs
    } * runs;
    int64_t count, run_count, most_ranks; // of a node
};
enum status report_nodes(struct launch_nodes *n, const struct plan *plan,
                         const struct problem *problem, struct arena *arena, struct error *err);
// The replica of each data-parallel rank, in the order of the rings of the stages whose syncs
// together take longest.
const int *report_data_ranks(const struct plan *plan, struct arena *arena);
bool report_ring_is_launched(const struct plan *plan, int stage,
                             const int *replicas); // a ring in the order of ranks is the plan's

// Every link that a placement uses, one a line, as CSV; and a map of all links of the cluster with
// those marked (SVG), its axes in the cluster's order or the plan's.
void report_links_csv(struct text *out, const struct report_links *links);
void report_heatmap(struct text *out, const struct report_links *links, bool by_plan);

// Writes counts of fates that add up to the space, and the first `top` layouts by time (0: all), as
// text or as CSV; of a long list only a part is held at any time.
enum status report_layouts(const struct layouts *l, int64_t top, bool csv, const char *to,
                           struct arena *arena, struct error *err);

// The first *count of them (0: all; *count becomes the number), or those with a plan first.
struct report_layout {
    int64_t number;
    const struct layouts_work *work; // NULL: it was not examined
    struct layout layout;
};
struct report_layout *report_layouts_sorted(const struct layouts *l, bool planned_first,
                                            int64_t *count, struct arena *arena);
bool report_has_time(enum layout_fate fate);                 // its value is a bound in ns
const char *report_seconds(int64_t ns, struct arena *arena); // "-": none

// "t2 c1 p4 d8 e8 b1 1f1b zero 1"
const char *report_layout_words(const struct layout *l, struct arena *arena);

// The runners-up of each degree of the chosen layout and of its other keys, with what they lose;
// nothing without a plan and a bound.
void report_why(struct text *out, const struct layouts *l);

// A row of a paper's table: a plan, and the verdict on its certificate; one of the two may be
// NULL.
struct report_row {
    const struct plan *plan;
    const struct checked *checked;
    const struct problem *problem; // that the plan was made from; NULL: not available
};
// Adds a verdict to the row of its plan, or as a row of its own; rows has room for one more.
// BAD_INPUT: it was not accepted, or the two contradict each other.
enum status report_join(struct report_row *rows, int *count, const struct checked *c,
                        struct error *err);
// Time, bound, gap, nodes, certificate, check and, where problems are available, tokens,
// utilisation, price: LaTeX (booktabs) or CSV.
void report_table_of(struct text *out, const struct report_row *rows, int count, bool csv);

// What the critical path consists of.
enum report_path_class {
    REPORT_FORWARD,
    REPORT_BACKWARD,
    REPORT_WEIGHT, // the last kind of computation
    REPORT_SEND_FORWARD,
    REPORT_SEND_BACKWARD,
    REPORT_SYNC,
    REPORT_EMBEDDING,
    REPORT_OPTIMIZER,
    REPORT_SWAPS,
    REPORT_PATH_CLASSES
};
extern const char *const report_path_class_names[]; // [REPORT_PATH_CLASSES]
struct report_path_parts {
    int64_t ns[REPORT_PATH_CLASSES];
    int counts[REPORT_PATH_CLASSES];
};
struct report_path_parts report_path_parts_of(const struct report_replay *r);

// An iteration of a rank by use. The parts add up to it, except for syncs of a rank with several
// stages: one stage's may overlap another's passes. Syncs count after the last gradient, when
// nothing is computed.
struct report_use {
    int64_t compute_ns[SYMBOL_WEIGHT + 1]; // forward, backward with what it recomputes, weight
    int64_t blocked_ns, sync_ns, optimizer_ns, idle_ns;
};
struct report_use report_use_of(const struct report_replay *r, const struct plan *plan, int rank);

// ---- pieces of the text report that the page (solve/report/html) shows as well

// Verdict, layout and figures: a headline, then lines with a name in columns 3 to 12 and its value
// from column 14 on. Without stages only the headline and perhaps a line with the bound; r is not
// read.
void report_summary(struct text *out, const struct plan *plan, const struct problem *problem,
                    const struct report_replay *r);
// A line for each stage, with memory and use for each rank.
void report_placement_table(struct report_table *t, const struct plan *plan, struct arena *arena);
void report_times_table(struct report_table *t, const struct plan *plan, struct arena *arena);
void report_memory_table(struct report_table *t, const struct plan *plan, struct arena *arena);
void report_path_table(struct report_table *t, const struct report_replay *r, struct arena *arena);
// Returns the mean share of the bubble.
double report_use_table(struct report_table *t, const struct plan *plan,
                        const struct report_replay *r, struct arena *arena);
void report_figures(struct text *out, const struct plan *plan, const struct problem *problem);
void report_figures_of(struct figures *f, const struct plan *plan, const struct problem *problem);
void report_critical_path(struct text *out, const struct plan *plan, const struct report_replay *r);
void report_use_of_time(struct text *out, const struct plan *plan, const struct report_replay *r);
enum status report_loads(struct text *out, const struct plan *plan, const struct report_replay *r,
                         struct error *err); // with objective max_load
void report_places(struct text *out, const struct plan *plan, const struct report_links *links,
                   int64_t top);
void report_gantt(struct text *out, const struct report_replay *r);
