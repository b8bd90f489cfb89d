// plumbline import hf CONFIG.json: a model out of a foreign format.
#include <string.h>

#include "data/import_hf.h"
#include "formulate/commands.h"

enum status command_import(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    const char *output = "-", *name = NULL, *operands[2];
    bool helped;
    struct model model;
    const struct option options[] = {
        {.name = "-o", .type = OPTION_TEXT, .to = &output, .help = "where the model is written; - is standard output (default)"},
        {.name = "--name", .type = OPTION_TEXT, .to = &name, .help = "the model's name (default: from the config)"},
    };
    (void)exit_code;
    TRY(options_read(argc, argv, "plumbline import hf CONFIG.json [-o model.json] [--name NAME]", options, ARRAY_LENGTH(options), operands, 2, 2, NULL, &helped, err));
    if (helped) return OK;
    if (strcmp(operands[0], "hf")) return fail(err, BAD_INPUT, "expected a format, hf (a Hugging Face config.json), found '%s'", operands[0]);
    TRY(model_import_hf(&model, operands[1], name, output, arena, err));
    return model_save(&model, output, arena, err);
}
