// plumbline check on problems whose bounds have no certificate: refused by name, whichever file
// names the problem, and whatever was removed from the priced document. The kinds beside them,
// which have one, are audited.
#include "data/base/file.h"
#include "data/base/command.h"
#include "formulate/example/example.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/oracle/placements.h"

extern const struct command command_check;

static struct problem problem;

static void save_problem(const struct problem *p)
{
    struct problem own = *p;
    MUST(example_write(&own, own_folder, true, &own_arena, &own_err));
    MUST(problem_load(&problem, own_path("problem.json"), &own_arena, &own_err));
}

// The priced document, with its places or without them, said to be made from the problem or from
// nothing.
static void save_priced(bool with_places, bool named)
{
    struct priced priced;
    struct source sources[PROBLEM_SOURCES];
    const char *path = own_path("priced.json");
    MUST(price_problem(&priced, &problem, &own_arena, &own_err));
    priced.document.sources = sources;
    priced.document.source_count = named ? problem_sources(&problem, path, sources, &own_arena) : 0;
    if (!with_places) priced.places = NULL;
    MUST(priced_save(&priced, path, &own_arena, &own_err));
}

static const char *source_text(const char *role, const char *name)
{
    const char *text;
    size_t size;
    char hash[SHA256_TEXT];
    MUST(file_read(own_path(name), &text, &size, &own_arena, &own_err));
    sha256_text(text, size, hash);
    return arena_print(&own_arena, "{\"role\": \"%s\", \"path\": \"%s\", \"sha256\": \"%s\"}", role,
                       name, hash);
}

// A true proof of very little: one forward, or the load of one rank.
static void save_certificate(bool names_problem)
{
    bool of_load = problem.job.objective == OBJECTIVE_MAX_LOAD;
    const char *path = of_load ? "{\"rank\": 0}"
                               : "{\"start\": [\"forward\", 0, 0, 0], \"laps\": 1, \"steps\": "
                                 "\"\"}";
    const char *text = arena_print(
        &own_arena,
        "{\"kind\": \"plumbline.certificate\", \"version\": 1, \"made_from\": [%s%s%s], \"proof\": "
        "{%s\"bound_ns\": 0, \"paths\": [%s], "
        "\"boxes\": [{\"rounds\": [{\"weights\": [[0, 1099511627776]]}], \"closed\": true}]}}",
        source_text("priced", "priced.json"), names_problem ? ", " : "",
        names_problem ? source_text("problem", "problem.json") : "",
        of_load ? "\"objective\": \"max_load\", " : "", path);
    MUST(file_write(own_path("certificate.json"), text, strlen(text), &own_err));
}

static enum status check(const char *given, int *exit_code)
{
    const char *words[] = {"check", own_path("certificate.json"), given ? own_path(given) : NULL,
                           NULL};
    char *arguments[4] = {NULL};
    own_err = (struct error){OK, ""};
    for (int i = 0; words[i]; i++) arguments[i] = arena_copy_text(&own_arena, words[i]);
    return command_call(&command_check, given ? 3 : 2, arguments, exit_code, &own_arena, &own_err);
}

static void must_refuse(const char *given, const char *what)
{
    int exit_code;
    assert_int_equal(check(given, &exit_code), BAD_INPUT);
    if (!strstr(own_err.text, what))
        fail_msg("%s: \"%s\" is not in %s", given ? given : "the certificate alone", what,
                 own_err.text);
}

static void must_accept(const char *given)
{
    int exit_code = -1;
    MUST(check(given, &exit_code));
    assert_int_equal(exit_code, 0);
}

// By all ways that lead from a certificate to its problem.
static void must_refuse_all_ways(const char *what)
{
    for (int i = 0; i < 8; i++) {
        bool with_places = i & 1, priced_names = i & 2, certificate_names = i & 4;
        save_priced(with_places, priced_names);
        save_certificate(certificate_names);
        if (priced_names || certificate_names || with_places) {
            must_refuse(NULL, what);
            must_refuse("priced.json", what);
        }
        must_refuse("problem.json", what);
    }
}

static void draw(struct problem *p)
{
    struct random rng = {11};
    struct priced priced;
    do {
        *p = (struct problem){0};
        random_placed_problem(p, &rng, false, &own_arena);
    } while (p->job.objective != OBJECTIVE_ITERATION_TIME ||
             price_problem(&priced, p, &own_arena, &own_err) != OK);
}

TEST(test_places)
{
    struct problem p;
    draw(&p);
    save_problem(&p);
    must_refuse_all_ways("placements");
    p.job.objective = OBJECTIVE_MAX_LOAD;
    save_problem(&p);
    must_refuse_all_ways("placements");
}

// The same without places is accepted.
static void must_accept_without_places(enum objective objective)
{
    struct problem p;
    draw(&p);
    p.cluster.places = (struct places){0};
    p.job.objective = objective;
    save_problem(&p);
    save_priced(false, true);
    save_certificate(true);
    must_accept(NULL);
    must_accept("priced.json");
    must_accept("problem.json");
}

TEST(test_others_are_audited)
{
    must_accept_without_places(OBJECTIVE_ITERATION_TIME);
    must_accept_without_places(OBJECTIVE_MAX_LOAD);
}

AROUND_ALL(folder_open, folder_close)
