// Reading and writing of the envelope that all documents have.
#include "data/text/document.h"

#include <string.h>

static const char *const envelope_keys[] = {"kind", "version", "made_by", "made_from"};

static enum status read_sources(struct document *d, const struct json *made_from,
                                struct arena *arena, struct error *err)
{
    d->source_count = json_length(made_from);
    d->sources = TAKE(arena, d->source_count, struct source);
    for (int i = 0; i < d->source_count; i++) {
        struct json element = json_element(made_from, i, arena);
        const char *sha256 = NULL;
        struct json_field fields[] = {
            FIELD_TEXT("role", REQUIRED, &d->sources[i].role),
            FIELD_TEXT("path", REQUIRED, &d->sources[i].path),
            FIELD_TEXT("sha256", REQUIRED, &sha256),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        if (strlen(sha256) != SHA256_TEXT - 1 ||
            strspn(sha256, "0123456789abcdef") != SHA256_TEXT - 1)
            return json_refuse(&element, err,
                               "sha256: expected 64 hexadecimal digits, found \"%.70s\"", sha256);
        memcpy(d->sources[i].sha256, sha256, SHA256_TEXT);
    }
    return OK;
}

enum status document_read(struct document *d, const char *path, const char *kind,
                          struct arena *arena, struct error *err)
{
    const char *text, *found_kind = NULL;
    size_t size;
    int version = 0;
    struct json made_from = {0};
    *d = (struct document){.path = arena_copy_text(arena, path)};
    TRY(file_read(path, &text, &size, arena, err));
    sha256_text(text, size, d->sha256);
    TRY(json_parse(&d->root, d->path, text, size, arena, err));
    if (json_has(&d->root, "model_type") && !json_has(&d->root, "kind"))
        return json_refuse(&d->root, err,
                           "key \"kind\" is missing; plumbline import hf makes a model document of "
                           "a config.json");
    struct json_field fields[] = {
        FIELD_TEXT("kind", REQUIRED, &found_kind),
        FIELD_INT("version", REQUIRED, &version, 1, DOCUMENT_VERSION),
        FIELD_TEXT("made_by", OPTIONAL, &d->made_by),
        FIELD_ARRAY("made_from", OPTIONAL, &made_from),
    };
    TRY(json_fields(&d->root, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, arena, err));
    if (strcmp(found_kind, kind))
        return json_refuse(&d->root, err, "kind: expected \"%s\", found \"%.60s\"", kind,
                           found_kind);
    return read_sources(d, &made_from, arena, err);
}

bool document_is(const char *path, const char *kind, struct arena *arena)
{
    struct document d;
    struct error unread = {OK, ""};
    return document_read(&d, path, kind, arena, &unread) == OK;
}

enum status document_fields(const struct document *d, const struct json_field *fields,
                            size_t field_count, struct arena *arena, struct error *err)
{
    size_t envelope_count = ARRAY_LENGTH(envelope_keys);
    struct json_field *all = TAKE(arena, field_count + envelope_count, struct json_field);
    memcpy(all, fields, field_count * sizeof *fields);
    for (size_t i = 0; i < envelope_count; i++)
        all[field_count + i] =
            (struct json_field){.key = envelope_keys[i], .type = JSON_SKIP, .need = OPTIONAL};
    return json_fields(&d->root, all, field_count + envelope_count, JSON_STRICT, arena, err);
}

void document_begin(struct json_writer *w, const char *kind, const struct source *sources,
                    int source_count, struct arena *arena)
{
    json_begin(w, arena);
    json_open_object(w, NULL);
    json_put_text(w, "kind", kind);
    json_put_count(w, "version", DOCUMENT_VERSION);
    json_put_text(w, "made_by", "plumbline " PLUMBLINE_VERSION);
    if (!source_count) return;
    json_open_array(w, "made_from");
    for (int i = 0; i < source_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "role", sources[i].role);
        json_put_text(w, "path", sources[i].path);
        json_put_text(w, "sha256", sources[i].sha256);
        json_close_object(w);
    }
    json_close_array(w);
}

enum status document_write(struct json_writer *w, const char *path, struct error *err)
{
    size_t length;
    const char *text = document_text(w, &length);
    if (*w->found)
        return refuse(err, "%s: not written: a name or text of it has a %s", path, w->found);
    return file_write(path, text, length, err);
}

enum status document_keep(struct json_writer *w, const char *path, struct error *err)
{
    struct error unwritten = {OK, ""}, unprinted = {OK, ""};
    if (document_write(w, path, &unwritten) == OK) return OK;
    bool printed = strcmp(path, "-") && file_write("-", w->text, w->length, &unprinted) == OK;
    return fail(err, unwritten.status, "%s%s", unwritten.text,
                printed ? "; the document is on standard output" : "");
}

const char *document_text(struct json_writer *w, size_t *length)
{
    json_close_object(w);
    return json_end(w, length);
}

struct source source_of(const char *role, const struct document *of, const char *maker_path,
                        struct arena *arena)
{
    struct source s = {.role = role, .path = path_relative(maker_path, of->path, arena)};
    memcpy(s.sha256, of->sha256, SHA256_TEXT);
    return s;
}

const struct source *source_with_role(const struct document *d, const char *role)
{
    for (int i = 0; i < d->source_count; i++)
        if (!strcmp(d->sources[i].role, role)) return &d->sources[i];
    return NULL;
}

const char *source_hash(const struct document *d, const char *role)
{
    const struct source *s = source_with_role(d, role);
    return s ? s->sha256 : NULL;
}
