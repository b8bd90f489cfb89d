// The published schemas against an existing validator (python3-jsonschema): shipped and saved
// documents pass, planted damages fail there as they do in our loaders. Skipped, with the reason
// printed, if the validator is not installed. Also the schemas against the tables that read the
// documents; with "write" as argument they are written (make schemas).
#include <unistd.h>

#include "data/inputs/problem.h"
#include "data/kinds/schedules.h"
#include "data/results/verdict.h"
#include "tests/support/documents.h"
#include "tests/support/folder.h"
#include "tests/support/problems.h"
#include "tests/support/schema.h"
#include "tests/support/check.h"

static void run(const char *command)
{
    int code = system(command);
    if (code != 0) fail_msg("%s: exit status %d", command, code);
}

static bool validator_is_missing(void)
{
    if (system("python3 -c 'from jsonschema import Draft202012Validator' 2> /dev/null") == 0)
        return false;
    print_message("skipped: python3 with jsonschema 4 or later (Debian: python3-jsonschema) is not "
                  "installed\n");
    return true;
}

TEST(test_shipped)
{
    if (validator_is_missing()) skip();
    run("python3 tests/check_schemas.py good data/models/*/*.json data/clusters/*.json "
        "data/costs/*.json $(ls tests/documents/*.json | grep -v config.json)");
}

static void save_verdict(const char *path, bool accepted, struct arena *arena)
{
    struct verdict v = {.accepted = true,
                        .replayed_ns = 5,
                        .closed_form_ns = accepted ? 5 : -1,
                        .closed_form = accepted ? "one stage" : NULL,
                        .terms_checked = 3,
                        .memory_bytes = accepted ? 70 : -1,
                        .published_bytes = accepted ? 80 : -1,
                        .bound_judged = accepted,
                        .proven_ns = accepted ? 4 : -1};
    struct source source = {"plan", "plan.json", ""};
    sha256_text("x", 1, source.sha256);
    if (!accepted) verdict_add(&v, arena, "memory", 2, "%d bytes over the limit", 7);
    if (!accepted) verdict_add(&v, arena, "count", -1, "one \"quoted\" group too many");
    MUST(verdict_save(&v, path, &source, 1, arena, &own_err));
}

// What the program itself saves: every example after a round, verdicts, and random problems with
// all their features.
TEST(test_saved)
{
    if (validator_is_missing()) skip();
    struct random rng = {20260131};
    struct random_limits limits = random_limits_small();
    char command[200];
    for (int format = 0; format < FORMAT_COUNT; format++) {
        const char *to = arena_print(arena, "%s/example-%s.json", own_folder, format_names[format]);
        CHECK_OK(format_load((enum format)format, format_example((enum format)format, arena), to,
                             arena, &err));
    }
    save_verdict(own_path("example-accepted.json"), true, arena);
    save_verdict(own_path("example-rejected.json"), false, arena);
    for (int i = 0; i < 60; i++) {
        struct problem p = {0};
        random_problem(&p, &rng, &limits, arena);
        CHECK_OK(model_save(&p.model, arena_print(arena, "%s/example-%d-m.json", own_folder, i),
                            arena, &err));
        CHECK_OK(cluster_save(&p.cluster, arena_print(arena, "%s/example-%d-c.json", own_folder, i),
                              arena, &err));
        CHECK_OK(costs_save(&p.costs, arena_print(arena, "%s/example-%d-o.json", own_folder, i),
                            arena, &err));
        CHECK_OK(job_save(&p.job, arena_print(arena, "%s/example-%d-j.json", own_folder, i), arena,
                          &err));
    }
    snprintf(command, sizeof command, "python3 tests/check_schemas.py good %s/example-*.json",
             own_folder);
    run(command);
}

// The loaders refuse these in test_bad_input.
TEST(test_planted)
{
    if (validator_is_missing()) skip();
    char command[200];
    int written = 0;
    for (size_t i = 0; i < planted_count; i++) {
        if (!planted_damages[i].by_schema) continue;
        const char *text = planted_text(&planted_damages[i], arena);
        FILE *f = fopen(arena_print(arena, "%s/%s-bad%zu.json", own_folder,
                                    format_names[planted_damages[i].format], i),
                        "w");
        assert_non_null(f);
        assert_non_null(text);
        fputs(text, f);
        fclose(f);
        written++;
    }
    assert_true(written > 50);
    snprintf(command, sizeof command, "python3 tests/check_schemas.py bad %s/*-bad*.json",
             own_folder);
    run(command);
}

// The schemas agree with the tables that read the documents; `written`: they are written instead.
static void expect_schema(const char *name, const char *wanted, bool written, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *path = arena_print(arena, "docs/schemas/%s.schema.json", name), *found;
    size_t size, same = 0;
    if (written) CHECK_OK(file_write(path, wanted, strlen(wanted), &err));
    CHECK_OK(file_read(path, &found, &size, arena, &err));
    while (wanted[same] && wanted[same] == found[same]) same++;
    if (wanted[same] || found[same])
        fail_msg("%s: `make schemas` makes it otherwise: expected\n%.200s\nfound\n%.200s", path,
                 wanted + same, found + same);
}

static bool writing;

TEST(test_tables)
{
    expect_schema("schedule", schema_of_names("The name of a schedule", schedule_names, arena),
                  writing, arena);
    expect_schema("recompute", schema_of_names("A mode of recomputation", recompute_names, arena),
                  writing, arena);
    expect_schema("recompute_setting",
                  schema_of_names("How all stages recompute", recompute_setting_names, arena),
                  writing, arena);
    for (int i = 0; i < schema_count; i++) {
        const char *missing = NULL, *text = schema_text(&schemas[i], &missing, arena, &err);
        if (!text) fail_msg("%s", err.text);
        if (missing)
            fail_msg("docs/schemas/%s.schema.json: %s: a function of its own reads this key: write "
                     "its schema by hand",
                     schemas[i].name, missing);
        expect_schema(schemas[i].name, text, writing, arena);
    }
}

AROUND_ALL(folder_open, folder_close)

int main(int count, char **arguments)
{
    writing = count > 1 && !strcmp(arguments[1], "write");
    if (writing) tests_only = "test_tables";
    return tests_run(1, arguments);
}
