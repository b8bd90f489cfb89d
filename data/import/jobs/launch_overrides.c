// Overrides of a recipe on the command line of a script, "model.context_parallel_size=2" (also with
// + or ++ before it), as the settings of the recipe's file.
#include <ctype.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/import.h"
#include "data/import/jobs/launch.h"

// The key's length; 0: the word is no override, or one of paths and logs.
static size_t key_length(const char *word)
{
    size_t length = 0;
    if (!strncmp(word, "checkpoint.", 11) || !strncmp(word, "logger.", 7)) return 0;
    bool dot = false;
    if (!isalpha((unsigned char)*word)) return 0;
    for (; isalnum((unsigned char)word[length]) || strchr("._", word[length]); length++) {
        if (!word[length]) return 0;
        dot |= word[length] == '.';
    }
    return dot && word[length] == '=' ? length : 0;
}

static const char *bare(const char *word) { return word + strspn(word, "+"); }

static int count_overrides(const struct script_command *c)
{
    int count = 0;
    for (int i = 0; i < c->count; i++) count += key_length(bare(c->words[i])) > 0;
    return count;
}

static bool has(const struct script_command *c, const char *word)
{
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->words[i], word)) return true;
    return false;
}

// Whether they have the same overrides.
static bool same(const struct script_command *a, const struct script_command *b)
{
    for (int k = 0; k < 2; k++) {
        const struct script_command *from = k ? b : a, *in = k ? a : b;
        for (int i = 0; i < from->count; i++)
            if (key_length(bare(from->words[i])) && !has(in, from->words[i])) return false;
    }
    return true;
}

static const char *first_difference(const struct script_command *a, const struct script_command *b,
                                    struct arena *arena)
{
    for (int i = 0; i < a->count; i++)
        if (key_length(bare(a->words[i])) && !has(b, a->words[i]))
            return script_shown(a->words[i], arena);
    return "none";
}

static void take(struct settings *s, const struct script_command *c)
{
    for (int i = 0; i < c->count; i++) {
        const char *word = bare(c->words[i]);
        size_t length = key_length(word);
        if (!strcmp(word, "--recipe") && i + 1 < c->count)
            settings_note(s, "what is not here is in the recipe %.80s",
                          script_shown(c->words[i + 1], s->arena));
        if (!length) continue;
        const char *key = arena_print(s->arena, "%.*s", (int)length, word),
                   *text = word + length + 1;
        if (!strcmp(text, "null") || !strcmp(text, "None")) text = NULL;
        struct setting *before = (struct setting *)setting_of(s, key);
        if (before) {
            before->text = text; // the last counts
            continue;
        }
        GROW(s->arena, s->items, s->count, s->capacity, 64);
        s->items[s->count++] = (struct setting){key, text, c->line};
    }
}

enum status launch_read_overrides(struct settings *s, const char *path,
                                  const struct launch_asked *asked, struct arena *arena,
                                  struct error *err)
{
    const char *text;
    size_t size;
    struct script script;
    struct script_given *given = TAKE(arena, asked->set.count + 1, struct script_given);
    const struct script_command *found = NULL, *other = NULL;
    int64_t launch = 0;
    *s = settings_empty(arena);
    TRY(import_read(&s->document, path, &text, &size, arena, err));
    TRY(launch_given(given, &asked->set, arena, err));
    TRY(script_follow(&script, path, text, size, given, asked->set.count, asked->arguments, arena,
                      err));
    for (int i = 0; i < script.command_count; i++) {
        int count = count_overrides(&script.commands[i]);
        if (!count || (asked->launch && ++launch != asked->launch)) continue;
        if (found && !same(found, &script.commands[i])) other = &script.commands[i];
        if (!found) found = &script.commands[i];
    }
    if (other)
        return fail(
            err, BAD_INPUT,
            "%s: launches that differ, %.80s (line %d) and %.80s (line %d): choose one with "
            "--launch N",
            path, first_difference(found, other, arena), found->line,
            first_difference(other, found, arena), other->line);
    if (!found)
        return fail(
            err, BAD_INPUT,
            "%s: expected a launch with overrides (model.seq_length=4096), found none: "
            "write the run's settings as YAML (config.to_yaml(...), or run_config.yaml of a "
            "checkpoint)",
            path);
    take(s, found);
    return OK;
}
