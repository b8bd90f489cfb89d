// A Megatron-LM argument list or launch script as settings: words as a shell reads them, as far as
// such scripts need. NAME=value is stored and inserted for $NAME or ${NAME}, except in single
// quotes; a value that contains flags is read as flags as well. Comments, line ends, brackets and
// commands in $( ) are skipped. Several flags in one quoted word are those of some ranks.
#include <ctype.h>
#include <string.h>

#include "data/import/jobs/settings.h"
#include "data/import/import.h"
#include "data/import/text.h"

enum { FLAGS_MAX = 1024, VARIABLES_MAX = 256, WORD_MAX = 1 << 16, DEPTH_MAX = 8 };

struct words {
    struct settings *s; // the flags: without dashes, '-' for '_', with their first value
    struct variable {
        const char *name, *value;
    } * variables;
    int variable_count;
    struct arena *arena;
};

// ---- variables

static const char *value_of(const struct words *w, const char *name, size_t length)
{
    for (int i = w->variable_count - 1; i >= 0; i--)
        if (strlen(w->variables[i].name) == length && !memcmp(w->variables[i].name, name, length))
            return w->variables[i].value;
    return "";
}

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_') n++;
    return isdigit((unsigned char)s[0]) ? 0 : n;
}

// The position after the bracket that closes `open`.
static const char *behind_bracket(const char *s, char open, char close)
{
    int depth = 1;
    for (; *s && depth; s++) depth += *s == open ? 1 : *s == close ? -1 : 0;
    return s;
}

// Puts the value of the `$...` at s into the word; returns the position after it.
static const char *expand(const struct words *w, const char *s, char *word, size_t *length)
{
    bool bracket = s[1] == '{';
    const char *name = s + (bracket ? 2 : 1), *end, *value;
    if (s[1] == '(') return behind_bracket(s + 2, '(', ')');
    size_t n = name_length(name), otherwise = 0;
    value = value_of(w, name, n);
    end = bracket ? behind_bracket(name, '{', '}') : name + (n || !name[0] ? n : 1);
    if (bracket && !*value && name[n] == ':' && name[n + 1] == '-') {
        value = name + n + 2;
        otherwise = (size_t)(end - value) - (end > value && end[-1] == '}' ? 1 : 0);
    }
    size_t size = otherwise ? otherwise : strlen(value);
    if (*length + size < WORD_MAX) {
        memcpy(word + *length, value, size);
        *length += size;
    }
    return end;
}

// ---- words

static enum status read_text(struct words *w, const char *text, int depth, struct error *err);

static enum status add_flag(struct words *w, const char *word, struct error *err)
{
    struct settings *s = w->s;
    if (s->count == FLAGS_MAX)
        return fail(err, BAD_INPUT, "%s: expected at most %d flags", s->document.path, FLAGS_MAX);
    const char *equals = strchr(word, '=');
    char *name = arena_copy_text(w->arena, word + 2);
    if (equals) name[equals - word - 2] = '\0';
    for (char *c = name; *c; c++)
        if (*c == '_') *c = '-';
    s->items[s->count++] = (struct setting){name, equals ? equals + 1 : "", 0};
    return OK;
}

static enum status add_word(struct words *w, const char *word, int depth, struct error *err)
{
    size_t n = name_length(word);
    if (!strncmp(word, "--", 2) && strchr(word, ' ') && w->s->count < FLAGS_MAX)
        return w->s->items[w->s->count++] = (struct setting){SETTINGS_OF_RANK, word, 0}, OK;
    if (!strncmp(word, "--", 2) && word[2]) return add_flag(w, word, err);
    if (n && word[n] == '=') {
        bool flags = strstr(word + n, "--") != NULL;
        char *name = arena_copy_text(w->arena, word);
        name[n] = '\0';
        if (w->variable_count < VARIABLES_MAX)
            w->variables[w->variable_count++] =
                (struct variable){name, flags ? "" : arena_copy_text(w->arena, word + n + 1)};
        return flags && depth < DEPTH_MAX ? read_text(w, word + n + 1, depth + 1, err) : OK;
    }
    struct setting *last = w->s->count ? &w->s->items[w->s->count - 1] : NULL;
    if (last && !*last->text) last->text = arena_copy_text(w->arena, word);
    else if (last && !strcmp(last->key, "recompute-modules"))
        last->text = arena_print(w->arena, "%s %s", last->text, word);
    return OK;
}

// Reads one word from s: removes quotes, inserts variables.
static const char *take_word(const struct words *w, const char *s, char *word, bool *quoted)
{
    size_t length = 0;
    char quote = 0;
    *quoted = false;
    while (*s && length < WORD_MAX - 1) {
        if (!quote && (isspace((unsigned char)*s) || strchr("();&|", *s))) break;
        if (*s == '\\' && s[1] && quote != '\'') {
            if (s[1] == '\n') word[length++] = ' ';
            else word[length++] = s[1];
            s += 2;
            if (!quote && word[length - 1] == ' ') break;
        } else if ((*s == '"' || *s == '\'') && (!quote || quote == *s)) {
            quote = quote ? 0 : *s, *quoted = true;
            s++;
        } else if (*s == '$' && quote != '\'') {
            s = expand(w, s, word, &length);
        } else {
            word[length++] = *s++;
        }
    }
    while (length && word[length - 1] == ' ' && !*quoted) length--;
    word[length] = '\0';
    return s;
}

static enum status read_text(struct words *w, const char *text, int depth, struct error *err)
{
    char *word = TAKE(w->arena, WORD_MAX + 1, char);
    bool quoted;
    for (const char *s = text; *s;) {
        if (isspace((unsigned char)*s) || strchr("();&|", *s)) {
            s++;
        } else if (*s == '#') {
            while (*s && *s != '\n') s++;
        } else {
            const char *end = take_word(w, s, word, &quoted);
            s = end > s ? end : s + 1;
            if (*word || quoted) TRY(add_word(w, arena_copy_text(w->arena, word), depth, err));
        }
    }
    return OK;
}

// For a duplicate flag, Megatron uses the last one; different values are a mistake.
static enum status check_twice(const struct settings *s, struct error *err)
{
    for (int i = 0; i < s->count; i++) {
        const struct setting *at = &s->items[i], *before = setting_of(s, at->key);
        if (strcmp(at->key, SETTINGS_OF_RANK) && *at->text && *before->text &&
            strcmp(at->text, before->text))
            return fail(err, BAD_INPUT, "%s: --%s appears twice, with %s and with %s",
                        s->document.path, at->key, before->text, at->text);
    }
    return OK;
}

enum status settings_read_flags(struct settings *s, const char *path, struct arena *arena,
                                struct error *err)
{
    const char *text;
    size_t size;
    *s = (struct settings){.arena = arena,
                           .left = "",
                           .notes = "",
                           .flags = true,
                           .items = TAKE(arena, FLAGS_MAX, struct setting)};
    struct words words = {
        .s = s, .variables = TAKE(arena, VARIABLES_MAX, struct variable), .arena = arena};
    TRY(import_read(&s->document, path, &text, &size, arena, err));
    TRY(read_text(&words, text, 0, err));
    return check_twice(s, err);
}
