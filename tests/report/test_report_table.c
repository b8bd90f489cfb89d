// The table for a paper and the documents it is made from: golden files, what TeX and RFC 4180
// require of hostile names, verdicts with the plans they are about and no others, damaged verdicts.
// To update a golden file: PLUMBLINE_GOLDEN=write.
#include "data/text/table.h"
#include "solve/checker/verdict.h"
#include "solve/report/report.h"
#include "tests/support/folder.h"
#include "tests/support/oracle/plans.h"
#include "tests/support/check.h"

static void expect_ok(enum status status)
{
    if (status != OK) fail_msg("%s", own_err.text);
}

static void expect_golden(const char *path, const char *text, size_t length)
{
    const char *expected, *mode = getenv("PLUMBLINE_GOLDEN");
    size_t size;
    if (mode && !strcmp(mode, "write")) expect_ok(file_write(path, text, length, &own_err));
    expect_ok(file_read(path, &expected, &size, &own_arena, &own_err));
    if (size != length || memcmp(text, expected, size))
        fail_msg("%s differs from:\n%s", path, text);
}

static struct source verdict_sources[] = {
    {"certificate", "small.json",
     "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"},
    {"priced", "small.priced.json",
     "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"},
};

static struct checked small_verdict(const struct plan *p)
{
    return (struct checked){
        .document = {.path = "small.checked.json", .sources = verdict_sources, .source_count = 2},
        .name = p->name,
        .accepted = true,
        .iteration_ns = p->iteration_ns,
        .bound_ns = p->bound_ns - 1234567,
        .certificate_bytes = 186335,
        .boxes = 39,
        .microseconds = 54321};
}

// A plan with its verdict, one without, one that is infeasible, and a verdict without a plan.
static int small_rows(struct report_row *rows)
{
    static const char *const names[] = {"small", "50% of {a_b} & \\c $#^~ <\"q\">",
                                        "tight, \"really\"\nso"};
    struct plan *plans = TAKE(&own_arena, 3, struct plan);
    struct checked *verdicts = TAKE(&own_arena, 2, struct checked);
    int count = 3;
    for (int i = 0; i < 3; i++) {
        plans[i] = small_plan(&own_arena);
        claim_replay(&plans[i], &own_arena);
        plans[i].name = names[i];
        plans[i].effort = (struct plan_effort){41 + i, 100, 20, 0.25};
        rows[i] = (struct report_row){.plan = &plans[i]};
    }
    for (int i = 1; i < 3; i++)
        plans[i].document.source_count = 1; // made from no priced document that it names
    plans[1].bound_ns -= plans[1].bound_ns / 3, plans[1].outcome = OUTCOME_OPEN;
    plans[2].stage_count = 0, plans[2].outcome = OUTCOME_INFEASIBLE,
    plans[2].iteration_ns = plans[2].bound_ns = 0;
    verdicts[0] = small_verdict(&plans[0]);
    expect_ok(report_join(rows, &count, &verdicts[0], &own_err));
    verdicts[1] = small_verdict(&plans[0]);
    verdicts[1].name = "alone";
    verdicts[1].infeasible = true;
    verdicts[1].iteration_ns = verdicts[1].bound_ns = -1;
    rows[count++] = (struct report_row){.checked = &verdicts[1]};
    return count;
}

TEST(test_golden)
{
    struct report_row rows[5];
    struct text out;
    text_begin(&out, &own_arena);
    int count = small_rows(rows);
    assert_int_equal(count, 4);
    assert_non_null(rows[0].checked);
    report_table_of(&out, rows, count, false);
    expect_golden("tests/golden/table.tex", out.text, out.length);
}

// Our own reader of RFC 4180 gives back every name.
TEST(test_csv_reads_back)
{
    struct report_row rows[5];
    struct text out;
    text_begin(&out, &own_arena);
    struct table t;
    bool more = true;
    int count = small_rows(rows), line = 0;
    rows[3].checked = rows[0].checked, rows[3].plan = rows[0].plan;
    report_table_of(&out, rows, count, true);
    expect_ok(table_open_text(&t, "table.csv", out.text, out.length, &own_arena, &own_err));
    assert_int_equal(t.column_count, 24);
    for (;; line++) {
        expect_ok(table_next(&t, &more, &own_err));
        if (!more) break;
        const char *name = rows[line].plan->name;
        assert_int_equal(t.cells[0].length, strlen(name));
        for (int i = 0; name[i]; i++) // a line end within a cell counts as a blank
            assert_int_equal(t.cells[0].text[i], name[i] == '\n' ? ' ' : name[i]);
    }
    assert_int_equal(line, 4);
    for (const char *c = out.text; (c = strchr(c, '\n')); c++)
        assert_true(c > out.text && (c[-1] == '\r' || strstr(c, "so\"") == c + 1));
}

// Bound and gap are those of the minimized objective; CSV also has the iteration time, LaTeX names
// the objective.
TEST(test_other_objective)
{
    struct plan plan = small_plan(&own_arena);
    struct report_row row = {.plan = &plan};
    struct text out;
    text_begin(&out, &own_arena);
    claim_replay(&plan, &own_arena);
    plan.name = "loads";
    plan.objective = OBJECTIVE_MAX_LOAD;
    plan.objective_ns = 4000000;
    plan.bound_ns = 3000000;
    plan.outcome = OUTCOME_OPEN;
    report_table_of(&out, &row, 1, false);
    assert_non_null(strstr(out.text, "loads (max\\_load) & 4.000000 & 3.000000 & 25.0000 &"));
    report_table_of(&out, &row, 1, true);
    assert_non_null(strstr(out.text, arena_print(&own_arena, "loads,open,%lld,3000000,25.0000,",
                                                 (long long)plan.iteration_ns)));
    assert_non_null(
        strstr(out.text, ",max_load,4000000,,,,,,,,,,\"stated by solve, not audited\"\r\n"));
}

static void expect_join_refused(struct report_row row, const struct checked *c, const char *why)
{
    struct report_row rows[2] = {row, {.plan = NULL}};
    int count = 1;
    MUST_REFUSE(report_join(rows, &count, c, &own_err), why);
}

TEST(test_join)
{
    struct plan plan = small_plan(&own_arena);
    claim_replay(&plan, &own_arena);
    struct report_row row = {.plan = &plan};
    struct checked good = small_verdict(&plan), bad = good;
    bad.iteration_ns++;
    expect_join_refused(row, &bad, "is about a plan of");
    bad = good, bad.iteration_ns = -1, bad.bound_ns = plan.iteration_ns + 1;
    expect_join_refused(row, &bad, "longer than it states");
    bad = good, bad.infeasible = true;
    expect_join_refused(row, &bad, "there is no plan");
    bad = good, bad.accepted = false, bad.reason = "boxes[3]: not closed";
    expect_join_refused(row, &bad, "not accepted: boxes[3]");
    row.checked = &good;
    expect_join_refused(row, &good, "second verdict");
    // Of another priced document: a line of its own.
    struct source other[2] = {verdict_sources[0], verdict_sources[1]};
    struct report_row rows[2] = {{.plan = &plan}, {.plan = NULL}};
    int count = 1;
    other[1].sha256[0] = '0';
    bad = good, bad.document.sources = other;
    own_err = (struct error){OK, ""};
    expect_ok(report_join(rows, &count, &bad, &own_err));
    assert_int_equal(count, 2);
    assert_null(rows[0].checked);
}

// ---- the verdict's document and the statement, as the checker writes them of the shipped example

static struct check_text read_text(const char *path)
{
    struct check_text t = {.file = path};
    expect_ok(file_read(path, &t.text, &t.size, &own_arena, &own_err));
    return t;
}

TEST(test_verdict_and_statement)
{
    struct check_text certificate = read_text("tests/documents/certificate.json"),
                      priced = read_text("tests/documents/priced.json");
    struct check_result result;
    struct check_audit h = {&result, &certificate, &priced, NULL, 2554};
    struct checked c;
    const char *out = own_path("out"), *text;
    size_t length;
    expect_ok(check_certificate(&result, &certificate, &priced, CHECK_WORK_DEFAULT, &own_arena,
                                &own_err));
    assert_true(result.accepted);
    expect_ok(check_write_statement(&h, out, &own_arena, &own_err));
    expect_ok(file_read(out, &text, &length, &own_arena, &own_err));
    expect_golden("tests/golden/statement.txt", text, length);
    // The example is the checker's output when it cannot tell the folder.
    certificate.file = "certificate.json", priced.file = "priced.json";
    expect_ok(check_write_verdict(&h, out, &own_arena, &own_err));
    expect_ok(file_read(out, &text, &length, &own_arena, &own_err));
    expect_ok(checked_load(&c, out, &own_arena, &own_err));
    assert_true(c.accepted && c.iteration_ns == result.iteration_ns &&
                c.bound_ns == result.bound_ns);
    assert_int_equal(c.certificate_bytes, certificate.size);
    assert_int_equal(c.boxes, result.boxes);
    assert_int_equal(c.microseconds, 2554);
    expect_golden("tests/documents/checked.json", text, length);
}

// What was not accepted is reported without its claims.
TEST(test_rejected)
{
    struct check_text certificate = read_text("tests/documents/certificate.json"),
                      priced = read_text("tests/documents/priced.json");
    struct check_result result;
    struct check_audit h = {&result, &certificate, &priced, NULL, 1};
    struct checked c;
    const char *out = own_path("rejected");
    expect_ok(check_certificate(&result, &certificate, &priced, 1000, &own_arena, &own_err));
    assert_false(result.accepted);
    expect_ok(check_write_verdict(&h, out, &own_arena, &own_err));
    expect_ok(checked_load(&c, out, &own_arena, &own_err));
    assert_false(c.accepted);
    assert_int_equal(c.bound_ns, -1);
    assert_non_null(strstr(c.reason, "work limit"));
    // Paths are relative to the document, wherever it is.
    const char *const places[][2] = {{"x.json", "proofs/a/certificate.json"},
                                     {"proofs/x.json", "a/certificate.json"},
                                     {"proofs/b/x.json", "../a/certificate.json"}};
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
        assert_string_equal(check_path_from(places[i][0], "proofs/a/certificate.json", &own_arena),
                            places[i][1]);
    assert_string_equal(check_path_from("../x.json", "a.json", &own_arena), "a.json");
    assert_string_equal(check_path_from("/tmp/x.json", "a.json", &own_arena), "a.json");
    assert_string_equal(check_path_from("/p/x.json", "/p/a.json", &own_arena), "/p/a.json");
}

TEST(test_damaged)
{
    static const struct {
        const char *from, *to, *where;
    } damages[] = {
        {"plumbline.checked", "plumbline.plan", "kind"},
        {"\"version\": 1", "\"version\": 2", "version"},
        {"\"accepted\": true", "\"accepted\": 1", "accepted"},
        {"\"accepted\": true", "\"accepted\": false", "of what was accepted"},
        {"\"accepted\": true", "\"accepted\": true, \"reason\": \"x\"", "reason"},
        {"\"accepted\": true", "\"accepted\": true, \"infeasible\": true", "infeasible"},
        {"\"iteration_ns\": 6544144", "\"iteration_ns\": 6544143", "above"},
        {"\"iteration_ns\": 6544144", "\"iteration_ns\": -1", "iteration_ns"},
        {"\"bound_ns\": 6544144,", "", "bound_ns"},
        {"\"role\": \"priced\"", "\"role\": \"job\"", "made_from"},
        {"\"role\": \"certificate\"", "\"role\": \"plan\"", "made_from"},
        {"\"certificate_bytes\": ", "\"certificate_bytes\": -", "certificate_bytes"},
        {"\"boxes\": 167,", "", "boxes"},
        {"\"boxes\": 167", "\"boxes\": 1.5", "boxes"},
        {"\"work\": ", "\"wonk\": ", "wonk"},
        {"\"microseconds\": 2554", "\"microseconds\": \"2554\"", "microseconds"},
        {"\n}\n", "\n", "line"},
    };
    const char *text;
    size_t length;
    expect_ok(file_read("tests/documents/checked.json", &text, &length, &own_arena, &own_err));
    for (size_t i = 0; i < ARRAY_LENGTH(damages); i++) {
        struct checked c;
        const char *at = strstr(text, damages[i].from), *path = own_path("bad.json");
        if (!at) fail_msg("'%s' is not in the example", damages[i].from);
        const char *bad = arena_print(&own_arena, "%.*s%s%s", (int)(at - text), text, damages[i].to,
                                      at + strlen(damages[i].from));
        expect_ok(file_write(path, bad, strlen(bad), &own_err));
        own_err = (struct error){OK, ""};
        if (checked_load(&c, path, &own_arena, &own_err) != BAD_INPUT)
            fail_msg("damage %zu: accepted", i);
        if (!strstr(own_err.text, damages[i].where))
            fail_msg("damage %zu: expected '%s', found: %s", i, damages[i].where, own_err.text);
        own_err = (struct error){OK, ""};
    }
}

AROUND_ALL(folder_open, folder_close)
