// A plan as one self-contained HTML page: verdict, figures, placement, schedule, memory, links,
// layouts, uncertainty of the costs, inputs and how to repeat it. Anything NULL is left out.
#pragma once

#include "data/inputs/cost_keys.h"
#include "solve/report/report.h"

// The iteration time with one group of costs at an end of its intervals; 0: it cannot be priced
// this way, or this end is where the costs already are.
struct report_sensitivity {
    enum cost_group group;
    int64_t ns[COST_ENDS];
};

// What a search had found at a moment: 0: nothing yet.
struct report_moment {
    double seconds;
    int64_t plan_ns, bound_ns; // of the objective
};

struct report_page {
    const struct plan *plan;
    const struct problem *problem;    // that the plan was made from
    const struct report_links *links; // of a placement
    int64_t top;                      // as in report_text
    const struct layouts *layouts;
    int64_t layouts_top;                          // lines of layouts; 0: all
    const struct report_sensitivity *sensitivity; // [sensitivity_count]
    int sensitivity_count;
    const struct report_moment *moments; // [moment_count], by time; the plan's own end last
    int moment_count;
    const char *against; // a run beside it, as a section's text (solve/report/against)
};

// The lines that solve --progress wrote to stderr. BAD_INPUT: there are none, or they contradict
// the plan.
enum status report_history_read(struct report_page *page, const char *path, struct arena *arena,
                                struct error *err);

enum status report_html(struct text *out, const struct report_page *page, struct error *err);

// ---- for pages: write.c
// A page up to its <body>, in which <main> must be opened, and the end of both.
void html_begin(struct text *out, const char *title);
void html_end(struct text *out);
const char *html_escape(const char *text, struct arena *arena); // for text and "attributes"
// Rows that the headings sort where scripts run; bars are drawn.
void html_table(struct text *out, const struct report_table *t, const char *name);
void html_scroll(struct text *out, const char *label); // opens a scrollable <div>
// Lines in the form of report_summary's after its headline, as a table of two columns.
void html_facts(struct text *out, const char *lines);

// ---- for this folder
// schedule.c: the chart's operations as columns; false: too many for a page
bool html_schedule(struct text *out, const struct report_replay *r);
// memory.c: a bar for each rank, by part, against the limit
void html_memory(struct text *out, const struct plan *plan);
// space.c: fates of layouts, and a table of the best
void html_layouts(struct text *out, const struct layouts *l, int64_t top);
// history.c
void html_history(struct text *out, const struct report_page *page);
// sensitivity.c
void html_sensitivity(struct text *out, const struct report_page *page);

// The page's style and scripts, which the Makefile makes from the files next to this one.

extern const char page_style[], page_script[]; // ended by 0
