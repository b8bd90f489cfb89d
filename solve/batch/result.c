// status.json: a document for people and for the tables.
#include "solve/batch/batch.h"

#include "data/text/members.h"

static const char kind[] = "plumbline.status";

static const struct member result_rows[] = {
    KEY_TEXT(result, id, REQUIRED),
    KEY_TEXT(result, outcome, REQUIRED),
    KEY_TEXT(result, reason, OPTIONAL),
    KEY_BOOL(result, verified, REQUIRED, ALWAYS_WRITTEN),
    KEY_OF("proven", JSON_BOOL, REQUIRED, ALWAYS_WRITTEN, offsetof(struct result, certified), 0, 0,
           NULL, NULL, NULL),
    KEY_OF("proven_bound_ns", JSON_COUNT, OPTIONAL, IF_STATED, offsetof(struct result, bound_ns), 0,
           JSON_COUNT_MAX, NULL, NULL, NULL),
    KEY_NUMBER(result, solve_s, REQUIRED, ALWAYS_WRITTEN, 0, 1e12),
    KEY_NUMBER(result, verify_s, REQUIRED, ALWAYS_WRITTEN, 0, 1e12),
    KEY_NUMBER(result, check_s, REQUIRED, ALWAYS_WRITTEN, 0, 1e12),
    KEY_COUNT(result, certificate_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_TEXT(result, certificate_sha256, OPTIONAL),
    KEY_COUNT(result, memory_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
};
MEMBERS(result, struct result, NULL, false, NULL);

enum status result_save(const struct result *r, const struct instance *i, const char *path,
                        struct arena *arena, struct error *err)
{
    struct json_writer w;
    struct result written = *r;
    written.id = i->id;
    if (!r->certificate_bytes) written.certificate_sha256 = NULL;
    document_begin(&w, kind, NULL, 0, arena);
    members_put(&w, &result_members, &written, NULL);
    return document_write(&w, path, err);
}

enum status result_load(struct result *r, const char *path, struct arena *arena, struct error *err)
{
    struct document d;
    *r = (struct result){.bound_ns = -1, .certificate_sha256 = ""};
    return document_load(&d, path, kind, &result_members, r, NULL, arena, err);
}
