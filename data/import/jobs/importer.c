// See importer.h.
#include "data/import/jobs/importer.h"

#include <stdio.h>
#include <string.h>

#include "data/import/import.h"
#include "data/inputs/model/size.h"
#include "data/kinds/schedules.h"

enum { OPTIONS_MAX = 16 };

// The options that this importer has.
static int options_of(struct option *to, const struct importer *im, struct asked *a)
{
    const struct {
        unsigned ask;
        struct option option;
    } all[] = {
        {ASK_GPUS,
         {"--gpus", OPTION_INT, &a->gpus, 1, 1e9, NULL,
          "GPUs of the run (default: as the file states or implies)"}},
        {ASK_VOCABULARY,
         {"--vocabulary", OPTION_INT, &a->vocabulary, 1, 1 << 26, NULL,
          "vocabulary size, if the file has none"}},
        {ASK_SEQUENCE,
         {"--sequence", OPTION_INT, &a->sequence, 1, 1 << 24, NULL,
          "tokens per sequence, instead of the file's"}},
        {ASK_GLOBAL_BATCH,
         {"--global-batch", OPTION_INT, &a->global_batch, 1, 1 << 30, NULL,
          "sequences per iteration, instead of the file's"}},
        {ASK_MICRO_BATCH,
         {"--micro-batch", OPTION_INT, &a->micro_batch, 1, 1 << 20, NULL,
          "sequences per micro-batch, instead of the file's"}},
        {ASK_PRECISION,
         {"--precision", OPTION_NAME, &a->precision, 0, 0, precision_names,
          "precision, if the script or the recipe sets it (default: as in the file)"}},
        {ASK_DEGREES,
         {"--tensor", OPTION_INT, &a->tensor, 1, 65536, NULL,
          "tensor degree of the model's code (default: 1)"}},
        {ASK_DEGREES,
         {"--pipeline", OPTION_INT, &a->pipeline, 1, 256, NULL,
          "stages of its PipelineModule (default: 1)"}},
        {ASK_DEGREES,
         {"--expert", OPTION_INT, &a->expert, 1, 65536, NULL,
          "ep_size of its MoE layers (default: 1)"}},
        {ASK_LAYERS,
         {"--layers", OPTION_INT, &a->layers, 1, 1e6, NULL,
          "blocks of the model, if pipeline_parallel_layers_per_stage is set (default: the "
          "flavor's)"}},
        {ASK_SCHEDULE,
         {"--schedule", OPTION_NAME, &a->schedule, 0, 0, schedule_names,
          "schedule that the order in pipeline_parallel_schedule_csv belongs to"}},
    };
    int count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
        if (im->asks & all[i].ask) to[count++] = all[i].option;
    return count;
}

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

static enum status importer_run(const struct importer *im, int argc, char **argv,
                                struct arena *arena, struct error *err)
{
    struct asked asked = {.precision = -1, .schedule = -1};
    const char *name = im->name, *path, *usage;
    struct settings s;
    bool helped;
    struct option options[OPTIONS_MAX] = {
        {"-o", OPTION_PATH, im->model ? &asked.model_path : &asked.job_path, 0, 0, NULL,
         im->model
             ? "output file for the model (default: -, standard output, unless --job is given)"
             : "output file for the job (default: -, standard output)"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL,
         arena_print(arena, "name of what is made (default: %s)", im->name)},
        {"--job", OPTION_PATH, &asked.job_path, 0, 0, NULL,
         "output file for the job (default: none)"}};
    int count = im->model ? 3 : 2;
    count += options_of(options + count, im, &asked);
    usage = arena_print(arena, "plumbline import %s %s%s [options]", im->name, im->file,
                        im->model ? " [-o model.json] [--job job.json]" : " [-o job.json]");
    TRY(options_read(argc, argv, usage, options, (size_t)count, &path, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    if (!asked.job_path && !im->model) asked.job_path = "-";
    if (!asked.model_path && im->model && !asked.job_path) asked.model_path = "-";
    if (im->not_python && path_ends_with(path, ".py"))
        return fail(err, BAD_INPUT, "%s: %s", path, im->not_python);
    TRY(im->settings(&s, path, arena, err));
    struct run run = *im->defaults;
    run.file = path, run.job = job_imported(name, &s);
    run.job.sequence = im->defaults->job.sequence;
    TRY(settings_take(&s, im->rows, &run, err));
    run.gpus = asked.gpus;
    return convert(im, &run, &s, &asked, err);
}

#define IMPORT(name)                                                                               \
    enum status import_##name(int argc, char **argv, int *exit_code, struct arena *arena,          \
                              struct error *err)                                                   \
    {                                                                                              \
        (void)exit_code;                                                                           \
        return importer_run(&name##_importer, argc, argv, arena, err);                             \
    }
IMPORT(megatron)
IMPORT(nemo)
IMPORT(deepspeed)
IMPORT(torchtitan)
