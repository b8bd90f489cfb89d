// The kind of a file, and what it states that it was made from: see sources.h.
#include "solve/checker/sources.h"

#include <string.h>

#include "solve/checker/proof.h"

enum { CERTIFICATE_MOST = 1 << 26, DOCUMENT_MOST = 1 << 26 };

static enum status check_read_source(const struct reader *r, const cJSON *v, const char **role,
                                     const char **path, const char **hash)
{
    const struct value_field fields[] = {
        {"role", .text = role}, {"path", .text = path}, {"sha256", .text = hash}, {NULL}};
    return value_fields(r, v, "made_from", fields, NULL);
}

static enum status check_find_source(const struct reader *r, const cJSON *list, const char *role,
                                     const char **path, const char **hash)
{
    *path = *hash = NULL;
    if (!list) return OK;
    TRY(value_expect(r, list, "made_from", cJSON_Array));
    for (const cJSON *v = list->child; v; v = v->next) {
        const char *its_role, *its_path, *its_hash;
        TRY(check_read_source(r, v, &its_role, &its_path, &its_hash));
        if (strcmp(its_role, role)) continue;
        if (*hash) return check_refuse(r, "made_from", "names two documents of role %s", role);
        *path = its_path;
        *hash = its_hash;
    }
    return OK;
}

enum status check_find_priced(const struct reader *r, const cJSON *certificate, const char **path,
                              const char **hash)
{
    TRY(check_find_source(r, value_get(certificate, "made_from"), "priced", path, hash));
    return *hash ? OK : check_refuse(r, "made_from", "names no priced document");
}

enum status check_read_envelope(const struct reader *r, const struct check_text *certificate,
                                cJSON **root, struct arena *arena)
{
    static const char *const kinds[] = {"plumbline.certificate", NULL};
    const cJSON *proof = NULL, *space = NULL, *places = NULL;
    const char *made_by;
    int kind, version;
    const struct value_field fields[] = {
        {"kind", .small = &kind, .names = kinds},
        {"version", 1, 1, .small = &version},
        {"?made_by", .text = &made_by},
        {.key = "made_from"},
        {"?proof", .value = &proof},
        {"?space", .value = &space},
        {"?places", .value = &places},
        {NULL},
    };
    if (certificate->size > CERTIFICATE_MOST)
        return check_refuse(r, "", "larger than %d bytes", CERTIFICATE_MOST);
    TRY(check_parse_text(r, certificate, root, arena));
    TRY(value_fields(r, *root, "", fields, NULL));
    return !!proof + !!space + !!places == 1
               ? OK
               : check_refuse(r, "", "expected one of proof, space and places");
}

enum status check_certificate_kind(enum check_certificate_kind *kind,
                                   const struct check_text *certificate, struct arena *arena,
                                   struct error *err)
{
    const struct reader r = {certificate->file, err};
    cJSON *root;
    TRY(check_read_envelope(&r, certificate, &root, arena));
    *kind = value_get(root, "space")    ? CERTIFICATE_OF_SPACE
            : value_get(root, "places") ? CERTIFICATE_OF_PLACES
                                        : CERTIFICATE_OF_LAYOUT;
    return OK;
}

enum status check_priced_path(const char **path, const struct check_text *certificate,
                              struct arena *arena, struct error *err)
{
    const struct reader r = {certificate->file, err};
    cJSON *root;
    const char *hash;
    TRY(check_read_envelope(&r, certificate, &root, arena));
    return check_find_priced(&r, root, path, &hash);
}

static enum status open_document(const struct reader *r, const struct check_text *document,
                                 cJSON **root, struct arena *arena)
{
    if (document->size > DOCUMENT_MOST)
        return check_refuse(r, "", "larger than %d bytes", DOCUMENT_MOST);
    TRY(check_parse_text(r, document, root, arena));
    return value_expect(r, *root, "", cJSON_Object);
}

enum status check_list_sources(struct check_source **list, int *count,
                               const struct check_text *document, struct arena *arena,
                               struct error *err)
{
    const struct reader r = {document->file, err};
    cJSON *root;
    *count = 0;
    TRY(open_document(&r, document, &root, arena));
    const cJSON *sources = value_get(root, "made_from");
    if (!sources) return OK;
    TRY(value_expect(&r, sources, "made_from", cJSON_Array));
    *list = TAKE(arena, cJSON_GetArraySize(sources), struct check_source);
    for (const cJSON *v = sources->child; v; v = v->next) {
        struct check_source *s = &(*list)[(*count)++];
        TRY(check_read_source(&r, v, &s->role, &s->path, &s->sha256));
    }
    return OK;
}

// Documents of other kinds may have numbers that are not read: they are refused by their kind.
static enum status refuse_other_kinds(const struct reader *r, const char *text)
{
    static const char own[] = "\"kind\": \"plumbline.";
    const char *kind = strstr(text, own);
    if (!kind || !strncmp(kind += strlen(own), "problem", 7) || !strncmp(kind, "priced", 6))
        return OK;
    return check_refuse(r, "kind", "expected %sproblem\" or %spriced\", found %s%.*s\"", own + 8,
                        own + 8, own + 8, (int)strcspn(kind, "\""), kind);
}

enum status check_is_problem(bool *is_problem, const struct check_text *document,
                             struct arena *arena, struct error *err)
{
    static const char *const kinds[] = {"plumbline.priced", "plumbline.problem", NULL};
    const struct reader r = {document->file, err};
    cJSON *root;
    int kind;
    TRY(refuse_other_kinds(&r, document->text));
    TRY(open_document(&r, document, &root, arena));
    TRY(value_name(&r, value_get(root, "kind"), "kind", kinds, &kind));
    *is_problem = kind == 1;
    return OK;
}

enum status check_same_sources(const struct reader *r, const cJSON *list, const cJSON *other,
                               const struct check_input *inputs, int count)
{
    for (int i = 0; i < count; i++) {
        const char *stated[2], *path;
        char found[CHECK_HASH];
        TRY(check_find_source(r, list, inputs[i].role, &path, &stated[0]));
        TRY(check_find_source(r, other, inputs[i].role, &path, &stated[1]));
        if (!stated[0] && !stated[1])
            return check_refuse(r, "made_from", "names no document of role %s", inputs[i].role);
        check_hash(inputs[i].text.text, inputs[i].text.size, found);
        for (int k = 0; k < 2; k++)
            if (stated[k] && strcmp(found, stated[k]))
                return fail(r->err, (enum status)NOT_PROVEN,
                            "%s: its SHA-256 is %.12s..., the proof is about %.12s... (%s)",
                            inputs[i].text.file, found, stated[k], inputs[i].role);
    }
    return OK;
}
