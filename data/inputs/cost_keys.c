// Estimates of data/inputs/costs.h by name: where each one is, and whether a larger value means
// faster.
#include "data/inputs/cost_keys.h"

#include <assert.h>
#include <string.h>

#include "data/base/names.h"
#include "data/inputs/costs_internal.h"

enum { COST_KEYS_MOST = 128 };

const char *const cost_group_names[] = {"products", "attention", "memory on devices and hosts",
                                        "launches", "trainer",   "links within nodes",
                                        "network",  "fabric",    "overlap",
                                        NULL};

#define COST_KEY(name, group, scope, sense, at, low, high)                                         \
    {name, COSTS_OF_##group, COST_OF_##scope, COST_##sense, at, low, high},
#define OF_PRECISION(member, group, sense, need, low, high)                                        \
    COST_KEY(#member, group, PRECISION, sense, offsetof(struct precision_costs, member), low, high)
#define OF_GPU(member, group, sense, need, low, high)                                              \
    COST_KEY(#member, group, GPU, sense, offsetof(struct gpu_costs, member), low, high)
#define OF_ALL(member, group, sense, need, low, high)                                              \
    COST_KEY(#member, group, ALL, sense, offsetof(struct costs, member), low, high)
#define OF_OBJECT(object, key, member, group, sense, need, low, high)                              \
    COST_KEY(#object "." #key, group, ALL, sense, offsetof(struct costs, member), low, high)

const struct cost_key cost_keys[] = {PRECISION_ESTIMATES(OF_PRECISION) GPU_ESTIMATES(OF_GPU)
                                         INTRA_ESTIMATES(OF_ALL) NETWORK_ESTIMATES(OF_OBJECT)
                                             TRANSFER_ESTIMATES(OF_OBJECT) COSTS_ESTIMATES(OF_ALL)};
const int cost_key_count = ARRAY_LENGTH(cost_keys);

int cost_key_find(const char *name)
{
    int found = -1, count = 0;
    size_t length = strlen(name);
    for (int i = 0; i < cost_key_count; i++) {
        if (!strcmp(cost_keys[i].name, name)) return i;
        if (length && !strncmp(cost_keys[i].name, name, length)) found = i, count++;
    }
    return count == 1 ? found : -1;
}

const char *cost_key_nearest(const char *name)
{
    const char *names[COST_KEYS_MOST];
    assert(cost_key_count <= COST_KEYS_MOST);
    for (int i = 0; i < cost_key_count; i++) names[i] = cost_keys[i].name;
    return names[name_nearest(name, names, cost_key_count)];
}

static void visit_gpu(struct gpu_costs *g, int key, int value_bytes, cost_visitor *visit,
                      void *context)
{
    const struct cost_key *k = &cost_keys[key];
    if (k->scope == COST_OF_GPU) {
        visit((struct estimate *)((char *)g + k->offset), k, context);
        return;
    }
    for (int i = 0; i < g->precision_count; i++)
        if (!value_bytes || precision_bytes(g->precisions[i].precision) == value_bytes)
            visit((struct estimate *)((char *)&g->precisions[i] + k->offset), k, context);
}

void costs_visit(struct costs *c, int key, const char *gpu, int value_bytes, cost_visitor *visit,
                 void *context)
{
    const struct cost_key *k = &cost_keys[key];
    if (k->scope == COST_OF_ALL) {
        visit((struct estimate *)((char *)c + k->offset), k, context);
        return;
    }
    for (int i = 0; i < c->gpu_count; i++)
        if (!gpu || !strcmp(c->gpus[i].gpu, gpu))
            visit_gpu(&c->gpus[i], key, value_bytes, visit, context);
}

// Numbers of a group by what is known of them.
enum { KNOWN, PRINTED, ASSUMED, KINDS_OF_ORIGIN };

static void count_origin(struct estimate *e, const struct cost_key *key, void *context)
{
    int(*counts)[KINDS_OF_ORIGIN] = context;
    int kind = e->origin == ORIGIN_ASSUMED     ? ASSUMED
               : e->origin == ORIGIN_PUBLISHED ? PRINTED
                                               : KNOWN;
    if (e->value > 0 && key->sense != COST_BYTES) counts[key->group][kind]++;
}

const char *costs_origins(const struct costs *c, const char *gpu, int value_bytes,
                          struct arena *arena)
{
    static const char *const words[] = {"measured or fitted", "published", "assumed"};
    int counts[COST_GROUPS][KINDS_OF_ORIGIN] = {{0}};
    struct costs copy = costs_copy(c, arena);
    const char *text = "";
    for (int key = 0; key < cost_key_count; key++)
        costs_visit(&copy, key, gpu, value_bytes, count_origin, counts);
    for (int kind = 0; kind < KINDS_OF_ORIGIN; kind++) {
        const char *list = "";
        for (int g = 0; g < COST_GROUPS; g++) {
            int better = 0, worse = 0;
            for (int k = 0; k < KINDS_OF_ORIGIN; k++)
                *(k < kind ? &better : &worse) += k == kind ? 0 : counts[g][k];
            if (counts[g][kind] && !worse)
                list = arena_print(arena, "%s%s%s%s", list, *list ? ", " : "",
                                   better ? "some of " : "", cost_group_names[g]);
        }
        if (*list)
            text = arena_print(arena, "%s%s%s: %s", text, *text ? "; " : "", words[kind], list);
    }
    return text;
}

struct costs costs_copy(const struct costs *c, struct arena *arena)
{
    struct costs copy = *c;
    copy.gpus = TAKE(arena, c->gpu_count, struct gpu_costs);
    for (int i = 0; i < c->gpu_count; i++) {
        struct gpu_costs *g = &copy.gpus[i];
        *g = c->gpus[i];
        g->precisions = TAKE(arena, g->precision_count, struct precision_costs);
        for (int k = 0; k < g->precision_count; k++) g->precisions[k] = c->gpus[i].precisions[k];
    }
    copy.collectives = TAKE(arena, c->collective_count, struct collective_times);
    for (int i = 0; i < c->collective_count; i++) {
        struct collective_times *t = &copy.collectives[i];
        *t = c->collectives[i];
        t->segments = TAKE(arena, t->segment_count, struct segment);
        for (int k = 0; k < t->segment_count; k++) t->segments[k] = c->collectives[i].segments[k];
    }
    return copy;
}

struct likeness {
    const char *like;
    struct arena *arena;
};

static void assume(struct estimate *e, const struct cost_key *key, void *context)
{
    const struct likeness *x = context;
    (void)key;
    if (!(e->value > 0)) return;
    e->origin = ORIGIN_ASSUMED;
    e->source = arena_print(x->arena, "as of %s: %s", x->like, e->source ? e->source : "");
}

enum status costs_add_like(struct costs *c, const char *gpu, const char *like, struct arena *arena,
                           struct error *err)
{
    const struct gpu_costs *from = costs_find_gpu(c, like), *has = costs_find_gpu(c, gpu);
    if (!from) return refuse(err, "--like: the costs %s have no GPU %s", c->name, like);
    if (has && !has->like)
        return refuse(err, "--like: the costs %s already have numbers of %s", c->name, gpu);
    struct costs more = *c;
    more.gpus = TAKE(arena, c->gpu_count + 1, struct gpu_costs);
    more.gpu_count = 0;
    for (int i = 0; i < c->gpu_count; i++) // one by its data sheet gives way
        if (&c->gpus[i] != has) more.gpus[more.gpu_count++] = c->gpus[i];
    more.gpus[more.gpu_count] = *from;
    more.gpus[more.gpu_count].like = NULL;
    more.gpus[more.gpu_count++].gpu = gpu;
    *c = costs_copy(&more, arena);
    struct likeness x = {like, arena};
    for (int key = 0; key < cost_key_count; key++)
        if (cost_keys[key].scope != COST_OF_ALL) costs_visit(c, key, gpu, 0, assume, &x);
    return OK;
}

struct movement {
    enum cost_group group;
    enum cost_end end;
    bool moved;
};

static void move_estimate(struct estimate *e, bool up, struct movement *m)
{
    double value = up ? e->high : e->low;
    m->moved |= value != e->value;
    e->value = value;
}

static void move(struct estimate *e, const struct cost_key *key, void *context)
{
    struct movement *m = context;
    if (key->group == m->group && key->sense != COST_BYTES)
        move_estimate(e, (m->end == COSTS_FAST) == (key->sense == COST_RATE), m);
}

bool costs_move_to(struct costs *c, enum cost_group group, enum cost_end end)
{
    struct movement m = {group, end, false};
    for (int key = 0; key < cost_key_count; key++) costs_visit(c, key, NULL, 0, move, &m);
    for (int i = 0; i < c->collective_count; i++) {
        struct collective_times *t = &c->collectives[i];
        if (group != (t->between_nodes ? COSTS_OF_NETWORK : COSTS_OF_NODE)) continue;
        for (int k = 0; k < t->segment_count; k++) {
            move_estimate(&t->segments[k].seconds, end == COSTS_SLOW, &m);
            move_estimate(&t->segments[k].bytes_per_s, end == COSTS_FAST, &m);
        }
    }
    return m.moved;
}
