// yq of a YAML file of arguments (MODEL_ARGS, ENV_VARS), as scripts make flags of it, with the
// variables of the script in its values, as envsubst puts them there.
#include <ctype.h>
#include <string.h>

#include "data/import/script/internal.h"

// ${NAME} alone is a variable.
static const char *substituted(struct follow *f, const char *at, const char *end)
{
    struct part t = {0};
    part_add(f, &t, "", 0);
    while (at < end) {
        const char *close = at + 2 < end && at[0] == '$' && at[1] == '{'
                                ? memchr(at, '}', (size_t)(end - at))
                                : NULL;
        size_t length = close ? script_name_length(at + 2, close) : 0;
        if (close && at + 2 + length == close) {
            const char *value = script_value(f, at + 2, length);
            if (!value) value = script_open(f, at + 2, length);
            part_add(f, &t, value, strlen(value));
            at = close + 1;
        } else {
            part_put(f, &t, *at++);
        }
    }
    return t.s ? t.s : "";
}

// A value without quotes and comment.
static const char *value_of(struct follow *f, const char *at, const char *end)
{
    while (at < end && *at == ' ') at++;
    const char *quote = at < end && (*at == '"' || *at == '\'')
                            ? memchr(at + 1, *at, (size_t)(end - at - 1))
                            : NULL;
    if (quote) return substituted(f, at + 1, quote);
    for (const char *s = at; s + 1 < end; s++)
        if (*s == ' ' && s[1] == '#') end = s;
    while (end > at && isspace((unsigned char)end[-1])) end--;
    return substituted(f, at, end);
}

struct lines {
    struct follow *f;
    struct part *out;
    bool flags;       // a line each "--key value", of true the key alone, of false none
    const char *only; // the value of this key alone; NULL: of all
};

static void put_entry(struct lines *l, const char *key, size_t length, const char *value)
{
    bool one = l->only && strlen(l->only) == length && !memcmp(l->only, key, length);
    bool truth = !strcmp(value, "true");
    if (l->only ? !one : l->flags && !strcmp(value, "false")) return;
    if (!l->only) {
        part_add(l->f, l->out, key, length);
        part_put(l->f, l->out, l->flags ? ' ' : '=');
    }
    if (l->only || !l->flags || !truth) part_add(l->f, l->out, value, strlen(value));
    part_put(l->f, l->out, '\n');
}

// The entries of one section of the file.
static void put_section(struct lines *l, const char *text, const char *section)
{
    size_t size = strlen(section);
    bool inside = false;
    for (const char *line = text; *line && script_step(l->f);) {
        const char *end = line + strcspn(line, "\n"), *at = line;
        while (at < end && *at == ' ') at++;
        const char *colon = at;
        while (colon < end && !(*colon == ':' && (colon + 1 == end || colon[1] == ' '))) colon++;
        if (at < end && at == line && *at != '#') inside = !strncmp(at, section, size);
        else if (inside && colon < end && *at != '#')
            put_entry(l, at, (size_t)(colon - at), value_of(l->f, colon + 1, end));
        line = end + (*end == '\n');
    }
}

bool script_yq(struct follow *f, const char **words, int count)
{
    static const char *const sections[] = {"MODEL_ARGS", "ENV_VARS"};
    const char *text, *program = count > 2 ? words[count - 2] : "", *section = NULL;
    for (int i = 0; i < 2; i++)
        if (strstr(program, sections[i])) section = sections[i];
    if (!section || !f->capture || !script_file(f, words[count - 1], &text)) return false;
    const char *key = strstr(program, arena_print(f->arena, "%s.\"", section));
    struct lines l = {f, f->capture, !strcmp(section, "MODEL_ARGS"), NULL};
    if (key) {
        key = strchr(key, '"') + 1;
        l.only = arena_print(f->arena, "%.*s", (int)strcspn(key, "\""), key);
    } else if (!strstr(program, "to_entries")) {
        return false;
    }
    put_section(&l, text, section);
    return true;
}
