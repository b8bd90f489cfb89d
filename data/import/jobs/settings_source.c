// What TOML, YAML and JSON have in common: strings, lists, tables in braces.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/jobs/settings.h"
#include "data/import/import.h"
#include "data/import/script/script.h"

enum { SETTINGS_MOST = 16384, DEPTH_MOST = 64 };

enum status source_open(struct settings_source *r, struct settings *s, const char *path,
                        struct arena *arena, struct error *err)
{
    const char *text;
    size_t size;
    *s = settings_empty(arena);
    TRY(import_check_size(path, err));
    TRY(import_read(&s->document, path, &text, &size, arena, err));
    *r = (struct settings_source){
        .s = s, .at = text, .end = text + size, .line = 1, .scratch = TAKE(arena, size + 1, char)};
    s->begin = text;
    if (strspn(r->at, " \t\r\n") == (size_t)(r->end - r->at))
        return refuse(err, "%s: expected settings, found an empty file", path);
    return OK;
}

enum status source_no_script(const struct settings_source *r, const char *expected,
                             struct error *err)
{
    if (strncmp(r->at, "#!", 2) != 0 && strncmp(r->at, "#SBATCH", 7) != 0 &&
        !script_is_name(r->s->document.path))
        return OK;
    return refuse(err, "%s: expected %s, found a script: give the file that its launch names",
                  r->s->document.path, expected);
}

const char *source_join(const struct settings_source *r, const char *before, const char *part)
{
    return *before ? arena_print(r->s->arena, "%s.%s", before, part) : part;
}

enum status source_add(struct settings_source *r, const char *key, const char *text,
                       struct error *err)
{
    struct settings *s = r->s;
    struct setting *twice = (struct setting *)setting_of(s, key);
    if (twice && s->last_wins) {
        bool same = text && twice->text ? !strcmp(text, twice->text) : text == twice->text;
        if (!same) said_assume(&s->said, "%.80s stands twice: the last counts", key);
        return twice->text = text, OK;
    }
    if (twice) return source_refuse(r, err, "%.80s: already set in line %d", key, twice->line);
    if (s->count == SETTINGS_MOST)
        return source_refuse(r, err, "more than %d settings", SETTINGS_MOST);
    *GROWN(s->arena, s->items, s->count, s->capacity, 256) = (struct setting){key, text, r->line};
    return OK;
}

// ---- blanks and comments

void source_skip_blanks(struct settings_source *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

static bool at_comment(const struct settings_source *r)
{
    return *r->at == '#' || (r->equals == ':' && r->end - r->at > 1 && !memcmp(r->at, "//", 2));
}

void source_skip_lines(struct settings_source *r)
{
    for (source_skip_blanks(r); r->at < r->end && (*r->at == '\n' || at_comment(r));
         source_skip_blanks(r)) {
        while (r->at < r->end && *r->at != '\n') r->at++;
        if (r->at < r->end) r->at++, r->line++;
    }
}

// ---- strings

// UTF-8 of the code after u, x or U, which has `digits` digits.
static char *put_code(char *to, const char **at, int digits)
{
    static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
    char text[9] = "";
    memcpy(text, *at + 1, (size_t)digits);
    unsigned long code = strtoul(text, NULL, 16);
    *at += digits;
    if (code < 0x80) return *to++ = (char)code, to;
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (char)(first[more] | (code >> 6 * more & (0x3Fu >> more)));
    while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

// The meaning of the letter at *at, after a backslash.
static char *put_escaped(char *to, const char **at, const char *end)
{
    static const char from[] = "nrtbfe", into[] = "\n\r\t\b\f\x1b";
    const char *found = **at ? strchr(from, **at) : NULL;
    int digits = **at == 'x' ? 2 : **at == 'u' ? 4 : **at == 'U' ? 8 : 0;
    if (digits && end - *at > digits) return put_code(to, at, digits);
    *to++ = found ? into[found - from] : **at;
    return to;
}

enum status source_string(struct settings_source *r, const char **text, struct error *err)
{
    char quote = *r->at, *to = r->scratch;
    const char *from = r->at;
    bool three = r->equals == '=' && r->end - from > 2 && from[1] == quote && from[2] == quote;
    int line = r->line;
    r->at += three ? 3 : 1;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n' && !three && r->equals == '=') break;
        if (*r->at == '\n') r->line++;
        if (*r->at == quote && three && (r->end - r->at < 3 || memcmp(r->at, r->at + 1, 2))) {
            *to++ = quote;
        } else if (*r->at == quote && r->doubling && quote == '\'' && r->end - r->at > 1 &&
                   r->at[1] == quote) {
            *to++ = *r->at++;
        } else if (*r->at == quote) {
            r->at += three ? 3 : 1;
            *text = arena_print(r->s->arena, "%.*s", (int)(to - r->scratch), r->scratch);
            return OK;
        } else if (*r->at == '\\' && quote == '"' && r->end - r->at > 1) {
            r->at++;
            to = put_escaped(to, &r->at, r->end);
        } else {
            *to++ = *r->at;
        }
    }
    r->line = line;
    return source_refuse(r, err, "expected %c at the end of the text that begins here", quote);
}

// ---- lists and tables

static enum status read_list(struct settings_source *r, const char *key, struct error *err)
{
    int line = r->line;
    for (int i = 0;; i++) {
        source_skip_lines(r);
        if (r->at < r->end && *r->at == ']') {
            r->at++;
            return i ? OK : source_add(r, key, NULL, err);
        }
        if (r->at < r->end) TRY(source_value(r, arena_print(r->s->arena, "%s[%d]", key, i), err));
        source_skip_lines(r);
        if (r->at < r->end && *r->at == ',') r->at++;
        else if (r->at == r->end || *r->at != ']')
            return source_refuse(r, err,
                                 "expected , or ] in the list that begins in line %d, found %s",
                                 line, r->at < r->end ? "something else" : "the end of the file");
    }
}

static enum status read_name(struct settings_source *r, const char **name, struct error *err)
{
    const char *from = r->at;
    if (r->at < r->end && (*r->at == '"' || *r->at == '\'')) return source_string(r, name, err);
    while (r->at < r->end && !strchr(" \t\r\n,{}[]", *r->at) && *r->at != r->equals) r->at++;
    *name = arena_print(r->s->arena, "%.*s", (int)(r->at - from), from);
    return r->at > from ? OK : source_refuse(r, err, "expected a key, found %.1s", from);
}

static enum status read_table(struct settings_source *r, const char *key, struct error *err)
{
    const char *name;
    int line = r->line;
    while (true) {
        source_skip_lines(r);
        if (r->at < r->end && *r->at == '}') break;
        if (r->at == r->end)
            return source_refuse(
                r, err, "expected } for the { of line %d, found the end of the file", line);
        TRY(read_name(r, &name, err));
        source_skip_lines(r);
        if (r->at == r->end || *r->at != r->equals)
            return source_refuse(r, err, "expected %c after the key %.60s", r->equals, name);
        r->at++;
        source_skip_lines(r);
        TRY(source_value(r, source_join(r, key, name), err));
        source_skip_lines(r);
        if (r->at < r->end && *r->at == ',') r->at++;
        else if (r->at < r->end && *r->at != '}')
            return source_refuse(r, err, "expected , or } after the value of %.60s", name);
    }
    r->at++;
    return OK;
}

// In YAML, a word may contain # and continue on the next line.
static bool ends_word(const struct settings_source *r, const char *from)
{
    bool blank_before = r->at == from || strchr(" \t\n", r->at[-1]);
    if (strchr(",]}", *r->at)) return true;
    return r->doubling ? *r->at == '#' && blank_before : *r->at == '#' || *r->at == '\n';
}

static enum status read_word(struct settings_source *r, const char *key, struct error *err)
{
    const char *from = r->at, *to;
    int line = r->line;
    for (; r->at < r->end && !ends_word(r, from); r->at++) r->line += *r->at == '\n';
    if (r->at == r->end) r->line = line;
    for (to = r->at; to > from && strchr(" \t\r\n", to[-1]);) to--;
    const char *text = arena_print(r->s->arena, "%.*s", (int)(to - from), from);
    if (!*text) return source_refuse(r, err, "%.80s: expected a value, found none", key);
    if (r->doubling && strchr("&*", *text))
        return source_refuse(r, err, "%.80s: anchors and aliases in brackets are not read", key);
    bool nothing = !strcmp(text, "null") || !strcmp(text, "~") || !strcmp(text, "None");
    return source_add(r, key, nothing ? NULL : text, err);
}

enum status source_value(struct settings_source *r, const char *key, struct error *err)
{
    const char *text;
    enum status status;
    if (r->at == r->end)
        return source_refuse(r, err, "%.80s: expected a value, found the end of the file", key);
    if (*r->at == '"' || *r->at == '\'') {
        TRY(source_string(r, &text, err));
        return source_add(r, key, text, err);
    }
    if (*r->at != '[' && *r->at != '{') return read_word(r, key, err);
    if (++r->depth > DEPTH_MOST)
        return source_refuse(r, err, "%.80s: nested deeper than %d", key, DEPTH_MOST);
    bool list = *r->at++ == '[';
    status = list ? read_list(r, key, err) : read_table(r, key, err);
    r->depth--;
    return status;
}

// ---- JSON

enum status settings_read_json(struct settings *s, const char *path, struct arena *arena,
                               struct error *err)
{
    struct settings_source r;
    TRY(source_open(&r, s, path, arena, err));
    r.equals = ':';
    TRY(source_no_script(&r, "JSON", err));
    source_skip_lines(&r);
    if (r.at == r.end || *r.at != '{') return source_refuse(&r, err, "expected {, found no object");
    TRY(source_value(&r, "", err));
    source_skip_lines(&r);
    return r.at == r.end ? OK : source_refuse(&r, err, "expected the end of the file after }");
}
