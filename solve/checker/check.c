// Audits a certificate: see check.h. The file is an envelope, which names the priced document by
// its hash, around one proof.
#include "solve/checker/check.h"

#include <stdio.h>
#include <string.h>

#include "solve/checker/proof.h"

enum { CERTIFICATE_MOST = 1 << 26 };

// ---- the envelope

// A file that the arena holds is parsed once.
enum status check_parse_text(const struct reader *r, const struct check_text *text,
                             struct value **root, struct arena *arena)
{
    struct file_held *held = arena->files;
    while (held && held->text != text->text) held = held->older;
    if (!held) return check_parse(r, text->text, text->size, root, arena);
    if (!held->parsed)
        TRY(check_parse(r, text->text, text->size, (struct value **)&held->parsed, held->own));
    *root = held->parsed;
    return OK;
}

enum status check_read_source(const struct reader *r, const struct value *v, const char **role,
                              const char **path, const char **hash)
{
    const struct value_field fields[] = {
        {"role", .text = role}, {"path", .text = path}, {"sha256", .text = hash}, {NULL}};
    return value_fields(r, v, "made_from", fields, NULL);
}

enum status check_find_source(const struct reader *r, const struct value *list, const char *role,
                              const char **path, const char **hash)
{
    *path = *hash = NULL;
    if (!list) return OK;
    TRY(value_expect(r, list, "made_from", VALUE_ARRAY));
    for (const struct value *v = list->first; v; v = v->next) {
        const char *its_role, *its_path, *its_hash;
        TRY(check_read_source(r, v, &its_role, &its_path, &its_hash));
        if (strcmp(its_role, role)) continue;
        if (*hash) return check_refuse(r, "made_from", "names two documents of role %s", role);
        *path = its_path;
        *hash = its_hash;
    }
    return OK;
}

enum status check_find_priced(const struct reader *r, const struct value *certificate,
                              const char **path, const char **hash)
{
    TRY(check_find_source(r, value_get(certificate, "made_from"), "priced", path, hash));
    return *hash ? OK : check_refuse(r, "made_from", "names no priced document");
}

enum status check_read_envelope(const struct reader *r, const struct check_text *certificate,
                                struct value **root, struct arena *arena)
{
    static const char *const kinds[] = {"plumbline.certificate", NULL};
    const struct value *proof = NULL, *space = NULL, *places = NULL;
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

// ---- the proof

enum status check_read_claims(const struct reader *r, const struct value *proof,
                              struct check_result *result)
{
    const struct value *incumbent = NULL;
    const struct value_field fields[] = {
        {"?infeasible", .flag = &result->infeasible},
        {"?iteration_ns", 0, MOST_SUM, .large = &result->iteration_ns},
        {"?bound_ns", 0, MOST_SUM, .large = &result->bound_ns},
        {"?incumbent", .value = &incumbent},
        {.key = "?counted"},
        {.key = "paths"},
        {.key = "boxes"},
        {NULL},
    };
    TRY(value_fields(r, proof, "proof", fields, NULL));
    bool has_plan = incumbent != NULL;
    if (has_plan != (result->iteration_ns >= 0))
        return check_refuse(r, "proof", "expected both iteration_ns and incumbent, or neither");
    if (result->infeasible ? has_plan || result->bound_ns >= 0 : result->bound_ns < 0)
        return check_refuse(r, "proof", "expected either infeasible or bound_ns");
    if (has_plan && result->bound_ns > result->iteration_ns)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "bound_ns is above iteration_ns, the time of a plan");
    return OK;
}

// What the rounds count exactly: names of groups under "slots", and of the budget.
static enum status read_counted(const struct check_problem *p, const struct reader *r,
                                const struct value *v, bool *counted)
{
    const struct value *slots = NULL;
    bool *budget = counted + p->group_count;
    const struct value_field fields[] = {
        {"?slots", .value = &slots, .type = VALUE_ARRAY},
        {"?boundaries", .flag = &budget[BUDGET_BOUNDARIES]},
        {"?stages", .flag = &budget[BUDGET_STAGES]},
        {"?cost", .flag = &budget[BUDGET_COST]},
        {NULL},
    };
    const char *names[MOST_GROUPS + 1];
    int group;
    if (!v) return OK;
    TRY(value_fields(r, v, "counted", fields, NULL));
    for (const struct value *e = slots ? slots->first : NULL; e; e = e->next) {
        TRY(value_name(r, e, "counted.slots", check_group_names(p, names), &group));
        counted[group] = true;
    }
    return OK;
}

static enum status check_proof(struct check_proof *k, const struct value *proof)
{
    bool counted[RESOURCES_MOST] = {false};
    check_open_replay(&k->replay, k->g, k->work, k->arena);
    if (value_get(proof, "incumbent"))
        TRY(check_incumbent(k, value_get(proof, "incumbent"), k->result->iteration_ns));
    TRY(check_list_choices(&k->choices, k->g, k->work, k->arena));
    for (int s = 0; s < k->p->stages; s++) k->result->choices += k->choices.count[s];
    TRY(check_read_paths(k, value_get(proof, "paths")));
    TRY(read_counted(k->p, &k->reader, value_get(proof, "counted"), counted));
    TRY(check_open_mixer(&k->mixer, &k->choices, counted, k->arena));
    k->coefficients = TAKE(k->arena, check_symbol_count(k->p), int64_t);
    return check_boxes(k, value_get(proof, "boxes"));
}

enum status check_one_proof(const struct reader *r, const struct value *proof,
                            const struct check_problem *p, struct check_result *result,
                            uint64_t *work, struct arena *arena)
{
    struct check_graph graph;
    TRY(check_build_graph(&graph, p, arena));
    result->operations = graph.operation_count;
    struct check_proof k = {
        .reader = *r, .p = p, .g = &graph, .result = result, .work = work, .arena = arena};
    return check_proof(&k, proof);
}

static enum status audit(struct check_result *result, const struct check_text *certificate,
                         const struct check_text *priced, const struct check_basis *basis,
                         uint64_t *work, struct arena *arena, struct error *err)
{
    const struct reader r = {certificate->file, err};
    struct check_problem *problem = TAKE(arena, 1, struct check_problem);
    struct value *root;
    const char *path, *hash;
    char found[CHECK_HASH];
    TRY(check_read_envelope(&r, certificate, &root, arena));
    TRY(check_find_priced(&r, root, &path, &hash));
    check_hash(priced->text, priced->size, found);
    if (strcmp(found, hash))
        return fail(err, (enum status)NOT_PROVEN,
                    "%s: its SHA-256 is %.12s..., the proof is about %.12s...", priced->file, found,
                    hash);
    const struct value *proof = value_get(root, "proof");
    if (!proof)
        return check_refuse(
            &r, "",
            "is about a space of layouts, or about placements: expected its problem beside it");
    TRY(check_read_claims(&r, proof, result));
    TRY(check_read_problem(problem, priced, arena, err));
    result->problem = problem;
    if (basis)
        TRY(basis->confirm(basis, problem, value_get(root, "made_from"), &result->confirmed));
    return check_one_proof(&r, proof, problem, result, work, arena);
}

enum status check_certificate(struct check_result *result, const struct check_text *certificate,
                              const struct check_text *priced, uint64_t work_limit,
                              struct arena *arena, struct error *err)
{
    return check_certificate_of(result, certificate, priced, NULL, work_limit, arena, err);
}

enum status check_conclude(struct check_result *result, enum status status, const struct error *why,
                           struct error *err)
{
    result->accepted = status == OK;
    if (status == OK) return OK;
    if (status != (enum status)NOT_PROVEN) return fail(err, status, "%s", why->text);
    snprintf(result->reason, sizeof result->reason, "%.*s", CHECK_REASON_MAX - 1, why->text);
    return OK;
}

enum status check_certificate_of(struct check_result *result, const struct check_text *certificate,
                                 const struct check_text *priced, const struct check_basis *basis,
                                 uint64_t work_limit, struct arena *arena, struct error *err)
{
    struct error why = {OK, ""};
    uint64_t left = work_limit;
    *result = (struct check_result){.iteration_ns = -1, .bound_ns = -1};
    enum status status = audit(result, certificate, priced, basis, &left, arena, &why);
    result->work = work_limit - left;
    return check_conclude(result, status, &why, err);
}
