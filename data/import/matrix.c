// plumbline import matrix FILE: a cluster whose links between nodes are those of a measured matrix:
// Pipette's {"gpus": [names], "bandwidth": [[numbers, or texts of numbers]]}, mpiGraph's two tables
// {"0": Recv, "1": Send} of that form, or mpiGraph's output. A row of mpiGraph's Recv table belongs
// to the receiver, a row of its Send table to the sender. Its "MB" are 2^20 bytes; Pipette divides
// by 1000, so that one unit is 1.048576e9 bytes/s. The diagonal is filled, not measured, and is
// ignored: the link between the GPUs of a node must be stated by the user or taken from another
// cluster (--like).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/places/places.h"
#include "data/base/shipped.h"
#include "data/import/import.h"
#include "data/import/matrix.h"
#include "data/import/text.h"

const char *const matrix_row_names[] = {"receiver", "sender", NULL};
const char *const matrix_table_names[] = {"recv", "send", NULL};
const char *const matrix_unit_names[] = {"gb", "mib-thousands", "mib", "mb", NULL};
static const double unit_bytes[] = {1e9, 1048576000.0, 1048576.0, 1e6};

#define RATE_MAX 1e18 // for a cluster's link

// ---- the matrix

static enum status find_table(const struct json *root, int *table, struct json *found,
                              struct arena *arena, struct error *err)
{
    struct json recv = {0}, send = {0};
    struct json_field fields[] = {FIELD_OBJECT("0", OPTIONAL, &recv),
                                  FIELD_OBJECT("1", OPTIONAL, &send)};
    TRY(json_lenient(root, fields, ARRAY_LENGTH(fields), arena, err));
    bool two = json_is_present(&recv) || json_is_present(&send);
    if (!two && *table != TABLE_ONLY)
        return json_refuse(root, err,
                           "--table: expected tables \"0\" and \"1\", found one without a number");
    *found = *root;
    if (!two) return OK;
    if (*table == TABLE_ONLY) *table = TABLE_RECV;
    *found = *table == TABLE_RECV ? recv : send;
    if (!json_is_present(found))
        return json_refuse(root, err, "expected key \"%d\", the %s table", *table,
                           *table == TABLE_RECV ? "Recv" : "Send");
    return OK;
}

static enum status read_names(const struct json *array, const char ***names, int *count,
                              struct arena *arena, struct error *err)
{
    TRY(json_texts(array, names, count, arena, err));
    if (*count < 2 || *count > PLACES_MAX)
        return json_refuse(array, err, "expected 2 to %d names, found %d", PLACES_MAX, *count);
    for (int i = 0; i < *count; i++) {
        if (!*(*names)[i])
            return json_refuse(array, err, "[%d]: expected a name, found an empty one", i);
        for (int k = 0; k < i; k++)
            if (!strcmp((*names)[i], (*names)[k]))
                return json_refuse(array, err, "[%d]: \"%.60s\" appears twice", i, (*names)[i]);
    }
    return OK;
}

// One row: all numbers, or all texts of numbers.
static enum status read_values(const struct json *row, double **values, int *count,
                               struct arena *arena, struct error *err)
{
    TRY(json_expect(row, JSON_ARRAY, err));
    struct json first = json_length(row) ? json_element(row, 0, arena) : *row;
    struct error ignored = {OK, ""};
    if (json_expect(&first, JSON_TEXT, &ignored) != OK)
        return json_cells(row, values, count, arena, err);
    const char **texts;
    TRY(json_texts(row, &texts, count, arena, err));
    *values = TAKE(arena, *count, double);
    for (int i = 0; i < *count; i++) {
        char *end;
        (*values)[i] = strtod(texts[i], &end);
        if (!*texts[i] || *end || texts[i][strspn(texts[i], "0123456789+-.eE")])
            return json_refuse(row, err, "[%d]: expected a number, found \"%.60s\"", i, texts[i]);
    }
    return OK;
}

struct links {
    struct places *places;
    bool row_receives;
    double unit, latency_s;
};

static void begin_links(struct places *p, const char *const *names, int count, struct arena *arena)
{
    p->node_count = count;
    p->nodes = TAKE(arena, count, struct cluster_node);
    for (int i = 0; i < count; i++) p->nodes[i].name = names[i];
    p->measured = TAKE(arena, (size_t)count * (size_t)count, struct link);
    p->absent = TAKE(arena, (size_t)count * (size_t)count, bool);
}

// Stores a row of the table; returns the column whose value is not that of a link, -1: none.
static int put_row(const struct links *l, int row, const double *values)
{
    struct places *p = l->places;
    for (int k = 0; k < p->node_count; k++) {
        int from = l->row_receives ? k : row, to = l->row_receives ? row : k;
        size_t pair = (size_t)from * (size_t)p->node_count + (size_t)to;
        double rate = values[k] * l->unit;
        if (row == k) continue;
        p->absent[pair] = isnan(values[k]);
        if (p->absent[pair]) continue;
        if (!(rate >= 1 && rate <= RATE_MAX)) return k;
        p->measured[pair] = (struct link){rate, l->latency_s};
    }
    return -1;
}

static enum status read_links(const struct links *l, const struct json *rows, struct arena *arena,
                              struct error *err)
{
    int count = l->places->node_count;
    TRY(json_expect_count(rows, count, "rows, one for each of \"gpus\"", err));
    for (int i = 0; i < count; i++) {
        struct json row = json_element(rows, i, arena);
        double *values;
        int length;
        TRY(read_values(&row, &values, &length, arena, err));
        if (length != count)
            return json_refuse(&row, err, "expected %d numbers, one for each of \"gpus\", found %d",
                               count, length);
        int bad = put_row(l, i, values);
        if (bad >= 0)
            return json_refuse(&row, err,
                               "[%d]: \"%.60s\" to \"%.60s\": expected a bandwidth of 1 to %g "
                               "bytes/s, or null where nothing was measured, found %g (%g bytes/s)",
                               bad, l->places->nodes[l->row_receives ? bad : i].name,
                               l->places->nodes[l->row_receives ? i : bad].name, RATE_MAX,
                               values[bad], values[bad] * l->unit);
    }
    return OK;
}

// ---- the cluster

// The nodes' hardware: another cluster's first group, overridden by the options.
static enum status describe_nodes(struct node_group *g, const struct matrix_request *r,
                                  struct arena *arena, struct error *err)
{
    struct cluster like;
    *g = (struct node_group){.name = "nodes", .intra = {0, NAN}};
    if (r->like) {
        const char *path;
        TRY(shipped_find(&path, "clusters", r->like, arena, err));
        TRY(cluster_load(&like, path, arena, err));
        *g = like.groups[0];
    }
    if (r->gpu) g->gpu = r->gpu;
    if (r->gpus_per_node) g->gpus_per_node = (int)r->gpus_per_node;
    if (r->memory_gb > 0) g->memory_bytes = (int64_t)(r->memory_gb * 1e9);
    if (r->intra_gb_per_s > 0) g->intra.bytes_per_s = r->intra_gb_per_s * 1e9;
    if (r->intra_latency_us >= 0) g->intra.latency_s = r->intra_latency_us * 1e-6;
    if (!(g->intra.latency_s >= 0)) g->intra.latency_s = 0;
    const char *missing = !g->gpu                       ? "--gpu"
                          : !g->gpus_per_node           ? "--gpus-per-node"
                          : !g->memory_bytes            ? "--memory-gb"
                          : !(g->intra.bytes_per_s > 0) ? "--intra-gb-s"
                                                        : NULL;
    return missing
               ? refuse(err,
                        "%s is missing: the matrix does not state it; give it, or name a cluster "
                        "of such nodes with --like",
                        missing)
               : OK;
}

static void say_range(const struct places *p)
{
    size_t count = (size_t)p->node_count, slow = 0, fast = 0, known = 0;
    for (size_t i = 0; i < count * count; i++) {
        if (i % (count + 1) == 0 || p->absent[i]) continue;
        if (!known || p->measured[i].bytes_per_s < p->measured[slow].bytes_per_s) slow = i;
        if (!known || p->measured[i].bytes_per_s > p->measured[fast].bytes_per_s) fast = i;
        known++;
    }
    if (!known) fprintf(stderr, "%zu nodes, no link measured\n", count);
    else
        fprintf(stderr,
                "%zu nodes, %zu of %zu links measured, from %.4g GB/s (%s to %s) to %.4g GB/s (%s "
                "to %s)\n",
                count, known, count * (count - 1), p->measured[slow].bytes_per_s * 1e-9,
                p->nodes[slow / count].name, p->nodes[slow % count].name,
                p->measured[fast].bytes_per_s * 1e-9, p->nodes[fast / count].name,
                p->nodes[fast % count].name);
}

// The latency of a link between nodes if it is not stated: that of the fastest network card;
// without a card 0.
static double latency_of(const struct node_group *g, const struct matrix_request *r)
{
    const struct nic *best = NULL;
    if (r->latency_us >= 0) return r->latency_us * 1e-6;
    for (int i = 0; i < g->nic_count; i++)
        if (!best || g->nics[i].link.bytes_per_s > best->link.bytes_per_s) best = &g->nics[i];
    return best ? best->link.latency_s : 0;
}

// One of mpiGraph's two tables, or the only one.
static struct links links_of(struct cluster *c, const struct matrix_request *r, int table)
{
    const int by_form[2][2] = {{MATRIX_MIB, MATRIX_MB}, {MATRIX_MIB_THOUSANDS, MATRIX_GB}};
    int unit = r->unit != MATRIX_BY_FORM ? r->unit : by_form[table == TABLE_ONLY][r->published];
    return (struct links){.places = &c->places,
                          .row_receives = r->rows == ROWS_BY_TABLE
                                              ? table != TABLE_SEND && !r->published
                                              : r->rows == ROWS_RECEIVER,
                          .unit = unit_bytes[unit],
                          .latency_s = latency_of(&c->groups[0], r)};
}

static enum status take_json(struct cluster *c, const struct matrix_request *r, const char *text,
                             size_t size, struct arena *arena, struct error *err)
{
    struct json root, table, gpus = {0}, rows = {0};
    const char **names;
    int chosen = r->table, count;
    TRY(text_json(&root, c->document.path, text, size, arena, err));
    TRY(find_table(&root, &chosen, &table, arena, err));
    struct json_field fields[] = {FIELD_ARRAY("gpus", REQUIRED, &gpus),
                                  FIELD_ARRAY("bandwidth", REQUIRED, &rows)};
    TRY(json_lenient(&table, fields, ARRAY_LENGTH(fields), arena, err));
    TRY(read_names(&gpus, &names, &count, arena, err));
    begin_links(&c->places, names, count, arena);
    struct links links = links_of(c, r, chosen);
    return read_links(&links, &rows, arena, err);
}

static enum status take_text(struct cluster *c, const struct matrix_request *r, const char *text,
                             size_t size, struct arena *arena, struct error *err)
{
    struct matrix_text m;
    int table = r->table == TABLE_SEND ? TABLE_SEND : TABLE_RECV;
    TRY(matrix_read_text(&m, c->document.path, text, size, table == TABLE_SEND, arena, err));
    begin_links(&c->places, m.names, m.count, arena);
    struct links links = links_of(c, r, table);
    for (int i = 0; i < m.count; i++)
        if (put_row(&links, i, &m.values[(size_t)i * (size_t)m.count]) >= 0)
            return refuse(err, "%s: %.60s: expected bandwidths of 1 to %g bytes/s",
                          c->document.path, m.names[i], RATE_MAX);
    return OK;
}

enum status matrix_cluster(struct cluster *c, const char *path, const struct matrix_request *r,
                           struct arena *arena, struct error *err)
{
    const char *text;
    size_t size;
    *c = (struct cluster){.group_count = 1};
    TRY(import_read(&c->document, path, &text, &size, arena, err));
    c->groups = TAKE(arena, 1, struct node_group);
    TRY(describe_nodes(&c->groups[0], r, arena, err));
    size_t blank = strspn(text, " \t\r\n");
    bool json = blank < size && (text[blank] == '{' || text[blank] == '[' || text[blank] == '"');
    TRY((json ? take_json : take_text)(c, r, text, size, arena, err));
    c->groups[0].nodes = c->places.node_count;
    c->name = r->name;
    return cluster_check(c, err);
}

// ---- the command

struct options {
    struct reading import;
    struct matrix_request asked;
};
static const struct option_row options_rows[] = {
    {"--rows", OPTION_NAME, OPT(asked.rows),
     "what a row represents (default: receiver; of a Send table: sender)",
     .names = matrix_row_names},
    {"--table", OPTION_NAME, OPT(asked.table),
     "which of mpiGraph's two tables to read (default: recv)", .names = matrix_table_names},
    {"--unit", OPTION_NAME, OPT(asked.unit),
     "unit: 1e9 bytes/s, 1000 x 2^20 (default for one table), 2^20 (default for mpiGraph's two), "
     "1e6",
     .names = matrix_unit_names},
    {"--latency-us", OPTION_NUMBER, OPT(asked.latency_us),
     "latency of every link, as the matrix has none (default: that of --like's network cards, else "
     "0)",
     0, 1e9},
    {"--like", OPTION_CLUSTER, OPT(asked.like),
     "cluster whose first group describes the nodes, unless options say otherwise: shipped name or "
     "file"},
    {"--gpu", OPTION_GPU, OPT(asked.gpu), "name of the GPU in the costs"},
    {"--gpus-per-node", OPTION_INT, OPT(asked.gpus_per_node), "GPUs per node", 1, 1024},
    {"--memory-gb", OPTION_NUMBER, OPT(asked.memory_gb), "memory of one GPU in GB (1e9 bytes)",
     0.001, 1e6},
    {"--intra-gb-s", OPTION_NUMBER, OPT(asked.intra_gb_per_s),
     "bandwidth between two GPUs of a node, one direction, in GB/s (1e9 bytes/s)", 1e-6, 1e9},
    {"--intra-latency-us", OPTION_NUMBER, OPT(asked.intra_latency_us),
     "latency between two GPUs of a node (default: 0)", 0, 1e9},
};

static enum status read_matrix(void *options, struct error *err)
{
    struct options *o = options;
    o->asked.name = o->import.name;
    TRY(matrix_cluster(&o->import.cluster, o->import.path, &o->asked, o->import.arena, err));
    o->import.file = o->import.cluster.document;
    return OK;
}

static void tell(const void *options)
{
    say_range(&((const struct options *)options)->import.cluster.places);
}

static const struct reader reader = {"matrix", MAKES_CLUSTER, true, read_matrix, tell};
static const struct options defaults = {
    .import = {.reader = &reader, .output = "-", .name = "measured"},
    .asked = {.intra_latency_us = -1,
              .latency_us = -1,
              .rows = ROWS_BY_TABLE,
              .table = TABLE_ONLY,
              .unit = MATRIX_BY_FORM}};
const struct command import_matrix = {
    .name = "matrix",
    .text = "measured bandwidths between nodes (mpiGraph, Pipette) -> cluster",
    .usage = "plumbline import matrix FILE [-o cluster.json] [options]",
    READER(options_rows, struct options, defaults),
};
