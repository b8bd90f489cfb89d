// status.json: a document for people and for the tables.
#include "solve/batch/result.h"

#include "data/text/document.h"

static const char kind[] = "plumbline.status";

enum status result_save(const struct result *r, const struct instance *i, const char *path,
                        struct arena *arena, struct error *err)
{
    struct json_writer w;
    document_begin(&w, kind, NULL, 0, arena);
    json_put_text(&w, "id", i->id);
    json_put_text(&w, "outcome", r->outcome);
    if (r->reason) json_put_text(&w, "reason", r->reason);
    json_put_bool(&w, "verified", r->verified);
    json_put_bool(&w, "proven", r->proven);
    if (r->bound_ns >= 0) json_put_count(&w, "proven_bound_ns", r->bound_ns);
    json_put_number(&w, "solve_s", r->solve_s);
    json_put_number(&w, "verify_s", r->verify_s);
    json_put_number(&w, "check_s", r->check_s);
    json_put_count(&w, "certificate_bytes", r->certificate_bytes);
    if (r->certificate_bytes) json_put_text(&w, "certificate_sha256", r->certificate_sha256);
    json_put_count(&w, "memory_bytes", r->memory_bytes);
    return document_write(&w, path, err);
}

enum status result_load(struct result *r, const char *path, struct arena *arena, struct error *err)
{
    struct document d;
    const char *id;
    *r = (struct result){.bound_ns = -1, .certificate_sha256 = ""};
    TRY(document_read(&d, path, kind, arena, err));
    const struct json_field fields[] = {
        FIELD_TEXT("id", REQUIRED, &id),
        FIELD_TEXT("outcome", REQUIRED, &r->outcome),
        FIELD_TEXT("reason", OPTIONAL, &r->reason),
        FIELD_BOOL("verified", REQUIRED, &r->verified),
        FIELD_BOOL("proven", REQUIRED, &r->proven),
        FIELD_COUNT("proven_bound_ns", OPTIONAL, &r->bound_ns, 0, JSON_COUNT_MAX),
        FIELD_NUMBER("solve_s", REQUIRED, &r->solve_s, 0, 1e12),
        FIELD_NUMBER("verify_s", REQUIRED, &r->verify_s, 0, 1e12),
        FIELD_NUMBER("check_s", REQUIRED, &r->check_s, 0, 1e12),
        FIELD_COUNT("certificate_bytes", REQUIRED, &r->certificate_bytes, 0, JSON_COUNT_MAX),
        FIELD_TEXT("certificate_sha256", OPTIONAL, &r->certificate_sha256),
        FIELD_COUNT("memory_bytes", REQUIRED, &r->memory_bytes, 0, JSON_COUNT_MAX),
    };
    return document_fields(&d, fields, ARRAY_LENGTH(fields), arena, err);
}
