// Shared by the files of this folder.
#pragma once

#include <string.h>

#include "formulate/choices/choices.h"
#include "formulate/graph/longest.h"
#include "formulate/predict/predict.h"
#include "formulate/price/range.h"

// The schedule of some configuration seen so far.
struct kept_graph {
    struct schedule schedule;
    struct graph *graph;
};

enum { KEPT_MAX = 4096, RUNS_OF_ROW = 4 };

// A row's GPUs in the order of their ranks: some of one group, then some of the next.
enum { FLEET_MAX = 32, PIPELINES_MAX = 64 };
struct fleet {
    struct node_group groups[FLEET_MAX];
    int group_count;
    int part_group[FLEET_MAX];
    int64_t part_end[FLEET_MAX]; // GPUs up to here
    int part_count;
    // If there are several groups: those of the ranks of one replica's pipeline, each kind of
    // pipeline once; 0: the groups in their order.
    int pipelines[PIPELINES_MAX][STAGES_MAX];
    int pipeline_count;
};

static inline int64_t stated(int64_t value, int64_t otherwise)
{
    return value == NOT_STATED ? otherwise : value;
}

static inline bool same_text(struct cell a, struct cell b)
{
    return a.length == b.length && (a.text == b.text || !memcmp(a.text, b.text, (size_t)a.length));
}

// Model families that prose names.
enum family { FAMILY_GPT, FAMILY_LLAMA, FAMILY_NEMOTRON };

// What the source and notes of a row say in words. Neighbouring rows mostly say the same, so this
// is searched once.
struct row_words {
    struct cell source, notes;
    enum family family;
    bool untied, gated, rms_norm, overlapped, embedding_counted, fused_loss, deepspeed, wide_sums;
    int precision, schedule;
    double parameters;      // "size=176B": 176e9; 0: not stated
    const char *boundaries; // AMP's list of them, after its bracket; NULL: none
};

// Who ran it, by these cells: neighbouring rows mostly have one of a few.
enum { ORIGINS_KEPT = 4 };
struct known_origin {
    struct cell framework, version, source, gpu;
    int trainer;
    struct run_origin origin;
};

// Defaults of such facts; neighbouring rows mostly have those of a few.
enum { DEFAULTS_KEPT = 32 };
struct known_defaults {
    struct run_facts key;
    struct run_default traits[TRAIT_COUNT];
};

// The group that has the GPU of this name; NULL: none was found last.
struct known_gpu {
    struct cell gpu;
    const struct node_group *group;
};

struct predictor {
    struct predict_settings settings;
    struct row_words words;
    struct known_gpu gpu;
    struct known_origin origins[ORIGINS_KEPT], *origin; // the current row's
    int origin_next;
    struct known_defaults defaults[DEFAULTS_KEPT];
    unsigned defaults_next;
    struct arena *arena;
    struct cluster *clusters; // in order of preference
    int cluster_count;
    struct costs costs;
    const char *const *model_names; // of the shipped models, once a row has named one
    struct model **models;          // each NULL until a row names it
    int model_count;
    struct moved_costs_list moved; // for settings.ranges
    struct arena *moving;          // for these costs
    struct arena_mark moving_mark;
    // the current problem
    struct problem problem;
    struct layer_run runs[RUNS_OF_ROW];
    struct fleet fleet;
    struct placement placement;
    struct shown_runs shown; // of the row's program
    struct range range;      // of the last prediction, with settings.ranges
    struct compression_option boundary;
    struct compression_option gradient;
    // graphs
    struct arena *graphs;
    struct kept_graph *kept[KEPT_MAX]; // by hash of the request, open addressing
    int kept_count;
    int64_t kept_operations;
    // scratch of one prediction
    struct arena *scratch;
    struct arena_mark scratch_mark, graphs_mark;
    struct stage_choices stages[STAGES_MAX];
    struct choice choices[STAGES_MAX];
    int chosen[STAGES_MAX];
    int64_t *durations;
    int duration_count;
    struct pricing *pricing; // of the current problem, until its scratch goes
    struct priced priced;
    bool placed; // the choices of the current problem have their stages' layers and groups
    struct kept_graph *graph; // the current problem's with its own costs; NULL: no longer there
    struct walked {
        const struct kept_graph *graph; // NULL: none yet
        int64_t *durations, ns;
    } walked; // the current problem's first
    struct product_memo *memo;
};

// model.c: the named model, or what the row's columns say
bool predict_set_model(struct predictor *p, const struct run_row *row,
                       struct prediction *prediction);

// split.c: blocks by their work, as trainers do that are not known otherwise; the first stage also
// holds the embedding, the last one the head
bool split_by_work(struct placement *to, const struct model *m, int stages,
                   struct prediction *prediction);

// The shipped model of that name; NULL: none.
const struct model *predict_named_model(struct predictor *p, struct cell name);
bool model_has_experts(const struct model *m);
// fleet.c: the GPUs that the row names
// The GPU, or the one that it is like if no cluster has it.
struct cell predict_gpu(struct predictor *p, struct cell gpu);
enum status predict_check_likeness(struct predictor *p, struct error *err);
bool predict_set_fleet(struct predictor *p, const struct run_row *row,
                       struct prediction *prediction);

// What notes and source say in words.
void predict_read_words(struct row_words *w, const struct run_row *row);

// Puts the row's configuration, in which every trait has a value (unstated.c), into p->problem and
// p->placement; false: prediction->reason says what is missing or wrong.
bool predict_set_up(struct predictor *p, const struct run_row *row, struct prediction *prediction);

// Predicts what is in p->problem and p->placement. PREDICT_TIME: the time, and nothing else.
// PREDICT_PLACED: it is priced already, and only its placement is another.
enum predicted { PREDICT_ALL, PREDICT_TIME, PREDICT_PLACED };
void predict_once(struct predictor *p, const struct costs *costs, enum predicted what,
                  struct prediction *prediction);
// And how much of the time its costs leave open, with settings.ranges.
void predict_range(struct predictor *p, struct prediction *prediction);
// Puts the ends of p->range into the prediction.
void predict_put_range(const struct predictor *p, struct prediction *prediction);

// The groups and the layers of a decision; false: the prediction says why there is none.
bool predict_place_groups(const struct priced *priced, const struct schedule_request *request,
                          struct choice *choices, struct prediction *prediction);
bool predict_place_layers(const struct placement *placement, const struct priced *priced,
                          struct choice *choices, struct prediction *prediction);

// held.c: what a device with these parts requests at once, with so many micro-batches in flight;
// what its allocator holds for it.
int64_t predict_requested_bytes(const struct predictor *p, const struct memory_parts *m,
                                int in_flight);
int64_t predict_held_bytes(const struct predictor *p, int64_t requested, double outside);

// The first reason stays. Returns false.
bool predict_refuse(struct prediction *prediction, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// NULL: none; the prediction says why.
struct kept_graph *predict_graph(struct predictor *p, const struct priced *priced,
                                 struct prediction *prediction);
