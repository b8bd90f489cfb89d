// What reads a framework's configuration: the syntax of its file, its rows, and what they mean
// together. The questions that files leave to a script are asked and answered here, once for all.
#pragma once

#include "data/import/import.h"
#include "data/import/jobs/settings.h"

// What the command line says. Other than paths, it overrides the file.
struct asked {
    struct reading import; // its output: the model, or the job if there is no model
    const struct importer *importer;
    const char *job;                   // --job
    const char *model_path, *job_path; // NULL: not asked for
    int64_t gpus, vocabulary, sequence, global_batch, micro_batch, tensor, pipeline, expert, layers;
    int precision, schedule; // -1: not given
    struct option_texts set, ignore;
    const char *arguments, *config;
    int64_t launch;
    struct job made; // what was read
    struct model model;
};
#define ASK(member) offsetof(struct asked, member)
#define ASK_JOB                                                                                    \
    {                                                                                              \
        "--job", OPTION_PATH, ASK(job),                                                            \
            "output file for the job (default: none); the model is then written only with -o"      \
    }
#define ASK_GPUS                                                                                   \
    {                                                                                              \
        "--gpus", OPTION_INT, ASK(gpus),                                                           \
            "GPUs of the run (default: as the file states or implies)", 1, 1e9                     \
    }
#define ASK_VOCABULARY                                                                             \
    {                                                                                              \
        "--vocabulary", OPTION_INT, ASK(vocabulary), "vocabulary size, if the file has none", 1,   \
            1 << 26                                                                                \
    }
#define ASK_SEQUENCE                                                                               \
    {                                                                                              \
        "--sequence", OPTION_INT, ASK(sequence), "tokens per sequence, instead of the file's", 1,  \
            1 << 24                                                                                \
    }
#define ASK_MICRO_BATCH                                                                            \
    {                                                                                              \
        "--micro-batch", OPTION_INT, ASK(micro_batch),                                             \
            "sequences per micro-batch, instead of the file's", 1, 1 << 20                         \
    }
#define ASK_PRECISION                                                                              \
    {                                                                                              \
        "--precision", OPTION_NAME, ASK(precision),                                                \
            "precision, if a script or recipe sets it (default: as in the file)",                  \
            .names = precision_names                                                               \
    }
#define ASK_SET                                                                                    \
    {                                                                                              \
        "--set", OPTION_TEXT, ASK(set),                                                            \
            "NAME=value: a variable of the script or of the YAML file, whatever they assign to "   \
            "it",                                                                                  \
            .many = OPTION_ANY_NUMBER                                                              \
    }
#define ASK_IGNORE                                                                                 \
    {                                                                                              \
        "--ignore", OPTION_TEXT, ASK(ignore),                                                      \
            "a setting that changes nothing here, whatever its name says",                         \
            .many = OPTION_ANY_NUMBER                                                              \
    }
#define ASK_ARGUMENTS                                                                              \
    {                                                                                              \
        "--arguments", OPTION_TEXT, ASK(arguments), "the script's own arguments, in one word"      \
    }
#define ASK_LAUNCH                                                                                 \
    {                                                                                              \
        "--launch", OPTION_INT, ASK(launch), "which launch of the script (default: the only one)", \
            1, 64                                                                                  \
    }

struct importer {
    const char *name;
    enum framework framework;
    const char *recompute_key;  // without it, the script sets recomputation; NULL: never
    const struct run *defaults; // of what the file does not state, except of the job
    const char *not_python;     // why a file in Python is refused; NULL: it is read like any other
    bool launched;              // a script is read by the file of settings that its launch names
    enum status (*settings)(struct settings *s, const char *path, struct arena *arena,
                            struct error *err);
    // Or with what was asked, instead of `settings`.
    enum status (*read)(struct settings *s, const struct asked *asked, struct error *err);
    const struct setting_rows *rows;
    // What the rows mean together, and what was asked.
    enum status (*run)(struct run *r, struct settings *s, const struct asked *asked,
                       struct error *err);
    // The job and the model, if they are asked for. model NULL: a configuration says nothing of it.
    enum status (*job)(struct run *r, struct error *err);
    enum status (*model)(struct model *m, const struct run *r, struct arena *arena,
                         struct error *err);
};
#define ADAPTED_BY_CORE "linear_qkv, linear_proj, linear_fc1, linear_fc2" // Megatron Core's
// What a program has of adapters where its file does not state it, which is said.
void adapters_default(struct run *r, struct settings *s, int64_t rank, const char *modules);
extern const struct reader importer_reader; // runs the importer of its struct asked
#define ASKED(of)                                                                                  \
    {                                                                                              \
        .import.reader = &importer_reader, .importer = &(of), .precision = -1, .schedule = -1      \
    }
