// A training log explained (docs/FORMATS.md, explain). Nothing is searched here: every answer is a
// prediction, or one of few that are all made.
#pragma once

#include "data/import/logs/log.h"
#include "formulate/predict/predict.h"

struct explain_settings {
    const char *cluster, *costs, *gpu; // NULL: as the log states
    struct gpu_likeness likeness;      // of a GPU that no cluster has
    int64_t gpus;                      // 0: as the log states
    const char *run;                   // of several in the text's tables; NULL: none
    const char *set;                   // "column=value,..." instead of the log's; NULL: nothing
    double margin;
};

// A value that the log does not state, and why this one was taken.
struct assumed {
    const char *column, *value, *why;
};
enum { ASSUMED_MOST = 64, ALTERNATIVES_MOST = 8, CHANGES_MOST = 128, COUNTS_MOST = 12 };

// FLOP of a token by the log's own rate, and by the model: as counted in several ways.
struct certificate {
    double by_log; // 0: the log states no rate, or not enough to count
    struct flop_count {
        const char *name;
        double flop;
    } counts[COUNTS_MOST];
    int count, found;       // found: of the counts, -1: none within the tolerance
    bool solved;            // the sequence was found by it: it proves nothing more
    double rank_parameters; // by the model, of the rank that the log states; 0: not compared
    bool parameters_agree;
};

enum explained_verdict {
    VERDICT_AGREES,        // within the interval, or near
    VERDICT_NOT_PREDICTED, // something is missing
    VERDICT_NOT_MEASURED,
    VERDICT_OUT_OF_MEMORY,
    VERDICT_KILLED, // by its host's system
    VERDICT_WARM_UP,
    VERDICT_NOT_STATIONARY,
    VERDICT_RETRIES,
    VERDICT_HOST,
    VERDICT_NETWORK,
    VERDICT_UNSTATED, // values that are not stated resolve it
    VERDICT_NOT_READ, // the reading is refused
    VERDICT_NOT_EXPLAINED,
    VERDICT_COUNT
};
extern const char *const verdict_names[]; // [VERDICT_COUNT]

// One change of the run's own configuration.
struct change {
    enum { CHANGE_FLAG, CHANGE_DEGREE } kind;
    const char *column, *value; // of runs
    int64_t iteration_ns, device_bytes;
};

// The fastest of all layouts with equal stages that were priced.
struct any_layout {
    bool found, all; // found: one that is faster than the run; all: none was left out
    int priced;
    struct run_row row;
    const struct change *flag; // the best one, where it is among what is changed
    int64_t iteration_ns, device_bytes;
};

struct explained {
    struct explain_settings settings;
    struct log log;
    struct run_row asked;      // as stated, with what else a prediction needs
    struct run_row row;        // with what the program does by itself
    const struct model *model; // as the printed arguments state it; NULL: as the row's columns
    struct predictor *predictor;
    struct assumed assumed[ASSUMED_MOST];
    int assumed_count, asked_count; // asked_count: of `asked`
    struct prediction own;          // reason: why there is none
    struct problem problem;
    struct placement placement;
    struct plan plan; // stage_count 0: none could be made
    const char *plan_missing;
    double measured_s; // of an iteration; 0: not stated
    const char *measured_by;
    struct log_rate rate; // that it follows from
    struct certificate certificate;
    enum explained_verdict verdict;
    const char *why;                                // in words
    struct assumed alternatives[ALTERNATIVES_MOST]; // what would resolve the difference
    int alternative_count;
    bool ran_too_full;      // it ran, and is predicted not to fit
    bool room_alone;        // the alternatives make room for it, and do not give its time
    int lone_stages;        // layers for further tokens have the last but one alone; 0: not so
    const char *unadjusted; // why what no column says is not in the prediction; NULL: it is
    const char *guessed;    // what is not in the log and was only the likeliest; NULL: nothing
    struct change changes[CHANGES_MOST];
    int change_count;
    struct any_layout any;
    struct arena *arena;
};

// BAD_INPUT: the log cannot be read; the settings make no sense.
enum status explain_log(struct explained *x, const char *path,
                        const struct explain_settings *settings, struct arena *arena,
                        struct error *err);

// The answer, as text and as JSON.
const char *explained_text(const struct explained *x, size_t *length);
const char *explained_json(const struct explained *x, size_t *length);

// The run as documents in a folder: model, cluster, job, problem, and its plan. The job's rules
// hold every stage to the layers that the run has on it. BAD_INPUT: nothing was predicted; a file
// cannot be written.
enum status explained_save(struct explained *x, const char *folder, struct error *err);

// The best change of a kind that fits; NULL: none is faster.
const struct change *explained_best(const struct explained *x, int kind);
// What x->any changes of the run; returns how many values there are.
enum { ANY_VALUES_MOST = 12 };
int any_layout_values(const struct explained *x, struct assumed values[ANY_VALUES_MOST]);
// The flags or keys of the log's framework that make a change; NULL: not known.
const char *change_words(const struct explained *x, const struct change *change);
enum framework explained_framework(const struct explained *x); // that plans are made for
enum framework explained_runs_in(const struct explained *x);   // any, if its rules refuse the run
// What is requested of the allocator.
int64_t explained_allocated(const struct prediction *prediction);
