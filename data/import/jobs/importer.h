// What reads a framework's configuration: the syntax of its file, its rows, and what they mean
// together. One command asks and answers the same questions for all of them.
#ifndef PLUMBLINE_DATA_IMPORT_JOBS_IMPORTER_H
#define PLUMBLINE_DATA_IMPORT_JOBS_IMPORTER_H

#include "data/import/jobs/settings.h"

// Answers to what a file may leave to a script.
struct asked {
    const struct importer *importer;
    const char *path, *name;
    const char *model_path, *job_path; // where they are written; NULL: not asked for
    int64_t gpus, vocabulary, sequence, global_batch, micro_batch, tensor, pipeline, expert, layers;
    int precision, schedule; // -1: not given
};

struct importer {
    const char *name, *file;    // "CONFIG.toml"
    const struct run *defaults; // of what the file does not state, except of the job
    const char *not_python;     // why a file in Python is refused; NULL: it is read like any other
    enum status (*settings)(struct settings *s, const char *path, struct arena *arena,
                            struct error *err);
    const struct setting_rows *rows;
    // What the rows mean together, and what was asked.
    enum status (*run)(struct run *r, struct settings *s, const struct asked *asked,
                       struct error *err);
    // The job and the model, if they are asked for. model NULL: a configuration says nothing of it.
    enum status (*job)(struct run *r, struct error *err);
    enum status (*model)(struct model *m, const struct run *r, struct arena *arena,
                         struct error *err);
};
extern const struct importer megatron_importer, nemo_importer, deepspeed_importer,
    torchtitan_importer;

#endif
