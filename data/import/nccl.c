// plumbline import nccl-tests FILE: samples of collectives from the output of nccl-tests, or from
// its JSON. A time there is a mean over back-to-back launches, and counts as one repetition unless
// -I 1 kept every iteration. Sizes are those of the whole array for every collective, as ours are.
// Two things are checked because they are often wrong: that times and sizes give the stated
// bandwidth, and that the ratio of bus to algorithm bandwidth is that of this collective over this
// number of ranks (all-reduce 2 (n - 1) / n, reduce-scatter, all-gather and all-to-all (n - 1) / n,
// send/receive 1).
#include "data/base/grow.h"
#include "data/import/nccl_internal.h"

#include <math.h>
#include <string.h>

#include "data/import/import.h"

enum { REPETITIONS_MAX = 1000000 };

static const struct collective {
    const char *program, *operation;
    double bus_steps; // bus over algorithm bandwidth, times n / (n - 1); 0: the ratio is 1
} collectives[] = {
    {"all_reduce", "all_reduce", 2}, {"reduce_scatter", "reduce_scatter", 1},
    {"all_gather", "all_gather", 1}, {"alltoall", "all_to_all", 1},
    {"sendrecv", "send_recv", 0},
};
static const char *const operation_names[] = {"all_reduce", "reduce_scatter", "all_gather",
                                              "all_to_all", "send_recv",      NULL};

static const struct type {
    const char *name;
    enum precision precision;
} types[] = {
    {"float", FP32}, {"half", FP16},    {"bfloat16", BF16}, {"f8e4m3", FP8},
    {"f8e5m2", FP8}, {"fp8_e4m3", FP8}, {"fp8_e5m2", FP8}, // rccl-tests
};

const char *nccl_operation(const char *program)
{
    const char *name = path_name(program), *end = strstr(name, "_perf");
    size_t length = end ? (size_t)(end - name) : 0;
    for (size_t i = 0; i < ARRAY_LENGTH(collectives); i++)
        if (length == strlen(collectives[i].program) &&
            !memcmp(name, collectives[i].program, length))
            return collectives[i].operation;
    return NULL;
}

enum status nccl_refuse_program(const char *program, const char *where, struct error *err)
{
    return refuse(err,
                  "%s: expected all_reduce, reduce_scatter, all_gather, alltoall or sendrecv_perf, "
                  "found \"%.60s\"",
                  where, program);
}

// ---- tests and ranks

static bool is_left_out(const struct nccl_import *n)
{
    return n->settings->test && n->test_count != n->settings->test;
}

// program NULL: the file does not state it.
enum status nccl_begin_test(struct nccl_import *n, const char *program, const char *where,
                            struct error *err)
{
    if (++n->test_count > NCCL_TESTS_MAX)
        return refuse(err, "%s: expected at most %d tests, found more", where, NCCL_TESTS_MAX);
    const char *told = program ? nccl_operation(program) : NULL, *asked = n->settings->operation;
    if (program && !told && !is_left_out(n)) return nccl_refuse_program(program, where, err);
    if (told && asked && strcmp(told, asked) != 0 && !is_left_out(n))
        return refuse(err, "%s: --operation %s, but the file is of %s", where, asked, told);
    struct nccl_test *t = &n->test;
    *t = (struct nccl_test){.operation = told ? told
                                              : asked}; // samples keep the members of the last one
    return OK;
}

static int find_endpoint(struct nccl_import *n, const char *host, int device, int guess)
{
    struct samples *s = &n->samples;
    if (guess < s->endpoint_count && s->endpoints[guess].device == device &&
        !strcmp(s->endpoints[guess].host, host))
        return guess;
    for (int i = 0; i < s->endpoint_count; i++)
        if (s->endpoints[i].device == device && !strcmp(s->endpoints[i].host, host)) return i;
    GROW(n->arena, s->endpoints, s->endpoint_count, n->endpoint_capacity, 16);
    s->endpoints[s->endpoint_count] =
        (struct endpoint){.name = arena_print(n->arena, "%s:%d", host, device),
                          .host = arena_copy_text(n->arena, host),
                          .device = device,
                          .clock = -1};
    return s->endpoint_count++;
}

// Ranks that a shortened list leaves out between two of one host, whose devices leave room for
// them.
static enum status add_left_out(struct nccl_import *n, int64_t rank, int64_t group,
                                const char *host, int64_t device, const char *name,
                                const char *where, struct error *err)
{
    struct nccl_test *t = &n->test;
    if (!t->rank_count || t->group_size || rank - t->rank_count >= NCCL_RANKS_MAX) return OK;
    const struct endpoint *last = &n->samples.endpoints[t->members[t->rank_count - 1]];
    int64_t between = rank - t->rank_count, first = last->device + 1;
    if (between < 1 || first + between != device || strcmp(last->host, host) != 0) return OK;
    for (int64_t i = 0; i < between; i++)
        TRY(nccl_add_rank(n, t->rank_count, group, host, first + i, name, where, err));
    n->assumed_ranks = "ranks that the list leaves out are on the devices between";
    return OK;
}

enum status nccl_add_rank(struct nccl_import *n, int64_t rank, int64_t group, const char *host,
                          int64_t device, const char *device_name, const char *where,
                          struct error *err)
{
    struct nccl_test *t = &n->test;
    TRY(add_left_out(n, rank, group, host, device, device_name, where, err));
    if (t->group_size)
        return refuse(err, "%s: expected no rank after the results, found one", where);
    if (rank < t->rank_count)
        return refuse(err,
                      "%s: rank %lld appears twice: several tests ran side by side, as happens if "
                      "nccl-tests was built without MPI",
                      where, (long long)rank);
    if (rank != t->rank_count)
        return refuse(
            err,
            "%s: expected rank %d, found %lld: if the list of ranks is cut off, give --ranks N "
            "and --gpus-per-node N",
            where, t->rank_count, (long long)rank);
    if (rank >= NCCL_RANKS_MAX || group < 0 || group >= NCCL_RANKS_MAX || device < 0 ||
        device >= NCCL_RANKS_MAX || n->samples.endpoint_count >= NCCL_RANKS_MAX)
        return refuse(
            err,
            "%s: expected ranks, groups and devices below %d, found rank %lld, group %lld, "
            "device %lld",
            where, NCCL_RANKS_MAX, (long long)rank, (long long)group, (long long)device);
    int capacity = t->rank_capacity;
    GROW(n->arena, t->groups, t->rank_count, capacity, 16);
    GROW(n->arena, t->members, t->rank_count, t->rank_capacity, 16);
    t->groups[t->rank_count] = (int)group;
    t->members[t->rank_count++] = find_endpoint(n, host, (int)device, (int)rank);
    struct machine *m = &n->samples.machine;
    if (!m->host) m->host = arena_copy_text(n->arena, host);
    if (!m->gpu && *device_name) m->gpu = arena_copy_text(n->arena, device_name);
    return OK;
}

enum status nccl_settle_groups(struct nccl_import *n, const char *where, struct error *err)
{
    struct nccl_test *t = &n->test;
    if (t->group_size) return OK;
    if (!t->rank_count)
        return refuse(err,
                      "%s: expected the list of ranks and devices before the results, found none: "
                      "give --ranks N, and --gpus-per-node of several nodes",
                      where);
    int *sizes = TAKE(n->arena, NCCL_RANKS_MAX, int);
    for (int i = 0; i < t->rank_count; i++) t->group_count += !sizes[t->groups[i]]++;
    int first = t->groups[0], size = 0, *members = TAKE(n->arena, t->rank_count, int);
    for (int i = 0; i < t->rank_count; i++) {
        if (sizes[t->groups[i]] != sizes[first])
            return refuse(err, "%s: expected groups of equal size, found %d and %d", where,
                          sizes[first], sizes[t->groups[i]]);
        if (t->groups[i] == first) members[size++] = t->members[i];
    }
    if (size < 2) return refuse(err, "%s: expected at least two ranks, found %d", where, size);
    t->members = members;
    t->group_size = size;
    return OK;
}

static enum status expect_operation(const struct nccl_import *n, const char *where,
                                    struct error *err)
{
    if (n->test.operation) return OK;
    return refuse(err,
                  "%s: the file does not name its collective: give --operation all_reduce "
                  "(reduce_scatter, all_gather, all_to_all, send_recv)",
                  where);
}

// ---- rows

static double bus_over_algorithm(const char *operation, int ranks)
{
    for (size_t i = 0; i < ARRAY_LENGTH(collectives); i++)
        if (!strcmp(collectives[i].operation, operation) && collectives[i].bus_steps > 0)
            return collectives[i].bus_steps * (ranks - 1) / ranks;
    return 1;
}

static const double printed_tolerance = 0.06;

static enum status check_bandwidths(const struct nccl_import *n, const struct nccl_row *row,
                                    const char *where, struct error *err)
{
    const struct nccl_test *t = &n->test;
    if (row->algbw < NCCL_BANDWIDTH_CHECKED || !(row->mean_us > 0)) return OK;
    double implied = (double)row->bytes / row->mean_us / 1e3,
           expected = bus_over_algorithm(t->operation, t->group_size);
    if (fabs(implied / row->algbw - 1) > printed_tolerance)
        return refuse(err, "%s: %lld bytes in %g us are %.3g GB/s, but algbw is %g", where,
                      (long long)row->bytes, row->mean_us, implied, row->algbw);
    if (fabs(row->busbw / row->algbw / expected - 1) > NCCL_RATIO_TOLERANCE)
        return refuse(err, "%s: busbw / algbw is %.3g, but %.3g for %s over %d ranks", where,
                      row->busbw / row->algbw, expected, t->operation, t->group_size);
    return OK;
}

static bool is_of(const struct sample *s, const struct nccl_import *n, int64_t bytes,
                  enum precision precision)
{
    const struct nccl_test *t = &n->test;
    return s->dimensions[0] == bytes && s->precision == precision &&
           s->member_count == t->group_size && !strcmp(s->operation, t->operation) &&
           s->alone == (t->group_count == 1) &&
           !memcmp(s->members, t->members, (size_t)t->group_size * sizeof *t->members);
}

// Runs of the same cell are repetitions of one sample.
static struct sample *find_sample(struct nccl_import *n, int64_t bytes, enum precision precision)
{
    struct samples *all = &n->samples;
    const struct nccl_test *t = &n->test;
    for (int i = 0; i < all->sample_count; i++)
        if (is_of(&all->samples[i], n, bytes, precision)) return &all->samples[i];
    struct sample *s = GROWN(n->arena, all->samples, all->sample_count, n->sample_capacity, 64);
    *s = (struct sample){.kind = SAMPLE_COLLECTIVE,
                         .operation = t->operation,
                         .dimensions = {bytes, t->group_size},
                         .dimension_count = 2,
                         .precision = precision,
                         .bytes = (double)bytes,
                         .from = -1,
                         .to = -1,
                         .members = t->members,
                         .member_count = t->group_size,
                         .alone = t->group_count == 1,
                         .stopped_by = "imported"};
    return s;
}

static int room_for(int count)
{
    int room = count ? 1 : 0;
    while (room < count) room *= 2;
    return room;
}

// Tests under several conditions (a page on what an environment variable does) are no repetitions.
static enum status check_repeated(const struct sample *s, const struct nccl_row *row,
                                  const char *where, struct error *err)
{
    enum { BYTES_LEAST = 1 << 20 }; // below, times of one test differ as much
    static const double factor_most = 2;
    double before = s->repetitions ? *s->seconds * 1e6 : row->mean_us;
    if (row->bytes < BYTES_LEAST || !(row->mean_us > 0) ||
        fmax(before, row->mean_us) <= factor_most * fmin(before, row->mean_us))
        return OK;
    return refuse(
        err,
        "%s: %lld bytes take %g us, but %g in a test before: tests of other conditions are "
        "no repetitions: choose one with --test N",
        where, (long long)row->bytes, row->mean_us, before);
}

static enum status add_times(struct sample *s, const struct nccl_row *row, const char *where,
                             struct arena *arena, struct error *err)
{
    int old = s->repetitions, count = old + row->time_count;
    TRY(check_repeated(s, row, where, err));
    if (row->time_count > REPETITIONS_MAX || count > REPETITIONS_MAX)
        return refuse(err, "%s: expected at most %d times of one size, found more", where,
                      REPETITIONS_MAX);
    if (room_for(count) > room_for(old))
        s->seconds =
            arena_grow(arena, s->seconds, (size_t)old, (size_t)room_for(count), sizeof *s->seconds);
    for (int i = 0; i < row->time_count; i++) s->seconds[old + i] = row->times_us[i] * 1e-6;
    s->repetitions = count;
    s->warm_ups += row->warm_ups;
    return OK;
}

enum status nccl_add_row(struct nccl_import *n, const struct nccl_row *row, const char *where,
                         struct error *err)
{
    if (is_left_out(n)) return OK;
    TRY(nccl_settle_groups(n, where, err));
    TRY(expect_operation(n, where, err));
    if (++n->row_count > NCCL_ROWS_MAX)
        return refuse(err, "%s: expected at most %d rows, found more", where, NCCL_ROWS_MAX);
    size_t type = 0;
    while (type < ARRAY_LENGTH(types) && strcmp(types[type].name, row->type)) type++;
    if (type == ARRAY_LENGTH(types)) {
        n->other_type = arena_copy_text(n->arena, row->type);
        n->rows_other_type++;
        if (!n->any_type) return OK;
    }
    enum precision precision = type < ARRAY_LENGTH(types) ? types[type].precision : FP32;
    if (!row->bytes || !row->time_count) {
        n->rows_empty += !row->bytes;
        n->rows_nan += row->bytes > 0;
        return OK;
    }
    TRY(check_bandwidths(n, row, where, err));
    return add_times(find_sample(n, row->bytes, precision), row, where, n->arena, err);
}

// ---- the command

struct options {
    struct reading import;
    struct nccl_settings asked;
    struct nccl_import read;
    int operation;
};
static const struct option_row rows[] = {
    {"--operation", OPTION_NAME, OPT(operation), "collective, if an old file does not name it",
     .names = operation_names},
    {"--ranks", OPTION_INT, OPT(asked.ranks), "number of ranks, if the file does not list all", 2,
     NCCL_RANKS_MAX},
    {"--gpus-per-node", OPTION_INT, OPT(asked.gpus_per_node),
     "of these ranks, on each node (default: all)", 1, NCCL_RANKS_MAX},
    {"--test", OPTION_INT, OPT(asked.test), "the Nth of the file's tests alone", 1, NCCL_TESTS_MAX},
    {"--in-place", OPTION_FLAG, OPT(asked.in_place),
     "read the in-place times (default: out of place)"},
};

static enum status read_tests(struct options *o, struct error *err)
{
    struct reading *r = &o->import;
    struct nccl_import *n = &o->read;
    bool json = r->text[strspn(r->text, " \t\r\n")] == '{';
    n->settings = &o->asked, n->arena = r->arena;
    return (json ? nccl_read_json : nccl_read_text)(n, r->file.path, r->text, r->size, err);
}

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct nccl_import *n = &o->read;
    if (o->operation >= 0) o->asked.operation = operation_names[o->operation];
    TRY(read_tests(o, err));
    if (!n->samples.sample_count && n->rows_other_type) {
        *n = (struct nccl_import){.any_type = true};
        TRY(read_tests(o, err));
    }
    if (o->asked.test > n->test_count)
        return refuse(err, "%s: --test %d: there are %d", r->file.path, (int)o->asked.test,
                      n->test_count);
    if (!n->samples.sample_count)
        return refuse(err,
                      "%s: expected rows with sizes and times, found none that can be imported",
                      r->file.path);
    if (n->guessed_by_name)
        said_assume(&r->said, "the collective is %s, by the file's name", n->guessed);
    if (n->assumed_columns)
        said_assume(&r->said, "columns are size, count, type, time, algbw and busbw, as no header "
                              "is in the file");
    if (n->assumed_ranks) said_assume(&r->said, "%s", n->assumed_ranks);
    if (n->any_type)
        said_assume(&r->said, "rows of %.20s take what fp32 of as many bytes takes", n->other_type);
    r->samples = n->samples;
    r->samples.machine.library = n->version;
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    const struct nccl_import *n = &o->read;
    const char *path = o->import.file.path;
    int repetitions = 0, together = 0;
    for (int i = 0; i < n->samples.sample_count; i++) {
        repetitions += n->samples.samples[i].repetitions;
        together += !n->samples.samples[i].alone;
    }
    fprintf(stderr, "%s: %d sample%s of collectives, %d repetition%s, %s\n", path,
            n->samples.sample_count, n->samples.sample_count == 1 ? "" : "s", repetitions,
            repetitions == 1 ? "" : "s", n->settings->in_place ? "in place" : "out of place");
    if (repetitions == n->samples.sample_count)
        fprintf(stderr,
                "%s: each is a mean with no dispersion; nccl-tests -I 1 -J keeps every iteration\n",
                path);
    if (n->guessed && !n->guessed_by_name)
        fprintf(stderr, "%s: the file does not name its collective: %s, by busbw / algbw\n", path,
                n->guessed);
    if (n->cut_tests)
        fprintf(stderr, "%s: %d test%s cut off; what was printed by then is read\n", n->cut_at,
                n->cut_tests, n->cut_tests == 1 ? " is" : "s are");
    if (together)
        fprintf(stderr,
                "%s: several groups ran at once; their one printed time is the first group's\n",
                path);
    if (n->rows_empty)
        fprintf(stderr, "%s: %d row%s of 0 bytes skipped\n", path, n->rows_empty,
                n->rows_empty == 1 ? "" : "s");
    if (n->rows_nan)
        fprintf(stderr, "%s: %d row%s without a time skipped\n", path, n->rows_nan,
                n->rows_nan == 1 ? "" : "s");
    if (n->rows_other_type && !n->any_type)
        fprintf(stderr, "%s: %d row%s of other types (%.20s) skipped\n", path, n->rows_other_type,
                n->rows_other_type == 1 ? "" : "s", n->other_type);
    if (n->rows_coarse)
        fprintf(stderr,
                "%s: %d time%s printed with only two digits; nccl-tests -J writes all of them\n",
                path, n->rows_coarse, n->rows_coarse == 1 ? "" : "s");
}

static const struct reader reader = {"nccl-tests", MAKES_SAMPLES, false, read_file, tell};
static const struct options defaults = {.import = {.reader = &reader, .output = "-"},
                                        .operation = -1};
const struct command import_nccl = {
    .name = "nccl-tests",
    .text = "nccl-tests output or JSON -> samples of collectives",
    .usage = "plumbline import nccl-tests FILE [-o samples.json] [options]",
    READER(rows, struct options, defaults),
};
