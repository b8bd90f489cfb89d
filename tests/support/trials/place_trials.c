// Random placed problems with their least time and certificates.
#include "tests/support/trials/place_trials.h"

#include "data/base/file.h"
#include "data/text/document.h"
#include "formulate/price/price.h"
#include "solve/certificate/internal.h"
#include "solve/places/placed.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/check.h"

enum { PLACEMENTS_MOST = 40000 };

static const char *const roles[PLACE_SOURCES] = {"problem", "model", "cluster", "costs", "job"};

static void draw(struct problem *p, uint64_t seed, int asked, enum objective objective,
                 struct arena *arena)
{
    struct random rng = {seed};
    if (asked & PLACED_CROSSING) random_crossing_problem(p, &rng, arena);
    else if (seed % 2) random_placed_problem(p, &rng, asked, arena);
    else random_crowded_problem(p, &rng, asked, arena);
    p->job.objective = objective;
    // Most of them have no plan else.
    bool roomy = random_chance(&rng, 80);
    for (int g = 0; g < p->cluster.group_count && roomy; g++)
        p->cluster.groups[g].memory_bytes *= 1000;
    if (random_chance(&rng, 70)) p->job.rule_count = 0;
}

bool place_trial_open(struct place_trial *t, uint64_t seed, int asked, struct arena *arena)
{
    return place_trial_open_for(t, OBJECTIVE_ITERATION_TIME, seed, asked, arena);
}

bool place_trial_open_for(struct place_trial *t, enum objective objective, uint64_t seed, int asked,
                          struct arena *arena)
{
    struct error err = {OK, ""};
    *t = (struct place_trial){.seed = seed, .arena = arena};
    draw(&t->problem, seed, asked, objective, arena);
    if (price_problem(&t->priced, &t->problem, arena, &err) != OK) return false;
    CHECK_OK(space_places(&t->places, &t->problem, arena, &err));
    t->best_ns = best_placement(&t->problem, &t->priced, PLACEMENTS_MOST, arena);
    for (int i = 0; i < PLACE_SOURCES; i++) {
        const char *text = arena_print(arena, "the %s of trial %llu", roles[i], t->seed);
        t->sources[i] = (struct check_input){roles[i], {roles[i], text, strlen(text)}};
    }
    return true;
}

void place_trial_solve(struct solve_result *r, const struct place_trial *t,
                       const struct priced *priced, double gap)
{
    struct solve_settings settings;
    struct error err = {OK, ""};
    solve_defaults(&settings);
    settings.progress = 0;
    settings.gap = gap;
    settings.evidence = true;
    if (priced->places) CHECK_OK(placed_solve(r, priced, &settings, NULL, NULL, t->arena, &err));
    else CHECK_OK(solve_run(r, priced, &settings, NULL, NULL, t->arena, &err));
}

static void put_sources(struct source sources[PLACE_SOURCES], const struct place_trial *t)
{
    for (int i = 0; i < PLACE_SOURCES; i++) {
        sources[i] =
            (struct source){.role = roles[i], .path = arena_print(t->arena, "%s.json", roles[i])};
        sha256_text(t->sources[i].text.text, t->sources[i].text.size, sources[i].sha256);
    }
}

void place_trial_write(struct certificate_places_result *made, const struct place_trial *t,
                       const struct solve_result *solved)
{
    struct solve_settings settings;
    struct source sources[PLACE_SOURCES];
    solve_defaults(&settings);
    put_sources(sources, t);
    const struct certificate_places_request request = {.problem = &t->problem,
                                                       .priced = &t->priced,
                                                       .solved = solved,
                                                       .settings = &settings,
                                                       .sources = sources,
                                                       .source_count = PLACE_SOURCES};
    MUST(certificate_places_make(made, &request, t->arena, &own_err));
}

void place_trial_write_tree(struct certificate_places_result *made, const struct place_trial *t,
                            int64_t bound_ns)
{
    struct source sources[PLACE_SOURCES];
    struct json_writer w;
    struct parts_maker tree = {.places = &t->places,
                               .base = &t->priced,
                               .w = &w,
                               .bound_ns = bound_ns,
                               .threads = 1,
                               .arena = t->arena,
                               .scratch = arena_open_within(t->arena),
                               .work = UINT64_MAX / 2};
    put_sources(sources, t);
    *made = (struct certificate_places_result){.bound_ns = bound_ns};
    document_begin(&w, "plumbline.certificate", sources, PLACE_SOURCES, t->arena);
    json_open_object(&w, "places");
    json_put_text(&w, "by", "tree");
    if (bound_ns < 0) json_put_bool(&w, "infeasible", true);
    else json_put_count(&w, "bound_ns", bound_ns);
    json_open_array(&w, "parts");
    MUST(certificate_put_tree(&tree, &own_err));
    json_close_array(&w);
    json_close_object(&w);
    json_close_object(&w);
    made->boxes = tree.boxes;
    if (tree.proven) made->text = json_end(&w, &made->size);
}

const char *place_trial_with_bounds(const struct place_trial *t, const char *text, int64_t bound_ns)
{
    static const char key[] = "\"bound_ns\": ";
    const char *to = "", *at;
    for (; (at = strstr(text, key)); text = at + strspn(at, "0123456789")) {
        at += strlen(key);
        to = arena_print(t->arena, "%s%.*s%lld", to, (int)(at - text), text, (long long)bound_ns);
    }
    return arena_print(t->arena, "%s%s", to, text);
}

enum status place_trial_audit(struct check_result *audited, const struct place_trial *t,
                              const char *text, size_t size, const char **why)
{
    struct error err = {OK, ""};
    const struct check_text file = {"certificate.json", text, size};
    enum status status = check_places_certificate(audited, &file, t->sources, PLACE_SOURCES,
                                                  &t->places, CHECK_WORK_DEFAULT, t->arena, &err);
    *why = status == OK ? audited->reason : arena_copy_text(t->arena, err.text);
    return status;
}
