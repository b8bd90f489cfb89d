// Certificates of a space of layouts on named nodes: random spaces, every layout solved by itself
// on its nodes. The certificate is accepted, its bound is never above the best of all, mostly that;
// no argument for a layout is above its own best plan; forgeries are refused with their reasons.
//
//   test_check_nodes [PROBLEMS] [SEED]      make test runs 5
#include "data/base/file.h"
#include "data/inputs/space.h"
#include "formulate/price/price.h"
#include "solve/certificate/certificate.h"
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"
#include "solve/checker/space/arguments.h"
#include "solve/places/placed.h"
#include "solve/places/space/space.h"
#include "tests/support/forge.h"
#include "tests/support/oracle/placements.h"
#include "tests/support/check.h"

enum { SOURCES = 5, LAYOUTS_MOST_TRIED = 64 };

static int problem_count = 5;
static uint64_t first_seed = 1;
static struct {
    int64_t plans, none, whole, layouts, fates[FATES], by_links, by_free, sounded, refused;
} seen;

struct trial {
    struct problem problem;
    struct layouts_result found;
    struct check_space space;
    struct check_pricer pricers[2];
    struct check_input inputs[SOURCES];
    struct source sources[SOURCES];
    struct certificate_space_result made;
    // every layout by itself; 0: no plan
    struct check_layout layouts[LAYOUTS_MOST_TRIED];
    int64_t count, optimum_ns[LAYOUTS_MOST_TRIED], best_ns;
    struct arena *arena;
};

static bool draw(struct problem *p, struct random *rng, struct arena *arena)
{
    static int pipelines[] = {1, 2, 3}, batches[] = {1, 2};
    struct error err = {OK, ""};
    random_placed_problem(p, rng, false, arena);
    p->job.objective = OBJECTIVE_ITERATION_TIME;
    p->job.rule_count = 0;
    p->job.global_batch *= 12;
    p->job.space.given = true;
    p->job.space.fewer_devices = true;
    p->job.space.axes[SPACE_PIPELINE] = (struct space_axis){AXIS_LIST, pipelines, 3};
    p->job.space.axes[SPACE_MICRO_BATCH] = (struct space_axis){AXIS_LIST, batches, 2};
    p->job.space.axes[SPACE_DATA] = (struct space_axis){AXIS_ALL, NULL, 0};
    if (random_chance(rng, 30)) p->job.space.axes[SPACE_BARRIER].kind = AXIS_ALL;
    if (random_chance(rng, 30)) p->job.space.axes[SPACE_ZERO].kind = AXIS_ALL;
    for (int g = 0; g < p->cluster.group_count && random_chance(rng, 70); g++)
        p->cluster.groups[g].memory_bytes *= 1000;
    return problem_check(p, &err) == OK && problem_check_places(p, &err) == OK;
}

static bool solve_alone(void *argument, int64_t number, const struct layout *layout)
{
    struct trial *t = argument;
    struct error err = {OK, ""};
    struct problem one = problem_with_layout(&t->problem, layout);
    struct priced priced;
    struct solve_settings settings;
    struct solve_result r;
    if (number >= LAYOUTS_MOST_TRIED) return false;
    t->layouts[number] = space_layout(layout);
    t->count = number + 1;
    if (problem_check_layout(&one, &err) != OK || problem_check_places(&one, &err) != OK ||
        price_problem(&priced, &one, t->arena, &err) != OK)
        return true;
    solve_defaults(&settings);
    settings.progress = 0;
    CHECK_OK(placed_solve(&r, &priced, &settings, NULL, NULL, t->arena, &err));
    if (!r.plan.stage_count) return true;
    t->optimum_ns[number] = r.plan.iteration_ns;
    if (r.plan.iteration_ns < t->best_ns) t->best_ns = r.plan.iteration_ns;
    return true;
}

// false: no such problem.
static bool open_trial(struct trial *t, uint64_t seed, struct arena *arena)
{
    static const char *const roles[SOURCES] = {"problem", "model", "cluster", "costs", "job"};
    struct random rng = {seed};
    struct solve_settings settings;
    *t = (struct trial){.best_ns = INT64_MAX, .arena = arena};
    if (!draw(&t->problem, &rng, arena)) return false;
    struct space_limits limits = problem_space_limits(&t->problem);
    if (space_each(&t->problem.job.space, &limits, solve_alone, t) > LAYOUTS_MOST_TRIED)
        return false;
    solve_defaults(&settings);
    settings.progress = 0;
    MUST(placed_space_search(&t->found, &t->problem, &settings, NULL, NULL, arena, &own_err));
    space_read(&t->space, &t->problem, arena);
    t->space.audit_on_nodes = space_audit_on_nodes;
    MUST(space_pricers_open(t->pricers, &t->problem, arena, &own_err));
    for (int i = 0; i < SOURCES; i++) {
        const char *text =
            arena_print(arena, "%s of trial %llu", roles[i], (unsigned long long)seed);
        t->inputs[i] = (struct check_input){roles[i], {roles[i], text, strlen(text)}};
        t->sources[i] = (struct source){.role = roles[i], .path = roles[i]};
        sha256_text(text, strlen(text), t->sources[i].sha256);
    }
    const struct certificate_space_request request = {.problem = &t->problem,
                                                      .found = &t->found,
                                                      .settings = &settings,
                                                      .sources = t->sources,
                                                      .source_count = SOURCES};
    MUST(certificate_space_make(&t->made, &request, arena, &own_err));
    return true;
}

static bool accepts(const struct trial *t, const char *text, struct check_space_result *result,
                    const char **why)
{
    struct error err = {OK, ""};
    const struct check_text certificate = {"certificate.json", text, strlen(text)};
    enum status status = check_space_certificate(result, &certificate, t->inputs, SOURCES,
                                                 &t->space, t->pricers, CHECK_WORK_DEFAULT,
                                                 t->arena, &err);
    *why = arena_copy_text(t->arena, status == OK ? result->proof.reason : err.text);
    return status == OK && result->proof.accepted;
}

static void try_certificate(const struct trial *t, uint64_t seed)
{
    struct check_space_result result;
    const char *why;
    unsigned long long name = seed;
    const struct plan *plan = &t->found.solved.plan;
    if (!t->made.text) fail_msg("seed %llu: no certificate", name);
    if (!accepts(t, t->made.text, &result, &why)) fail_msg("seed %llu: refused: %s", name, why);
    bool none = t->best_ns == INT64_MAX;
    assert_int_equal(result.proof.infeasible, none);
    assert_int_equal(result.layouts, t->count);
    if (!none && result.proof.bound_ns > t->best_ns)
        fail_msg("seed %llu: proves %lld ns, the best of all takes %lld", name,
                 (long long)result.proof.bound_ns, (long long)t->best_ns);
    seen.plans += !none, seen.none += none;
    seen.whole += !none && result.proof.bound_ns == plan->bound_ns;
    const int64_t counts[FATES] = {result.refused,   result.memory, result.bounded,
                                   result.dominated, result.proven, result.grouped};
    for (int f = 0; f < FATES; f++) seen.fates[f] += counts[f];
    seen.layouts += t->count;
}

// As if no link took time.
static void sound_layouts(const struct trial *t)
{
    struct error err = {OK, ""};
    uint64_t work = UINT64_MAX / 2;
    struct check_layouts x = {
        .space = &t->space,
        .pricer = &t->pricers[0],
        .reader = {"prices", &err},
        .held = {.work = &work, .arena = t->arena, .scratch = arena_open_within(t->arena)}};
    for (int64_t i = 0; i < t->count; i++) {
        static const enum check_fate fates[] = {FATE_IS_REFUSED, FATE_IS_MEMORY, FATE_IS_BOUND};
        const char *why;
        bool holds;
        if (!t->optimum_ns[i]) continue;
        x.bound_ns = t->optimum_ns[i] + 1;
        for (int f = 0; f < 3; f++) {
            CHECK_OK(check_fate_holds(&x, &t->layouts[i], fates[f], &holds, &why));
            if (holds)
                fail_msg("layout %lld has a plan of %lld ns, and is closed as '%c'", (long long)i,
                         (long long)t->optimum_ns[i], check_fate_letters[fates[f]]);
        }
        seen.sounded++;
    }
}

// ---- forgeries

static void must_refuse(const struct trial *t, const cJSON *root, const char *name,
                        const char *reason)
{
    struct check_space_result result;
    const char *why;
    char *text = cJSON_PrintUnformatted(root);
    if (accepts(t, text, &result, &why)) fail_msg("%s: accepted", name);
    if (!strstr(why, reason)) fail_msg("%s: expected \"%s\", found \"%s\"", name, reason, why);
    seen.refused++;
    cJSON_free(text);
}

// Every bound in it one above the best plan's time.
static void set_bounds(cJSON *value, double ns)
{
    for (cJSON *v = value->child; v; v = v->next) {
        if (v->string && !strcmp(v->string, "bound_ns")) cJSON_SetNumberValue(v, ns);
        set_bounds(v, ns);
    }
}

static void try_forgeries(const struct trial *t)
{
    cJSON *root = cJSON_Parse(t->made.text), *space = get(root, "space"),
          *proofs = get(space, "proofs"), *one;
    cJSON_ArrayForEach(one, proofs) * (get(one, "places") ? &seen.by_links : &seen.by_free) += 1;
    if (t->best_ns < INT64_MAX) {
        cJSON *high = cJSON_Duplicate(root, true);
        set_bounds(get(high, "space"), (double)t->best_ns + 1);
        must_refuse(t, high, "a bound above the best plan's time", "layout ");
        // The claim alone: some layout's argument falls short of it.
        cJSON_Delete(high);
        high = cJSON_Duplicate(root, true);
        set_number(get(high, "space"), "bound_ns", (double)t->best_ns + 1);
        must_refuse(t, high, "a bound above its proofs", "layout ");
        cJSON_Delete(high);
        cJSON_AddNumberToObject(space, "chosen", 0);
        cJSON_AddNumberToObject(space, "iteration_ns", 12345678901234.0);
        must_refuse(t, root, "a plan", "audited by plumbline verify");
        drop(space, "chosen"), drop(space, "iteration_ns");
    }
    cJSON_AddItemToArray(get(space, "dominated"), cJSON_CreateNumber(0));
    cJSON_AddItemToArray(get(space, "dominated"), cJSON_CreateNumber(1));
    must_refuse(t, root, "layouts compared", "are not compared");
    set(space, "dominated", cJSON_CreateArray());
    // The proof of a layout given for another, with the other's number.
    cJSON *first = cJSON_GetArrayItem(proofs, 0);
    if (first) {
        double number = get_number(first, "layout");
        set_number(first, "layout", number + 1);
        must_refuse(t, root, "a proof under another number", "");
        set_number(first, "layout", number);
        cJSON *both = cJSON_Duplicate(first->child->next, true);
        cJSON_AddItemToObject(first, get(first, "places") ? "proof" : "places", both);
        must_refuse(t, root, "a layout proven twice", "either proof or places");
    }
    cJSON_Delete(root);
}

TEST(certificates_hold_for_all_layouts)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct trial *t = TAKE(arena, 1, struct trial);
        if (open_trial(t, seed, arena)) {
            try_certificate(t, seed);
            sound_layouts(t);
            try_forgeries(t);
        }
        arena_reset(arena, mark);
    }
    print_message("%lld spaces with a plan, %lld without; %lld bounds are the search's; %lld "
                  "layouts: r%lld m%lld b%lld p%lld; proven %lld without links, %lld with them; "
                  "%lld sounded, %lld forgeries refused\n",
                  (long long)seen.plans, (long long)seen.none, (long long)seen.whole,
                  (long long)seen.layouts, (long long)seen.fates[0], (long long)seen.fates[1],
                  (long long)seen.fates[2], (long long)seen.fates[4], (long long)seen.by_free,
                  (long long)seen.by_links, (long long)seen.sounded, (long long)seen.refused);
    assert_true(seen.plans > problem_count / 5 && 2 * seen.whole > seen.plans &&
                seen.by_links > 0 && seen.fates[FATE_IS_BOUND] > 0 && seen.refused > seen.plans);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
