// What of a run costs most time: a slow rank, a slow link, recomputation, an unbalanced split.
#ifndef PLUMBLINE_SOLVE_REPORT_AGAINST_FAULTS_H
#define PLUMBLINE_SOLVE_REPORT_AGAINST_FAULTS_H

#include "solve/report/against/against.h"

enum against_fault_kind {
    AGAINST_SLOW_RANK,
    AGAINST_SLOW_LINK,
    AGAINST_SLOW_SYNC,
    AGAINST_RECOMPUTES,
    AGAINST_UNBALANCED
};

struct against_fault {
    enum against_fault_kind kind;
    int replica, rank, stage; // stage: the boundary after it, for a link; -1: none
    double factor;            // over the usual time; moved layers
    bool backward, planned;   // of a link's messages; of recomputation
    int64_t gain_ns;          // of the iteration, without it
    double gain;              // the same as a share
};

enum { AGAINST_FAULTS_MOST = 64 };
struct against_faults {
    struct against_fault items[AGAINST_FAULTS_MOST]; // [count], the greatest gain first
    int count;
};

static const double against_fault_least = 0.03; // of the iteration: below it nothing is named

enum status against_find_faults(struct against_faults *f, struct against *a, struct arena *arena,
                                struct error *err);
void against_faults_text(struct text *out, const struct against_faults *f, const struct against *a);

#endif
