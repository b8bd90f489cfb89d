// YAML whose MODEL_ARGS are flags: "--hidden-size: 4096", with ${NAME} of the environment.
#include <string.h>

#include "data/import/jobs/launch.h"

static const char *given(const struct launch_asked *asked, const char *name, size_t length)
{
    for (int i = 0; i < asked->set.count; i++)
        if (!strncmp(asked->set.items[i], name, length) && asked->set.items[i][length] == '=')
            return asked->set.items[i] + length + 1;
    return NULL;
}

// ${NAME} and ${NAME:-value}: what is given, or the default, or left open.
static const char *filled(struct settings *s, const struct launch_asked *asked, const char *text)
{
    const char *out = "", *dollar;
    for (int i = 0; i < 16 && (dollar = strstr(text, "${")); i++) {
        size_t length = strcspn(dollar + 2, ":}"), inside = strcspn(dollar + 2, "}");
        const char *value = given(asked, dollar + 2, length), *name = dollar + 2;
        if (!value && name[length] == ':' && inside > length + 2)
            value = arena_print(s->arena, "%.*s", (int)(inside - length - 2), name + length + 2);
        if (!value)
            value = arena_print(s->arena, "%c%.*s%c", SCRIPT_OPEN, (int)length, name, SCRIPT_CLOSE);
        out = arena_print(s->arena, "%s%.*s%s", out, (int)(dollar - text), text, value);
        text = name + inside + (name[inside] == '}');
    }
    return arena_print(s->arena, "%s%s", out, text);
}

enum status launch_read_yaml(struct settings *s, const char *path, const struct launch_asked *asked,
                             struct error *err)
{
    static const char section[] = "MODEL_ARGS.";
    struct settings yaml;
    int found = 0;
    TRY(settings_read_yaml_raw(&yaml, path, s->arena, err));
    for (int i = 0; i < yaml.count; i++) {
        const char *key = yaml.items[i].key, *at = strstr(key, section);
        if (at == key) key += sizeof section - 1;
        else if (strncmp(key, "--", 2) != 0) continue;
        if (!strncmp(key, "--", 2)) key += 2;
        size_t length = strcspn(key, "[.");
        const char *name = arena_print(s->arena, "%.*s", (int)length, key),
                   *text = yaml.items[i].text;
        found++;
        if (!text) continue;
        text = filled(s, asked, text);
        struct setting *before = key[length] == '[' ? (struct setting *)setting_of(s, name) : NULL;
        if (before) before->text = arena_print(s->arena, "%s %s", before->text, text);
        else TRY(launch_set_value(s, name, text, err));
    }
    if (found) return OK;
    return fail(
        err, BAD_INPUT,
        "%s: expected MODEL_ARGS with flags (--hidden-size: 4096), found none; other YAML is "
        "read by import nemo, nanotron or llama-factory",
        path);
}
