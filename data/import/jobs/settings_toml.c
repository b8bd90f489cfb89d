// TOML as settings.
#include <ctype.h>
#include <string.h>

#include "data/import/jobs/settings.h"

// a.b."c d": the parts joined by dots.
static enum status read_key(struct settings_source *r, const char **key, struct error *err)
{
    const char *part, *from;
    *key = "";
    do {
        source_skip_blanks(r);
        from = r->at;
        if (r->at < r->end && (*r->at == '"' || *r->at == '\'')) {
            TRY(source_string(r, &part, err));
        } else {
            while (r->at < r->end && (isalnum((unsigned char)*r->at) || strchr("_-", *r->at)))
                r->at++;
            part = arena_print(r->s->arena, "%.*s", (int)(r->at - from), from);
        }
        if (r->at == from)
            return source_refuse(r, err, "expected [section] or key = value, found '%.*s'",
                                 (int)strcspn(from, "\r\n") > 40 ? 40 : (int)strcspn(from, "\r\n"),
                                 from);
        *key = source_join(r, *key, part);
        source_skip_blanks(r);
    } while (r->at < r->end && *r->at == '.' && r->at++);
    return OK;
}

// The number of tables [[name]] before this one.
static int count_tables(const struct settings *s, const char *name)
{
    size_t length = strlen(name);
    int most = 0, number;
    for (int i = 0; i < s->count; i++)
        if (!strncmp(s->items[i].key, name, length) &&
            sscanf(s->items[i].key + length, "[%d]", &number) == 1 && number >= most)
            most = number + 1;
    return most;
}

// `table`: the last one of a list, "a.b[1]", whose own sections name it without its number.
static enum status read_section(struct settings_source *r, const char **section, const char **table,
                                struct error *err)
{
    size_t length = strcspn(*table, "[");
    bool several = r->end - r->at > 1 && r->at[1] == '[';
    r->at += several ? 2 : 1;
    TRY(read_key(r, section, err));
    for (int i = 0; i <= several; i++, r->at++)
        if (r->at == r->end || *r->at != ']')
            return source_refuse(r, err, "expected ] after [%.60s", *section);
    if (length && !strncmp(*section, *table, length) && (*section)[length] == '.')
        *section = arena_print(r->s->arena, "%s%s", *table, *section + length);
    else if (several)
        *table = *section =
            arena_print(r->s->arena, "%s[%d]", *section, count_tables(r->s, *section));
    return OK;
}

static enum status read_pair(struct settings_source *r, const char *section, struct error *err)
{
    const char *key;
    TRY(read_key(r, &key, err));
    if (r->at == r->end || *r->at != '=')
        return source_refuse(r, err, "expected = after %.60s", key);
    r->at++;
    source_skip_blanks(r);
    return source_value(r, source_join(r, section, key), err);
}

enum status settings_read_toml(struct settings *s, const char *path, struct arena *arena,
                               struct error *err)
{
    struct settings_source r;
    const char *section = "", *table = "";
    TRY(source_open(&r, s, path, arena, err));
    TRY(source_no_script(&r, "TOML", err));
    r.equals = '=';
    for (source_skip_lines(&r); r.at < r.end; source_skip_lines(&r)) {
        if (*r.at == '[') TRY(read_section(&r, &section, &table, err));
        else TRY(read_pair(&r, section, err));
        source_skip_blanks(&r);
        if (r.at < r.end && *r.at != '\n' && *r.at != '#')
            return source_refuse(&r, err, "expected the end of the line, found '%.*s'",
                                 (int)strcspn(r.at, "\r\n") > 40 ? 40 : (int)strcspn(r.at, "\r\n"),
                                 r.at);
    }
    return OK;
}
