// Verdicts: collecting violations, saving them, and reading what a saved one says about a plan's
// bound.
#include "data/results/verdict.h"

#include "data/base/grow.h"
#include "data/inputs/job.h"
#include "data/text/members.h"

#include <stdarg.h>
#include <string.h>

void verdict_add(struct verdict *v, struct arena *arena, const char *rule, int stage,
                 const char *format, ...)
{
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    GROW(arena, v->violations, v->violation_count, v->violation_capacity, 8);
    v->violations[v->violation_count++] =
        (struct violation){.rule = rule, .stage = stage, .text = arena_copy_text(arena, text)};
    v->accepted = false;
}

// ---- the document

static const struct member violation_rows[] = {
    KEY_TEXT(violation, rule, REQUIRED),
    KEY_INT(violation, stage, OPTIONAL, IF_STATED, 0, STAGES_MAX - 1),
    KEY_TEXT(violation, text, REQUIRED),
};
static const struct violation violation_initial = {.stage = -1};
static MEMBERS(violation, struct violation, &violation_initial, true, NULL);

PUT_MEMBER(put_ratio)
{
    const struct verdict *v = context;
    if (v->published_bytes >= 0)
        json_put_number(w, key, (double)v->published_bytes / (double)v->memory_bytes);
}

#define COUNT_AS(key, member, above)                                                               \
    KEY_OF(key, JSON_COUNT, OPTIONAL, above, offsetof(struct verdict, member), 0, JSON_COUNT_MAX,  \
           NULL, NULL, NULL)
static const struct member verdict_rows[] = {
    KEY_BOOL(verdict, accepted, REQUIRED, ALWAYS_WRITTEN),
    KEY_COUNT(verdict, replayed_ns, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(verdict, closed_form_ns, OPTIONAL, IF_STATED, 0, JSON_COUNT_MAX),
    KEY_TEXT(verdict, closed_form, OPTIONAL),
    KEY_COUNT(verdict, terms_checked, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_BOOL(verdict, bound_judged, OPTIONAL, ALWAYS_WRITTEN),
    COUNT_AS("proven_bound_ns", proven_ns, IF_STATED),
    COUNT_AS("doubtful_terms", doubtful, IF_SET),
    KEY_COUNT(verdict, memory_bytes, OPTIONAL, IF_STATED, 0, JSON_COUNT_MAX),
    COUNT_AS("published_memory_bytes", published_bytes, IF_STATED),
    COUNT_AS("energy_uj", energy_uj, IF_STATED),
    KEY_OF("published_memory_ratio", JSON_NUMBER, OPTIONAL, 0,
           offsetof(struct verdict, published_ratio), 0, 1e300, NULL, NULL, put_ratio),
    KEY_LIST(verdict, violations, violation_count, REQUIRED, ALWAYS_WRITTEN, INT_MAX,
             &violation_members),
};
MEMBERS(verdict, struct verdict, NULL, false, NULL);

enum status verdict_save(const struct verdict *v, const char *path, const struct source *sources,
                         int source_count, struct arena *arena, struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.verdict", sources, source_count, arena);
    members_put(&w, &verdict_members, v, v);
    return document_write(&w, path, err);
}

enum status verdict_covers(bool *covers, const char *path, const struct document *plan,
                           int64_t bound_ns, struct arena *arena, struct error *err)
{
    struct document d;
    struct verdict v = {.proven_ns = -1};
    TRY(document_load(&d, path, "plumbline.verdict", &verdict_members, &v, &v, arena, err));
    const char *hash = source_hash(&d, "plan");
    if (!hash) return json_refuse(&d.root, err, "made_from: expected a plan");
    if (strcmp(hash, plan->sha256))
        return json_refuse(&d.root, err,
                           "made_from: is about the plan %.12s..., and %s is %.12s...", hash,
                           plan->path, plan->sha256);
    if (v.bound_judged && !source_hash(&d, "certificate"))
        return json_refuse(&d.root, err, "bound_judged: expected a certificate in made_from");
    if (v.bound_judged && (v.proven_ns < 0) != (bound_ns < 0))
        return json_refuse(&d.root, err, "proven_bound_ns: expected %s: %s is %s",
                           bound_ns < 0 ? "none" : "a bound", plan->path,
                           bound_ns < 0 ? "of a problem without a plan" : "a plan");
    if (v.bound_judged && v.proven_ns < bound_ns)
        return json_refuse(&d.root, err, "proven_bound_ns: expected %lld, which %s states, or more",
                           (long long)bound_ns, plan->path);
    *covers = v.accepted && v.bound_judged;
    return OK;
}
