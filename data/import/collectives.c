// Tables of measured collectives in a CSV file: each row has an operation, its number of ranks, the
// number of ranks per node, bytes and a time. Each becomes the costs' times of such a collective,
// point by point. A time above that of a larger message is noise and is replaced by the latter.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/import.h"
#include "data/text/table.h"
#include "data/base/shipped.h"

enum { RANKS_MOST = 1 << 20 };
static const char *const operations[] = {"all_reduce", "send_recv", NULL};
enum { SEND_RECV = 1 };

struct point {
    int operation;
    int64_t ranks, per_node;
    double bytes, seconds;
};

struct collectives_import {
    const char *cluster, *gpu; // cluster NULL: every row
    bool inside;               // only rows within a node
    int64_t node;              // the most ranks on one node of any row: all of its GPUs
    struct point *points;
    int count, capacity;
    struct arena *arena;
};

// The first of two names that is a column of the table.
static enum status find_column(int *column, const struct table *t, const char *name,
                               const char *other, struct error *err)
{
    *column = table_column(t, name);
    if (*column < 0 && other) *column = table_column(t, other);
    return *column >= 0 ? OK
                        : refuse(err, "%s: expected a column %s%s%s, found none", t->path, name,
                                 other ? " or " : "", other ? other : "");
}

static enum status read_points(struct collectives_import *in, struct table *t, struct error *err)
{
    int operation, ranks, per_node, bytes, time, cluster = -1;
    TRY(find_column(&operation, t, "operation", NULL, err));
    TRY(find_column(&ranks, t, "ranks", NULL, err));
    TRY(find_column(&per_node, t, "devices_per_node", NULL, err));
    TRY(find_column(&bytes, t, "bytes", "size_as_given", err));
    TRY(find_column(&time, t, "us", "median_us", err));
    if (in->cluster) TRY(find_column(&cluster, t, "cluster", NULL, err));
    for (bool more = true;;) {
        struct point x = {0};
        TRY(table_next(t, &more, err));
        if (!more) return OK;
        if (in->cluster && !cell_is(t->cells[cluster], in->cluster)) continue;
        TRY(table_name(t, operation, operations, &x.operation, err));
        TRY(table_whole(t, ranks, 2, RANKS_MOST, &x.ranks, err));
        TRY(table_whole(t, per_node, 1, RANKS_MOST, &x.per_node, err));
        TRY(table_number(t, bytes, 1, 1e15, &x.bytes, err));
        TRY(table_number(t, time, 1e-3, 1e12, &x.seconds, err));
        x.seconds /= 1e6;
        if (x.per_node > in->node) in->node = x.per_node;
        if (in->inside && x.ranks > x.per_node) continue;
        *GROWN(in->arena, in->points, in->count, in->capacity, 256) = x;
    }
}

static int compare(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->operation != y->operation) return x->operation - y->operation;
    if (x->ranks != y->ranks) return x->ranks < y->ranks ? -1 : 1;
    if (x->per_node != y->per_node) return x->per_node > y->per_node ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool same_table(const struct point *a, const struct point *b)
{
    return a->operation == b->operation && a->ranks == b->ranks && a->per_node == b->per_node;
}

static enum status put_table(struct collective_times *to, const struct collectives_import *in,
                             int first, int count, const char *path, struct error *err)
{
    const struct point *points = in->points + first;
    *to = (struct collective_times){.gpu = in->gpu,
                                    .send = points->operation == SEND_RECV,
                                    .between_nodes = points->ranks > points->per_node,
                                    .ranks = points->ranks,
                                    .point_count = count,
                                    .bytes = TAKE(in->arena, count, double),
                                    .seconds = TAKE(in->arena, count, double)};
    if (to->between_nodes && !to->send && points->per_node == in->node)
        to->nodes = (points->ranks + in->node - 1) / in->node;
    for (int i = count - 1; i >= 0; i--) {
        bool noise = i + 1 < count && points[i].seconds > to->seconds[i + 1];
        if (i + 1 < count && points[i].bytes >= to->bytes[i + 1])
            return refuse(err, "%s: %s among %lld ranks, %lld a node: %.9g bytes twice", path,
                          operations[points->operation], (long long)points->ranks,
                          (long long)points->per_node, points[i].bytes);
        to->bytes[i] = points[i].bytes;
        to->seconds[i] = noise ? to->seconds[i + 1] : points[i].seconds;
    }
    return OK;
}

// The first entry that matches counts, so new measurements come before existing ones. For ranks
// over several nodes, those that fill their nodes best come first.
static enum status add_tables(struct costs *c, struct collectives_import *in, const char *path,
                              struct error *err)
{
    struct collective_times *tables =
        TAKE(in->arena, in->count + c->collective_count, struct collective_times);
    int count = 0;
    if (!in->count) return refuse(err, "%s: expected rows of what is asked for, found none", path);
    qsort(in->points, (size_t)in->count, sizeof *in->points, compare);
    for (int first = 0, next; first < in->count; first = next) {
        for (next = first; next < in->count && same_table(&in->points[first], &in->points[next]);)
            next++;
        TRY(put_table(&tables[count++], in, first, next - first, path, err));
    }
    for (int i = 0; i < c->collective_count; i++) tables[count + i] = c->collectives[i];
    c->collectives = tables;
    c->collective_count += count;
    return OK;
}

// "CLUSTER=GPU": the rows of that cluster belong to the GPU; "GPU": all rows do.
static enum status import_gpu(struct costs *c, const char *text, bool inside,
                              const struct document *file, const char *bytes, size_t size,
                              struct arena *arena, struct error *err)
{
    const char *gpu = strchr(text, '=');
    struct collectives_import in = {.gpu = gpu ? gpu + 1 : text, .inside = inside, .arena = arena};
    struct table t;
    if (gpu) in.cluster = arena_print(arena, "%.*s", (int)(gpu - text), text);
    if (!costs_find_gpu(c, in.gpu))
        return refuse(err, "--gpu: the costs have no GPU \"%.60s\"", in.gpu);
    TRY(table_open_text(&t, file->path, bytes, size, arena, err));
    TRY(read_points(&in, &t, err));
    return add_tables(c, &in, file->path, err);
}

struct options {
    struct reading import;
    const char *into;
    struct option_texts gpus;
    bool inside;
};
static const struct option_row rows[] = {
    {"--into", OPTION_COSTS, OPT(into), "costs to add the tables to: shipped name or file"},
    {"--gpu", OPTION_TEXT, OPT(gpus),
     "GPU of the costs that was measured; CLUSTER=GPU: for rows with this value in column cluster",
     .many = OPTION_ANY_NUMBER},
    {"--inside", OPTION_FLAG, OPT(inside),
     "use only rows within one node (nodes are joined by another network)"},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    struct costs *c = &r->costs;
    const char *path;
    TRY(shipped_find(&path, "costs", o->into, r->arena, err));
    TRY(costs_load(c, path, r->arena, err));
    r->into = memcpy(TAKE(r->arena, 1, struct document), &c->document, sizeof c->document);
    for (int i = 0; i < o->gpus.count; i++)
        TRY(import_gpu(c, o->gpus.items[i], o->inside, &r->file, r->text, r->size, r->arena, err));
    return OK;
}

static const struct reader reader = {"collectives", MAKES_COSTS, false, read_file, NULL};
static const struct options defaults = {.import = {.reader = &reader, .output = "-"}};
const struct command import_collectives = {
    .name = "collectives",
    .text = "table of measured collectives -> costs with their times",
    .usage = "plumbline import collectives FILE.csv --into COSTS --gpu NAME [options]",
    .needs = "--into --gpu",
    READER(rows, struct options, defaults),
};
