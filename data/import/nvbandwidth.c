// plumbline import nvbandwidth FILE: samples of transfers and links from nvbandwidth's JSON, or
// from what it prints. A cell
// is the median of three bandwidths (more with -i) over one buffer, so a sample's seconds are bytes
// / bandwidth: one size, one value, no dispersion. Imported: the copy engines' one-way tests.
// Between host and device, every device is one repetition of one transfer, since samples do not
// distinguish devices of a machine there. Between devices: links, in the direction of the arrow in
// the description. Skipped, with a message that names them: both directions at once, many to one,
// copies by kernels, latencies.
#include <math.h>
#include <string.h>

#include "data/import/import.h"
#include "data/import/nvbandwidth.h"
#include "data/import/text.h"

enum { TESTCASES_MAX = 1024, DEFAULT_BUFFER_MIB = 512 };

static const double bytes_per_mib = 1048576, gigabyte = 1e9;
static const double asymmetry_warned = 0.05; // above it, the direction matters

const char *const nvbandwidth_tests[] = {"host_to_device_memcpy_ce", "device_to_host_memcpy_ce",
                                         "device_to_device_memcpy_write_ce",
                                         "device_to_device_memcpy_read_ce", NULL};
static const char *const transfer_names[] = {"host to device, pinned", "device to host, pinned"};

// ---- cells

// 0: not measured, which is written N/A, or 0 by old releases.
static enum status read_cell(const struct json *row, const char *const *cells, int column,
                             double *gb_per_s, struct error *err)
{
    *gb_per_s = 0;
    if (!strcmp(cells[column], "N/A")) return OK;
    if (!word_is_number(cells[column], gb_per_s) || *gb_per_s < 0 || *gb_per_s > 1e6)
        return json_refuse(row, err, "[%d]: expected GB/s as text, or N/A, found \"%.40s\"", column,
                           cells[column]);
    return OK;
}

// rows x columns; rows 0: as many as columns.
static enum status read_matrix(const struct json *matrix, int rows, double **to, int *columns,
                               struct arena *arena, struct error *err)
{
    int count = json_length(matrix);
    double *values = NULL;
    if (count < 1 || count > DEVICES_MAX || (rows && count != rows))
        return json_refuse(matrix, err, "expected %d row%s, found %d", rows ? rows : DEVICES_MAX,
                           rows == 1 ? "" : "s at most", count);
    *columns = 0;
    for (int r = 0; r < count; r++) {
        struct json row = json_element(matrix, r, arena);
        const char **cells;
        int length;
        TRY(json_expect(&row, JSON_ARRAY, err));
        if (json_length(&row) > DEVICES_MAX)
            return json_refuse(&row, err, "expected at most %d cells, found %d", DEVICES_MAX,
                               json_length(&row));
        TRY(json_texts(&row, &cells, &length, arena, err));
        if (!length || (*columns && length != *columns) || (!rows && length != count))
            return json_refuse(&row, err, "expected %d cells, found %d",
                               rows ? (*columns ? *columns : 1) : count, length);
        *columns = length;
        if (!values) values = TAKE(arena, count * length, double);
        for (int c = 0; c < length; c++)
            TRY(read_cell(&row, cells, c, &values[r * length + c], err));
    }
    *to = values;
    return OK;
}

// ---- samples

static double seconds_of(const struct bandwidths *b, double gb_per_s)
{
    return (double)b->bytes / (gb_per_s * gigabyte);
}

static struct sample *add_sample(struct bandwidths *b, enum sample_kind kind, const char *operation,
                                 int repetitions)
{
    struct sample *s = &b->samples.samples[b->samples.sample_count++];
    *s = (struct sample){.kind = kind,
                         .operation = operation,
                         .dimensions = {b->bytes},
                         .dimension_count = 1,
                         .precision = FP32,
                         .bytes = (double)b->bytes,
                         .from = -1,
                         .to = -1,
                         .seconds = TAKE(b->arena, repetitions, double),
                         .stopped_by = "imported"};
    return s;
}

static void add_transfer(struct bandwidths *b, enum test test)
{
    const struct testcase *t = &b->tests[test];
    int measured = 0;
    for (int i = 0; i < t->columns; i++) measured += t->gb_per_s[i] > 0;
    if (!t->passed || !measured) return;
    struct sample *s = add_sample(b, SAMPLE_TRANSFER, transfer_names[test], measured);
    for (int i = 0; i < t->columns; i++)
        if (t->gb_per_s[i] > 0) s->seconds[s->repetitions++] = seconds_of(b, t->gb_per_s[i]);
}

// "GPU(row) <- GPU(column)": the row is the destination.
static enum status read_arrow(const struct bandwidths *b, const struct testcase *t,
                              bool *row_is_source, struct error *err)
{
    bool to = strstr(t->description, "(row) -> ") != NULL,
         from = strstr(t->description, "(row) <- ") != NULL;
    if (to == from)
        return refuse(err,
                      "%s: %s: expected a description with (row) <- or (row) ->, found \"%.60s\"",
                      b->path, t->place, t->description);
    *row_is_source = to;
    return OK;
}

static void add_endpoints(struct bandwidths *b, int count)
{
    struct samples *s = &b->samples;
    const char *host = s->machine.host ? s->machine.host : "host";
    s->endpoints = TAKE(b->arena, count, struct endpoint);
    s->endpoint_count = count;
    for (int i = 0; i < count; i++)
        s->endpoints[i] = (struct endpoint){.name = arena_print(b->arena, "%s:%d", host, i),
                                            .host = host,
                                            .device = i,
                                            .clock = -1};
}

// The writes, unless the reads alone are whole.
static const struct testcase *peer_test(const struct bandwidths *b)
{
    const struct testcase *write = &b->tests[PEER_WRITE], *read = &b->tests[PEER_READ];
    return write->passed && (!write->cut || !read->passed || read->cut) ? write : read;
}

static enum status add_links(struct bandwidths *b, struct error *err)
{
    const struct testcase *t = peer_test(b);
    const double *gb_per_s = t->gb_per_s;
    int n = t->columns;
    bool row_is_source = false;
    if (!t->passed) return OK;
    TRY(read_arrow(b, t, &row_is_source, err));
    if (b->against_arrow) row_is_source = !row_is_source;
    add_endpoints(b, n);
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++) {
            double there = gb_per_s[row * n + column], back = gb_per_s[column * n + row];
            if (row == column || !(there > 0)) continue;
            struct sample *s = add_sample(b, SAMPLE_LINK, "send", 1);
            s->from = row_is_source ? row : column;
            s->to = row_is_source ? column : row;
            s->alone = true;
            s->seconds[s->repetitions++] = seconds_of(b, there);
            if (back > 0) b->asymmetry = fmax(b->asymmetry, fabs(there - back) / fmax(there, back));
        }
    return OK;
}

// ---- the document

static enum status read_testcase(struct bandwidths *b, const struct json *object, struct error *err)
{
    const char *name, *status;
    struct testcase t = {.description = ""};
    struct json matrix = {0};
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &name),
        FIELD_TEXT("status", REQUIRED, &status),
        FIELD_TEXT("bandwidth_description", OPTIONAL, &t.description),
        FIELD_ARRAY("bandwidth_matrix", OPTIONAL, &matrix),
    };
    TRY(json_lenient(object, fields, ARRAY_LENGTH(fields), b->arena, err));
    int test = 0;
    while (test < TEST_COUNT && strcmp(nvbandwidth_tests[test], name)) test++;
    if (test == TEST_COUNT) {
        if (!b->passed_over++) b->not_taken = name;
        return OK;
    }
    if (strcmp(status, "Passed")) {
        b->failed++;
        return OK;
    }
    if (!json_is_present(&matrix))
        return json_refuse(object, err,
                           "expected a bandwidth_matrix of a test that passed, found none");
    if (b->tests[test].passed) return json_refuse(object, err, "name: \"%s\" appears twice", name);
    TRY(read_matrix(&matrix, test < PEER_WRITE, &t.gb_per_s, &t.columns, b->arena, err));
    t.passed = true, t.place = matrix.path;
    b->tests[test] = t;
    return OK;
}

// "0: NVIDIA H100 80GB HBM3 (00000000:1B:00): (node-1)": the name is between the colon and the
// bracket.
static const char *device_name(const char *text, struct arena *arena)
{
    const char *colon = strstr(text, ": "), *from = colon ? colon + 2 : text,
               *end = strstr(from, " (");
    return end && end > from ? arena_print(arena, "%.*s", (int)(end - from), from) : NULL;
}

static enum status read_root(struct bandwidths *b, const struct json *root, struct error *err)
{
    struct json body = {0}, tests = {0}, list = {0};
    const char *version = NULL, **devices;
    struct machine *m = &b->samples.machine;
    int count;
    struct json_field outer[] = {FIELD_OBJECT("nvbandwidth", REQUIRED, &body)};
    TRY(json_lenient(root, outer, 1, b->arena, err));
    struct json_field fields[] = {
        FIELD_ARRAY("testcases", REQUIRED, &tests),
        FIELD_TEXT("version", OPTIONAL, &version),
        FIELD_TEXT("Driver Version", OPTIONAL, &m->driver),
        FIELD_TEXT("Hostname", OPTIONAL, &m->host),
        FIELD_ARRAY("GPU Device list", OPTIONAL, &list),
    };
    TRY(json_lenient(&body, fields, ARRAY_LENGTH(fields), b->arena, err));
    if (version) m->library = arena_print(b->arena, "nvbandwidth %s", version);
    if (json_length(&list) > DEVICES_MAX || json_length(&tests) > TESTCASES_MAX)
        return json_refuse(&body, err, "expected at most %d devices and %d testcases, found more",
                           DEVICES_MAX, TESTCASES_MAX);
    if (json_length(&list) > 0) {
        TRY(json_texts(&list, &devices, &count, b->arena, err));
        m->gpu = device_name(devices[0], b->arena);
    }
    for (int i = 0; i < json_length(&tests); i++) {
        struct json test = json_element(&tests, i, b->arena);
        TRY(read_testcase(b, &test, err));
    }
    return OK;
}

static enum status make_samples(struct bandwidths *b, struct error *err)
{
    int n = peer_test(b)->columns;
    b->samples.samples = TAKE(b->arena, 2 + n * n, struct sample);
    for (int i = 0; i < TEST_COUNT; i++)
        if (b->tests[i].passed && !strstr(b->tests[i].description, "(GB/s)"))
            return refuse(err, "%s: %s: expected a table of (GB/s), found \"%.60s\"", b->path,
                          b->tests[i].place, b->tests[i].description);
    add_transfer(b, TO_DEVICE);
    add_transfer(b, TO_HOST);
    TRY(add_links(b, err));
    if (!b->samples.sample_count && b->unnamed)
        return refuse(
            err,
            "%s: a table does not name its test: expected \"Running NAME.\" before it, or "
            "\"SUM NAME ...\" behind it",
            b->path);
    return b->samples.sample_count ? OK
                                   : refuse(err,
                                            "%s: expected %s or another one-way test of the copy "
                                            "engines that passed, found none",
                                            b->path, nvbandwidth_tests[0]);
}

struct options {
    struct reading import;
    struct bandwidths read;
    int64_t buffer_mib;
};
static const struct option_row rows[] = {
    {"--buffer-mib", OPTION_INT, OPT(buffer_mib),
     "nvbandwidth's --bufferSize, which its file does not state (default: 512)", 1, 1 << 20},
    {"--against-arrow", OPTION_FLAG, OPT(read.against_arrow),
     "take copies between devices against the arrow of the description"},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct json root;
    o->read.arena = r->arena;
    if (!o->buffer_mib)
        said_assume(&r->said, "buffers of %d MiB, the program's default (--buffer-mib)",
                    DEFAULT_BUFFER_MIB);
    o->read.bytes = (o->buffer_mib ? o->buffer_mib : DEFAULT_BUFFER_MIB) * (int64_t)bytes_per_mib;
    o->read.path = r->file.path;
    if (r->text[strspn(r->text, " \t\r\n")] == '{') {
        TRY(text_json(&root, r->file.path, r->text, r->size, r->arena, err));
        TRY(read_root(&o->read, &root, err));
    } else TRY(nvbandwidth_read_text(&o->read, r->text, r->size, err));
    TRY(make_samples(&o->read, err));
    r->samples = o->read.samples;
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    const struct bandwidths *b = &o->read;
    const char *path = o->import.file.path;
    fprintf(stderr,
            "%s: %d samples of %lld bytes, each a median with no dispersion; one size gives no "
            "latency\n",
            path, b->samples.sample_count, (long long)b->bytes);
    if (b->passed_over)
        fprintf(stderr, "%s: %d test%s skipped (%.60s)\n", path, b->passed_over,
                b->passed_over == 1 ? "" : "s", b->not_taken);
    if (b->failed)
        fprintf(stderr, "%s: %d test%s did not pass\n", path, b->failed, b->failed == 1 ? "" : "s");
    if (b->cut)
        fprintf(stderr, "%s: %d table%s cut off: the whole rows are read\n", path, b->cut,
                b->cut == 1 ? " is" : "s are");
    if (b->asymmetry > asymmetry_warned)
        fprintf(stderr,
                "%s: the two directions of a pair differ by %.0f %%: check which is which, in some "
                "releases the arrow points against the copy; --against-arrow reverses it\n",
                path, 100 * b->asymmetry);
}

static const struct reader reader = {"nvbandwidth", MAKES_SAMPLES, false, read_file, tell};
static const struct options defaults = {.import = {.reader = &reader, .output = "-"},
                                        .buffer_mib = 0};
const struct command import_nvbandwidth = {
    .name = "nvbandwidth",
    .text = "nvbandwidth output or JSON -> samples of transfers and links",
    .usage = "plumbline import nvbandwidth FILE [-o samples.json] [options]",
    READER(rows, struct options, defaults),
};
