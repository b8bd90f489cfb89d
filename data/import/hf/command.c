// plumbline import hf CONFIG.json: a model from a Hugging Face config.
#include <stdio.h>
#include <stdlib.h>

#include "data/import/hf/config.h"
#include "data/import/import.h"
#include "data/inputs/model/size.h"

struct options {
    struct reading import;
    int64_t mtp;
};
static const struct option_row rows[] = {
    {"--mtp", OPTION_INT, OPT(mtp),
     "multi-token prediction layers, each with its own loss; 0 leaves them out (default: the "
     "config's num_nextn_predict_layers)",
     0, 64},
};

static enum status import(const struct options *o, FILE *told, struct error *err)
{
    const struct reading *r = &o->import;
    struct model model;
    TRY(model_import_hf(&model, r->path, r->name, (int)o->mtp, r->strict, r->output, told, r->arena,
                        err));
    TRY(model_save(&model, r->output, r->arena, err));
    fprintf(told, "%s: %lld parameters\n", model.name, (long long)model_size_of(&model).all);
    return OK;
}

// What is told is told of a model that is saved.
static enum status read_config(void *options, struct error *err)
{
    char *text = NULL;
    size_t length;
    FILE *told = open_memstream(&text, &length);
    if (!told) return fail(err, SYSTEM, "out of memory");
    enum status status = import(options, told, err);
    if (fclose(told) != 0 && status == OK) status = fail(err, SYSTEM, "out of memory");
    if (status == OK) fputs(text, stderr);
    free(text);
    return status;
}

static const struct reader reader = {.opens = true, .read = read_config};
static const struct options defaults = {.import = {.reader = &reader, .output = "-"}, .mtp = -1};
const struct command import_hf = {
    .name = "hf",
    .text = "Hugging Face config.json -> model",
    .usage = "plumbline import hf CONFIG.json [-o model.json] [--name NAME] [--mtp N] [--strict]",
    READER(rows, struct options, defaults),
};
