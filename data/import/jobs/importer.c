// See importer.h.
#include "data/import/jobs/importer.h"

#include <stdio.h>
#include <string.h>

#include "data/import/import.h"
#include "data/inputs/model/size.h"
#include "data/kinds/schedules.h"

static enum status save_job(struct job *j, struct settings *s, const char *path, struct error *err)
{
    struct source source = source_of("config", &s->document, path, s->arena);
    j->document.sources = &source, j->document.source_count = 1;
    return job_save(j, path, s->arena, err);
}

static enum status convert(const struct importer *im, struct run *r, struct settings *s,
                           const struct asked *asked, struct error *err)
{
    struct model model = {.name = r->job.name, .document.path = r->file};
    TRY(im->run(r, s, asked, err));
    if (asked->job_path && im->job) TRY(im->job(r, err));
    if (asked->job_path) TRY(job_check(&r->job, err));
    if (asked->model_path) TRY(im->model(&model, r, s->arena, err));
    if (asked->job_path) TRY(save_job(&r->job, s, asked->job_path, err));
    if (asked->model_path) TRY(model_save(&model, asked->model_path, s->arena, err));
    settings_tell(s);
    if (asked->model_path)
        fprintf(stderr, "%s: %lld parameters\n", model.name, (long long)model_size_of(&model).all);
    return OK;
}

static enum status run(void *options, int *exit_code, struct arena *arena, struct error *err)
{
    struct asked *a = options;
    const struct importer *im = a->importer;
    struct settings s;
    (void)exit_code;
    if (!a->job_path && !im->model) a->job_path = "-";
    if (!a->model_path && im->model && !a->job_path) a->model_path = "-";
    if (im->not_python && path_ends_with(a->path, ".py"))
        return fail(err, BAD_INPUT, "%s: %s", a->path, im->not_python);
    TRY(im->settings(&s, a->path, arena, err));
    struct run run = *im->defaults;
    run.file = a->path, run.job = job_imported(a->name, &s);
    run.job.sequence = im->defaults->job.sequence;
    TRY(settings_take(&s, im->rows, &run, err));
    run.gpus = a->gpus;
    return convert(im, &run, &s, a, err);
}

// ---- the options: of a model and a job, or of a job; and what a file may leave to a script

#define AT(member) offsetof(struct asked, member)
#define COMMAND(key, words, shared_table, text_line)                                               \
    const struct command import_##key = {                                                          \
        .name = #key,                                                                              \
        .text = text_line,                                                                         \
        .usage = "plumbline import " #key " " words " [options]",                                  \
        .options = OPTION_TABLE(ask_##key),                                                        \
        .shared = &shared_table,                                                                   \
        .size = sizeof(struct asked),                                                              \
        .defaults =                                                                                \
            &(const struct asked){&key##_importer, .name = #key, .precision = -1, .schedule = -1}, \
        .run = run}

static const struct option_row job_rows[] = {
    {"FILE", OPTION_PATH, AT(path), .low = 1},
    {"-o", OPTION_PATH, AT(job_path), "output file for the job (default: -, standard output)"},
    {"--name", OPTION_TEXT, AT(name), "name of what is made (default: the framework's)"},
};
static const struct option_row model_rows[] = {
    {"FILE", OPTION_PATH, AT(path), .low = 1},
    {"-o", OPTION_PATH, AT(model_path),
     "output file for the model (default: -, standard output, unless --job is given)"},
    {"--name", OPTION_TEXT, AT(name), "name of what is made (default: the framework's)"},
    {"--job", OPTION_PATH, AT(job_path), "output file for the job (default: none)"},
};
static const struct option_table of_job = OPTION_TABLE(job_rows),
                                 of_model = OPTION_TABLE(model_rows);

static const struct option_row ask_megatron[] = {
    {"--gpus", OPTION_INT, AT(gpus), "GPUs of the run (default: as the file states or implies)", 1,
     1e9},
    {"--vocabulary", OPTION_INT, AT(vocabulary), "vocabulary size, if the file has none", 1,
     1 << 26},
};
static const struct option_row ask_nemo[] = {
    {"--gpus", OPTION_INT, AT(gpus), "GPUs of the run (default: as the file states or implies)", 1,
     1e9},
    {"--vocabulary", OPTION_INT, AT(vocabulary), "vocabulary size, if the file has none", 1,
     1 << 26},
    {"--sequence", OPTION_INT, AT(sequence), "tokens per sequence, instead of the file's", 1,
     1 << 24},
    {"--micro-batch", OPTION_INT, AT(micro_batch),
     "sequences per micro-batch, instead of the file's", 1, 1 << 20},
    {"--precision", OPTION_NAME, AT(precision),
     "precision, if the script or the recipe sets it (default: as in the file)",
     .names = precision_names},
};
static const struct option_row ask_deepspeed[] = {
    {"--gpus", OPTION_INT, AT(gpus), "GPUs of the run (default: as the file states or implies)", 1,
     1e9},
    {"--sequence", OPTION_INT, AT(sequence), "tokens per sequence, instead of the file's", 1,
     1 << 24},
    {"--global-batch", OPTION_INT, AT(global_batch),
     "sequences per iteration, instead of the file's", 1, 1 << 30},
    {"--micro-batch", OPTION_INT, AT(micro_batch),
     "sequences per micro-batch, instead of the file's", 1, 1 << 20},
    {"--precision", OPTION_NAME, AT(precision),
     "precision, if the script or the recipe sets it (default: as in the file)",
     .names = precision_names},
    {"--tensor", OPTION_INT, AT(tensor), "tensor degree of the model's code (default: 1)", 1,
     65536},
    {"--pipeline", OPTION_INT, AT(pipeline), "stages of its PipelineModule (default: 1)", 1, 256},
    {"--expert", OPTION_INT, AT(expert), "ep_size of its MoE layers (default: 1)", 1, 65536},
};
static const struct option_row ask_torchtitan[] = {
    {"--gpus", OPTION_INT, AT(gpus), "GPUs of the run (default: as the file states or implies)", 1,
     1e9},
    {"--layers", OPTION_INT, AT(layers),
     "blocks of the model, if pipeline_parallel_layers_per_stage is set (default: the "
     "flavor's)",
     1, 1e6},
    {"--schedule", OPTION_NAME, AT(schedule),
     "schedule that the order in pipeline_parallel_schedule_csv belongs to",
     .names = schedule_names},
};

COMMAND(megatron, "ARGS.sh|ARGS.txt [-o model.json] [--job job.json]", of_model,
        "Megatron-LM argument list or launch script -> model and job");
COMMAND(nemo, "CONFIG.yaml [-o model.json] [--job job.json]", of_model,
        "NeMo or Megatron Bridge YAML -> model and job");
COMMAND(deepspeed, "CONFIG.json --sequence N [-o job.json]", of_job, "DeepSpeed JSON -> job");
COMMAND(torchtitan, "CONFIG.toml [-o job.json]", of_job, "torchtitan TOML -> job");
