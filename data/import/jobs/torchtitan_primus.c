// Primus's YAML with modules.pre_trainer.framework torchtitan, in the keys of TOML's: they are
// behind "overrides"; the model and its converters are in a file of their own.
#include <string.h>

#include "data/import/jobs/torchtitan.h"

static const char module[] = "modules.pre_trainer.";
static const char overrides[] = "modules.pre_trainer.overrides.";

static const char *stated(const struct settings *yaml, const char *key)
{
    const struct setting *at = setting_of(yaml, arena_print(yaml->arena, "%s%s", module, key));
    return at ? at->text : NULL;
}

static enum status note_model_file(struct settings *s, const char *model, struct error *err)
{
    struct settings_source end = {.s = s};
    if (!model) return OK;
    said_assume(&s->said, "the model is in %.80s, another file: use plumbline models or import hf",
                model);
    if (!strstr(model, "-fp8") || setting_list_length(s, "model.converters")) return OK;
    said_assume(&s->said, "%.80s converts linear layers to fp8, as its name says", model);
    return source_add(&end, "model.converters[0]", "quantize.linear.float8", err);
}

enum status titan_read_primus(struct settings *s, const char *path, struct arena *arena,
                              struct error *err)
{
    static const char kernels[] = "primus_turbo.";
    struct settings yaml;
    TRY(settings_read_yaml_raw(&yaml, path, arena, err));
    const char *framework = stated(&yaml, "framework"), *model = stated(&yaml, "model"),
               *turbo = NULL;
    if (!framework || strcmp(framework, "torchtitan"))
        return fail(err, BAD_INPUT,
                    "%s: expected torchtitan's TOML or Python, or Primus's YAML with %sframework "
                    "torchtitan: other YAML is read by import megatron, nemo, nanotron or trainer",
                    path, module);
    *s = yaml, s->count = 0;
    for (int i = 0; i < yaml.count; i++) {
        struct setting at = yaml.items[i];
        if (strncmp(at.key, overrides, sizeof overrides - 1)) continue;
        if (at.text && strstr(at.text, "${"))
            return fail(err, BAD_INPUT,
                        "%s: line %d: %.80s: is set by the environment, \"%.60s\": write its value",
                        path, at.line, at.key, at.text);
        at.key += sizeof overrides - 1;
        if (strncmp(at.key, kernels, sizeof kernels - 1)) s->items[s->count++] = at;
        else if (at.text && !strcmp(at.text, "true")) turbo = at.key;
    }
    if (turbo) said_assume(&s->said, "%s: kernels are torchtitan's own, not Primus-Turbo's", turbo);
    return note_model_file(s, model, err);
}
