// plumbline import hf CONFIG.json: a model from a Hugging Face config.
#include <stdio.h>

#include "data/import/hf/config.h"
#include "data/import/import.h"
#include "data/inputs/model/size.h"

enum status import_hf(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    const char *output = "-", *name = NULL, *config;
    int64_t mtp = -1;
    bool helped;
    struct model model;
    const struct option options[] = {
        {"-o", OPTION_PATH, &output, 0, 0, NULL,
         "output file for the model (default: -, standard output)"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL, "name of the model (default: from the config)"},
        {"--mtp", OPTION_INT, &mtp, 0, 64, NULL,
         "multi-token prediction layers, each with its own loss; 0 leaves them out (default: the "
         "config's num_nextn_predict_layers)"},
    };
    (void)exit_code;
    TRY(options_read(argc, argv,
                     "plumbline import hf CONFIG.json [-o model.json] [--name NAME] [--mtp N]",
                     options, ARRAY_LENGTH(options), &config, 1, 1, NULL, &helped, err));
    if (helped) return OK;
    TRY(model_import_hf(&model, config, name, (int)mtp, output, arena, err));
    TRY(model_save(&model, output, arena, err));
    fprintf(stderr, "%s: %lld parameters\n", model.name, (long long)model_size_of(&model).all);
    return OK;
}
