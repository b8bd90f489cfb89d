// Plans side by side: how long they take and why, what they hold, and where they differ.
#pragma once

#include "solve/report/report.h"

struct compared {
    const char *name;              // heading of its column
    const struct plan *plan;       // with stages
    const struct problem *problem; // NULL: not available; tokens, MFU and price are then left out
};

enum compare_format { COMPARE_TEXT, COMPARE_HTML, COMPARE_LATEX, COMPARE_CSV };

// Compares all with the first. count >= 1.
enum status report_compare(struct text *out, const struct compared *items, int count,
                           enum compare_format format, struct error *err);

// ---- for this folder

struct compared_plan {
    struct compared of;
    struct report_replay replay;
    struct figures figures;
    struct report_use use;      // of an average rank
    int fullest;                // stage (or rank, if it has several) with the least free memory
    struct memory_parts memory; // of that stage or rank
    int64_t limit_bytes;
};

struct compare_section {
    const char *title;
    struct report_table table; // the first column names the fact, then one column for each plan
};
enum { COMPARE_SECTIONS_MOST = 8 };
struct comparison {
    struct compared_plan *plans;
    int count;
    struct compare_section sections[COMPARE_SECTIONS_MOST];
    int section_count;
    struct arena *arena;
};
struct report_table *compare_open(struct comparison *c, const char *title); // starts a section
void compare_facts(struct comparison *c);                                   // facts.c
void compare_moves(struct comparison *c);                                   // moves.c
