// plumbline check: hears a certificate and says what it verified, what it assumed, and how long that took.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/options.h"
#include "solve/check_space.h"
#include "solve/check_verdict.h"
#include "solve/check_vipr.h"
#include "solve/space_open.h"

command_function command_check;

static const char usage[] = "plumbline check CERTIFICATE.json [PRICED.json | PROBLEM.json] [-o CHECKED.json] [--statement FILE]\n"
                            "       plumbline check FILE.vipr";

enum { FILE_MOST = 1 << 28 };

static void close_file(void *file) { fclose(file); }

static enum status read_whole(struct check_text *to, const char *path, struct arena *arena, struct error *err)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = 1 << 16, size = 0;
    if (!file) return fail(err, BAD_INPUT, "%s: %s", path, strerror(errno));
    arena_defer(arena, close_file, file);
    char *text = TAKE(arena, capacity, char);
    for (size_t got; (got = fread(text + size, 1, capacity - size, file)) > 0;) {
        size += got;
        if (size > FILE_MOST) return fail(err, BAD_INPUT, "%s: larger than 256 MiB", path);
        if (size < capacity) continue;
        text = arena_grow(arena, text, size, 2 * capacity, 1);
        capacity *= 2;
    }
    if (ferror(file)) return fail(err, BAD_INPUT, "%s: cannot be read", path);
    *to = (struct check_text){path, text, size};
    return OK;
}

// As seen from the folder of the certificate.
static const char *beside(const char *certificate, const char *path, struct arena *arena)
{
    const char *slash = strrchr(certificate, '/');
    if (*path == '/' || !slash) return path;
    return arena_print(arena, "%.*s/%s", (int)(slash - certificate), certificate, path);
}

static int64_t microseconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - start->tv_sec) * 1000000 + (now.tv_nsec - start->tv_nsec) / 1000;
}

// Whether the file given is a problem: the certificate names it as such, or else the priced document that the certificate
// is about does. *priced is that document where the answer is yes.
static enum status find_problem(bool *is, struct check_text *priced, const struct check_text *given, const struct check_text *certificate,
                                struct arena *arena, struct error *err)
{
    struct error unread = {OK, ""};
    const char *path;
    bool named, made = false;
    *is = false;
    TRY(check_priced_path(&path, certificate, arena, err));
    TRY(check_is_source(&named, "priced", certificate, given, arena, err));
    if (named) return OK;
    TRY(check_is_source(&named, "problem", certificate, given, arena, err));
    if (named) *is = true;
    if (named) return read_whole(priced, beside(certificate->file, path, arena), arena, err);
    if (read_whole(priced, beside(certificate->file, path, arena), arena, &unread) != OK) return OK;
    TRY(check_is_source(&named, "priced", certificate, priced, arena, err));
    if (named) TRY(check_is_source(&made, "problem", priced, given, arena, err));
    *is = named && made;
    return OK;
}

// The priced document: the one given; that which the certificate names, where none or the problem is given. *problem: the
// problem that was given; its file NULL: none was.
static enum status find_priced(struct check_text *priced, const char *given, struct check_text *problem, const struct check_text *certificate,
                               struct arena *arena, struct error *err)
{
    const char *path;
    struct check_text text;
    bool is_problem;
    *problem = (struct check_text){NULL, "", 0};
    if (!given) {
        TRY(check_priced_path(&path, certificate, arena, err));
        return read_whole(priced, beside(certificate->file, path, arena), arena, err);
    }
    TRY(read_whole(&text, given, arena, err));
    TRY(find_problem(&is_problem, priced, &text, certificate, arena, err));
    *(is_problem ? problem : priced) = text;
    return OK;
}

static void print_result(FILE *to, const struct check_result *r, const struct check_hearing *h)
{
    if (!r->accepted) {
        fprintf(to, "not proven: %s\n", r->reason);
        return;
    }
    if (r->infeasible) fprintf(to, "proven: there is no plan\n");
    else if (r->iteration_ns < 0) fprintf(to, "proven: no plan takes less than %lld ns\n", (long long)r->bound_ns);
    else if (r->iteration_ns == r->bound_ns) fprintf(to, "proven: the plan takes %lld ns, and no plan takes less\n", (long long)r->iteration_ns);
    else
        fprintf(to, "proven: the plan takes %lld ns, and no plan takes less than %lld ns\n", (long long)r->iteration_ns, (long long)r->bound_ns);
    fprintf(to, "  verified   %lld boxes (%lld splits, %lld single decisions) by %lld rounds over %lld choices, %lld paths of a graph of "
            "%lld operations\n", (long long)r->boxes, (long long)r->splits, (long long)r->leaves, (long long)r->rounds,
            (long long)r->choices, (long long)r->paths, (long long)r->operations);
    fprintf(to, "  assumed    the prices of %s%s%s\n", h->priced->file, h->problem ? ", and that they are those of " : "", h->problem ? h->problem->file : "");
    fprintf(to, "  took       %lld.%03lld s\n", (long long)(h->microseconds / 1000000), (long long)(h->microseconds / 1000 % 1000));
}

struct outputs { const char *verdict, *statement; };

static bool is_stdout(const char *path) { return path && !strcmp(path, "-"); }

// A document on standard output stands there alone.
static enum status tell(const struct check_hearing *h, const struct outputs *to, struct arena *arena, struct error *err)
{
    if (to->verdict) TRY(check_write_verdict(h, to->verdict, arena, err));
    if (to->statement && h->result->accepted) TRY(check_write_statement(h, to->statement, arena, err));
    print_result(is_stdout(to->verdict) || is_stdout(to->statement) ? stderr : stdout, h->result, h);
    if (to->statement && !h->result->accepted) fprintf(stderr, "plumbline check: nothing is proven, so no statement is written\n");
    return OK;
}

// ---- a space of layouts

enum { SOURCES = 5 };

// The documents that the problem names, read by the checker itself for their hashes.
static enum status read_sources(struct check_space_source sources[SOURCES], const struct check_text *problem, struct arena *arena, struct error *err)
{
    static const char *const roles[SOURCES] = {"problem", "model", "cluster", "costs", "job"};
    const struct reader r = {problem->file, err};
    struct value *root;
    TRY(check_parse(&r, problem->text, problem->size, &root, arena));
    TRY(value_expect(&r, root, "", VALUE_OBJECT));
    sources[0] = (struct check_space_source){roles[0], *problem};
    for (int i = 1; i < SOURCES; i++) {
        const struct value *path = value_get(root, roles[i]);
        TRY(value_expect(&r, path, roles[i], VALUE_TEXT));
        sources[i].role = roles[i];
        TRY(read_whole(&sources[i].text, beside(problem->file, path->text, arena), arena, err));
    }
    return OK;
}

static void print_space(FILE *to, const struct check_space_result *s, const char *problem, int64_t microseconds)
{
    const struct check_result *r = &s->proof;
    if (!r->accepted) {
        fprintf(to, "not proven: %s\n", r->reason);
        return;
    }
    if (r->infeasible) fprintf(to, "proven: no layout of the space has a plan\n");
    else if (r->iteration_ns < 0) fprintf(to, "proven: no plan of any layout takes less than %lld ns\n", (long long)r->bound_ns);
    else
        fprintf(to, "proven: the plan of layout %lld takes %lld ns, and no plan of any layout takes less%s%lld ns\n", (long long)s->chosen,
               (long long)r->iteration_ns, r->iteration_ns == r->bound_ns ? ": " : " than ", (long long)r->bound_ns);
    fprintf(to, "  layouts    %lld: %lld refused by a rule, %lld without room, %lld bounded by their prices, %lld no better than another, %lld with a proof\n",
           (long long)s->layouts, (long long)s->refused, (long long)s->memory, (long long)s->bounded, (long long)s->dominated, (long long)s->proven);
    fprintf(to, "  verified   %lld boxes (%lld splits, %lld single decisions) by %lld rounds over %lld choices, %lld paths of graphs of %lld operations\n",
           (long long)r->boxes, (long long)r->splits, (long long)r->leaves, (long long)r->rounds, (long long)r->choices, (long long)r->paths,
           (long long)r->operations);
    fprintf(to, "  assumed    the reading of %s and of what it names, and the prices that the judge finds for each layout\n", problem);
    fprintf(to, "  took       %lld.%03lld s\n", (long long)(microseconds / 1000000), (long long)(microseconds / 1000 % 1000));
}

static enum status hear_space(const struct check_text *certificate, const char *problem_path, const char *statement, uint64_t work_limit,
                              const struct timespec *start, int *exit_code, struct arena *arena, struct error *err)
{
    struct check_space_source sources[SOURCES];
    struct check_space space;
    struct check_pricer pricers[2];
    struct check_space_result result;
    struct check_text problem;
    if (!problem_path) return fail(err, BAD_INPUT, "%s: is about a space of layouts: expected its problem beside it", certificate->file);
    TRY(read_whole(&problem, problem_path, arena, err));
    TRY(read_sources(sources, &problem, arena, err));
    TRY(space_open(&space, pricers, problem_path, arena, err));
    TRY(check_space_certificate(&result, certificate, sources, SOURCES, &space, pricers, work_limit, arena, err));
    struct check_space_hearing hearing = {&result, certificate, sources, SOURCES, microseconds_since(start)};
    if (statement && result.proof.accepted) TRY(check_space_write_statement(&hearing, statement, arena, err));
    print_space(is_stdout(statement) ? stderr : stdout, &result, problem_path, hearing.microseconds);
    if (statement && !result.proof.accepted) fprintf(stderr, "plumbline check: nothing is proven, so no statement is written\n");
    *exit_code = result.proof.accepted ? 0 : 1;
    return OK;
}

// ---- VIPR

static bool is_vipr(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && !strcmp(path + length - 5, ".vipr");
}

static enum status hear_vipr(const char *path, int64_t work_limit, const struct timespec *start, int *exit_code, struct arena *arena, struct error *err)
{
    struct check_text file;
    struct check_vipr_result r;
    TRY(read_whole(&file, path, arena, err));
    TRY(check_vipr(&r, &file, (uint64_t)work_limit, arena, err));
    int64_t us = microseconds_since(start);
    *exit_code = r.accepted ? 0 : 1;
    if (!r.accepted) printf("not proven: %s\n", r.reason);
    else printf("proven: %s\n", check_vipr_words(&r, arena));
    if (!r.accepted) return OK;
    printf("  verified   %d solutions on %d constraints over %d variables (%d integer); %d rows derived: %d assumptions, %d combinations, %d roundings, "
           "%d disjunctions\n", r.solutions, r.constraints, r.variables, r.integers, r.derivations, r.assumptions, r.combinations, r.roundings, r.disjunctions);
    printf("  assumed    that the program is the one that is meant\n  took       %lld.%03lld s\n", (long long)(us / 1000000), (long long)(us / 1000 % 1000));
    return OK;
}

enum status command_check(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    const char *paths[2];
    int count;
    int64_t work_limit = CHECK_WORK_DEFAULT;
    bool helped, is_space;
    struct outputs to = {NULL, NULL};
    const struct option options[] = {
        {"-o", OPTION_TEXT, &to.verdict, 0, 0, NULL, "write the verdict as a document, for plumbline report --format latex or csv"},
        {"--statement", OPTION_TEXT, &to.statement, 0, 0, NULL, "write what is proven, in words, on a page, with the hashes of all inputs"},
        {"--work-limit", OPTION_INT, &work_limit, 1, 1e18, NULL, "steps after which nothing counts as proven (default 10^11)"},
    };
    struct check_text certificate, priced, problem;
    struct check_result result;
    struct check_hearing hearing = {&result, &certificate, &priced, NULL, 0};
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    TRY(options_read(argc, argv, usage, options, ARRAY_LENGTH(options), paths, 1, 2, &count, &helped, err));
    if (helped) return OK;
    if (is_vipr(paths[0]) && (count > 1 || to.verdict || to.statement))
        return fail(err, BAD_INPUT, "%s: a VIPR file stands alone: no priced document, no -o, no --statement", paths[0]);
    if (is_vipr(paths[0])) return hear_vipr(paths[0], work_limit, &start, exit_code, arena, err);
    if (is_stdout(to.verdict) && is_stdout(to.statement)) return fail(err, BAD_INPUT, "--statement: - is taken by -o already");
    TRY(read_whole(&certificate, paths[0], arena, err));
    TRY(check_is_space(&is_space, &certificate, arena, err));
    if (is_space && to.verdict) return fail(err, BAD_INPUT, "-o: expected a certificate of one layout, found one of a space");
    if (is_space) return hear_space(&certificate, count > 1 ? paths[1] : NULL, to.statement, (uint64_t)work_limit, &start, exit_code, arena, err);
    TRY(find_priced(&priced, count > 1 ? paths[1] : NULL, &problem, &certificate, arena, err));
    if (problem.file) hearing.problem = &problem;
    TRY(check_certificate(&result, &certificate, &priced, (uint64_t)work_limit, arena, err));
    hearing.microseconds = microseconds_since(&start);
    TRY(tell(&hearing, &to, arena, err));
    *exit_code = result.accepted ? 0 : 1;
    return OK;
}
