// YAML as settings: mappings and sequences by indentation, and JSON's forms in braces; anchors,
// aliases and merges (<<) outside of braces. ${a.b} and ${.b} are replaced by the values they refer
// to, as in OmegaConf.
#include <string.h>

#include "data/base/grow.h"
#include "data/import/jobs/settings.h"

static enum status read_node(struct settings_source *r, int column, const char *key,
                             struct error *err);

// ---- lines

// Moves to the next line with content; its column, -1 at the end.
static enum status next_content(struct settings_source *r, int *column, struct error *err)
{
    const char *from;
    source_skip_lines(r);
    for (from = r->at; from > r->s->begin && from[-1] != '\n';) from--;
    *column = r->at == r->end ? -1 : (int)(r->at - from);
    if (memchr(from, '\t', (size_t)(r->at - from)))
        return source_refuse(r, err, "expected spaces as indentation, found a tab");
    if (*column == 0 && r->end - r->at >= 3 && !memcmp(r->at, "...", 3))
        *column = -1, r->at = r->end;
    return OK;
}

static bool at_line_end(const struct settings_source *r)
{
    return r->at == r->end || *r->at == '\n' || *r->at == '#';
}

static bool at_dash(const struct settings_source *r)
{
    return r->at < r->end && *r->at == '-' &&
           (r->end - r->at == 1 || strchr(" \t\r\n", r->at[1]) != NULL);
}

// ---- anchors: the settings that were read below a key, again below another

struct yaml_anchor {
    const char *name, *key;
    int begin, end; // of the settings
};

// The word behind & or *.
static const char *read_name(struct settings_source *r)
{
    const char *from = ++r->at;
    while (r->at < r->end && !strchr(" \t\r\n,]}", *r->at)) r->at++;
    const char *name = arena_print(r->s->arena, "%.*s", (int)(r->at - from), from);
    source_skip_blanks(r);
    return name;
}

// Its name, if an anchor is here; NULL: none is.
static const char *read_anchor(struct settings_source *r)
{
    return r->at < r->end && *r->at == '&' ? read_name(r) : NULL;
}

static void keep_anchor(struct settings_source *r, const char *name, const char *key, int begin)
{
    if (!name) return;
    GROW(r->s->arena, r->anchors, r->anchor_count, r->anchor_capacity, 16);
    r->anchors[r->anchor_count++] = (struct yaml_anchor){name, key, begin, r->s->count};
}

// What an alias names: the last anchor before it.
static enum status read_alias(struct settings_source *r, struct yaml_anchor *found,
                              struct error *err)
{
    const char *name = read_name(r);
    for (int i = r->anchor_count - 1; i >= 0; i--)
        if (!strcmp(r->anchors[i].name, name)) return *found = r->anchors[i], OK;
    return source_refuse(r, err, "*%.60s: expected an anchor &%.60s before it, found none", name,
                         name);
}

// Whether one of the settings from `begin` to `end` is the key, or below it.
static bool is_stated(const struct settings *s, int begin, int end, const char *key, size_t length)
{
    for (int i = begin; i < end; i++) {
        const char *at = s->items[i].key;
        if (!strncmp(at, key, length) && (!at[length] || at[length] == '.' || at[length] == '['))
            return true;
    }
    return false;
}

// But for what the settings from `begin` on state.
static enum status copy_anchor(struct settings_source *r, const struct yaml_anchor *from,
                               const char *key, int begin, struct error *err)
{
    int own = r->s->count;
    for (int i = from->begin; i < from->end; i++) {
        const struct setting at = r->s->items[i];
        const char *rest = at.key + strlen(from->key);
        if (*rest == '.' && !*key) rest++;
        const char *to = arena_print(r->s->arena, "%s%s", key, rest);
        size_t length = strlen(key) + (*key && *rest == '.');
        length += strcspn(to + length, ".[");
        if (!is_stated(r->s, begin, own, to, length)) TRY(source_add(r, to, at.text, err));
    }
    return OK;
}

// ---- scalars

// The end of plain text: a comment or the line's end.
static const char *plain_end(const struct settings_source *r)
{
    const char *to = r->at;
    while (to < r->end && *to != '\n' && !(*to == '#' && strchr(" \t", to[-1]))) to++;
    return to;
}

static enum status add_plain(struct settings_source *r, const char *key, const char *text,
                             struct error *err)
{
    static const char *const nothing[] = {"null", "Null", "NULL", "~", "???", ""};
    bool is_nothing = false;
    for (size_t i = 0; i < ARRAY_LENGTH(nothing); i++) is_nothing |= !strcmp(text, nothing[i]);
    return source_add(r, key, is_nothing ? NULL : text, err);
}

// Whether "key:" is here.
static bool begins_mapping(const struct settings_source *r)
{
    const char *to = plain_end(r);
    if (*r->at == '[' || *r->at == '{') return false;
    if (*r->at == '"' || *r->at == '\'') {
        const char *quote = memchr(r->at + 1, *r->at, (size_t)(to - r->at) - 1);
        return quote && quote + 1 < to && quote[1] == ':' &&
               (quote + 2 == to || strchr(" \t\r", quote[2]));
    }
    for (const char *at = r->at; at < to; at++)
        if (*at == ':' && (at + 1 == to || strchr(" \t\r", at[1]))) return true;
    return false;
}

// Lines that are indented further continue it.
static enum status read_plain(struct settings_source *r, int column, const char *key,
                              struct error *err)
{
    const char *text = "";
    int here = column + 1, line = r->line, next;
    while (here > column) {
        const char *from = r->at, *to = plain_end(r);
        r->at = to;
        while (to > from && strchr(" \t\r", to[-1])) to--;
        text = arena_print(r->s->arena, "%s%s%.*s", text, *text ? " " : "", (int)(to - from), from);
        if (strlen(text) > 4096)
            return source_refuse(r, err, "%.80s: text of several lines is not supported", key);
        TRY(next_content(r, &here, err));
        if (here > column && begins_mapping(r))
            return source_refuse(r, err,
                                 "is indented deeper than %.80s before it, which has a value", key);
    }
    next = r->line, r->line = line;
    TRY(add_plain(r, key, text, err));
    r->line = next;
    return OK;
}

//  and >: everything that is indented further than the key.
static enum status skip_block(struct settings_source *r, int column, const char *key,
                              struct error *err)
{
    TRY(source_add(r, key, "(text)", err));
    while (r->at < r->end) {
        const char *line = memchr(r->at, '\n', (size_t)(r->end - r->at)), *at = line;
        if (!line) return r->at = r->end, OK;
        for (at = line + 1; at < r->end && *at == ' ';) at++;
        if (at < r->end && !strchr("\r\n", *at) && at - line - 1 <= column) return r->at = line, OK;
        r->at = line + 1, r->line++;
    }
    return OK;
}

static enum status read_inline(struct settings_source *r, int column, const char *key,
                               struct error *err)
{
    if (*r->at == '*') {
        struct yaml_anchor from;
        TRY(read_alias(r, &from, err));
        TRY(copy_anchor(r, &from, key, r->s->count, err));
        return at_line_end(r) ? OK
                              : source_refuse(r, err, "%.80s: expected the end of the line", key);
    }
    if (*r->at == '|' || *r->at == '>') return skip_block(r, column, key, err);
    if (*r->at != '"' && *r->at != '\'' && *r->at != '[' && *r->at != '{')
        return read_plain(r, column, key, err);
    TRY(source_value(r, key, err));
    source_skip_blanks(r);
    return at_line_end(r) ? OK : source_refuse(r, err, "%.80s: expected the end of the line", key);
}

// ---- nesting

// A value on a line of its own.
static bool is_plain(const struct settings_source *r)
{
    return !at_dash(r) && !strchr("\"'[{|>&*?", *r->at) &&
           !memchr(r->at, ':', (size_t)(plain_end(r) - r->at));
}

static enum status read_below(struct settings_source *r, int column, bool in_sequence,
                              const char *key, struct error *err)
{
    int below;
    TRY(next_content(r, &below, err));
    if (below > column && (is_plain(r) || strchr("[{", *r->at)))
        return read_inline(r, column, key, err);
    if (below > column || (below == column && !in_sequence && at_dash(r)))
        return read_node(r, below, key, err);
    return source_add(r, key, NULL, err);
}

static enum status read_sequence(struct settings_source *r, int column, const char *key,
                                 struct error *err)
{
    int here = column;
    for (int i = 0; here == column && at_dash(r); i++) {
        const char *element = arena_print(r->s->arena, "%s[%d]", key, i);
        const char *dash = r->at++;
        int begin = r->s->count;
        source_skip_blanks(r);
        const char *anchor = read_anchor(r);
        int inside = column + (int)(r->at - dash);
        if (at_line_end(r)) TRY(read_below(r, column, true, element, err));
        else if (at_dash(r) || begins_mapping(r)) TRY(read_node(r, inside, element, err));
        else TRY(read_inline(r, column, element, err));
        keep_anchor(r, anchor, element, begin);
        TRY(next_content(r, &here, err));
    }
    return OK;
}

static enum status read_key(struct settings_source *r, const char **name, struct error *err)
{
    const char *from = r->at, *to = plain_end(r);
    if (*from == '"' || *from == '\'') {
        TRY(source_string(r, name, err));
        source_skip_blanks(r);
    } else {
        while (r->at < to && !(*r->at == ':' && (r->at + 1 == to || strchr(" \t\r", r->at[1]))))
            r->at++;
        *name = arena_print(r->s->arena, "%.*s", (int)(r->at - from), from);
    }
    if (r->at == r->end || *r->at != ':' || r->at == from)
        return source_refuse(r, err, "expected key: value, found '%.*s'",
                             (int)(to - from) > 40 ? 40 : (int)(to - from), from);
    r->at++;
    source_skip_blanks(r);
    return OK;
}

enum { MERGES_MOST = 16 };
struct merges {
    struct yaml_anchor items[MERGES_MOST];
    int count;
};

// "<<: *a" or "<<: [*a, *b]".
static enum status read_merges(struct settings_source *r, struct merges *m, struct error *err)
{
    while (!at_line_end(r)) {
        if (strchr("[,]", *r->at)) r->at++, source_skip_blanks(r);
        else if (*r->at != '*' || m->count == MERGES_MOST)
            return source_refuse(r, err, "<<: expected up to %d aliases, *name", MERGES_MOST);
        else TRY(read_alias(r, &m->items[m->count++], err));
    }
    return OK;
}

static enum status read_value(struct settings_source *r, int column, const char *key,
                              struct error *err)
{
    int begin = r->s->count;
    const char *anchor = read_anchor(r);
    if (at_line_end(r)) TRY(read_below(r, column, false, key, err));
    else TRY(read_inline(r, column, key, err));
    keep_anchor(r, anchor, key, begin);
    return OK;
}

static enum status read_mapping(struct settings_source *r, int column, const char *before,
                                struct error *err)
{
    struct merges merges = {.count = 0};
    int here = column, begin = r->s->count;
    while (here == column) {
        const char *name;
        TRY(read_key(r, &name, err));
        if (!strcmp(name, "<<")) TRY(read_merges(r, &merges, err));
        else TRY(read_value(r, column, source_join(r, before, name), err));
        TRY(next_content(r, &here, err));
        if (here > column)
            return source_refuse(r, err, "is indented deeper than %.60s before it", name);
    }
    for (int i = 0; i < merges.count; i++)
        TRY(copy_anchor(r, &merges.items[i], before, begin, err));
    return OK;
}

static enum status read_node(struct settings_source *r, int column, const char *key,
                             struct error *err)
{
    enum { DEPTH_MOST = 64 };
    if (++r->depth > DEPTH_MOST)
        return source_refuse(r, err, "%.80s: nested deeper than %d", key, DEPTH_MOST);
    TRY(at_dash(r) ? read_sequence(r, column, key, err) : read_mapping(r, column, key, err));
    r->depth--;
    return OK;
}

// ---- references

// "a.b" from the root; with dots before it, from that many levels above the key; one dot is its own
// level.
static const char *referred(const struct settings *s, const char *key, const char *path,
                            size_t length)
{
    size_t dots = strspn(path, "."), kept = strlen(key);
    for (size_t i = 0; i < dots; i++)
        while (kept > 0 && key[--kept] != '.') {
        }
    if (!dots) kept = 0;
    return arena_print(s->arena, "%.*s%s%.*s", (int)kept, key, kept ? "." : "",
                       (int)(length - dots), path + dots);
}

static void follow(struct settings *s, struct setting *at)
{
    enum { STEPS_MOST = 16 };
    const char *key = at->key;
    for (int i = 0; i < STEPS_MOST && at->text && !strncmp(at->text, "${", 2); i++) {
        size_t length = strcspn(at->text + 2, "}:$");
        const struct setting *to = NULL;
        if (at->text[2 + length] == '}' && !at->text[3 + length])
            to = setting_of(s, key = referred(s, key, at->text + 2, length));
        if (to) at->text = to->text;
        else i = STEPS_MOST;
    }
    // An unresolved reference is no value: a reader that needs it reports it as missing.
    if (at->text && strstr(at->text, "${")) at->text = NULL;
}

static enum status read_file(struct settings *s, const char *path, bool last_wins,
                             struct arena *arena, struct error *err)
{
    struct settings_source r;
    int column;
    TRY(source_open(&r, s, path, arena, err));
    s->last_wins = last_wins;
    TRY(source_no_script(&r, "YAML", err));
    r.equals = ':', r.doubling = true;
    TRY(next_content(&r, &column, err));
    if (r.end - r.at >= 3 && !memcmp(r.at, "---", 3)) {
        r.at += 3;
        TRY(next_content(&r, &column, err));
    }
    if (column < 0) return refuse(err, "%s: expected settings, found only comments", path);
    if (*r.at == '{') TRY(source_value(&r, "", err));
    else TRY(read_node(&r, column, "", err));
    TRY(next_content(&r, &column, err));
    if (column >= 0 && strncmp(r.at, "---", 3))
        return source_refuse(&r, err, "expected key: value as in the first line");
    return OK;
}

enum status settings_read_yaml_raw(struct settings *s, const char *path, struct arena *arena,
                                   struct error *err)
{
    return read_file(s, path, true, arena, err);
}

// The first of a file's `defaults` that names a file.
static const char *base_of(const struct settings *s)
{
    const struct setting *one = setting_of(s, "defaults");
    if (one && one->text) return one->text;
    for (int i = 0; i < setting_list_length(s, "defaults"); i++) {
        one = setting_of(s, arena_print(s->arena, "defaults[%d]", i));
        if (one && one->text && strcmp(one->text, "_self_") != 0) return one->text;
    }
    return NULL;
}

// The file's settings over those of its base.
static enum status read_based(struct settings *s, const char *path, bool last_wins, int depth,
                              struct arena *arena, struct error *err)
{
    enum { DEPTH_MOST = 8 };
    struct settings own;
    TRY(read_file(&own, path, last_wins, arena, err));
    const char *base = base_of(&own), *slash = strrchr(path, '/');
    *s = own;
    if (!base || depth == DEPTH_MOST) return OK;
    const char *end = path_is_yaml(base) ? "" : ".yaml",
               *other = arena_print(arena, "%.*s%s%s", slash ? (int)(slash + 1 - path) : 0, path,
                                    base, end);
    struct error ignored = {OK, ""};
    if (read_based(s, other, last_wins, depth + 1, arena, &ignored) != OK) {
        *s = own;
        said_assume(&s->said, "what is not here is in %.80s, another file", base);
        return OK;
    }
    s->document = own.document, s->begin = own.begin;
    s->said.with = s->said.with ? arena_print(arena, "%s, %s", base, s->said.with) : base;
    for (int i = 0; i < own.count; i++)
        settings_replace(s, own.items[i].key, own.items[i].text, own.items[i].line);
    return OK;
}

enum status settings_read_yaml_based(struct settings *s, const char *path, struct arena *arena,
                                     struct error *err)
{
    return read_based(s, path, true, 0, arena, err);
}

enum status settings_read_yaml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err)
{
    TRY(read_based(s, path, false, 0, arena, err));
    for (int i = 0; i < s->count; i++) follow(s, &s->items[i]);
    return OK;
}
