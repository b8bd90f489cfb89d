// Shared by the files of the checker that read the proof itself.
#pragma once

#include "solve/checker/check.h"
#include "solve/checker/boxes/mix.h"
#include "solve/checker/layout/plan.h"

// ---- proof.c
enum status check_read_claims(const struct reader *r, const cJSON *proof,
                              struct check_result *result); // claims at -1
enum status check_one_proof(const struct reader *r, const cJSON *proof,
                            const struct check_problem *p, struct check_result *result,
                            uint64_t *work, struct arena *arena);

// Sets the result from how the audit ended: accepted, a reason for refusal, or an error.
enum status check_conclude(struct check_result *result, enum status status, const struct error *why,
                           struct error *err);

// Sees each box as the audit leaves it: by which stage it is split (-1: it is not, -2: by a rank),
// after which only the half with the property is left, or whether it is a single decision. Nothing
// depends on what it does with it.
struct check_watch {
    enum status (*see)(void *of, const cJSON *box, const struct check_box *left, int split,
                       bool leaf);
    void *of;
};

// One proof about one priced document.
struct check_proof {
    struct reader reader;
    const struct check_problem *p;
    const struct check_graph *g;
    struct check_choices choices;
    struct check_mixer *mixer;
    struct check_replay replay;
    int *counts, *laps; // [path * symbols + symbol], [path]
    int path_count;
    int64_t *coefficients; // of the current round
    struct check_result *result;
    const struct check_watch *watch; // NULL: none
    uint64_t *work;
    struct arena *arena;
};
// The proof on the tables of k's problem, with its graph, result and work.
enum status check_audit_proof(struct check_proof *k, const cJSON *proof);
// Of the objective energy, the problem whose plans all take longer than the limit if none of *p
// needs less than this: iteration times alone, and a unit less of energy.
struct check_problem check_below_energy(const struct check_problem *p, int64_t bound_uj);

enum status check_read_paths(struct check_proof *k, const cJSON *paths);
// The decisions of a plan in the file, each judged by itself. sets: where a stage may recompute any
// of its layers, those that it does, or NULL.
enum status check_read_incumbent(struct check_proof *k, const cJSON *stages,
                                 struct check_choice *own, const cJSON **sets);
enum status check_incumbent(struct check_proof *k, const cJSON *stages, int64_t iteration_ns);
enum status check_boxes(struct check_proof *k, const cJSON *boxes);

// ---- by_group.c
// The proof where all stages on a node group have one of its widths, on k's graph and result.
enum status check_by_group(struct check_proof *k, const cJSON *proof);
// taken: one width of each node group that has any which is not excluded; at first none of all.
// false: it was the last combination, and the first comes again.
bool check_next_combination(const struct check_problem *p, bool *taken);
// The same problem where all other widths are excluded.
struct check_problem check_with_widths(const struct check_problem *p, const bool *taken,
                                       struct arena *arena);

// ---- turns.c
// The proof where replicas take whole micro-batches in turn.
enum status check_in_turn(struct check_proof *k, const cJSON *proof);

#define NOT_PROVEN_HERE(k, ...) fail((k)->reader.err, (enum status)NOT_PROVEN, __VA_ARGS__)
