// plumbline check on problems whose bounds have no certificate: refused by name, whichever file
// names the problem, and whatever was removed from the priced document. The kinds beside them,
// which have one, are audited.
#include "data/base/file.h"
#include "data/base/command.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/oracle/placements.h"

extern const struct command command_check;

struct files {
    struct arena arena;
    struct error err;
    char folder[FOLDER_SIZE];
    struct problem problem;
};
static struct files *opened;

#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != OK) fail_msg("%s", f->err.text);                                             \
    } while (0)

static const char *inside(struct files *f, const char *name)
{
    return arena_print(&f->arena, "%s/%s", f->folder, name);
}

static void save_problem(struct files *f, const struct problem *p)
{
    struct problem own = *p;
    MUST(model_save(&own.model, inside(f, "model.json"), &f->arena, &f->err));
    MUST(cluster_save(&own.cluster, inside(f, "cluster.json"), &f->arena, &f->err));
    MUST(costs_save(&own.costs, inside(f, "costs.json"), &f->arena, &f->err));
    MUST(job_save(&own.job, inside(f, "job.json"), &f->arena, &f->err));
    own.model.document.path = inside(f, "model.json");
    own.cluster.document.path = inside(f, "cluster.json");
    own.costs.document.path = inside(f, "costs.json");
    own.job.document.path = inside(f, "job.json");
    MUST(problem_save(&own, inside(f, "problem.json"), &f->arena, &f->err));
    MUST(problem_load(&f->problem, inside(f, "problem.json"), &f->arena, &f->err));
}

// The priced document, with its places or without them, said to be made from the problem or from
// nothing.
static void save_priced(struct files *f, bool with_places, bool named)
{
    struct priced priced;
    struct source sources[PROBLEM_SOURCES];
    const char *path = inside(f, "priced.json");
    MUST(price_problem(&priced, &f->problem, &f->arena, &f->err));
    priced.document.sources = sources;
    priced.document.source_count = named ? problem_sources(&f->problem, path, sources, &f->arena)
                                         : 0;
    if (!with_places) priced.places = NULL;
    MUST(priced_save(&priced, path, &f->arena, &f->err));
}

static const char *source_text(struct files *f, const char *role, const char *name)
{
    const char *text;
    size_t size;
    char hash[SHA256_TEXT];
    MUST(file_read(inside(f, name), &text, &size, &f->arena, &f->err));
    sha256_text(text, size, hash);
    return arena_print(&f->arena, "{\"role\": \"%s\", \"path\": \"%s\", \"sha256\": \"%s\"}", role,
                       name, hash);
}

// A true proof of very little: one forward, or the load of one rank.
static void save_certificate(struct files *f, bool names_problem)
{
    bool of_load = f->problem.job.objective == OBJECTIVE_MAX_LOAD;
    const char *path = of_load ? "{\"rank\": 0}"
                               : "{\"start\": [\"forward\", 0, 0, 0], \"laps\": 1, \"steps\": "
                                 "\"\"}";
    const char *text = arena_print(
        &f->arena,
        "{\"kind\": \"plumbline.certificate\", \"version\": 1, \"made_from\": [%s%s%s], \"proof\": "
        "{%s\"bound_ns\": 0, \"paths\": [%s], "
        "\"boxes\": [{\"rounds\": [{\"weights\": [[0, 1099511627776]]}], \"closed\": true}]}}",
        source_text(f, "priced", "priced.json"), names_problem ? ", " : "",
        names_problem ? source_text(f, "problem", "problem.json") : "",
        of_load ? "\"objective\": \"max_load\", " : "", path);
    MUST(file_write(inside(f, "certificate.json"), text, strlen(text), &f->err));
}

static enum status check(struct files *f, const char *given, int *exit_code)
{
    const char *words[] = {"check", inside(f, "certificate.json"), given ? inside(f, given) : NULL,
                           NULL};
    char *arguments[4] = {NULL};
    f->err = (struct error){OK, ""};
    for (int i = 0; words[i]; i++) arguments[i] = arena_copy_text(&f->arena, words[i]);
    return command_call(&command_check, given ? 3 : 2, arguments, exit_code, &f->arena, &f->err);
}

static void must_refuse(struct files *f, const char *given, const char *what)
{
    int exit_code;
    assert_int_equal(check(f, given, &exit_code), BAD_INPUT);
    if (!strstr(f->err.text, what))
        fail_msg("%s: \"%s\" is not in %s", given ? given : "the certificate alone", what,
                 f->err.text);
}

static void must_accept(struct files *f, const char *given)
{
    int exit_code = -1;
    MUST(check(f, given, &exit_code));
    assert_int_equal(exit_code, 0);
}

// By all ways that lead from a certificate to its problem.
static void must_refuse_all_ways(struct files *f, const char *what)
{
    for (int i = 0; i < 8; i++) {
        bool with_places = i & 1, priced_names = i & 2, certificate_names = i & 4;
        save_priced(f, with_places, priced_names);
        save_certificate(f, certificate_names);
        if (priced_names || certificate_names || with_places) {
            must_refuse(f, NULL, what);
            must_refuse(f, "priced.json", what);
        }
        must_refuse(f, "problem.json", what);
    }
}

static void draw(struct files *f, struct problem *p)
{
    struct random rng = {11};
    struct priced priced;
    do {
        *p = (struct problem){0};
        random_placed_problem(p, &rng, false, &f->arena);
    } while (p->job.objective != OBJECTIVE_ITERATION_TIME ||
             price_problem(&priced, p, &f->arena, &f->err) != OK);
}

TEST(test_places)
{
    struct files *f = opened;
    struct problem p;
    draw(f, &p);
    save_problem(f, &p);
    must_refuse_all_ways(f, "placements");
    p.job.objective = OBJECTIVE_MAX_LOAD;
    save_problem(f, &p);
    must_refuse_all_ways(f, "placements");
}

// The same without places is accepted.
static void must_accept_without_places(struct files *f, enum objective objective)
{
    struct problem p;
    draw(f, &p);
    p.cluster.places = (struct places){0};
    p.job.objective = objective;
    save_problem(f, &p);
    save_priced(f, false, true);
    save_certificate(f, true);
    must_accept(f, NULL);
    must_accept(f, "priced.json");
    must_accept(f, "problem.json");
}

TEST(test_others_are_audited)
{
    must_accept_without_places(opened, OBJECTIVE_ITERATION_TIME);
    must_accept_without_places(opened, OBJECTIVE_MAX_LOAD);
}

static int open_files(void **state)
{
    (void)state;
    static struct files f;
    arena_open(&f.arena, NULL);
    opened = &f;
    return folder_make(f.folder);
}

static int close_files(void **state)
{
    (void)state;
    struct files *f = opened;
    arena_close(&f->arena);
    return folder_remove(f->folder);
}

AROUND_ALL(open_files, close_files)
