// What the commands do apart from reading options and naming files; shared with the library
// (library/).
#pragma once

#include "data/results/origin.h"
#include "data/text/pieces.h"
#include "solve/questions/question.h"

// ---- origin.c: more of the problem that a plan was made from (data/results/origin.h)

// With its costs; NULL: missing, or changed.
const struct problem *origin_whole_problem(const struct plan *plan, struct arena *arena);

// BAD_INPUT: the plan's stages do not hold the layers of its problem, each once and in order. NULL:
// the problem is missing.
enum status origin_check_layers(const struct plan *plan, const struct problem *problem,
                                struct error *err);

// ---- report.c

// What is in memory of a plan that is not in a file yet; NULL: searched for next to the plan's
// file.
struct report_request {
    const struct plan *plan;
    const struct problem *problem;
    const struct layouts *layouts;
    bool html; // false: text
};
enum status report_run(struct text *out, const struct report_request *r, struct error *err);

// ---- report_page.c: a plan as text, links, heatmap or page, with what is next to it

// FORMAT(constant after FORMAT_, name, the framework that it is for, what writes it where it is a
// launch format: export_function of solve/report/export)
#define REPORT_FORMATS(FORMAT)                                                                     \
    FORMAT(TEXT, "text", ANY, NULL)                                                                \
    FORMAT(TRACE, "trace", ANY, NULL)                                                              \
    FORMAT(MEGATRON, "megatron", MEGATRON, report_megatron)                                        \
    FORMAT(SBATCH, "sbatch", MEGATRON, report_sbatch)                                              \
    FORMAT(TORCHRUN, "torchrun", MEGATRON, report_torchrun)                                        \
    FORMAT(TRY, "try", MEGATRON, report_try)                                                       \
    FORMAT(TORCHTITAN, "torchtitan", TORCHTITAN_0_2, report_torchtitan)                            \
    FORMAT(TORCHTITAN_PYTHON, "torchtitan-python", TORCHTITAN, report_torchtitan_python)           \
    FORMAT(PYTORCH_SCHEDULE, "pytorch-schedule", TORCHTITAN, report_pytorch_schedule)              \
    FORMAT(DEEPSPEED, "deepspeed", DEEPSPEED, report_deepspeed)                                    \
    FORMAT(NEMO, "nemo", NEMO, report_nemo)                                                        \
    FORMAT(AXONN, "axonn", ANY, report_axonn)                                                      \
    FORMAT(CSV, "csv", ANY, NULL)                                                                  \
    FORMAT(LATEX, "latex", ANY, NULL)                                                              \
    FORMAT(LINKS, "links", ANY, NULL)                                                              \
    FORMAT(HEATMAP, "heatmap", ANY, NULL)                                                          \
    FORMAT(HTML, "html", ANY, NULL)                                                                \
    FORMAT(HOSTFILE, "hostfile", ANY, NULL)                                                        \
    FORMAT(RANKFILE, "rankfile", ANY, NULL)                                                        \
    FORMAT(HOSTS, "hosts", ANY, NULL)                                                              \
    FORMAT(LAUNCH, "launch", ANY, NULL)
#define FORMAT_CONSTANT(constant, ...) FORMAT_##constant,
enum format { REPORT_FORMATS(FORMAT_CONSTANT) FORMAT_COUNT };
#undef FORMAT_CONSTANT

struct about_links {
    const char *problem;
    int64_t top;
    int format, node_order;
    const struct report_request *at_hand; // NULL: everything shown comes from files
    const char *against;                  // a run of the plan; NULL: none
};

// FORMAT_TEXT, _LINKS, _HEATMAP.
enum status make_with_links(struct text *out, const struct plan *plan,
                            const struct about_links *about, struct error *err);
// FORMAT_TRACE.
enum status make_trace(struct text *out, const struct plan *plan, const struct about_links *about,
                       struct error *err);
// A run of plumbline run beside its plan, and what most probably costs time in it.
enum status make_explained_run(struct text *out, const char *path, struct error *err);
// FORMAT_HTML. layouts, progress: files to read; NULL: none, and the layouts next to the plan.
enum status make_page(struct text *out, const struct plan *plan, const struct about_links *about,
                      const char *layouts, const char *progress, struct error *err);

// ---- commands by their words, argv[0] their name; nothing is printed

// compare.c: its text. BAD_INPUT: -o.
enum status compare_words(struct text *out, int argc, char **argv, struct error *err);

// explain.c: the log explained, and written to the folder of -o. BAD_INPUT: --then.
struct explained;
enum status explain_words(struct explained *x, int argc, char **argv, struct arena *arena,
                          struct error *err);

// run.c: a plan carried out. Where `stop` is not NULL, ranks end after their iteration once *stop
// is 1, and what was measured is written; at once from 2 on. `tell` gets what ranks say, a line
// each, and at the end what was measured; NULL: nothing does.
struct carry_listener {
    const volatile int *stop;
    void (*tell)(void *argument, const char *line);
    void *argument;
};
enum status carry_words(const struct carry_listener *to, int argc, char **argv, struct arena *arena,
                        struct error *err);
