// A Megatron-LM argument list or launch script as a run.
#include <string.h>

#include "data/import/jobs/core.h"
#include "data/import/jobs/importer.h"

// The words behind a flag up to the next flag; NULL: it is not in the text.
static const char *words_of(const char *text, const char *flag, struct arena *arena)
{
    const char *at = strstr(text, flag), *end;
    if (!at) return NULL;
    at += strlen(flag), at += strspn(at, " ");
    end = strstr(at, " --");
    return arena_print(arena, "%.*s", (int)(end ? end - at : (long)strlen(at)), at);
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    for (int i = 0; i < s->count; i++) {
        const char *own = s->items[i].text;
        if (strcmp(s->items[i].key, SETTINGS_OF_RANK) != 0) continue;
        TRY(core_recompute(r, words_of(own, "--recompute-granularity", s->arena),
                           words_of(own, "--recompute-method", s->arena),
                           words_of(own, "--recompute-modules", s->arena), err));
    }
    r->job.overlapped_messages = !r->waits;
    if (!r->shape.vocabulary) r->shape.vocabulary = asked->vocabulary;
    return core_check(r, err);
}

static const struct importer importer = {.name = "megatron",
                                         .framework = FRAMEWORK_MEGATRON,
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
