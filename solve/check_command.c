// plumbline check: hears a certificate and says what it verified, what it assumed, and how long that took.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/options.h"
#include "solve/check.h"

command_function command_check;

static const char usage[] = "plumbline check CERTIFICATE.json [PRICED.json | PROBLEM.json] [--work-limit N]";

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

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

// The priced document: the one given; that which the certificate names, where none or the problem is given. *problem: the
// problem that was given, else NULL.
static enum status find_priced(struct check_text *priced, const char *given, const char **problem, const struct check_text *certificate,
                               struct arena *arena, struct error *err)
{
    const char *path;
    bool is_problem = false;
    *problem = NULL;
    if (given) {
        TRY(read_whole(priced, given, arena, err));
        TRY(check_is_problem(&is_problem, certificate, priced, arena, err));
        if (!is_problem) return OK;
        *problem = given;
    }
    TRY(check_priced_path(&path, certificate, arena, err));
    return read_whole(priced, beside(certificate->file, path, arena), arena, err);
}

static void print_result(const struct check_result *r, const char *priced, const char *problem, double seconds)
{
    if (!r->accepted) {
        printf("not proven: %s\n", r->reason);
        return;
    }
    if (r->infeasible) printf("proven: there is no plan\n");
    else if (r->iteration_ns < 0) printf("proven: no plan takes less than %lld ns\n", (long long)r->bound_ns);
    else if (r->iteration_ns == r->bound_ns) printf("proven: the plan takes %lld ns, and no plan takes less\n", (long long)r->iteration_ns);
    else
        printf("proven: the plan takes %lld ns, and no plan takes less than %lld ns\n", (long long)r->iteration_ns, (long long)r->bound_ns);
    printf("  verified   %lld boxes (%lld splits, %lld single decisions) by %lld rounds over %lld choices, %lld paths of a graph of "
           "%lld operations\n", (long long)r->boxes, (long long)r->splits, (long long)r->leaves, (long long)r->rounds,
           (long long)r->choices, (long long)r->paths, (long long)r->operations);
    printf("  assumed    the prices of %s%s%s\n", priced, problem ? ", and that they are those of " : "", problem ? problem : "");
    printf("  took       %.3f s\n", seconds);
}

enum status command_check(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    const char *paths[2], *problem;
    int count;
    int64_t work_limit = CHECK_WORK_DEFAULT;
    bool helped;
    const struct option options[] = {
        {"--work-limit", OPTION_INT, &work_limit, 1, 1e18, NULL, "steps after which nothing counts as proven (default 10^11)"},
    };
    struct check_text certificate, priced;
    struct check_result result;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    TRY(options_read(argc, argv, usage, options, ARRAY_LENGTH(options), paths, 1, 2, &count, &helped, err));
    if (helped) return OK;
    TRY(read_whole(&certificate, paths[0], arena, err));
    TRY(find_priced(&priced, count > 1 ? paths[1] : NULL, &problem, &certificate, arena, err));
    TRY(check_certificate(&result, &certificate, &priced, (uint64_t)work_limit, arena, err));
    print_result(&result, priced.file, problem, seconds_since(&start));
    *exit_code = result.accepted ? 0 : 1;
    return OK;
}
