// Plans side by side: how long they take and why, what they hold, and what stands elsewhere.
#ifndef PLUMBLINE_SOLVE_REPORT_COMPARE_COMPARE_H
#define PLUMBLINE_SOLVE_REPORT_COMPARE_COMPARE_H

#include "solve/report/report.h"

struct compared {
    const char *name;              // heads its column
    const struct plan *plan;       // with stages
    const struct problem *problem; // NULL: not at hand; tokens, MFU and price are then left out
};

enum compare_format { COMPARE_TEXT, COMPARE_HTML, COMPARE_LATEX, COMPARE_CSV };

// All against the first. count >= 1.
enum status report_compare(const struct compared *items, int count, enum compare_format format,
                           const char **text, size_t *length, struct arena *arena,
                           struct error *err);

// ---- for this folder

struct compared_plan {
    struct compared of;
    struct report_replay replay;
    struct report_use use; // of the mean rank
    int fullest;           // the stage (rank, where ranks have several) with the least memory left
    const struct memory_parts *memory; // its own
    int64_t limit_bytes;
};

struct compare_section {
    const char *title;
    struct report_table table; // the first column says what, then one for each plan
};
enum { COMPARE_SECTIONS_MOST = 8 };
struct comparison {
    struct compared_plan *plans;
    int count;
    struct compare_section sections[COMPARE_SECTIONS_MOST];
    int section_count;
    struct arena *arena;
};
struct report_table *compare_open(struct comparison *c, const char *title); // a section
void compare_facts(struct comparison *c);                                   // facts.c
void compare_moves(struct comparison *c);                                   // moves.c

#endif
