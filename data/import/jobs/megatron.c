// A Megatron-LM argument list or launch script as a run.
#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    (void)s;
    r->job.overlapped_messages = !r->waits;
    if (!r->shape.vocabulary) r->shape.vocabulary = asked->vocabulary;
    return core_check(r, err);
}

static const struct importer importer = {.name = "megatron",
                                         .defaults = &megatron_defaults,
                                         .settings = settings_read_flags,
                                         .rows = &megatron_rows,
                                         .run = read_run,
                                         .job = core_job,
                                         .model = core_model};

static const struct option_row option_rows[] = {
    ASK_JOB,
    ASK_GPUS,
    ASK_VOCABULARY,
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_megatron = {
    .name = "megatron",
    .text = "Megatron-LM argument list or launch script -> model and job",
    .usage = "plumbline import megatron ARGS.sh|ARGS.txt [-o model.json] [--job job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
