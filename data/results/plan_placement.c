// The placement of a plan, read and written as names of nodes.
#include "data/results/internal.h"

struct placed_stage {
    int recompute, recomputed_layers;
    int64_t send_forward_ns, send_backward_ns;
};
static const struct member stage_rows[] = {
    KEY_NAME(placed_stage, recompute, REQUIRED, ALWAYS_WRITTEN, recompute_names),
    KEY_INT(placed_stage, recomputed_layers, OPTIONAL, ALWAYS_WRITTEN, 0, LAYERS_MAX),
    KEY_COUNT(placed_stage, send_forward_ns, OPTIONAL, IF_STATED, 0, JSON_COUNT_MAX),
    KEY_COUNT(placed_stage, send_backward_ns, OPTIONAL, IF_STATED, 0, JSON_COUNT_MAX),
};
static const struct placed_stage unsent = {0, 0, -1, -1};
static MEMBERS(stage, struct placed_stage, &unsent, true, NULL);

static enum status read_modes(const struct json *array, const struct plan *p, int replica,
                              struct arena *arena, struct error *err)
{
    struct plan_placement *x = p->placement;
    TRY(json_expect_count(array, p->stage_count, "stages", err));
    for (int stage = 0; stage < p->stage_count; stage++) {
        struct json element = json_element(array, stage, arena);
        int at = replica * p->stage_count + stage;
        struct placed_stage one;
        TRY(members_read(&element, &stage_members, &one, p, arena, err));
        x->recompute[at] = one.recompute, x->recomputed_layers[at] = one.recomputed_layers;
        x->send_forward_ns[at] = one.send_forward_ns;
        x->send_backward_ns[at] = one.send_backward_ns;
    }
    return OK;
}

static enum status read_replica(const struct json *object, const struct plan *p, int replica,
                                struct arena *arena, struct error *err)
{
    struct plan_placement *x = p->placement;
    struct json nodes = {0}, modes = {0};
    const char **names;
    int count, micro_batches = 0;
    struct json_field fields[] = {
        FIELD_INT("micro_batches", OPTIONAL, &micro_batches, 1, MICRO_BATCHES_MAX),
        FIELD_ARRAY("nodes", REQUIRED, &nodes),
        FIELD_ARRAY("stages", REQUIRED, &modes),
        FIELD_COUNT("iteration_ns", REQUIRED, &x->iteration_ns[replica], 0, JSON_COUNT_MAX),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    if (replica > 0 && (micro_batches > 0) != (x->micro_batches != NULL))
        return json_refuse(object, err, "micro_batches: expected it of all replicas or of none");
    if (micro_batches && !x->micro_batches) x->micro_batches = TAKE(arena, x->replica_count, int);
    if (micro_batches) x->micro_batches[replica] = micro_batches;
    TRY(read_modes(&modes, p, replica, arena, err));
    TRY(json_texts(&nodes, &names, &count, arena, err));
    if (count != x->rank_count)
        return json_refuse(&nodes, err,
                           "expected the names of %d nodes, one for each rank, found %d",
                           x->rank_count, count);
    for (int rank = 0; rank < count; rank++) x->nodes[replica * x->rank_count + rank] = names[rank];
    return OK;
}

// Every member occurs once.
static enum status read_ring(const struct json *array, int *ring, int members, const char *what,
                             struct arena *arena, struct error *err)
{
    int *values, count;
    bool *seen = TAKE(arena, members, bool);
    TRY(json_expect(array, JSON_ARRAY, err));
    TRY(json_ints(array, 0, members - 1, &values, &count, arena, err));
    if (count != members)
        return json_refuse(array, err, "expected %d %ss, found %d", members, what, count);
    for (int at = 0; at < count; at++) {
        if (seen[values[at]])
            return json_refuse(array, err, "%s %d appears twice", what, values[at]);
        seen[values[at]] = true;
        ring[at] = values[at];
    }
    return OK;
}

static const struct member pipette_rows[] = {
    KEY_COUNT(plan_pipette, hops_ns, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(plan_pipette, ring_ns, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(plan_pipette, inner_ns, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
};
static MEMBERS(pipette, struct plan_pipette, NULL, true, NULL);

enum status plan_placement_get(const struct json *object, void *to, const void *context,
                               struct arena *arena, struct error *err)
{
    struct plan *p = to;
    (void)context;
    if (!json_is_present(object)) return OK;
    struct plan_placement *x = p->placement = TAKE(arena, 1, struct plan_placement);
    struct json replicas = {0}, rings = {0}, embedding = {0}, pipette = {0};
    x->replica_count = p->layout.data;
    x->rank_count = p->layout.pipeline;
    struct json_field fields[] = {
        FIELD_ARRAY("replicas", REQUIRED, &replicas),
        FIELD_ARRAY("rings", REQUIRED, &rings),
        FIELD_ARRAY("embedding_ring", OPTIONAL, &embedding),
        FIELD_INT("slowest", REQUIRED, &x->slowest, 0, x->replica_count - 1),
        FIELD_OBJECT("pipette", OPTIONAL, &pipette),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    if (json_is_present(&pipette)) {
        x->pipette = TAKE(arena, 1, struct plan_pipette);
        TRY(members_read(&pipette, &pipette_members, x->pipette, p, arena, err));
    }
    TRY(json_expect_count(&replicas, x->replica_count, "replicas", err));
    TRY(json_expect_count(&rings, p->stage_count, "rings, one for each stage", err));
    x->nodes = TAKE(arena, x->replica_count * x->rank_count, const char *);
    x->recompute = TAKE(arena, x->replica_count * p->stage_count, int);
    x->recomputed_layers = TAKE(arena, x->replica_count * p->stage_count, int);
    x->send_forward_ns = TAKE(arena, x->replica_count * p->stage_count, int64_t);
    x->send_backward_ns = TAKE(arena, x->replica_count * p->stage_count, int64_t);
    x->iteration_ns = TAKE(arena, x->replica_count, int64_t);
    x->rings = TAKE(arena, p->stage_count * x->replica_count, int);
    for (int replica = 0; replica < x->replica_count; replica++) {
        struct json element = json_element(&replicas, replica, arena);
        TRY(read_replica(&element, p, replica, arena, err));
    }
    for (int stage = 0; stage < p->stage_count; stage++) {
        struct json element = json_element(&rings, stage, arena);
        TRY(read_ring(&element, x->rings + stage * x->replica_count, x->replica_count, "replica",
                      arena, err));
    }
    if (!json_is_present(&embedding)) return OK;
    x->embedding_ring = TAKE(arena, 2 * x->replica_count, int);
    return read_ring(&embedding, x->embedding_ring, 2 * x->replica_count, "member", arena, err);
}

static void put_stage(struct json_writer *w, const struct plan_placement *x, int at)
{
    const struct placed_stage one = {x->recompute[at], x->recomputed_layers[at],
                                     x->send_forward_ns[at], x->send_backward_ns[at]};
    members_write(w, NULL, &stage_members, &one, NULL);
}

void plan_placement_put(struct json_writer *w, const char *key, const void *from,
                        const void *context)
{
    const struct plan *p = from;
    const struct plan_placement *x = p->placement;
    (void)context;
    if (!x) return;
    json_open_object(w, key);
    json_open_array(w, "replicas");
    for (int replica = 0; replica < x->replica_count; replica++) {
        json_open_object(w, NULL);
        if (x->micro_batches) json_put_count(w, "micro_batches", x->micro_batches[replica]);
        json_open_flat_array(w, "nodes");
        for (int rank = 0; rank < x->rank_count; rank++)
            json_put_text(w, NULL, x->nodes[replica * x->rank_count + rank]);
        json_close_array(w);
        json_open_flat_array(w, "stages");
        for (int stage = 0; stage < p->stage_count; stage++)
            put_stage(w, x, replica * p->stage_count + stage);
        json_close_array(w);
        json_put_count(w, "iteration_ns", x->iteration_ns[replica]);
        json_close_object(w);
    }
    json_close_array(w);
    json_open_array(w, "rings");
    for (int stage = 0; stage < p->stage_count; stage++)
        json_put_ints(w, NULL, x->rings + stage * x->replica_count, x->replica_count);
    json_close_array(w);
    if (x->embedding_ring)
        json_put_ints(w, "embedding_ring", x->embedding_ring, 2 * x->replica_count);
    json_put_count(w, "slowest", x->slowest);
    if (x->pipette) members_write(w, "pipette", &pipette_members, x->pipette, p);
    json_close_object(w);
}
