// Random problems with a space, with their truth and the certificate of their search.
#include "tests/support/trials/space_trials.h"

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
    struct solve_settings settings;
    struct source sources[SPACE_SOURCES];
    solve_defaults(&settings);
    space_trial_sources(t, sources, arena);
    struct certificate_space_request request = {.problem = &t->problem,
                                                .found = &t->found,
                                                .settings = &settings,
                                                .sources = sources,
                                                .source_count = SPACE_SOURCES};
    MUST(certificate_space_make(&t->made, &request, arena, &own_err));
    t->certificate = (struct check_text){"certificate.json", t->made.text, t->made.size};
}

void space_trial_of_problem(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    spaces_solve(&t->alone, &t->problem, arena);
    spaces_search(&t->found, &t->problem, 1, gap, 0, NULL, arena);
    space_read(&t->space, &t->problem, arena);
    MUST(space_pricers_open(t->pricers, &t->problem, arena, &own_err));
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
    space_trial_of_problem(t, seed, gap, arena);
}

void space_trial_of_slices(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_slices(&t->problem, &rng, arena);
    space_trial_of_problem(t, seed, gap, arena);
}

void space_trial_of_grids(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_grids(&t->problem, &rng, arena);
    space_trial_of_problem(t, seed, gap, arena);
}

void space_trial_of_experts(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_experts(&t->problem, &rng, arena);
    space_trial_of_problem(t, seed, gap, arena);
}

void space_trial_of_pools(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_pools(&t->problem, &rng, arena);
    space_trial_of_problem(t, seed, gap, arena);
}

void space_trial_of_segments(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_segments(&t->problem, &rng, arena);
    space_trial_of_problem(t, seed, gap, arena);
}

void space_trial_of_in_flight(struct space_trial *t, uint64_t seed, double gap, struct arena *arena)
{
    struct random rng = {seed};
    *t = (struct space_trial){0};
    spaces_draw_in_flight(&t->problem, &rng, arena);
    space_trial_of_problem(t, seed, gap, arena);
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

int64_t space_trial_best(const struct space_trial *t, uint64_t seed,
                         struct check_space_result *audited, struct arena *arena)
{
    const char *why;
    unsigned long long name = seed;
    int64_t found_ns = t->found.solved.plan.iteration_ns,
            best_ns = t->alone.best_ns == INT64_MAX ? 0 : t->alone.best_ns;
    if (found_ns != best_ns)
        fail_msg("seed %llu: finds %lld ns, the best of all layouts takes %lld", name,
                 (long long)found_ns, (long long)best_ns);
    if (!t->certificate.text) fail_msg("seed %llu: no certificate", name);
    if (!space_trial_audit(t, &t->certificate, audited, &why, arena) || !audited->proof.accepted)
        fail_msg("seed %llu: refused: %s", name, why);
    assert_int_equal(audited->layouts, t->found.layouts.count);
    assert_int_equal(audited->proof.infeasible, !best_ns);
    if (best_ns) assert_int_equal(audited->proof.bound_ns, best_ns);
    if (best_ns) assert_int_equal(audited->proof.iteration_ns, best_ns);
    return best_ns;
}
