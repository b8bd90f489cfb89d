#include "tests/support/trials/space_trials.h"

#include <string.h>

#include "data/base/file.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/check.h"

static const char *const roles[SPACE_SOURCES] = {"problem", "model", "cluster", "costs", "job"};

void space_trial_sources(const struct space_trial *t, struct source sources[SPACE_SOURCES],
                         struct arena *arena)
{
    for (int i = 0; i < SPACE_SOURCES; i++) {
        sources[i] =
            (struct source){.role = roles[i], .path = arena_print(arena, "%s.json", roles[i])};
        sha256_text(t->sources[i].text.text, t->sources[i].text.size, sources[i].sha256);
    }
}

static void make_certificate(struct space_trial *t, struct arena *arena)
{
    struct error err = {OK, ""};
    struct solve_settings settings;
    struct source sources[SPACE_SOURCES];
    solve_defaults(&settings);
    space_trial_sources(t, sources, arena);
    struct certificate_space_request request = {.problem = &t->problem,
                                                .found = &t->found,
                                                .settings = &settings,
                                                .sources = sources,
                                                .source_count = SPACE_SOURCES};
    CHECK_OK(certificate_space_make(&t->made, &request, arena, &err));
    t->certificate = (struct check_text){"certificate.json", t->made.text, t->made.size};
}

static void try_problem(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct error err = {OK, ""};
    spaces_solve(&t->alone, &t->problem, arena);
    spaces_search(&t->found, &t->problem, 1, gap, 0, NULL, arena);
    space_read(&t->space, &t->problem, arena);
    CHECK_OK(space_pricers_open(t->pricers, &t->problem, arena, &err));
    for (int i = 0; i < SPACE_SOURCES; i++) {
        const char *text =
            arena_print(arena, "the %s of trial %llu", roles[i], (unsigned long long)seed);
        t->sources[i] = (struct check_input){roles[i], {roles[i], text, strlen(text)}};
    }
    make_certificate(t, arena);
}

void space_trial_open(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw(&t->problem, &rng, arena);
    try_problem(t, seed, gap, arena);
}

void space_trial_of_slices(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_slices(&t->problem, &rng, arena);
    try_problem(t, seed, gap, arena);
}

void space_trial_of_grids(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_grids(&t->problem, &rng, arena);
    try_problem(t, seed, gap, arena);
}

bool space_trial_audit(const struct space_trial *t, const struct check_text *text,
                       struct check_space_result *audited, const char **why, struct arena *arena)
{
    struct error err = {OK, ""};
    enum status status = check_space_certificate(audited, text, t->sources, SPACE_SOURCES,
                                                 &t->space, t->pricers, CHECK_WORK_DEFAULT, arena,
                                                 &err);
    *why = status == OK ? audited->proof.reason : arena_copy_text(arena, err.text);
    return status == OK;
}
