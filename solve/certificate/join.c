// Joins the certificates of the parts of a space.
#include "solve/certificate/internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/base/least.h"

struct reading {
    struct joined_parts *joined;
    struct json root, space;
    const char *fates;
    bool *ours; // [count]: stated by this file, not an earlier one
    struct arena *arena;
};

static enum status check_sources(const struct json *made_from, const struct source *sources,
                                 int source_count, struct arena *arena, struct error *err)
{
    for (int k = 0; k < source_count; k++) {
        bool found = false;
        for (int i = 0; i < json_length(made_from) && !found; i++) {
            struct json element = json_element(made_from, i, arena);
            const char *role = "", *hash = "";
            const struct json_field fields[] = {FIELD_TEXT("role", REQUIRED, &role),
                                                FIELD_TEXT("sha256", REQUIRED, &hash)};
            TRY(json_fields(&element, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, arena, err));
            found = !strcmp(role, sources[k].role) && !strcmp(hash, sources[k].sha256);
        }
        if (!found)
            return json_refuse(made_from, err, "expected the %s in its current state among them",
                               sources[k].role);
    }
    return OK;
}

// "r1024 -12 b3"
static enum status take_fates(struct reading *r, struct error *err)
{
    struct joined_parts *j = r->joined;
    const char *at = r->fates;
    int64_t number = 0;
    r->ours = TAKE(r->arena, j->count, bool);
    while (*at) {
        char *end;
        const char *letter = strchr(check_fate_letters, *at);
        int fate = letter ? (int)(letter - check_fate_letters) : FATE_IS_ELSEWHERE;
        long long run = strtoll(at + 1, &end, 10);
        if ((!letter && *at != FATE_ELSEWHERE_LETTER) || end == at + 1 || run < 1 ||
            run > j->count - number || (*end && *end != ' '))
            return json_refuse(&r->space, err, "fates: expected runs of %lld layouts of \"%s%c\"",
                               (long long)j->count, check_fate_letters, FATE_ELSEWHERE_LETTER);
        for (; run; run--, number++) {
            if (fate == FATE_IS_ELSEWHERE || j->fates[number] != FATE_IS_UNKNOWN) continue;
            j->fates[number] = (unsigned char)fate;
            r->ours[number] = true;
        }
        at = end + (*end == ' ');
    }
    if (number == j->count) return OK;
    return json_refuse(&r->space, err, "fates: expected %lld layouts, found %lld",
                       (long long)j->count, (long long)number);
}

static void add_layout(struct reading *r, struct joined_layout layout, enum check_fate fate)
{
    struct joined_parts *j = r->joined;
    if (layout.number >= j->count || !r->ours[layout.number] || j->fates[layout.number] != fate)
        return;
    *GROWN(r->arena, j->layouts, j->layout_count, j->capacity, 64) = layout;
}

static enum status take_dominated(struct reading *r, const struct json *dominated,
                                  struct error *err)
{
    int64_t *pairs;
    int length;
    TRY(json_counts(dominated, 0, JSON_COUNT_MAX, &pairs, &length, r->arena, err));
    if (length % 2) return json_refuse(dominated, err, "expected pairs of layouts");
    for (int i = 0; i < length; i += 2)
        add_layout(r, (struct joined_layout){.number = pairs[i], .other = pairs[i + 1]},
                   FATE_IS_DOMINATED);
    return OK;
}

static enum status take_proofs(struct reading *r, const struct json *proofs, struct error *err)
{
    for (int i = 0; i < json_length(proofs); i++) {
        struct json element = json_element(proofs, i, r->arena);
        struct joined_layout l = {.other = -1};
        const struct json_field fields[] = {
            FIELD_COUNT("layout", REQUIRED, &l.number, 0, JSON_COUNT_MAX),
            FIELD_OBJECT("proof", REQUIRED, &l.proof)};
        TRY(JSON_FIELDS(&element, fields, r->arena, err));
        add_layout(r, l, FATE_IS_PROVEN);
    }
    return OK;
}

static enum status take_space(struct reading *r, bool bounded, struct error *err)
{
    struct json dominated = {0}, proofs = {0};
    int64_t layouts = -1, bound_ns = -1;
    bool infeasible = false;
    const char *part, *objective;
    const struct json_field fields[] = {
        FIELD_TEXT("part", REQUIRED, &part),
        FIELD_TEXT("objective", OPTIONAL, &objective), // the job's, whose hash was compared
        FIELD_COUNT("layouts", REQUIRED, &layouts, 0, JSON_COUNT_MAX),
        FIELD_TEXT("fates", REQUIRED, &r->fates),
        FIELD_ARRAY("dominated", REQUIRED, &dominated),
        FIELD_ARRAY("proofs", REQUIRED, &proofs),
        FIELD_BOOL("infeasible", OPTIONAL, &infeasible),
        FIELD_COUNT("bound_ns", OPTIONAL, &bound_ns, 0, JSON_COUNT_MAX),
    };
    TRY(JSON_FIELDS(&r->space, fields, r->arena, err));
    if (layouts != r->joined->count)
        return json_refuse(&r->space, err, "layouts: expected %lld, found %lld",
                           (long long)r->joined->count, (long long)layouts);
    if (infeasible != (bound_ns < 0))
        return json_refuse(&r->space, err, "expected either infeasible or bound_ns");
    if (!infeasible && !bounded) return OK;
    if (!infeasible) r->joined->bound_ns = smaller(r->joined->bound_ns, bound_ns);
    TRY(take_fates(r, err));
    TRY(take_dominated(r, &dominated, err));
    return take_proofs(r, &proofs, err);
}

static enum status take_part(struct reading *r, const struct part_text *text, bool bounded,
                             const struct source *sources, int source_count, struct error *err)
{
    struct json made_from = {0};
    const char *kind = "";
    const struct json_field fields[] = {FIELD_TEXT("kind", REQUIRED, &kind),
                                        FIELD_ARRAY("made_from", OPTIONAL, &made_from),
                                        FIELD_OBJECT("space", OPTIONAL, &r->space)};
    TRY(json_parse(&r->root, text->file, text->text, text->size, r->arena, err));
    TRY(json_fields(&r->root, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, r->arena, err));
    if (strcmp(kind, CERTIFICATE_PART) || !json_is_present(&r->space))
        return json_refuse(&r->root, err, "kind: expected \"%s\", found \"%.60s\"",
                           CERTIFICATE_PART, kind);
    TRY(check_sources(&made_from, sources, source_count, r->arena, err));
    return take_space(r, bounded, err);
}

static int by_number(const void *a, const void *b)
{
    const struct joined_layout *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

enum status joined_read(struct joined_parts *j, const struct part_text *parts, int part_count,
                        int64_t layouts, bool bounded, const struct source *sources,
                        int source_count, struct arena *arena, struct error *err)
{
    *j = (struct joined_parts){
        .fates = TAKE(arena, layouts + 1, unsigned char), .count = layouts, .bound_ns = INT64_MAX};
    memset(j->fates, FATE_IS_UNKNOWN, (size_t)layouts);
    for (int i = 0; i < part_count; i++) {
        struct reading r = {.joined = j, .arena = arena};
        TRY(take_part(&r, &parts[i], bounded, sources, source_count, err));
    }
    if (j->layout_count) qsort(j->layouts, (size_t)j->layout_count, sizeof *j->layouts, by_number);
    return OK;
}
