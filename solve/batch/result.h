// The outcome of an instance: status.json, in its result's or failure's folder.
#ifndef PLUMBLINE_SOLVE_BATCH_RESULT_H
#define PLUMBLINE_SOLVE_BATCH_RESULT_H

#include "solve/batch/batch.h"

struct result {
    const char *id;      // the instance's
    const char *outcome; // as in the plan: optimal, open, infeasible, no_plan; or failed
    const char *reason;  // of a failure, or why a bound has no certificate; NULL: none
    bool verified;       // the judge accepted the plan
    bool certified;      // the checker accepted a certificate of the bound
    int64_t bound_ns;    // certified by it; -1: none
    double solve_s, verify_s, check_s; // wall-clock time
    int64_t certificate_bytes;         // 0: there is none
    const char *certificate_sha256;    // "": none
    int64_t memory_bytes;              // of the largest process
};

extern const struct members result_members; // its keys (data/text/members.h)
enum status result_save(const struct result *r, const struct instance *i, const char *path,
                        struct arena *arena, struct error *err);
enum status result_load(struct result *r, const char *path, struct arena *arena, struct error *err);

#endif
