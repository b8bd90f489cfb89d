// A Megatron-LM argument list or launch script as a run.
#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    (void)s;
    if (!r->shape.vocabulary) r->shape.vocabulary = asked->vocabulary;
    return core_check(r, err);
}

const struct importer megatron_importer = {.name = "megatron",
                                           .file = "ARGS.sh|ARGS.txt",
                                           .defaults = &megatron_defaults,
                                           .settings = settings_read_flags,
                                           .rows = &megatron_rows,
                                           .run = read_run,
                                           .job = core_job,
                                           .model = core_model};
