// Plans: load, and what follows from them. Integers decide; what is written for people beside them
// (seconds, the gap, sums, device names) is passed over. A plan is loaded as it stands, for the
// judge: nothing is checked here but what makes its indices safe to use.
#include "data/results/plan.h"

#include <string.h>

#include "data/results/bound.h"
#include "data/places/cluster.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/model/model.h"
#include "data/results/internal.h"

const char *const outcome_names[] = {"optimal", "open", "infeasible", "no_plan", NULL};

#define TIME_MAX JSON_COUNT_MAX
#define FOR_PEOPLE(name)                                                                           \
    {                                                                                              \
        .key = (name), .type = JSON_SKIP, .need = OPTIONAL                                         \
    }

int64_t memory_total(const struct memory_parts *m)
{
    return m->weight_bytes + m->gradient_bytes + m->optimizer_bytes + m->activation_bytes +
           m->working_bytes + m->buffer_bytes + m->feedback_bytes + m->constant_bytes;
}

int64_t plan_micro_batches_together(const struct plan *p)
{
    int64_t sum = 0;
    if (!p->placement || !p->placement->micro_batches)
        return (int64_t)p->micro_batches * p->layout.data;
    for (int i = 0; i < p->placement->replica_count; i++) sum += p->placement->micro_batches[i];
    return sum;
}

void plan_effort_add(struct plan_effort *sum, const struct plan_effort *e)
{
    sum->boxes += e->boxes, sum->relaxations += e->relaxations, sum->path_rows += e->path_rows;
    sum->seconds += e->seconds;
}

int64_t plan_value_ns(const struct plan *p)
{
    return p->objective == OBJECTIVE_ITERATION_TIME ? p->iteration_ns : p->objective_ns;
}

int64_t plan_bound_ns(const struct plan *p)
{
    return bound_stated(p->bound_ns, p->stage_count ? plan_value_ns(p) : 0, 0);
}

double plan_gap(const struct plan *p)
{
    int64_t value = plan_value_ns(p);
    return value > 0 ? (double)(value - p->bound_ns) / (double)value : 0;
}

enum outcome plan_outcome(const struct plan *p)
{
    return plan_gap(p) <= p->gap_asked ? OUTCOME_OPTIMAL : OUTCOME_OPEN;
}

struct plan_graph plan_graph_of(const struct schedule_request *request)
{
    struct plan_graph g = {.epilogue = request->epilogue,
                           .sync = request->sync,
                           .optimizer = request->optimizer,
                           .embedding_sync = request->embedding_sync};
    memcpy(g.parts, request->parts, sizeof g.parts);
    return g;
}

struct schedule_request plan_request(const struct plan *p)
{
    struct schedule_request r = {.kind = p->layout.schedule,
                                 .stage_count = p->stage_count,
                                 .micro_batches = p->micro_batches,
                                 .rank_count = p->layout.pipeline,
                                 .virtual_stages = p->layout.virtual_stages,
                                 .slice_count = p->layout.slice_count,
                                 .local_loss_every = p->layout.local_loss_every,
                                 .barrier = p->layout.barrier,
                                 .sync_overlapped = p->layout.gradient_sync == SYNC_OVERLAPPED,
                                 .epilogue = p->graph.epilogue,
                                 .sync = p->graph.sync,
                                 .optimizer = p->graph.optimizer,
                                 .embedding_sync = p->graph.embedding_sync};
    memcpy(r.parts, p->graph.parts, sizeof r.parts);
    return r;
}

static enum status read_parts(const struct json *object, int64_t ns[PART_COUNT],
                              struct arena *arena, struct error *err)
{
    struct json_field fields[PART_COUNT];
    for (int part = 0; part < PART_COUNT; part++)
        fields[part] = (struct json_field)FIELD_COUNT(transfer_part_names[part],
                                                      part == PART_OVERHEAD ? OPTIONAL : REQUIRED,
                                                      &ns[part], 0, TIME_MAX);
    return JSON_FIELDS(object, fields, arena, err);
}

static enum status read_memory(const struct json *object, struct memory_parts *m,
                               struct arena *arena, struct error *err)
{
    struct json_field fields[] = {
        FIELD_COUNT("weight_bytes", REQUIRED, &m->weight_bytes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("gradient_bytes", REQUIRED, &m->gradient_bytes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("optimizer_bytes", REQUIRED, &m->optimizer_bytes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("activation_bytes", REQUIRED, &m->activation_bytes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("working_bytes", REQUIRED, &m->working_bytes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("buffer_bytes", REQUIRED, &m->buffer_bytes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("feedback_bytes", REQUIRED, &m->feedback_bytes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("constant_bytes", REQUIRED, &m->constant_bytes, 0, JSON_COUNT_MAX),
        FOR_PEOPLE("total_bytes"),
    };
    return JSON_FIELDS(object, fields, arena, err);
}

static enum status find_group(const struct plan *p, const struct json *at, const char *name,
                              int *group, struct error *err)
{
    for (int i = 0; i < p->group_count; i++)
        if (!strcmp(p->group_names[i], name)) {
            *group = i;
            return OK;
        }
    return json_refuse(
        at, err, "group: expected the name of one of the plan's groups, found \"%.60s\"", name);
}

// What stands for the slices behind the first.
static enum status read_slices(const struct plan *p, const struct json *array, struct plan_stage *s,
                               struct arena *arena, struct error *err)
{
    int count = p->layout.slice_count - 1;
    if (json_length(array) != count)
        return json_refuse(array, err, "expected %d slices, found %d", count, json_length(array));
    s->slices = TAKE(arena, count, struct plan_slice);
    for (int i = 0; i < count; i++) {
        struct json element = json_element(array, i, arena), forward = {0}, backward = {0};
        struct json_field fields[] = {
            FIELD_COUNT("forward_ns", REQUIRED, &s->slices[i].forward_ns, 0, TIME_MAX),
            FIELD_COUNT("backward_ns", REQUIRED, &s->slices[i].backward_ns, 0, TIME_MAX),
            FIELD_OBJECT("send_forward_ns", REQUIRED, &forward),
            FIELD_OBJECT("send_backward_ns", REQUIRED, &backward),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(read_parts(&forward, s->slices[i].send_forward_ns, arena, err));
        TRY(read_parts(&backward, s->slices[i].send_backward_ns, arena, err));
    }
    return OK;
}

static enum status read_stage(const struct plan *p, const struct json *object, struct plan_stage *s,
                              struct arena *arena, struct error *err)
{
    struct json forward = {0}, backward = {0}, epilogue = {0}, memory = {0}, slices = {0};
    const char *group = NULL;
    struct json_field fields[] = {
        FOR_PEOPLE("stage"),
        FOR_PEOPLE("rank"),
        FIELD_INT("first_layer", REQUIRED, &s->first_layer, 0, LAYERS_MAX),
        FIELD_INT("layer_count", REQUIRED, &s->layer_count, 0, LAYERS_MAX),
        FOR_PEOPLE("last_layer"),
        FIELD_TEXT("group", REQUIRED, &group),
        FOR_PEOPLE("gpu"),
        FOR_PEOPLE("devices"),
        FIELD_NAME("recompute", REQUIRED, &s->recompute, recompute_names),
        FIELD_INT("recomputed_layers", REQUIRED, &s->recomputed_layers, 0, LAYERS_MAX),
        FIELD_INT("swapped_layers", OPTIONAL, &s->swapped_layers, 0, LAYERS_MAX),
        FIELD_INT("gradient_option", REQUIRED, &s->gradient_option, 0,
                  p->gradient_option_count - 1),
        FIELD_INT("boundary_option", REQUIRED, &s->boundary_option, 0,
                  p->boundary_option_count - 1),
        FOR_PEOPLE("compression"),
        FOR_PEOPLE("offloaded_percent"),
        FIELD_COUNT("forward_ns", REQUIRED, &s->forward_ns, 0, TIME_MAX),
        FIELD_COUNT("backward_ns", REQUIRED, &s->backward_ns, 0, TIME_MAX),
        FIELD_COUNT("weight_ns", OPTIONAL, &s->weight_ns, 0, TIME_MAX),
        FIELD_ARRAY("slices", OPTIONAL, &slices),
        FIELD_COUNT("sync_ns", REQUIRED, &s->sync_ns, 0, TIME_MAX),
        FIELD_COUNT("optimizer_ns", REQUIRED, &s->optimizer_ns, 0, TIME_MAX),
        FIELD_OBJECT("send_forward_ns", REQUIRED, &forward),
        FIELD_OBJECT("send_backward_ns", REQUIRED, &backward),
        FIELD_OBJECT("send_epilogue_ns", REQUIRED, &epilogue),
        FOR_PEOPLE("forward_s"),
        FOR_PEOPLE("backward_s"),
        FOR_PEOPLE("sync_s"),
        FOR_PEOPLE("optimizer_s"),
        FOR_PEOPLE("send_forward_s"),
        FOR_PEOPLE("send_backward_s"),
        FOR_PEOPLE("send_epilogue_s"),
        FIELD_OBJECT("memory", REQUIRED, &memory),
        FIELD_COUNT("memory_limit_bytes", REQUIRED, &s->memory_limit_bytes, 0, JSON_COUNT_MAX),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(find_group(p, object, group, &s->group, err));
    TRY(read_parts(&forward, s->send_forward_ns, arena, err));
    TRY(read_parts(&backward, s->send_backward_ns, arena, err));
    TRY(read_parts(&epilogue, s->send_epilogue_ns, arena, err));
    TRY(read_slices(p, &slices, s, arena, err));
    return read_memory(&memory, &s->memory, arena, err);
}

static enum status read_groups(struct plan *p, const struct json *array, struct arena *arena,
                               struct error *err)
{
    if (json_length(array) > GROUPS_MAX)
        return json_refuse(array, err, "expected at most %d groups, found %d", GROUPS_MAX,
                           json_length(array));
    p->group_count = json_length(array);
    p->group_names = TAKE(arena, p->group_count, const char *);
    p->group_gpus = TAKE(arena, p->group_count, const char *);
    for (int i = 0; i < p->group_count; i++) {
        struct json element = json_element(array, i, arena);
        struct json_field fields[] = {
            FIELD_TEXT("name", REQUIRED, &p->group_names[i]),
            FIELD_TEXT("gpu", REQUIRED, &p->group_gpus[i]),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        for (int k = 0; k < i; k++)
            if (!strcmp(p->group_names[k], p->group_names[i]))
                return json_refuse(&element, err, "name: \"%.60s\" names two groups",
                                   p->group_names[i]);
    }
    return OK;
}

static enum status read_graph(const struct json *object, struct plan_graph *g, struct arena *arena,
                              struct error *err)
{
    struct json parts = {0};
    const char **names;
    int count;
    struct json_field fields[] = {
        FIELD_ARRAY("transfer_parts", REQUIRED, &parts),
        FIELD_BOOL("epilogue", REQUIRED, &g->epilogue),
        FIELD_BOOL("gradient_sync", REQUIRED, &g->sync),
        FIELD_BOOL("optimizer", REQUIRED, &g->optimizer),
        FIELD_BOOL("embedding_sync", REQUIRED, &g->embedding_sync),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(json_texts(&parts, &names, &count, arena, err));
    for (int i = 0; i < count; i++) {
        struct json element = json_element(&parts, i, arena);
        int part = 0;
        while (part < PART_COUNT && strcmp(transfer_part_names[part], names[i])) part++;
        if (part == PART_COUNT)
            return json_refuse(
                &element, err,
                "expected \"blocking\", \"link\", \"delay\" or \"overhead\", found \"%.40s\"",
                names[i]);
        if (g->parts[part]) return json_refuse(&element, err, "\"%s\" stands twice", names[i]);
        g->parts[part] = true;
    }
    return OK;
}

static enum status read_effort(const struct json *object, struct plan_effort *e,
                               struct arena *arena, struct error *err)
{
    struct json_field fields[] = {
        FIELD_COUNT("boxes", REQUIRED, &e->boxes, 0, JSON_COUNT_MAX),
        FIELD_COUNT("relaxations", REQUIRED, &e->relaxations, 0, JSON_COUNT_MAX),
        FIELD_COUNT("path_rows", REQUIRED, &e->path_rows, 0, JSON_COUNT_MAX),
        FIELD_NUMBER("seconds", REQUIRED, &e->seconds, 0, 1e12),
    };
    return json_is_present(object) ? JSON_FIELDS(object, fields, arena, err) : OK;
}

// Every stage of the layout is there, or none is.
static enum status read_stages(struct plan *p, const struct json *array, struct arena *arena,
                               struct error *err)
{
    int count = json_length(array);
    int expected = layout_stage_count(&p->layout);
    if (count && count != expected)
        return json_refuse(array, err, "expected %d stages of the layout or none, found %d",
                           expected, count);
    bool planned = p->outcome == OUTCOME_OPTIMAL || p->outcome == OUTCOME_OPEN;
    if (planned != (count > 0))
        return json_refuse(array, err, "expected %s with outcome \"%s\", found %d",
                           planned ? "stages" : "no stage", outcome_names[p->outcome], count);
    p->stage_count = count;
    p->stages = TAKE(arena, count, struct plan_stage);
    for (int i = 0; i < count; i++) {
        struct json element = json_element(array, i, arena);
        TRY(read_stage(p, &element, &p->stages[i], arena, err));
    }
    return OK;
}

static enum status read_ranks(struct plan *p, const struct json *array, struct arena *arena,
                              struct error *err)
{
    int expected = p->stage_count && p->layout.virtual_stages > 1 ? p->layout.pipeline : 0;
    if (json_length(array) != expected)
        return json_refuse(array, err, "expected %d ranks, found %d", expected, json_length(array));
    if (expected) p->ranks = TAKE(arena, expected, struct plan_rank);
    for (int i = 0; i < expected; i++) {
        struct json element = json_element(array, i, arena), memory = {0};
        struct json_field fields[] = {FOR_PEOPLE("rank"),
                                      FIELD_OBJECT("memory", REQUIRED, &memory)};
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(read_memory(&memory, &p->ranks[i].memory, arena, err));
    }
    return OK;
}

enum status plan_load(struct plan *p, const char *path, struct arena *arena, struct error *err)
{
    struct json layout = {0}, groups = {0}, boundary = {0}, gradient = {0}, stages = {0},
                effort = {0}, graph = {0}, ranks = {0}, placement = {0}, extrapolated = {0};
    *p = (struct plan){0};
    TRY(document_read(&p->document, path, "plumbline.plan", arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &p->name),
        FIELD_NAME("outcome", REQUIRED, &p->outcome, outcome_names),
        FIELD_TEXT("reason", OPTIONAL, &p->reason),
        FIELD_COUNT("iteration_ns", REQUIRED, &p->iteration_ns, 0, TIME_MAX),
        FIELD_COUNT("bound_ns", REQUIRED, &p->bound_ns, 0, TIME_MAX),
        FIELD_NAME("objective", OPTIONAL, &p->objective, objective_names),
        FIELD_COUNT("objective_ns", OPTIONAL, &p->objective_ns, 0, TIME_MAX),
        FOR_PEOPLE("objective_s"),
        FOR_PEOPLE("iteration_s"),
        FOR_PEOPLE("bound_s"),
        FOR_PEOPLE("gap"),
        FIELD_COUNT("iteration_low_ns", OPTIONAL, &p->iteration_low_ns, 0, TIME_MAX),
        FIELD_COUNT("iteration_high_ns", OPTIONAL, &p->iteration_high_ns, 0, TIME_MAX),
        FOR_PEOPLE("iteration_low_s"),
        FOR_PEOPLE("iteration_high_s"),
        FIELD_COUNT("runner_up_ns", OPTIONAL, &p->runner_up_ns, 0, TIME_MAX),
        FOR_PEOPLE("runner_up_s"),
        FIELD_BOOL("runner_up_inside", OPTIONAL, &p->runner_up_inside),
        FIELD_NUMBER("gap_asked", OPTIONAL, &p->gap_asked, 0, 1),
        FIELD_COUNT("embedding_sync_ns", OPTIONAL, &p->embedding_sync_ns, 0, TIME_MAX),
        FOR_PEOPLE("embedding_sync_s"),
        FIELD_OBJECT("layout", REQUIRED, &layout),
        FIELD_INT("micro_batches", REQUIRED, &p->micro_batches, 1, MICRO_BATCHES_MAX),
        FIELD_COUNT("devices_per_stage", REQUIRED, &p->devices_per_stage, 1, 1e9),
        FIELD_OBJECT("graph", REQUIRED, &graph),
        FIELD_ARRAY("groups", REQUIRED, &groups),
        FIELD_ARRAY("boundary_options", REQUIRED, &boundary),
        FIELD_ARRAY("gradient_options", REQUIRED, &gradient),
        FIELD_ARRAY("stages", REQUIRED, &stages),
        FIELD_ARRAY("ranks", OPTIONAL, &ranks),
        FIELD_OBJECT("placement", OPTIONAL, &placement),
        FIELD_ARRAY("extrapolated", OPTIONAL, &extrapolated),
        FIELD_COUNT("seed", OPTIONAL, &p->seed, 0, JSON_COUNT_MAX),
        FIELD_OBJECT("effort", OPTIONAL, &effort),
    };
    TRY(document_fields(&p->document, fields, ARRAY_LENGTH(fields), arena, err));
    TRY(layout_get(&layout, &p->layout, arena, err));
    TRY(layout_check(&p->layout, p->document.path, err));
    TRY(read_graph(&graph, &p->graph, arena, err));
    TRY(read_groups(p, &groups, arena, err));
    TRY(compressions_get(&boundary, true, 0, &p->boundary_options, &p->boundary_option_count, arena,
                         err));
    TRY(compressions_get(&gradient, false, 0, &p->gradient_options, &p->gradient_option_count,
                         arena, err));
    TRY(read_stages(p, &stages, arena, err));
    TRY(read_ranks(p, &ranks, arena, err));
    if (json_is_present(&placement)) TRY(plan_placement_get(&placement, p, arena, err));
    TRY(plan_extrapolations_get(&extrapolated, p, arena, err));
    return read_effort(&effort, &p->effort, arena, err);
}
