// plumbline import hf CONFIG.json: a model from a Hugging Face config.
#include <stdio.h>

#include "data/import/hf/config.h"
#include "data/import/import.h"
#include "data/inputs/model/size.h"

struct options {
    struct import_files in;
    int mtp;
};

static const struct option_row rows[] = {
    {"--mtp", OPTION_COUNT, OPT(mtp),
     "multi-token prediction layers, each with its own loss; 0 leaves them out (default: the "
     "config's num_nextn_predict_layers)",
     0, 64},
};

static enum status run(void *options, int *exit_code, struct arena *arena, struct error *err)
{
    struct options *o = options;
    struct model model;
    (void)exit_code;
    TRY(model_import_hf(&model, o->in.path, o->in.name, o->mtp, o->in.output, arena, err));
    TRY(model_save(&model, o->in.output, arena, err));
    fprintf(stderr, "%s: %lld parameters\n", model.name, (long long)model_size_of(&model).all);
    return OK;
}

const struct command import_hf = {
    .name = "hf",
    .text = "Hugging Face config.json -> model",
    .usage = "plumbline import hf CONFIG.json [-o model.json] [--name NAME] [--mtp N]",
    READS(struct options, rows, {.in = IMPORT_TO(NULL), .mtp = -1}),
    SHARES(import_options, struct options, in),
    .run = run,
};
