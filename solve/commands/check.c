// plumbline check: audits a certificate and reports what it verified, what it assumed, and how long
// that took.
#define _DEFAULT_SOURCE // sigaction
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "data/base/command.h"
#include "data/base/watch.h"
#include "solve/certificate/elaborate.h"
#include "solve/commands/audits.h"
#include "solve/checker/verdict.h"
#include "solve/checker/prices/open.h"

static int64_t microseconds_since(double begun_s) { return (int64_t)(1e6 * (clock_s() - begun_s)); }

// The document that the certificate names.
static enum status read_named(struct check_text *priced, const struct check_text *certificate,
                              struct arena *arena, struct error *err)
{
    const char *path;
    struct error unread = {OK, ""};
    TRY(check_priced_path(&path, certificate, arena, err));
    path = path_beside(certificate->file, path, arena);
    if (space_read_file(priced, path, arena, &unread) == OK) return OK;
    return fail(err, unread.status, "%s: made_from: %s", certificate->file, unread.text);
}

// ---- a problem and what it names

enum { SOURCES = CHECK_CLAIM_SOURCES };

// The documents that the problem names, read by the checker itself for their hashes.
static enum status read_sources(struct check_input sources[SOURCES],
                                const struct check_text *problem, struct arena *arena,
                                struct error *err)
{
    static const char *const roles[SOURCES] = {"problem", "model", "cluster", "costs", "job"};
    const struct reader r = {problem->file, err};
    cJSON *root;
    TRY(check_parse_text(&r, problem, &root, arena));
    TRY(value_expect(&r, root, "", cJSON_Object));
    sources[0] = (struct check_input){roles[0], *problem};
    for (int i = 1; i < SOURCES; i++) {
        const cJSON *path = value_get(root, roles[i]);
        TRY(value_expect(&r, path, roles[i], cJSON_String));
        sources[i].role = roles[i];
        TRY(space_read_file(&sources[i].text, path_beside(problem->file, path->valuestring, arena),
                            arena, err));
    }
    return OK;
}

// ---- one layout

static void print_doubtful(FILE *to, int64_t prices)
{
    if (prices)
        fprintf(to,
                "  doubtful   %lld prices are so close to a rounding boundary that one more or "
                "less would be equally right: the bound holds for both\n",
                (long long)prices);
}

static void print_took(FILE *to, int64_t microseconds)
{
    fprintf(to, "  took       %lld.%03lld s\n", (long long)(microseconds / 1000000),
            (long long)(microseconds / 1000 % 1000));
}

static const char *takes(const struct check_result *r)
{
    return r->objective == MINIMISE_LOAD     ? "has a greatest load (max_load) of"
           : r->objective == MINIMISE_ENERGY ? "needs"
                                             : "takes";
}

static void print_boxes(FILE *to, const struct check_result *r, const char *what, const char *paths)
{
    fprintf(to,
            "  verified   %s%lld boxes (%lld splits, %lld single decisions) by %lld rounds over "
            "%lld choices, %lld %s of %lld operations\n",
            what, (long long)r->boxes, (long long)r->splits, (long long)r->leaves,
            (long long)r->rounds, (long long)r->choices, (long long)r->paths, paths,
            (long long)r->operations);
}

static bool is_refused(FILE *to, const struct check_result *r)
{
    if (!r->accepted) fprintf(to, "not certified: %s\n", r->reason);
    return !r->accepted;
}

static void print_result(FILE *to, const struct check_result *r, const struct check_audit *h)
{
    bool of_load = r->objective == MINIMISE_LOAD;
    const char *unit = r->objective == MINIMISE_ENERGY ? "microjoules" : "ns";
    char than[48] = "";
    if (is_refused(to, r)) return;
    if (r->iteration_ns != r->bound_ns)
        snprintf(than, sizeof than, " than %lld %s", (long long)r->bound_ns, unit);
    if (r->infeasible) fprintf(to, "certified: there is no plan\n");
    else if (r->iteration_ns < 0) fprintf(to, "certified: no plan %s less%s\n", takes(r), than);
    else
        fprintf(to, "certified: the plan %s %lld %s, and no plan %s less%s\n", takes(r),
                (long long)r->iteration_ns, unit, of_load ? "one of" : takes(r), than);
    if (r->problem->in_turn)
        fprintf(to,
                "  verified   the fewest slots of plans with less load, by a table over %lld spans "
                "of layers and widths\n",
                (long long)r->choices);
    else
        print_boxes(to, r, "",
                    of_load ? "loads of ranks and links, memory by the moments of a graph"
                            : "paths of a graph");
    if (h->problem)
        fprintf(to,
                "  confirmed  by the judge's own prices of %s: all %lld numbers of %s%s\n"
                "  assumed    the judge's formulas, and the reading of %s and of what it names\n",
                h->problem->file, (long long)r->confirmed, h->priced->file,
                check_not_compared(r->problem), h->problem->file);
    else
        fprintf(to,
                "  assumed    every price of %s: not compared with a problem (check CERTIFICATE "
                "PROBLEM does so)\n",
                h->priced->file);
    print_took(to, h->microseconds);
}

// The judge prices the problem, and the priced document has to match.
static enum status audit_problem(struct check_result *result, const struct check_text *certificate,
                                 const struct check_text *priced,
                                 const struct check_input inputs[SOURCES], uint64_t work_limit,
                                 struct arena *arena, struct error *err)
{
    struct check_problem *own;
    TRY(space_open_one(&own, inputs[0].text.file, inputs, SOURCES, arena, err));
    const struct check_basis basis = {check_confirm, own, inputs, SOURCES};
    return check_certificate_of(result, certificate, priced, &basis, work_limit, arena, err);
}

// The problem that the document states it was made from, if its file is there: of a kind that a
// certificate can be about. seen: the hash of the last one examined.
static enum status check_named_problem(const struct check_text *document, char seen[CHECK_HASH],
                                       struct arena *arena, struct error *err)
{
    struct check_source *sources, *named = NULL;
    struct error unread = {OK, ""};
    struct check_text text;
    int count;
    if (check_list_sources(&sources, &count, document, arena, &unread) != OK) return OK;
    for (int i = 0; i < count; i++) {
        if (strcmp(sources[i].role, "problem")) continue;
        if (named)
            return refuse(err, "%s: made_from: names two documents of role problem",
                          document->file);
        named = &sources[i];
    }
    if (!named || !strcmp(seen, named->sha256)) return OK;
    const char *path = path_beside(document->file, named->path, arena);
    if (space_read_file(&text, path, arena, &unread) != OK) return OK;
    check_hash(text.text, text.size, seen);
    return strcmp(seen, named->sha256) ? OK : space_check_kind_of(path, arena, err);
}

// given: a priced document, the problem, or NULL: then the priced document is the one that the
// certificate names.
static enum status audit_one(struct check_audit *h, struct check_result *result, const char *given,
                             uint64_t work_limit, struct arena *arena, struct error *err)
{
    struct check_text *priced = TAKE(arena, 1, struct check_text),
                      *file = TAKE(arena, 1, struct check_text);
    char seen[CHECK_HASH] = "";
    bool is_problem = false;
    if (given) TRY(space_read_file(file, given, arena, err));
    if (given) TRY(check_is_problem(&is_problem, file, arena, err));
    if (given && !is_problem) priced = file;
    else TRY(read_named(priced, h->certificate, arena, err));
    h->priced = priced;
    if (is_problem) check_hash(file->text, file->size, seen); // it will be checked itself
    TRY(check_named_problem(h->certificate, seen, arena, err));
    TRY(check_named_problem(priced, seen, arena, err));
    if (!is_problem)
        return check_certificate(result, h->certificate, priced, work_limit, arena, err);
    struct check_input inputs[SOURCES];
    h->problem = file;
    TRY(read_sources(inputs, file, arena, err));
    return audit_problem(result, h->certificate, priced, inputs, work_limit, arena, err);
}

static bool is_stdout(const char *path) { return path && !strcmp(path, "-"); }

static enum status write_one(const struct check_audit *h, const struct check_request *r,
                             struct arena *arena, struct error *err)
{
    if (r->verdict) TRY(check_write_verdict(h, r->verdict, arena, err));
    if (r->elaborated && h->result->accepted)
        TRY(certificate_elaborate(r->elaborated, h->certificate, h->priced, arena, err));
    return r->statement && h->result->accepted ? check_write_statement(h, r->statement, arena, err)
                                               : OK;
}

// ---- a space of layouts

static void print_space(FILE *to, const struct check_space_result *s, const char *problem,
                        int64_t microseconds)
{
    const struct check_result *r = &s->proof;
    if (is_refused(to, r)) return;
    const char *within = check_space_within(s), *has = check_space_has(s),
               *unit = check_space_unit(s);
    if (r->infeasible) fprintf(to, "certified: no layout of the space has a plan%s\n", within);
    else if (r->iteration_ns < 0)
        fprintf(to, "certified: no plan of any layout%s %s less than %lld %s\n", within, has,
                (long long)r->bound_ns, unit);
    else
        fprintf(to,
                "certified: the plan of layout %lld %s %lld %s, and no plan of any layout%s %s "
                "less%s%lld %s\n",
                (long long)s->chosen, has, (long long)r->iteration_ns, unit, within, has,
                r->iteration_ns == r->bound_ns ? ": " : " than ", (long long)r->bound_ns, unit);
    fprintf(to,
            "  layouts    %lld: %lld bounded in groups, %lld refused by a rule, %lld without room, "
            "%lld bounded by their prices, %lld no better than another, %lld with a proof\n",
            (long long)s->layouts, (long long)s->grouped, (long long)s->refused,
            (long long)s->memory, (long long)s->bounded, (long long)s->dominated,
            (long long)s->proven);
    print_boxes(to, r, "", "paths of graphs");
    print_doubtful(to, s->doubtful);
    fprintf(to,
            "  assumed    the reading of %s and of what it names, and the prices that the judge "
            "finds for each layout\n",
            problem);
    print_took(to, microseconds);
}

static enum status audit_space(bool *proven, const struct check_request *r,
                               const struct check_text *certificate, FILE *to, double begun_s,
                               struct arena *arena, struct error *err)
{
    struct check_input sources[SOURCES];
    struct check_space space;
    struct check_pricer pricers[2];
    struct check_space_result result;
    struct check_text problem;
    if (!r->against)
        return refuse(err,
                      "%s: is about a space of layouts: requires its problem as second operand",
                      certificate->file);
    TRY(space_read_file(&problem, r->against, arena, err));
    TRY(read_sources(sources, &problem, arena, err));
    TRY(space_open(&space, pricers, r->against, sources, SOURCES, arena, err));
    space.audit_on_nodes = space_audit_on_nodes;
    TRY(check_space_certificate(&result, certificate, sources, SOURCES, &space, pricers,
                                r->work_limit, arena, err));
    struct check_space_audit audit = {&result, certificate, sources, SOURCES,
                                      microseconds_since(begun_s)};
    if (r->statement && result.proof.accepted)
        TRY(check_space_write_statement(&audit, r->statement, arena, err));
    print_space(to, &result, r->against, audit.microseconds);
    *proven = result.proof.accepted;
    return OK;
}

// ---- placements

static void print_places(FILE *to, const struct check_result *r, const char *problem,
                         int64_t microseconds)
{
    if (is_refused(to, r)) return;
    bool of_rows = r->objective == MINIMISE_PIPETTE;
    if (r->infeasible) fprintf(to, "certified: no placement on the nodes is a plan\n");
    else
        fprintf(to, "certified: no plan on the nodes %s less than %lld ns\n",
                of_rows ? "has a value of the objective pipette of" : takes(r),
                (long long)r->bound_ns);
    if (of_rows)
        fprintf(to, "  verified   every way to fill rows of nodes; %lld steps\n",
                (long long)r->work);
    if (r->parts)
        fprintf(to, "  verified   that the %lld parts cover all placements\n", (long long)r->parts);
    if (!of_rows) print_boxes(to, r, "the least price of every link; ", "paths of a graph");
    print_doubtful(to, r->doubtful);
    fprintf(to,
            "  assumed    the reading of %s and of what it names, and the judge's prices of its "
            "links\n",
            problem);
    print_took(to, microseconds);
}

static enum status audit_places(bool *proven, const struct check_request *r,
                                const struct check_text *certificate, FILE *to, double begun_s,
                                struct arena *arena, struct error *err)
{
    struct check_input sources[SOURCES];
    struct check_places places;
    struct check_result result;
    struct check_text problem;
    if (!r->against)
        return refuse(err, "%s: is about placements: requires its problem as second operand",
                      certificate->file);
    TRY(space_read_file(&problem, r->against, arena, err));
    TRY(read_sources(sources, &problem, arena, err));
    TRY(space_open_places(&places, r->against, sources, SOURCES, arena, err));
    TRY(check_places_certificate(&result, certificate, sources, SOURCES, &places, r->work_limit,
                                 arena, err));
    const struct check_places_audit audit = {&result, certificate, sources, SOURCES,
                                             microseconds_since(begun_s)};
    if (r->statement && result.accepted)
        TRY(check_places_write_statement(&audit, r->statement, arena, err));
    print_places(to, &result, r->against, audit.microseconds);
    *proven = result.accepted;
    return OK;
}

// ---- for other commands

static enum status audit_claim(struct check_result *result, const struct check_text *certificate,
                               const struct check_input sources[SOURCES], struct arena *arena,
                               struct error *err)
{
    const char *problem_path = sources[0].text.file;
    enum check_certificate_kind kind;
    struct check_text priced;
    TRY(check_certificate_kind(&kind, certificate, arena, err));
    if (kind == CERTIFICATE_OF_SPACE) {
        struct check_space space;
        struct check_pricer pricers[2];
        struct check_space_result found;
        TRY(space_open(&space, pricers, problem_path, sources, SOURCES, arena, err));
        space.audit_on_nodes = space_audit_on_nodes;
        TRY(check_space_certificate(&found, certificate, sources, SOURCES, &space, pricers,
                                    CHECK_WORK_DEFAULT, arena, err));
        *result = found.proof;
        // A plan states its load, and a bound on that, of one micro-batch of its own layout.
        if (result->objective == MINIMISE_LOAD && result->bound_ns >= 0)
            result->bound_ns /= found.weight;
        return OK;
    }
    if (kind == CERTIFICATE_OF_PLACES) {
        struct check_places places;
        TRY(space_open_places(&places, problem_path, sources, SOURCES, arena, err));
        return check_places_certificate(result, certificate, sources, SOURCES, &places,
                                        CHECK_WORK_DEFAULT, arena, err);
    }
    TRY(read_named(&priced, certificate, arena, err));
    return audit_problem(result, certificate, &priced, sources, CHECK_WORK_DEFAULT, arena, err);
}

static struct check_audited hash_of(const char *role, const struct check_text *text)
{
    struct check_audited audited = {.role = role, .path = text->file};
    check_hash(text->text, text->size, audited.sha256);
    return audited;
}

enum status check_claim_of(struct check_claim *claim, const char *certificate_path,
                           const char *problem_path, struct arena *arena, struct error *err)
{
    struct check_input sources[SOURCES];
    struct check_text certificate, problem;
    struct check_result *result = TAKE(arena, 1, struct check_result);
    TRY(space_read_file(&certificate, certificate_path, arena, err));
    TRY(space_read_file(&problem, problem_path, arena, err));
    TRY(read_sources(sources, &problem, arena, err));
    TRY(audit_claim(result, &certificate, sources, arena, err));
    *claim = (struct check_claim){.accepted = result->accepted,
                                  .infeasible = result->infeasible,
                                  .reason = result->accepted ? "" : result->reason,
                                  .bound_ns = -1,
                                  .certificate = hash_of("certificate", &certificate)};
    if (result->accepted && !result->infeasible) claim->bound_ns = result->bound_ns;
    for (int i = 0; i < SOURCES; i++)
        claim->sources[i] = hash_of(sources[i].role, &sources[i].text);
    return OK;
}

// ---- one certificate of any kind

static enum status audit_layout(bool *proven, const struct check_request *r,
                                const struct check_text *certificate, FILE *to, double begun_s,
                                struct arena *arena, struct error *err)
{
    struct check_result result;
    struct check_audit audit = {.result = &result, .certificate = certificate};
    TRY(audit_one(&audit, &result, r->against, r->work_limit, arena, err));
    audit.microseconds = microseconds_since(begun_s);
    TRY(write_one(&audit, r, arena, err));
    print_result(to, &result, &audit);
    *proven = result.accepted;
    return OK;
}

// Recognizes another of our documents by its first lines: the reader of certificates would complain
// about a number in the middle of it.
static enum status refuse_other_kind(const struct check_text *file, struct arena *arena,
                                     struct error *err)
{
    static const char key[] = "\"kind\": \"";
    const char *kind = strstr(file->text, key);
    if (!kind || kind - file->text > 64) return OK;
    kind += sizeof key - 1;
    const char *found = arena_print(arena, "%.*s", (int)strcspn(kind, "\"\n"), kind);
    if (!strcmp(found, "plumbline.certificate") || strncmp(found, "plumbline.", 10)) return OK;
    return refuse(err, "%s: kind: expected \"plumbline.certificate\", found \"%.60s\"", file->file,
                  found);
}

enum status check_run(bool *proven, const struct check_request *r, FILE *to, struct arena *arena,
                      struct error *err)
{
    static enum status (*const audits[])(bool *, const struct check_request *,
                                         const struct check_text *, FILE *, double, struct arena *,
                                         struct error *) = {[CERTIFICATE_OF_LAYOUT] = audit_layout,
                                                            [CERTIFICATE_OF_SPACE] = audit_space,
                                                            [CERTIFICATE_OF_PLACES] = audit_places};
    struct check_text certificate;
    enum check_certificate_kind kind;
    double begun_s = clock_s();
    if (path_ends_with(r->certificate, ".vipr"))
        return refuse(err,
                      "%s: a VIPR proof is for the checker of a third party, such as viprchk; ours "
                      "is a test program: make tests, build/release/tests/vipr_check",
                      r->certificate);
    TRY(space_read_file(&certificate, r->certificate, arena, err));
    TRY(refuse_other_kind(&certificate, arena, err));
    TRY(check_certificate_kind(&kind, &certificate, arena, err));
    if (kind != CERTIFICATE_OF_LAYOUT && r->verdict)
        return refuse(err,
                      "-o: expected a certificate of one layout, found one of a space, or about "
                      "placements; --statement says what is certified, verify PLAN.json "
                      "--certificate %s -o writes a verdict",
                      r->certificate);
    return audits[kind](proven, r, &certificate, to, begun_s, arena, err);
}

#define AT(member) offsetof(struct check_request, member)
static const struct option_row rows[] = {
    {"CERTIFICATE.json", OPTION_PATH, AT(certificate), .low = 1},
    {"PROBLEM.json", OPTION_PATH, AT(against)},
    {"-o", OPTION_PATH, AT(verdict),
     "write the verdict to this file, for plumbline report --format latex or csv"},
    {"--statement", OPTION_PATH, AT(statement),
     "write a readable statement of what is certified, with the hashes of all inputs"},
    {"--elaborate", OPTION_PATH, AT(elaborated),
     "write the certificate of one layout in full to this file, for the verified referee"},
    {"--work-limit", OPTION_INT, AT(work_limit),
     "maximum number of steps; beyond it nothing counts as certified (default: 10^11)", 1, 1e18},
    MEMORY_ROW(AT(memory_mib), "48"),
};

// Long checks say every few seconds that they are at work.
enum { SECONDS_OF_SILENCE = 5 };
static volatile sig_atomic_t elapsed_s;

static void show_elapsed(int number)
{
    char text[] = "plumbline check: at work for       s\n", *digit = strstr(text, " s\n");
    (void)number;
    elapsed_s += SECONDS_OF_SILENCE;
    for (int rest = elapsed_s; rest > 0; rest /= 10) *--digit = (char)('0' + rest % 10);
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    alarm(SECONDS_OF_SILENCE);
}

COMMAND_RUN(run)
{
    struct check_request *r = options;
    bool proven = false;
    memory_limit((size_t)r->memory_mib << 20);
    if (r->against) r->against = path_of_document(r->against, "problem.json", arena);
    if (is_stdout(r->verdict) && is_stdout(r->statement))
        return refuse(err, "--statement: - is already used by -o");
    // A document on standard output must be the only thing there.
    FILE *to = is_stdout(r->verdict) || is_stdout(r->statement) ? stderr : stdout;
    const struct sigaction shown = {.sa_handler = show_elapsed, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &shown, NULL);
    alarm(SECONDS_OF_SILENCE);
    enum status status = check_run(&proven, r, to, arena, err);
    alarm(0);
    TRY(status);
    if (r->statement && !proven)
        fprintf(stderr, "plumbline check: nothing is certified, so no statement is written\n");
    *exit_code = proven ? 0 : 1;
    return OK;
}

extern const struct command command_check;
const struct command command_check = {
    .name = "check",
    .text = "check that a certificate proves its claim",
    .about = "Audits a certificate of solve --certificate against a priced document or a problem, "
             "with independent code.",
    .usage = "plumbline check CERTIFICATE.json [PRICED.json | PROBLEM.json] [-o CHECKED.json] "
             "[--statement FILE]",
    READS(struct check_request, rows,
          {.work_limit = CHECK_WORK_DEFAULT, .memory_mib = MEMORY_BASE_MIB}),
    .audits = true,
    .run = run,
};
