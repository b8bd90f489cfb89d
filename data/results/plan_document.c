// Plans: load and save. Integers decide. What is written next to them for people (seconds, the gap,
// sums, device names) is computed anew, and ignored when read. A plan is loaded as it is, for the
// judge: the only checks here are those that make its indices safe to use.
#include <string.h>

#include "data/kinds/schedules.h"
#include "data/results/internal.h"

#define TIME_MAX JSON_COUNT_MAX

// The context of all tables here is the plan.

// ---- times

PUT_MEMBER(put_seconds) { json_put_number(w, key, (double)*(const int64_t *)from / 1e9); }

PUT_MEMBER(put_some_seconds)
{
    if (*(const int64_t *)from) put_seconds(w, key, from, context);
}

PUT_MEMBER(put_seconds_of_parts)
{
    const int64_t *ns = from;
    int64_t sum = 0;
    for (int part = 0; part < PART_COUNT; part++) sum += ns[part];
    json_put_number(w, key, (double)sum / 1e9);
}

struct parts {
    int64_t blocking, link, delay, overhead; // by enum transfer_part
};
static_assert(sizeof(struct parts) == PART_COUNT * sizeof(int64_t), "parts of a transfer");

static const struct member parts_rows[] = {
    KEY_COUNT(parts, blocking, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(parts, link, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(parts, delay, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(parts, overhead, OPTIONAL, ALWAYS_WRITTEN, 0, TIME_MAX),
};
static MEMBERS(parts, struct parts, NULL, true, NULL);

// ---- memory

PUT_MEMBER(put_total) { json_put_count(w, key, memory_total(from)); }

static const struct member memory_rows[] = {
    KEY_COUNT(memory_parts, weight_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(memory_parts, gradient_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(memory_parts, optimizer_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(memory_parts, activation_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(memory_parts, working_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(memory_parts, buffer_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(memory_parts, feedback_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(memory_parts, constant_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_PUT("total_bytes", 0, put_total),
};
static MEMBERS(memory, struct memory_parts, NULL, false, NULL);

// ---- a stage

static const struct member slice_rows[] = {
    KEY_COUNT(plan_slice, forward_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(plan_slice, backward_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_OBJECT("send_forward_ns", plan_slice, send_forward_ns, REQUIRED, ALWAYS_WRITTEN,
               &parts_members),
    KEY_OBJECT("send_backward_ns", plan_slice, send_backward_ns, REQUIRED, ALWAYS_WRITTEN,
               &parts_members),
};
static MEMBERS(slice, struct plan_slice, NULL, false, NULL);

// The keys of the first slice are those of the stage itself; these are those of the other slices.
GET_MEMBER(get_slices)
{
    const struct plan *p = context;
    struct plan_slice *const *slices = to;
    int count = p->layout.slice_count;
    TRY(json_expect_count(value, count - 1, "slices", err));
    return members_read_each(value, &slice_members, *slices + 1, p, arena, err);
}

PUT_MEMBER(put_slices)
{
    const struct plan *p = context;
    const struct plan_slice *const *slices = from;
    if (p->layout.slice_count > 1)
        members_write_each(w, key, &slice_members, *slices + 1, p->layout.slice_count - 1, p);
}

GET_MEMBER(get_group)
{
    const struct plan *p = context;
    TRY(json_expect(value, JSON_TEXT, err));
    const char *name = json_text(value, arena);
    for (int i = 0; i < p->group_count; i++)
        if (!strcmp(p->group_names[i], name)) return *(int *)to = i, OK;
    return json_refuse(value, err, "expected the name of one of the plan's groups, found \"%.60s\"",
                       name);
}

PUT_MEMBER(put_group)
{
    json_put_text(w, key, ((const struct plan *)context)->group_names[*(const int *)from]);
}

PUT_MEMBER(put_gpu)
{
    json_put_text(w, key, ((const struct plan *)context)->group_gpus[*(const int *)from]);
}

static int number_of(const struct plan *p, const struct plan_stage *s)
{
    return (int)(s - p->stages);
}
PUT_MEMBER(put_devices)
{
    json_put_count(w, key, plan_stage_devices(context, number_of(context, from)));
}
PUT_MEMBER(put_number) { json_put_count(w, key, number_of(context, from)); }

PUT_MEMBER(put_rank)
{
    const struct plan *p = context;
    struct schedule_request request = plan_request(p);
    if (p->layout.virtual_stages > 1)
        json_put_count(w, key, schedule_rank_of(&request, number_of(p, from)));
}

PUT_MEMBER(put_last_layer)
{
    const struct plan_stage *s = from;
    json_put_count(w, key, s->first_layer + s->layer_count - 1);
}

// The stage's compression in words: its effect on the gradient sync and on the backward transfers
// that the stage sends.
static const char *compression_of(const struct plan *p, const struct plan_stage *s,
                                  struct arena *arena)
{
    const struct compression_option *b = &p->boundary_options[s->boundary_option];
    const struct compression_option *g = &p->gradient_options[s->gradient_option];
    if (!b->form.amount && !g->form.amount) return "none";
    static const char forgets[] = " without error feedback";
    const char *gradient = "", *boundary = "";
    if (g->form.amount)
        gradient = arena_print(arena, "gradient sync at %s%s", compression_text(g->form, arena),
                               g->forgets ? forgets : "");
    if (b->form.amount)
        boundary = arena_print(arena, "backward transfers at %s%s%s",
                               compression_text(b->form, arena),
                               b->epilogue_only ? " in the drain" : "", b->forgets ? forgets : "");
    return arena_print(arena, "%s%s%s", gradient, *gradient && *boundary ? ", " : "", boundary);
}

PUT_MEMBER(put_compression) { json_put_text(w, key, compression_of(context, from, w->arena)); }

PUT_MEMBER(put_tiering)
{
    const struct plan *p = context;
    const char *name = p->gradient_options[*(const int *)from].tier_option;
    if (name) json_put_text(w, key, name);
}

PUT_MEMBER(put_weight)
{
    const struct plan *p = context;
    if (schedule_splits_backward(p->layout.schedule))
        json_put_count(w, key, *(const int64_t *)from);
}

// One of the plan's options.
static enum status check_option(const struct json *stage, const char *key, int option, int count,
                                struct arena *arena, struct error *err)
{
    struct json at = json_member(stage, key, arena);
    return option < count
               ? OK
               : json_refuse(&at, err, "expected one of the plan's %d %ss, from 0, found %d", count,
                             key, option);
}

GET_MEMBER(finish_stage)
{
    const struct plan *p = context;
    const struct plan_stage *s = to;
    TRY(check_option(value, "gradient_option", s->gradient_option, p->gradient_option_count, arena,
                     err));
    return check_option(value, "boundary_option", s->boundary_option, p->boundary_option_count,
                        arena, err);
}

#define STAGE(member) offsetof(struct plan_stage, member)
#define FIRST_SLICE(member) STAGE(slices), true, offsetof(struct plan_slice, member)
static const struct member stage_rows[] = {
    KEY_PUT("stage", 0, put_number),
    KEY_PUT("rank", 0, put_rank),
    KEY_INT(plan_stage, first_layer, REQUIRED, ALWAYS_WRITTEN, 0, LAYERS_MAX),
    KEY_INT(plan_stage, layer_count, REQUIRED, ALWAYS_WRITTEN, 0, LAYERS_MAX),
    KEY_PUT("last_layer", 0, put_last_layer),
    KEY_PART("group", JSON_VALUE, REQUIRED, STAGE(group), get_group, put_group),
    KEY_PUT("gpu", STAGE(group), put_gpu),
    KEY_TEXTS(plan_stage, nodes, node_count, OPTIONAL, 0, INT_MAX),
    KEY_PUT("devices", 0, put_devices),
    DECISION_KEYS(plan_stage),
    KEY_ARRAY(plan_stage, recomputed, recomputed_count, JSON_INT, OPTIONAL, IF_SET, 0,
              LAYERS_MAX - 1, LAYERS_MAX),
    KEY_PUT("compression", 0, put_compression),
    KEY_SKIP("offloaded_percent"), // of older plans
    KEY_PUT("tier_option", STAGE(gradient_option), put_tiering),
    {"forward_ns", JSON_COUNT, REQUIRED, ALWAYS_WRITTEN, FIRST_SLICE(forward_ns), .high = TIME_MAX},
    {"backward_ns", JSON_COUNT, REQUIRED, ALWAYS_WRITTEN, FIRST_SLICE(backward_ns),
     .high = TIME_MAX},
    KEY_COUNT_PUT(plan_stage, weight_ns, OPTIONAL, 0, TIME_MAX, put_weight),
    KEY_EACH("slices", OPTIONAL, STAGE(slices), &slice_members, get_slices, put_slices),
    KEY_COUNT(plan_stage, sync_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(plan_stage, queued_sync_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_COUNT(plan_stage, away_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_COUNT(plan_stage, back_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_COUNT(plan_stage, optimizer_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    {"send_forward_ns", JSON_OBJECT, REQUIRED, ALWAYS_WRITTEN, FIRST_SLICE(send_forward_ns),
     .of = &parts_members},
    {"send_backward_ns", JSON_OBJECT, REQUIRED, ALWAYS_WRITTEN, FIRST_SLICE(send_backward_ns),
     .of = &parts_members},
    KEY_OBJECT("send_epilogue_ns", plan_stage, send_epilogue_ns, REQUIRED, ALWAYS_WRITTEN,
               &parts_members),
    {"forward_s", JSON_SKIP, OPTIONAL, ALWAYS_WRITTEN, FIRST_SLICE(forward_ns), .put = put_seconds},
    {"backward_s", JSON_SKIP, OPTIONAL, ALWAYS_WRITTEN, FIRST_SLICE(backward_ns),
     .put = put_seconds},
    KEY_PUT("sync_s", STAGE(sync_ns), put_seconds),
    KEY_PUT("optimizer_s", STAGE(optimizer_ns), put_seconds),
    {"send_forward_s", JSON_SKIP, OPTIONAL, ALWAYS_WRITTEN, FIRST_SLICE(send_forward_ns),
     .put = put_seconds_of_parts},
    {"send_backward_s", JSON_SKIP, OPTIONAL, ALWAYS_WRITTEN, FIRST_SLICE(send_backward_ns),
     .put = put_seconds_of_parts},
    KEY_PUT("send_epilogue_s", STAGE(send_epilogue_ns), put_seconds_of_parts),
    KEY_OBJECT("memory", plan_stage, memory, REQUIRED, ALWAYS_WRITTEN, &memory_members),
    KEY_COUNT(plan_stage, memory_limit_bytes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
};
static MEMBERS(stage, struct plan_stage, NULL, false, finish_stage);

// ---- the plan

static const struct member graph_rows[] = {
    {"transfer_parts", JSON_ARRAY, REQUIRED, ALWAYS_WRITTEN, offsetof(struct plan_graph, parts),
     .names = transfer_part_names, .most = INT_MAX, .element = JSON_FLAG},
    KEY_BOOL(plan_graph, epilogue, REQUIRED, ALWAYS_WRITTEN),
    KEY_OF("gradient_sync", JSON_BOOL, REQUIRED, ALWAYS_WRITTEN, offsetof(struct plan_graph, sync),
           0, 0, NULL, NULL, NULL),
    KEY_BOOL(plan_graph, optimizer, REQUIRED, ALWAYS_WRITTEN),
    KEY_BOOL(plan_graph, embedding_sync, REQUIRED, ALWAYS_WRITTEN),
    KEY_BOOL(plan_graph, across_passes, OPTIONAL, IF_SET),
};
static MEMBERS(graph, struct plan_graph, NULL, true, NULL);

// All groups state a width, or none does.
static enum status take_width(struct plan *p, int group, const struct plan_width *width,
                              const struct json *element, struct arena *arena, struct error *err)
{
    bool any = width->node_group || width->tensor || width->context || width->data,
         right = width->node_group && width->tensor && width->context && width->data;
    if (group == 0 && any) p->widths = TAKE(arena, p->group_count, struct plan_width);
    if (any != (p->widths != NULL) || (any && !right))
        return json_refuse(element, err,
                           "expected node_group, tensor, context and data in all groups or none");
    if (any) p->widths[group] = *width;
    return OK;
}

GET_MEMBER(get_groups)
{
    struct plan *p = to;
    if (json_length(value) > SEATS_MAX)
        return json_refuse(value, err, "expected at most %d groups, found %d", SEATS_MAX,
                           json_length(value));
    p->group_count = json_length(value);
    p->group_names = TAKE(arena, p->group_count, const char *);
    p->group_gpus = TAKE(arena, p->group_count, const char *);
    for (int i = 0; i < p->group_count; i++) {
        struct json element = json_element(value, i, arena);
        struct plan_width width = {NULL, 0, 0, 0};
        struct json_field fields[] = {
            FIELD_TEXT("name", REQUIRED, &p->group_names[i]),
            FIELD_TEXT("gpu", REQUIRED, &p->group_gpus[i]),
            FIELD_TEXT("node_group", OPTIONAL, &width.node_group),
            FIELD_INT("tensor", OPTIONAL, &width.tensor, 1, DEGREE_MAX),
            FIELD_INT("context", OPTIONAL, &width.context, 1, DEGREE_MAX),
            FIELD_INT("data", OPTIONAL, &width.data, 1, DEGREE_MAX),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(take_width(p, i, &width, &element, arena, err));
        for (int k = 0; k < i; k++)
            if (!strcmp(p->group_names[k], p->group_names[i]))
                return json_refuse(&element, err, "name: \"%.60s\" names two groups",
                                   p->group_names[i]);
    }
    return OK;
}

PUT_MEMBER(put_groups)
{
    const struct plan *p = from;
    json_open_array(w, key);
    for (int i = 0; i < p->group_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "name", p->group_names[i]);
        json_put_text(w, "gpu", p->group_gpus[i]);
        if (p->widths) {
            json_put_text(w, "node_group", p->widths[i].node_group);
            json_put_count(w, "tensor", p->widths[i].tensor);
            json_put_count(w, "context", p->widths[i].context);
            json_put_count(w, "data", p->widths[i].data);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

// Every stage of the layout is present, or none is.
GET_MEMBER(get_stages)
{
    struct plan *p = to;
    int count = json_length(value);
    TRY(fail_within(err, layout_check(&p->layout, err), "%s: ", p->document.path));
    int expected = layout_stage_count(&p->layout);
    if (count && count != expected)
        return json_refuse(value, err, "expected %d stages of the layout or none, found %d",
                           expected, count);
    bool planned = p->outcome == OUTCOME_OPTIMAL || p->outcome == OUTCOME_OPEN;
    if (planned != (count > 0))
        return json_refuse(value, err, "expected %s with outcome \"%s\", found %d",
                           planned ? "stages" : "no stage", outcome_names[p->outcome], count);
    p->stage_count = count;
    p->stages = TAKE(arena, count, struct plan_stage);
    for (int i = 0; i < count; i++)
        p->stages[i].slices = TAKE(arena, p->layout.slice_count, struct plan_slice);
    return members_read_each(value, &stage_members, p->stages, p, arena, err);
}

PUT_MEMBER(put_stages)
{
    const struct plan *p = from;
    members_write_each(w, key, &stage_members, p->stages, p->stage_count, p);
}

PUT_MEMBER(put_rank_number)
{
    const struct plan *p = context;
    json_put_count(w, key, (const struct plan_rank *)from - p->ranks);
}

static const struct member rank_rows[] = {
    KEY_PUT("rank", 0, put_rank_number),
    KEY_OBJECT("memory", plan_rank, memory, REQUIRED, ALWAYS_WRITTEN, &memory_members),
};
static MEMBERS(rank, struct plan_rank, NULL, false, NULL);

GET_MEMBER(get_ranks)
{
    struct plan *p = to;
    int expected = p->stage_count && p->layout.virtual_stages > 1 ? p->layout.pipeline : 0;
    TRY(json_expect_count(value, expected, "ranks", err));
    if (expected) p->ranks = TAKE(arena, expected, struct plan_rank);
    return members_read_each(value, &rank_members, p->ranks, p, arena, err);
}

PUT_MEMBER(put_ranks)
{
    const struct plan *p = from;
    if (p->ranks) members_write_each(w, key, &rank_members, p->ranks, p->layout.pipeline, p);
}

static bool has_objective(const struct plan *p) { return p->objective != OBJECTIVE_ITERATION_TIME; }

PUT_MEMBER(put_objective)
{
    if (has_objective(context)) json_put_count(w, key, *(const int64_t *)from);
}

// A value or bound of another unit has no seconds.
PUT_MEMBER(put_value_seconds)
{
    const struct plan *p = context;
    if (p->objective != OBJECTIVE_ENERGY &&
        (from == (const void *)&p->bound_ns || has_objective(p)))
        put_seconds(w, key, from, context);
}

PUT_MEMBER(put_gap) { json_put_number(w, key, plan_gap(context)); }

PUT_MEMBER(put_inside)
{
    if (((const struct plan *)context)->runner_up_ns) json_put_bool(w, key, *(const bool *)from);
}

static const struct member effort_rows[] = {
    KEY_COUNT(plan_effort, boxes, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(plan_effort, relaxations, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_COUNT(plan_effort, path_rows, REQUIRED, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_NUMBER(plan_effort, seconds, REQUIRED, ALWAYS_WRITTEN, 0, 1e12),
};
static MEMBERS(effort, struct plan_effort, NULL, true, NULL);

#define PLAN(member) offsetof(struct plan, member)
static const struct member plan_rows[] = {
    KEY_TEXT(plan, name, REQUIRED),
    KEY_NAME(plan, outcome, REQUIRED, ALWAYS_WRITTEN, outcome_names),
    KEY_TEXT(plan, reason, OPTIONAL),
    KEY_COUNT(plan, iteration_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_COUNT(plan, bound_ns, REQUIRED, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_NAME(plan, claim, OPTIONAL, ALWAYS_WRITTEN, bound_claim_names),
    KEY_LIST(plan, taken_over, taken_over_count, OPTIONAL, IF_SET, TAKEN_OVER_MAX,
             &taken_over_members),
    KEY_NAME(plan, objective, OPTIONAL, IF_SET, objective_names),
    KEY_COUNT_PUT(plan, objective_ns, OPTIONAL, 0, TIME_MAX, put_objective),
    KEY_PUT("objective_s", PLAN(objective_ns), put_value_seconds),
    KEY_PUT("iteration_s", PLAN(iteration_ns), put_seconds),
    KEY_PUT("bound_s", PLAN(bound_ns), put_value_seconds),
    KEY_PUT("gap", 0, put_gap),
    KEY_NUMBER(plan, gap_asked, OPTIONAL, ALWAYS_WRITTEN, 0, 1),
    KEY_COUNT(plan, iteration_low_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_COUNT(plan, iteration_high_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_PUT("iteration_low_s", PLAN(iteration_low_ns), put_some_seconds),
    KEY_PUT("iteration_high_s", PLAN(iteration_high_ns), put_some_seconds),
    KEY_COUNT(plan, runner_up_ns, OPTIONAL, IF_SET, 0, TIME_MAX),
    KEY_PUT("runner_up_s", PLAN(runner_up_ns), put_some_seconds),
    KEY_OF("runner_up_inside", JSON_BOOL, OPTIONAL, 0, PLAN(runner_up_inside), 0, 0, NULL, NULL,
           put_inside),
    KEY_LIST(plan, extrapolated, extrapolated_count, OPTIONAL, IF_SET, EXTRAPOLATIONS_MAX,
             &extrapolation_members),
    KEY_COUNT(plan, embedding_sync_ns, OPTIONAL, ALWAYS_WRITTEN, 0, TIME_MAX),
    KEY_PUT("embedding_sync_s", PLAN(embedding_sync_ns), put_seconds),
    KEY_OBJECT("layout", plan, layout, REQUIRED, ALWAYS_WRITTEN, &layout_members),
    KEY_INT(plan, micro_batches, REQUIRED, ALWAYS_WRITTEN, 1, MICRO_BATCHES_MAX),
    KEY_COUNT(plan, devices_per_stage, REQUIRED, ALWAYS_WRITTEN, 1, 1e9),
    KEY_BOOL(plan, in_turn, OPTIONAL, IF_SET),
    KEY_OBJECT("graph", plan, graph, REQUIRED, ALWAYS_WRITTEN, &graph_members),
    KEY_PART("groups", JSON_ARRAY, REQUIRED, 0, get_groups, put_groups),
    KEY_LIST(plan, boundary_options, boundary_option_count, REQUIRED, ALWAYS_WRITTEN,
             OPTIONS_MAX + 1, &boundary_option_members),
    KEY_LIST(plan, gradient_options, gradient_option_count, REQUIRED, ALWAYS_WRITTEN,
             OPTIONS_MAX + 1, &gradient_option_members),
    KEY_EACH("stages", REQUIRED, 0, &stage_members, get_stages, put_stages),
    KEY_PART("placement", JSON_OBJECT, OPTIONAL, 0, plan_placement_get, plan_placement_put),
    KEY_EACH("ranks", OPTIONAL, 0, &rank_members, get_ranks, put_ranks),
    KEY_COUNT(plan, seed, OPTIONAL, ALWAYS_WRITTEN, 0, JSON_COUNT_MAX),
    KEY_OBJECT("effort", plan, effort, OPTIONAL, ALWAYS_WRITTEN, &effort_members),
};
GET_MEMBER(finish_plan)
{
    const struct plan *p = to;
    return claim_check(value, p->claim, p->taken_over_count, err);
}

MEMBERS(plan, struct plan, NULL, false, finish_plan);

enum status plan_load(struct plan *p, const char *path, struct arena *arena, struct error *err)
{
    *p = (struct plan){0};
    path = path_of_document(path, "plan.json", arena);
    return document_load(&p->document, path, "plumbline.plan", &plan_members, p, p, arena, err);
}

static void put_plan(struct json_writer *w, const struct plan *p, struct arena *arena)
{
    assert(plan_bound_ns(p) == p->bound_ns);
    document_begin(w, "plumbline.plan", p->document.sources, p->document.source_count, arena);
    members_put(w, &plan_members, p, p);
}

enum status plan_save(const struct plan *p, const char *path, struct arena *arena,
                      struct error *err)
{
    struct json_writer w;
    put_plan(&w, p, arena);
    return document_write(&w, path, err);
}

const char *plan_text(const struct plan *p, size_t *length, struct arena *arena)
{
    struct json_writer w;
    put_plan(&w, p, arena);
    return document_text(&w, length);
}
