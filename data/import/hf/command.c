// plumbline import hf CONFIG.json: a model from a Hugging Face config.
#include "data/import/hf/config.h"
#include "data/import/import.h"
#include "data/inputs/model/size.h"

struct options {
    struct reading import;
    int64_t mtp;
    struct model model;
};
static const struct option_row rows[] = {
    {"--mtp", OPTION_INT, OPT(mtp),
     "multi-token prediction layers, each with its own loss; 0 leaves them out (default: the "
     "config's num_nextn_predict_layers)",
     0, 64},
};

static enum status read_config(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    return model_import_hf(&o->model, r->path, r->name, (int)o->mtp, r->output, &r->said, r->arena,
                           err);
}

static enum status save_model(void *options, struct error *err)
{
    struct options *o = options;
    TRY(model_save(&o->model, o->import.output, o->import.arena, err));
    said_line(&o->import.said, "%s: %lld parameters", o->model.name,
              (long long)model_size_of(&o->model).all);
    return OK;
}

static const struct reader reader = {.opens = true, .read = read_config, .save = save_model};
static const struct options defaults = {.import = {.reader = &reader, .output = "-"}, .mtp = -1};
const struct command import_hf = {
    .name = "hf",
    .text = "Hugging Face config.json -> model",
    .usage = "plumbline import hf CONFIG.json [-o model.json] [--name NAME] [--mtp N] [--strict]",
    READER(rows, struct options, defaults),
};
