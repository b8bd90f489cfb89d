// The output of nccl-tests -J. Its booleans are texts, not-a-number is the text "nan", and nwrong
// is null if nothing was checked. It contains the whole environment: `env` is never read. With
// several devices per process, `devices` has only the first of each process; the others follow from
// config's nthreads and ngpus.
#include <string.h>

#include "data/import/nccl_internal.h"
#include "data/import/text.h"

static const char *place(const struct json *at, struct arena *arena)
{
    return arena_print(arena, "%s: %s", at->file, at->path);
}

// A number of microseconds, or the text "nan": 0.
static enum status read_time(const struct json *object, const char *key, double *us,
                             struct arena *arena, struct error *err)
{
    struct error ignored = {OK, ""};
    const char *text = NULL;
    struct json_field word[] = {FIELD_TEXT(key, OPTIONAL, &text)},
                      number[] = {FIELD_NUMBER(key, OPTIONAL, us, 0, 1e12)};
    *us = 0;
    if (json_lenient(object, word, 1, arena, &ignored) == OK && text &&
        (!strcmp(text, "nan") || !strcmp(text, "-nan")))
        return OK;
    return json_lenient(object, number, 1, arena, err);
}

// ---- participants

struct device {
    int rank, group, device;
    const char *host, *name;
};

static enum status read_device(const struct json *object, struct device *d, struct arena *arena,
                               struct error *err)
{
    *d = (struct device){.name = ""};
    struct json_field fields[] = {
        FIELD_INT("rank", REQUIRED, &d->rank, 0, NCCL_RANKS_MAX - 1),
        FIELD_INT("group", OPTIONAL, &d->group, 0, NCCL_RANKS_MAX - 1),
        FIELD_TEXT("hostname", REQUIRED, &d->host),
        FIELD_INT("device", REQUIRED, &d->device, 0, NCCL_RANKS_MAX - 1),
        FIELD_TEXT("device_info", OPTIONAL, &d->name),
    };
    return json_lenient(object, fields, ARRAY_LENGTH(fields), arena, err);
}

// Whether each entry stands for a whole process: its rank is a multiple of the number of devices
// per process.
static enum status is_by_process(const struct json *devices, int each, bool *by_process,
                                 struct arena *arena, struct error *err)
{
    struct json second;
    struct device d;
    *by_process = each > 1;
    if (each < 2 || json_length(devices) < 2) return OK;
    second = json_element(devices, 1, arena);
    TRY(read_device(&second, &d, arena, err));
    *by_process = d.rank == each;
    return OK;
}

static enum status read_devices(struct nccl_import *n, const struct json *devices, int each,
                                struct error *err)
{
    bool by_process;
    if (json_length(devices) < 1 || json_length(devices) > NCCL_RANKS_MAX)
        return json_refuse(devices, err, "expected 1 to %d devices, found %d", NCCL_RANKS_MAX,
                           json_length(devices));
    TRY(is_by_process(devices, each, &by_process, n->arena, err));
    for (int i = 0; i < json_length(devices); i++) {
        struct json element = json_element(devices, i, n->arena);
        struct device d;
        TRY(read_device(&element, &d, n->arena, err));
        for (int k = 0; k < (by_process ? each : 1); k++)
            TRY(nccl_add_rank(n, d.rank + k, d.group, d.host, d.device + k, d.name,
                              place(&element, n->arena), err));
    }
    return OK;
}

// ---- results

// With -I 1: every iteration; the first `skipped` of them are warm-ups.
static enum status read_iterations(const struct json *object, struct nccl_row *row,
                                   struct arena *arena, struct error *err)
{
    struct json times = {0};
    int skipped = 0, count;
    struct json_field fields[] = {
        FIELD_ARRAY("times_us", OPTIONAL, &times),
        FIELD_INT("skipped_iterations", OPTIONAL, &skipped, 0, 1000000),
    };
    TRY(json_lenient(object, fields, ARRAY_LENGTH(fields), arena, err));
    if (!json_is_present(&times) || !json_length(&times)) return OK;
    TRY(json_numbers(&times, 1e-3, 1e12, &row->times_us, &count, arena, err));
    if (skipped >= count)
        return json_refuse(object, err,
                           "skipped_iterations: expected fewer than the %d iterations, found %d",
                           count, skipped);
    row->times_us += skipped;
    row->time_count = count - skipped;
    row->warm_ups = skipped;
    return OK;
}

static enum status read_side(const struct json *side, struct nccl_row *row, struct arena *arena,
                             struct error *err)
{
    double wrong = 0, processor = 0;
    TRY(read_time(side, "cpu_time", &processor, arena, err));
    if (processor > 0)
        return json_refuse(side, err,
                           "cpu_time: the calls' time on the processor is not the operations'");
    TRY(read_time(side, "time", &row->mean_us, arena, err));
    TRY(read_time(side, "alg_bw", &row->algbw, arena, err));
    TRY(read_time(side, "bus_bw", &row->busbw, arena, err));
    struct json_field fields[] = {FIELD_NUMBER("nwrong", OPTIONAL, &wrong, 0, 1e30)};
    TRY(json_lenient(side, fields, 1, arena, err));
    if (wrong > 0)
        return json_refuse(side, err, "nwrong: expected 0, found %g: what was timed did not work",
                           wrong);
    if (row->time_count) return OK;
    row->times_us = TAKE(arena, 1, double);
    row->times_us[0] = row->mean_us;
    row->time_count = row->mean_us > 0;
    return OK;
}

static enum status read_result(struct nccl_import *n, const struct json *result, struct error *err)
{
    bool in_place = n->settings->in_place;
    struct json side = {0}, iterations = {0};
    struct nccl_row row = {0};
    struct json_field fields[] = {
        FIELD_COUNT("size", REQUIRED, &row.bytes, 0, JSON_COUNT_MAX),
        FIELD_TEXT("type", REQUIRED, &row.type),
        FIELD_OBJECT(in_place ? "in_place" : "out_of_place", OPTIONAL, &side),
        FIELD_OBJECT(in_place ? "in_place_per_iter" : "out_of_place_per_iter", OPTIONAL,
                     &iterations),
    };
    TRY(json_lenient(result, fields, ARRAY_LENGTH(fields), n->arena, err));
    if (json_is_present(&iterations)) TRY(read_iterations(&iterations, &row, n->arena, err));
    if (json_is_present(&side)) TRY(read_side(&side, &row, n->arena, err));
    return nccl_add_row(n, &row, place(result, n->arena), err);
}

static enum status check_outcome(const struct json *root, struct arena *arena, struct error *err)
{
    struct json bounds = {0}, bandwidth = {0};
    int64_t count = 0;
    struct json_field fields[] = {FIELD_OBJECT("out_of_bounds", OPTIONAL, &bounds),
                                  FIELD_OBJECT("average_bus_bandwidth", OPTIONAL, &bandwidth)};
    TRY(json_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    if (!json_is_present(&bounds) || !json_is_present(&bandwidth))
        return json_refuse(root, err,
                           "expected out_of_bounds and average_bus_bandwidth at a test's end, "
                           "found none: the test did not end");
    struct json_field counts[] = {FIELD_COUNT("count", OPTIONAL, &count, 0, JSON_COUNT_MAX)};
    TRY(json_lenient(&bounds, counts, 1, arena, err));
    return count ? json_refuse(&bounds, err, "count: expected 0, found %lld: the test failed",
                               (long long)count)
                 : OK;
}

// args[0], the program's name; nothing else of the command line is used.
static enum status begin_test(struct nccl_import *n, const struct json *root,
                              const struct json *args, struct error *err)
{
    const char **words, *program = NULL;
    int count;
    if (json_length(args) > 0) {
        TRY(json_texts(args, &words, &count, n->arena, err));
        program = words[0];
    }
    return nccl_begin_test(n, program, arena_print(n->arena, "%s: args", root->file), err);
}

static enum status read_ranks(struct nccl_import *n, const struct json *root,
                              const struct json *config, const struct json *devices,
                              struct error *err)
{
    struct json inside = {0};
    int threads = 1, gpus = 1;
    struct json_field fields[] = {
        FIELD_INT("nthreads", OPTIONAL, &threads, 1, 256),
        FIELD_INT("ngpus", OPTIONAL, &gpus, 1, 256),
        FIELD_ARRAY("devices", OPTIONAL, &inside),
    };
    if (json_is_present(config))
        TRY(json_lenient(config, fields, ARRAY_LENGTH(fields), n->arena, err));
    if (!json_is_present(devices) && !json_is_present(&inside))
        return json_refuse(root, err, "expected devices, in config or next to it, found none");
    return read_devices(n, json_is_present(devices) ? devices : &inside, threads * gpus, err);
}

enum status nccl_read_json(struct nccl_import *n, const char *path, const char *text, size_t size,
                           struct error *err)
{
    struct json root, args = {0}, config = {0}, devices = {0}, results = {0};
    int64_t version = 0;
    TRY(text_json(&root, path, text, size, n->arena, err));
    struct json_field fields[] = {
        FIELD_ARRAY("args", OPTIONAL, &args),
        FIELD_OBJECT("config", OPTIONAL, &config),
        FIELD_ARRAY("devices", OPTIONAL, &devices),
        FIELD_ARRAY("results", REQUIRED, &results),
        FIELD_COUNT("nccl_version", OPTIONAL, &version, 0, 10000000),
    };
    TRY(json_lenient(&root, fields, ARRAY_LENGTH(fields), n->arena, err));
    TRY(check_outcome(&root, n->arena, err));
    if (version)
        n->version = arena_print(n->arena, "NCCL %lld.%lld.%lld", (long long)(version / 10000),
                                 (long long)(version / 100 % 100), (long long)(version % 100));
    TRY(begin_test(n, &root, &args, err));
    TRY(read_ranks(n, &root, &config, &devices, err));
    if (json_length(&results) > NCCL_ROWS_MAX)
        return json_refuse(&results, err, "expected at most %d results, found %d", NCCL_ROWS_MAX,
                           json_length(&results));
    for (int i = 0; i < json_length(&results); i++) {
        struct json result = json_element(&results, i, n->arena);
        TRY(read_result(n, &result, err));
    }
    return OK;
}
