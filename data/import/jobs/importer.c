// See importer.h.
#include "data/import/jobs/importer.h"

#include <stdio.h>

#include "data/base/file.h"
#include "data/inputs/framework.h"
#include "data/inputs/model/size.h"

static enum status save_job(struct job *j, struct settings *s, const char *path, struct error *err)
{
    struct source source = source_of("config", &s->document, path, s->arena);
    j->document.sources = &source, j->document.source_count = 1;
    return job_save(j, path, s->arena, err);
}

// Where the framework has one setting of recomputation for all stages, the layout has it.
static void set_one_recompute(struct run *r, const struct importer *im, const struct settings *s)
{
    struct layout *l = &r->job.layout;
    int mode = RECOMPUTE_COUNT - 1;
    struct layout whole = *l; // with what the job states of it
    whole.overlapped_dispatch = r->job.overlapped_dispatch && l->expert > 1;
    if (!framework_recomputes_alike(im->framework, &whole)) return;
    if (im->recompute_key && !setting_of(s, im->recompute_key)) return;
    while (mode > RECOMPUTE_NONE && !r->job.recompute[mode]) mode--;
    l->recompute = 1 + mode;
    if (mode == RECOMPUTE_FIRST_LAYERS) l->recomputed_layers = (int)r->recomputed;
}

static enum status convert(struct run *r, struct settings *s, const struct asked *asked,
                           struct error *err)
{
    const struct importer *im = asked->importer;
    struct model model = {.name = r->job.name, .document.path = r->file};
    TRY(settings_take(s, im->rows, r, err));
    TRY(im->run(r, s, asked, err));
    if (asked->job_path && im->job) TRY(im->job(r, err));
    set_one_recompute(r, im, s);
    if (asked->job_path) TRY(job_check(&r->job, err));
    if (asked->model_path) TRY(im->model(&model, r, s->arena, err));
    if (asked->import.strict) TRY(settings_check_strict(s, err));
    if (asked->job_path) TRY(save_job(&r->job, s, asked->job_path, err));
    if (asked->model_path) TRY(model_save(&model, asked->model_path, s->arena, err));
    settings_tell(s);
    if (asked->model_path)
        fprintf(stderr, "%s: %lld parameters\n", model.name, (long long)model_size_of(&model).all);
    return OK;
}

static enum status read_configuration(void *options, struct error *err)
{
    struct asked *asked = options;
    const struct importer *im = asked->importer;
    const char *path = asked->import.path, *output = asked->import.output;
    struct settings s;
    if (im->not_python && path_ends_with(path, ".py"))
        return fail(err, BAD_INPUT, "%s: %s", path, im->not_python);
    asked->job_path = im->model ? asked->job : output ? output : "-";
    if (im->model) asked->model_path = output || asked->job ? output : "-";
    if (im->read) TRY(im->read(&s, asked, err));
    else TRY(im->settings(&s, path, asked->import.arena, err));
    struct run run = *im->defaults;
    run.file = path, run.arena = asked->import.arena;
    run.wants_model = asked->model_path != NULL, run.wants_job = asked->job_path != NULL;
    s.gpus_asked = asked->gpus > 0, s.vocabulary_asked = asked->vocabulary > 0;
    run.job = job_imported(asked->import.name ? asked->import.name : im->name, &s);
    run.job.sequence = im->defaults->job.sequence;
    run.gpus = asked->gpus;
    enum status status = convert(&run, &s, asked, err);
    if (status == BAD_INPUT) settings_hint(&s, err);
    return status;
}

const struct reader importer_reader = {.opens = true, .read = read_configuration};
