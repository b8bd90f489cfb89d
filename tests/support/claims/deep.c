// Claims of whole solves and certificates.
#include "tests/support/claims/deep.h"

#include "data/base/file.h"
#include "data/text/json.h"
#include "solve/certificate/certificate.h"
#include "solve/checker/space/arguments.h"
#include "solve/layouts/layouts.h"
#include "solve/layout/solve.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/claims/proofs.h"
#include "tests/support/claims/tight.h"
#include "tests/support/spaces.h"
#include "tests/support/check.h"

// ---- proofs

static bool has_proofs(const struct layout_truth *l)
{
    return l->known && l->tables && l->priced.objective == OBJECTIVE_ITERATION_TIME;
}

static void try_proof(struct claims *c, enum claim_kind kind, const struct layout_truth *l,
                      int changes, struct random *rng, struct arena *arena)
{
    cJSON *proof = l->alike ? proof_of_layout(l, arena) : NULL;
    if (!proof) return;
    claims_note(c, kind, l->number, -1, proof_largest(l->tables, proof, l->time_ns, arena),
                l->time_ns);
    for (int i = 0; i < changes; i++) {
        proof_change(proof, rng, arena);
        claims_note(c, CLAIM_CHANGED, l->number, -1,
                    proof_largest(l->tables, proof, l->time_ns, arena), l->time_ns);
    }
}

// Proofs where the best plan has just no room, mixtures where it is the last that has.
static void try_tight(struct claims *c, const struct space_truth *t, const struct layout_truth *of,
                      int changes, struct random *rng)
{
    struct layout_truth l;
    if (tighten(&l, of, TIGHT_BEST, t->plans_most, t->arena))
        try_proof(c, CLAIM_TIGHT, &l, changes, rng, t->arena);
    if (!tighten(&l, of, TIGHT_ANY, t->plans_most, t->arena)) return;
    for (int i = 0; i < 2 && l.tables->barrier; i++)
        claims_note(c, CLAIM_TIGHT, l.number, -1,
                    mixture_largest(l.tables, l.time_ns, rng, t->arena), l.time_ns);
}

void claims_proofs(struct claims *c, const struct space_truth *t, int changes, struct random *rng)
{
    int64_t one = t->count ? random_between(rng, 0, t->count - 1) : 0;
    struct arena_mark mark = arena_set_mark(t->arena);
    for (int64_t i = 0; i < t->count; i++, arena_reset(t->arena, mark)) {
        const struct layout_truth *l = &t->layouts[i];
        if (has_proofs(l) && l->tables->barrier)
            claims_note(c, CLAIM_MIXTURE, i, -1,
                        mixture_largest(l->tables, l->time_ns, rng, t->arena), l->time_ns);
        if (has_proofs(l) && i == one) try_proof(c, CLAIM_PROOF, l, changes, rng, t->arena);
        if (has_proofs(l) && l->tables->turns > 1) try_tight(c, t, l, changes, rng);
    }
}

// ---- searches

static bool has_no_plan(enum layout_fate fate)
{
    return fate == FATE_REFUSED || fate == FATE_MEMORY || fate == FATE_INFEASIBLE;
}

static void judge_found(struct claims *c, const struct space_truth *t,
                        const struct layouts_result *r, bool rough)
{
    const struct plan *plan = &r->solved.plan;
    int64_t each = plan->objective == OBJECTIVE_MAX_LOAD && plan->stage_count ? plan->micro_batches
                                                                              : 1;
    assert_int_equal(r->layouts.count, t->count);
    for (int64_t i = 0; i < t->count; i++) {
        const struct layout_truth *l = &t->layouts[i];
        int64_t claim_ns = has_no_plan(layouts_fate(&r->layouts, i)) ? INT64_MAX
                                                                     : r->layouts.value[i];
        if (l->known)
            claims_note(c, rough ? CLAIM_ROUGH_LAYOUTS : CLAIM_LAYOUTS, i, -1, claim_ns,
                        l->value_ns);
    }
    if (t->unknown) return;
    int64_t bound_ns = plan->outcome == OUTCOME_INFEASIBLE ? INT64_MAX : plan->bound_ns * each;
    claims_note(c, rough ? CLAIM_ROUGH_PLAN : CLAIM_PLAN, -1, -1, bound_ns, t->value_ns);
    claims_note(c, rough ? CLAIM_ROUGH_PLAN : CLAIM_PLAN, -1, -1, r->layouts.bound_ns,
                plan->outcome == OUTCOME_INFEASIBLE ? INT64_MAX : t->value_ns);
    // A plan cannot take less than the least.
    if (plan->stage_count && spaces_value(plan) < t->value_ns)
        fail_msg("a plan takes %lld ns, the best of all %lld", (long long)spaces_value(plan),
                 (long long)t->value_ns);
}

static void solve_one(struct claims *c, const struct layout_truth *l, struct random *rng,
                      struct arena *arena)
{
    struct solve_settings settings;
    struct solve_result r;
    int64_t bound_ns, time_ns,
        each = l->priced.objective == OBJECTIVE_MAX_LOAD ? l->priced.micro_batches : 1;
    MUST(solve_bound(&bound_ns, &time_ns, &l->priced, NULL, NULL, arena, &own_err));
    claims_note(c, CLAIM_ONE_BOX, l->number, -1,
                bound_ns == INT64_MAX ? INT64_MAX : bound_ns * each, l->value_ns);
    solve_defaults(&settings);
    settings.progress = 0, settings.boxes_max = random_between(rng, 1, 3),
    settings.gap = random_chance(rng, 50) ? 0 : 0.1;
    settings.eliminate = random_chance(rng, 50), settings.start_search = random_chance(rng, 70);
    MUST(solve_run(&r, &l->priced, &settings, NULL, NULL, arena, &own_err));
    claims_note(c, CLAIM_STOPPED, l->number, -1,
                r.plan.outcome == OUTCOME_INFEASIBLE ? INT64_MAX : r.plan.bound_ns * each,
                l->value_ns);
}

void claims_search(struct claims *c, const struct space_truth *t, struct random *rng)
{
    struct layouts_result r;
    volatile int stop = 1;
    int64_t one = t->count ? random_between(rng, 0, t->count - 1) : 0;
    struct arena_mark mark = arena_set_mark(t->arena);
    spaces_search(&r, t->problem, 1, 0, 0, NULL, t->arena);
    judge_found(c, t, &r, false);
    arena_reset(t->arena, mark);
    bool stopped = random_chance(rng, 50);
    spaces_search(&r, t->problem, 1, stopped ? 0 : 0.1, 0, stopped ? &stop : NULL, t->arena);
    judge_found(c, t, &r, true);
    arena_reset(t->arena, mark);
    if (t->count && t->layouts[one].known && !t->layouts[one].refused)
        solve_one(c, &t->layouts[one], rng, t->arena);
    arena_reset(t->arena, mark);
}

// ---- certificates of the whole space

enum { SOURCES = 5 };

struct forging {
    const struct space_truth *t;
    struct check_pricer pricers[2];
    struct check_input sources[SOURCES];
    struct source named[SOURCES];
    const char **proofs; // [layout] text of a proof, its claim left out; NULL: none
};

static void open_forging(struct forging *f, const struct space_truth *t)
{
    static const char *const roles[SOURCES] = {"problem", "model", "cluster", "costs", "job"};
    *f = (struct forging){.t = t};
    for (int i = 0; i < SOURCES; i++) {
        f->sources[i] = (struct check_input){roles[i], {roles[i], roles[i], strlen(roles[i])}};
        f->named[i] = (struct source){.role = roles[i], .path = roles[i]};
        sha256_text(roles[i], strlen(roles[i]), f->named[i].sha256);
    }
    MUST(space_pricers_open(f->pricers, t->problem, t->arena, &own_err));
}

// What is proven by an accepted text: INT64_MAX that there is no plan, -1 where it is refused.
static int64_t audit(const struct forging *f, const char *text, size_t size)
{
    struct error err = {OK, ""};
    struct check_space_result r;
    struct check_text certificate = {"certificate", text, size};
    if (check_space_certificate(&r, &certificate, f->sources, SOURCES, &f->t->space, f->pricers,
                                CHECK_WORK_DEFAULT, f->t->arena, &err) != OK)
        return -1;
    if (!r.proof.accepted) return -1;
    return r.proof.infeasible ? INT64_MAX : r.proof.bound_ns;
}

static void audit_written(struct claims *c, struct forging *f)
{
    struct layouts_result found;
    struct solve_settings settings;
    struct certificate_space_result made;
    spaces_search(&found, f->t->problem, 1, 0, 0, NULL, f->t->arena);
    solve_defaults(&settings);
    settings.threads = 1;
    struct certificate_space_request request = {.problem = f->t->problem,
                                                .found = &found,
                                                .settings = &settings,
                                                .sources = f->named,
                                                .source_count = SOURCES};
    MUST(certificate_space_make(&made, &request, f->t->arena, &own_err));
    if (made.text)
        claims_note(c, CLAIM_WRITTEN, -1, -1, audit(f, made.text, made.size), f->t->time_ns);
}

// The solver's proof of a layout, from "paths" on, which states no bound.
static const char *proof_text(const struct layout_truth *l, struct arena *arena)
{
    struct error err = {OK, ""};
    struct solve_settings settings;
    struct solve_result r;
    struct json_writer w;
    struct certificate_result made;
    size_t size;
    solve_defaults(&settings);
    settings.progress = 0, settings.evidence = true, settings.boxes_max = 40;
    if (!l->alike || solve_run(&r, &l->priced, &settings, NULL, NULL, arena, &err) != OK ||
        !r.evidence)
        return NULL;
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    struct plan bare = {.outcome = r.plan.outcome == OUTCOME_INFEASIBLE ? OUTCOME_INFEASIBLE
                                                                        : OUTCOME_OPEN,
                        .bound_ns = r.plan.bound_ns};
    struct certificate_request request = {.priced = &l->priced,
                                          .plan = &bare,
                                          .evidence = r.evidence,
                                          .problem = l->tables,
                                          .into = &w};
    if (certificate_make(&made, &request, arena, &err) != OK || !made.text) return NULL;
    json_close_object(&w);
    const char *text = json_end(&w, &size), *claim = strstr(text, "\"bound_ns\""), *rest;
    if (!claim) claim = strstr(text, "\"infeasible\"");
    rest = claim ? strchr(claim, ',') : NULL;
    if (!rest) return NULL;
    // Unchanged except for the claim: "proof": { ..., without the brace of the surrounding object.
    const char *end = text + size - 1;
    while (*end != '}') end--;
    return arena_print(arena, "{\"@\": 0%.*s", (int)(end - rest), rest);
}

static bool dominates(const struct space_truth *t, const char *fates, int64_t by, int64_t layout)
{
    const struct layout_truth *a = &t->layouts[by], *b = &t->layouts[layout];
    return by != layout && (fates[by] == 'b' || fates[by] == 'm' || fates[by] == 'p') &&
           a->tables && b->tables && check_no_worse(a->dear_tables, b->tables);
}

// The first of its own arguments that holds; 'p': none.
static char own_fate(const struct space_truth *t, const struct layout_truth *l, int64_t bound_ns)
{
    struct error err = {OK, ""};
    struct arena scratch;
    uint64_t work = UINT64_MAX / 2;
    struct check_layouts x = {.space = l->space,
                              .pricer = &l->pricer,
                              .reader = {"prices", &err},
                              .bound_ns = bound_ns,
                              .held = {.work = &work, .arena = t->arena, .scratch = &scratch}};
    bool so = false;
    int fate = FATE_IS_REFUSED;
    arena_open(&scratch, NULL);
    for (; fate <= FATE_IS_BOUND; fate++) {
        const char *why;
        so = check_fate_holds(&x, &l->own, (enum check_fate)fate, &so, &why) == OK && so;
        if (so) break;
    }
    arena_close(&scratch);
    return so ? check_fate_letters[fate] : 'p';
}

// A place for each proof, which is put in afterwards.
static void put_marks(struct json_writer *w, const struct space_truth *t, const char *fates)
{
    json_open_array(w, "proofs");
    for (int64_t i = 0; i < t->count; i++) {
        if (fates[i] != 'p') continue;
        json_open_object(w, NULL);
        json_put_count(w, "layout", i);
        json_put_text(w, "proof", arena_print(t->arena, "@%lld", (long long)i));
        json_close_object(w);
    }
    json_close_array(w);
}

// Layouts that would need a proof and are dominated by one that is not dominated itself.
static void put_dominated(struct json_writer *w, const struct space_truth *t, char *fates)
{
    bool *needed = TAKE(t->arena, t->count, bool);
    json_open_flat_array(w, "dominated");
    for (int64_t i = 0; i < t->count; i++) {
        int64_t by = 0;
        if (fates[i] != 'p' || needed[i]) continue;
        while (by < t->count && !dominates(t, fates, by, i)) by++;
        if (by == t->count) continue;
        fates[i] = 'd', needed[by] = true;
        json_put_count(w, NULL, i);
        json_put_count(w, NULL, by);
    }
    json_close_array(w);
}

// A certificate for the claim from everything that the checker might accept; -1: that there is no
// plan. own: each proof states the truth of its layout, not the claim.
static int64_t forge(const struct forging *f, int64_t bound_ns, bool own)
{
    const struct space_truth *t = f->t;
    char *fates = TAKE(t->arena, t->count + 1, char);
    struct json_writer w;
    size_t size;
    for (int64_t i = 0; i < t->count; i++) fates[i] = own_fate(t, &t->layouts[i], bound_ns);
    document_begin(&w, "plumbline.certificate", f->named, SOURCES, t->arena);
    json_open_object(&w, "space");
    json_put_count(&w, "layouts", t->count);
    put_dominated(&w, t, fates);
    const char *letters = "";
    for (int64_t i = 0; i < t->count; i++)
        letters = arena_print(t->arena, "%s%s%c1", letters, i ? " " : "", fates[i]);
    json_put_text(&w, "fates", letters);
    put_marks(&w, t, fates);
    if (bound_ns < 0) json_put_bool(&w, "infeasible", true);
    else json_put_count(&w, "bound_ns", bound_ns);
    json_close_object(&w);
    json_close_object(&w);
    const char *text = json_end(&w, &size);
    for (int64_t i = 0; i < t->count; i++) {
        if (fates[i] != 'p') continue;
        const char *mark = arena_print(t->arena, "\"@%lld\"", (long long)i),
                   *at = strstr(text, mark);
        if (!f->proofs[i] || !at) return -1;
        int64_t stated_ns = own && t->layouts[i].time_ns != INT64_MAX ? t->layouts[i].time_ns
                                                                      : bound_ns;
        const char *claim =
            stated_ns < 0 ? "{\"infeasible\": true"
                          : arena_print(t->arena, "{\"bound_ns\": %lld", (long long)stated_ns);
        text = arena_print(t->arena, "%.*s%s%s%s", (int)(at - text), text, claim,
                           f->proofs[i] + strlen("{\"@\": 0"), at + strlen(mark));
    }
    return audit(f, text, strlen(text));
}

static int64_t forge_largest(struct forging *f)
{
    int64_t truth_ns = f->t->time_ns;
    struct arena_mark mark = arena_set_mark(f->t->arena);
    if (forge(f, -1, false) == INT64_MAX || forge(f, -1, true) == INT64_MAX) return INT64_MAX;
    int64_t high = truth_ns == INT64_MAX ? (int64_t)1 << 45 : truth_ns + 1;
    const int64_t tried[] = {2 * high, high + high / 20 + 2,   high + high / 1000 + 1, high,
                             high - 1, high - high / 1000 - 2, high / 10 * 9};
    for (int i = 0; i < 14; i++) {
        arena_reset(f->t->arena, mark);
        if (tried[i / 2] >= 0 && forge(f, tried[i / 2], i % 2) >= 0) return tried[i / 2];
    }
    return -1;
}

void claims_certificate(struct claims *c, const struct space_truth *t)
{
    struct forging f;
    struct arena_mark mark = arena_set_mark(t->arena);
    if (t->unknown || t->problem->job.objective != OBJECTIVE_ITERATION_TIME) return;
    open_forging(&f, t);
    audit_written(c, &f);
    f.proofs = TAKE(t->arena, t->count, const char *);
    for (int64_t i = 0; i < t->count; i++)
        if (t->layouts[i].tables) f.proofs[i] = proof_text(&t->layouts[i], t->arena);
    claims_note(c, CLAIM_FORGED, -1, -1, forge_largest(&f), t->time_ns);
    arena_reset(t->arena, mark);
}
