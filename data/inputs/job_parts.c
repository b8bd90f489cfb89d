// The parts of a job that the priced document repeats: layout, rules, budget, recompute modes.
// Reading, writing and the checks that apply to both.
#include "data/inputs/job_fields.h"

#include <string.h>

#include "data/kinds/in_flight.h"
#include "data/kinds/schedules.h"

const char *const gradient_sync_names[] = {"exposed", "overlapped", NULL};
const char *const dispatcher_names[] = {"all_to_all", "deepep", "hybridep", NULL};
const char *const expert_products_names[] = {"by_trainer", "single", "grouped", NULL};
const char *const graphs_names[] = {"none", "parts", "step", NULL};
const char *const unfused_names[] = {"norms", "rotary", "activation", "loss", NULL};
const char *const context_kind_names[] = {"ring", "all_to_all", "all_gather", NULL};
const char *const layout_context_names[] = {"stated", "ring", "all_to_all", "all_gather", NULL};
const char *const checkpoints_names[] = {"device", "partitioned", "host", NULL};
const char *const attention_kernel_names[] = {"maker", "flash-attention-2", "triton", "maker-2024",
                                              NULL};
const char *const trainer_names[] = {"megatron", "deepspeed", "torchtitan", "other", NULL};
const char *const objective_names[] = {"iteration_time", "pipette", "max_load",
                                       "cost",           "energy",  NULL};
const char *const framework_names[] = {"any",  "megatron",       "torchtitan", "deepspeed",
                                       "nemo", "torchtitan-0.2", "axonn",      NULL};
const char *const trainer_switch_names[] = {
    "overlapped_messages", "overlapped_tensor", "scattered_messages",
    "fused_loss",          "compiled",          NULL};
const char *const rule_action_names[] = {"require", "forbid", NULL};

// ---- layout

const char *layout_tensor_text(const struct layout *l, struct arena *arena)
{
    if (!layout_has_grid(l)) return arena_print(arena, "%d", l->tensor);
    return arena_print(arena, "%dx%dx%d%s%s%s%s", layout_tensor_axis(l, 0),
                       layout_tensor_axis(l, 1), layout_tensor_axis(l, 2),
                       l->grid_order ? " order " : "",
                       l->grid_order ? grid_order_names[l->grid_order] : "",
                       l->grid_gathers ? " gathered by " : "",
                       l->grid_gathers ? grid_gathers_names[l->grid_gathers] : "");
}

const char *layout_context_text(const struct layout *l, struct arena *arena)
{
    if (!l->context_kind) return arena_print(arena, "%d", l->context);
    return arena_print(arena, "%d %s", l->context, layout_context_names[l->context_kind]);
}

const char *layout_experts_text(const struct layout *l, struct arena *arena)
{
    const char *hidden = l->overlapped_dispatch ? " overlapped" : "",
               *pool = l->pool ? arena_print(arena, ", pool %d", l->pool) : "";
    if (l->expert_tensor)
        return arena_print(arena, ", expert %d x tensor %d%s%s", l->expert, l->expert_tensor,
                           hidden, pool);
    return l->expert > 1 ? arena_print(arena, ", expert %d%s%s", l->expert, hidden, pool) : pool;
}

// Lengths in tokens; without a list, the whole sequence is one slice.
GET_MEMBER(get_slices)
{
    struct layout *l = to;
    l->slice_count = 1;
    if (!json_is_present(value)) return OK;
    int count = json_length(value);
    if (count < 2 || count > SLICES_MAX)
        return json_refuse(value, err, "expected 2 to %d lengths, found %d", SLICES_MAX, count);
    int64_t *lengths;
    TRY(json_counts(value, 1, SLICE_TOKENS_MAX, &lengths, &count, arena, err));
    l->slice_count = count;
    for (int i = 0; i < count; i++) l->slices[i] = (int)lengths[i];
    return OK;
}

PUT_MEMBER(put_slices)
{
    const struct layout *l = from;
    if (l->slice_count > 1) json_put_ints(w, key, l->slices, l->slice_count);
}

GET_MEMBER(get_in_flight)
{
    struct layout *l = to;
    int64_t *depths;
    int count;
    if (!json_is_present(value)) return OK;
    if (json_length(value) > LISTED_STAGES_MAX)
        return json_refuse(value, err, "expected at most %d stages, found %d", LISTED_STAGES_MAX,
                           json_length(value));
    TRY(json_counts(value, 1, IN_FLIGHT_MAX, &depths, &count, arena, err));
    for (int s = 0; s < count; s++) l->in_flight[s] = (unsigned char)depths[s];
    return OK;
}

PUT_MEMBER(put_in_flight)
{
    const struct layout *l = from;
    int depths[LISTED_STAGES_MAX];
    for (int s = 0; s < LISTED_STAGES_MAX; s++) depths[s] = l->in_flight[s];
    if (l->in_flight[0]) json_put_ints(w, key, depths, l->pipeline);
}

// Three axes whose product is the tensor degree; if all of it is on the first axis, there is no
// grid.
GET_MEMBER(get_grid)
{
    struct layout *l = to;
    int64_t *axes;
    int count;
    if (!json_is_present(value)) return OK;
    TRY(json_expect_count(value, 3, "axes", err));
    TRY(json_counts(value, 1, DEGREE_MAX, &axes, &count, arena, err));
    if (axes[0] * axes[1] * axes[2] != l->tensor)
        return json_refuse(value, err, "expected axes whose product is tensor %d, found %lld",
                           l->tensor, (long long)(axes[0] * axes[1] * axes[2]));
    if (axes[0] < l->tensor) l->grid_depth = (int)axes[1], l->grid_rows = (int)axes[2];
    return OK;
}

PUT_MEMBER(put_grid)
{
    const struct layout *l = from;
    int axes[3] = {layout_tensor_axis(l, 0), layout_tensor_axis(l, 1), layout_tensor_axis(l, 2)};
    if (layout_has_grid(l)) json_put_ints(w, key, axes, 3);
}

static const struct layout layout_initial = {.tensor = 1,
                                             .context = 1,
                                             .data = 1,
                                             .expert = 1,
                                             .virtual_stages = 1,
                                             .micro_batch = 1,
                                             .schedule = SCHEDULE_1F1B,
                                             .gradient_sync = SYNC_EXPOSED,
                                             .barrier = true};

static const struct member layout_rows[] = {
    KEY_INT(layout, tensor, OPTIONAL, ALWAYS_WRITTEN, 1, DEGREE_MAX),
    KEY_PART("tensor_grid", JSON_ARRAY, OPTIONAL, 0, get_grid, put_grid),
    KEY_INT(layout, context, OPTIONAL, ALWAYS_WRITTEN, 1, DEGREE_MAX),
    KEY_INT(layout, data, OPTIONAL, ALWAYS_WRITTEN, 1, DEGREE_MAX),
    KEY_INT(layout, pipeline, REQUIRED, ALWAYS_WRITTEN, 1, STAGES_MAX),
    KEY_INT(layout, expert_tensor, OPTIONAL, IF_SET, 1, DEGREE_MAX),
    KEY_INT(layout, expert, OPTIONAL, ALWAYS_WRITTEN, 1, DEGREE_MAX),
    KEY_INT(layout, virtual_stages, OPTIONAL, ALWAYS_WRITTEN, 1, STAGES_MAX),
    KEY_INT(layout, micro_batch, OPTIONAL, ALWAYS_WRITTEN, 1, RANK_MAX),
    KEY_NAME(layout, schedule, OPTIONAL, ALWAYS_WRITTEN, schedule_names),
    KEY_BOOL(layout, sequence_parallel, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(layout, fused_attention, OPTIONAL, ALWAYS_WRITTEN),
    KEY_NAME(layout, gradient_sync, OPTIONAL, ALWAYS_WRITTEN, gradient_sync_names),
    KEY_BOOL(layout, fused_embedding_sync, OPTIONAL, ALWAYS_WRITTEN),
    KEY_INT(layout, zero, OPTIONAL, ALWAYS_WRITTEN, 0, 3),
    KEY_INT(layout, data_shard, OPTIONAL, IF_SET, 1, DEGREE_MAX),
    KEY_BOOL(layout, offload_optimizer, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(layout, barrier, OPTIONAL, ALWAYS_WRITTEN),
    KEY_INT(layout, local_loss_every, OPTIONAL, ALWAYS_WRITTEN, 0, STAGES_MAX),
    KEY_BOOL(layout, stored_inputs, OPTIONAL, IF_SET),
    KEY_PART("slices", JSON_ARRAY, OPTIONAL, 0, get_slices, put_slices),
    KEY_PART("in_flight", JSON_ARRAY, OPTIONAL, 0, get_in_flight, put_in_flight),
    KEY_NAME(layout, recompute, OPTIONAL, IF_SET, recompute_setting_names),
    KEY_INT(layout, recomputed_layers, OPTIONAL, IF_SET, 0, 1 << 20),
    KEY_NAME(layout, context_kind, OPTIONAL, IF_SET, layout_context_names),
    KEY_BOOL(layout, overlapped_dispatch, OPTIONAL, IF_SET),
    KEY_INT(layout, pool, OPTIONAL, IF_SET, 1, DEGREE_MAX),
    KEY_NAME(layout, grid_order, OPTIONAL, IF_SET, grid_order_names),
    KEY_NAME(layout, grid_gathers, OPTIONAL, IF_SET, grid_gathers_names),
};
GET_MEMBER(finish_layout)
{
    struct layout *l = to;
    if (l->expert_tensor == l->tensor) l->expert_tensor = 0;
    if (l->schedule == SCHEDULE_1F1B &&
        in_flight_fits(l->in_flight, l->pipeline, LISTED_STAGES_MAX))
        in_flight_settle(l->in_flight, l->pipeline, IN_FLIGHT_MAX);
    return OK;
}

MEMBERS(layout, struct layout, &layout_initial, false, finish_layout);

// The schedule determines how many stages a rank has, and how many slices a sequence.
static enum status check_stages(const struct layout *l, struct error *err)
{
    const char *name = schedule_names[l->schedule];
    int wanted = schedule_kinds[l->schedule].virtual_stages;
    bool sliced = schedule_kinds[l->schedule].slices;
    if (layout_stage_count(l) > STAGES_MAX)
        return refuse(err,
                      "layout: pipeline x virtual_stages: expected at most %d stages, found %d",
                      STAGES_MAX, layout_stage_count(l));
    if (wanted ? l->virtual_stages != wanted : l->virtual_stages < 2)
        return refuse(err, "layout.virtual_stages: %s expects %s, found %d", name,
                      wanted == 1   ? "1"
                      : wanted == 2 ? "2"
                                    : "at least 2",
                      l->virtual_stages);
    if (l->virtual_stages > 1 && l->pipeline < 2 && !schedule_kinds[l->schedule].layered)
        return refuse(err, "layout.pipeline: %s expects at least 2, found %d", name, l->pipeline);
    if (sliced ? l->slice_count < 2 : l->slice_count != 1)
        return refuse(err, "layout.slices: %s expects %s, found %d", name,
                      sliced ? "2 to 32 lengths" : "none", l->slice_count);
    if (l->slice_count < 1 || l->slice_count > SLICES_MAX)
        return refuse(err, "layout.slices: expected at most %d lengths, found %d", SLICES_MAX,
                      l->slice_count);
    return OK;
}

// Ranks that do not split an expert as they split the rest must have tokens of their own.
static enum status check_experts(const struct layout *l, struct error *err)
{
    if (l->expert_tensor && l->tensor % l->expert_tensor)
        return refuse(err, "layout.expert_tensor: expected a divisor of tensor %d, found %d",
                      l->tensor, l->expert_tensor);
    if (l->expert_tensor && !l->sequence_parallel)
        return refuse(
            err, "layout.expert_tensor: expected tensor %d without sequence_parallel, found %d",
            l->tensor, l->expert_tensor);
    if (layout_expert_ranks(l) % l->expert)
        return refuse(err, "layout.expert: expected a divisor of %s %lld, found %d",
                      l->expert_tensor ? "data x context x tensor / expert_tensor"
                                       : "data x context",
                      (long long)layout_expert_ranks(l), l->expert);
    return OK;
}

int layout_data_shard(const struct layout *l) { return l->data_shard ? l->data_shard : l->data; }

// Groups of data ranks that share states; each holds all parts of every expert.
static enum status check_shard(const struct layout *l, struct error *err)
{
    int shard = layout_data_shard(l);
    if (l->data % shard)
        return refuse(err, "layout.data_shard: expected a divisor of data %d, found %d", l->data,
                      shard);
    if (layout_expert_ranks(l) / l->expert % (l->data / shard) == 0) return OK;
    return refuse(err,
                  "layout.data_shard: expected groups of ranks that each have every expert: a "
                  "number of them, data %d / data_shard, that divides the %lld copies of each "
                  "expert, found data_shard %d",
                  l->data, (long long)(layout_expert_ranks(l) / l->expert), shard);
}

static enum status check_setting(const struct layout *l, struct error *err)
{
    bool counts = l->recompute == 1 + RECOMPUTE_FIRST_LAYERS;
    if (l->recompute == 1 + RECOMPUTE_SWAP)
        return refuse(err, "layout.recompute: expected \"each\" or a mode that no count of swapped "
                           "layers belongs to, found swap");
    if (counts ? l->recomputed_layers < 1 : l->recomputed_layers > 0)
        return refuse(err, "layout.recomputed_layers: %s expects %s, found %d",
                      recompute_setting_names[l->recompute], counts ? "at least 1" : "none",
                      l->recomputed_layers);
    return OK;
}

// Segments that read their inputs from a file are pipelines of their own.
static enum status check_stored(const struct layout *l, struct error *err)
{
    if (!l->stored_inputs) return OK;
    if (!l->local_loss_every)
        return refuse(err,
                      "layout.stored_inputs: expected local_loss_every of at least 1 next to it");
    if (!schedule_stores_inputs(l->schedule))
        return refuse(err, "layout.stored_inputs: expected the schedule gpipe or 1f1b, found %s",
                      schedule_names[l->schedule]);
    return OK;
}

// A list that rises cannot be executed; the last stage needs no second one (docs/PROOFS.md 8.19).
static enum status check_in_flight(const struct layout *l, struct error *err)
{
    if (!l->in_flight[0]) return OK;
    if (l->schedule != SCHEDULE_1F1B || l->local_loss_every)
        return refuse(
            err, "layout.in_flight: expected the schedule 1f1b without local losses, found %s%s",
            schedule_names[l->schedule], l->local_loss_every ? " with them" : "");
    if (!in_flight_fits(l->in_flight, l->pipeline, LISTED_STAGES_MAX))
        return refuse(err,
                      "layout.in_flight: expected a number for each of %d stages (at most %d), "
                      "none above the one before it and the last one 1",
                      l->pipeline, LISTED_STAGES_MAX);
    return OK;
}

enum status layout_check(const struct layout *l, struct error *err)
{
    TRY(members_check(&layout_members, l, "layout.", err));
    TRY(check_experts(l, err));
    TRY(check_shard(l, err));
    int64_t inner = (int64_t)l->grid_depth * l->grid_rows;
    if (inner < 0 || inner == 1 || l->grid_depth < 0 || (inner > 1 && l->tensor % inner) ||
        (inner == 0 && (l->grid_depth || l->grid_rows)))
        return refuse(err, "layout.tensor_grid: expected axes whose product is tensor %d",
                      l->tensor);
    if (!inner && (l->grid_order || l->grid_gathers))
        return refuse(err, "layout.%s: expected none without a tensor_grid, found %s",
                      l->grid_order ? "grid_order" : "grid_gathers",
                      l->grid_order ? grid_order_names[l->grid_order]
                                    : grid_gathers_names[l->grid_gathers]);
    TRY(check_stages(l, err));
    TRY(check_stored(l, err));
    TRY(check_in_flight(l, err));
    TRY(check_setting(l, err));
    double devices = (double)l->tensor * l->context * l->data;
    if (devices > 1e9)
        return refuse(
            err,
            "layout: tensor x context x data: expected at most 1e9 devices per stage, found %.0f",
            devices);
    return OK;
}

// ---- budget

// A missing object is a budget without limits, and a missing key is no limit.
static const struct quality_budget budget_initial = {
    .boundaries_max = -1, .stages_max = -1, .cost_max = -1};

static const struct member budget_rows[] = {
    KEY_COUNT(quality_budget, boundaries_max, OPTIONAL, IF_STATED, 0, STAGES_MAX),
    KEY_COUNT(quality_budget, stages_max, OPTIONAL, IF_STATED, 0, STAGES_MAX),
    KEY_COUNT(quality_budget, cost_max, OPTIONAL, IF_STATED, 0, QUALITY_MAX * 1024),
    KEY_INT(quality_budget, rank_min, OPTIONAL, ALWAYS_WRITTEN, 0, RANK_MAX),
    KEY_COUNT(quality_budget, energy_max_uj, OPTIONAL, IF_SET, 1, ENERGY_MAX),
};
MEMBERS(budget, struct quality_budget, &budget_initial, true, NULL);

// ---- rules

const struct rule rule_empty = {.action = RULE_REQUIRE,
                                .stage = -1,
                                .holds_first = -1,
                                .holds_last = -1,
                                .layers_min = -1,
                                .layers_max = -1,
                                .compresses_gradient = -1,
                                .compresses_boundary = -1};

bool rule_names_group(const struct rule *rule, const char *name)
{
    for (int i = 0; i < rule->group_count; i++)
        if (!strcmp(rule->groups[i], name)) return true;
    return false;
}

GET_MEMBER(get_recompute)
{
    struct rule *r = to;
    if (!json_is_present(value)) return OK;
    if (json_length(value) < 1)
        return json_refuse(value, err, "expected at least one mode, found none");
    r->recompute_stated = true;
    return set_get(value, recompute_names, r->recompute, arena, err);
}

PUT_MEMBER(put_recompute)
{
    const struct rule *r = from;
    if (r->recompute_stated) set_put(w, key, recompute_names, r->recompute);
}

GET_MEMBER(finish_rule)
{
    struct rule *r = to;
    if (r->holds_first >= 0 && r->holds_last < 0) r->holds_last = r->holds_first;
    return OK;
}

static const struct member rule_rows[] = {
    KEY_NAME(rule, action, REQUIRED, ALWAYS_WRITTEN, rule_action_names),
    KEY_INT(rule, stage, OPTIONAL, IF_STATED, 0, STAGES_MAX - 1),
    KEY_TEXTS(rule, groups, group_count, OPTIONAL, 1, RULE_GROUPS_MAX),
    KEY_INT(rule, holds_first, OPTIONAL, IF_STATED, 0, 1 << 20),
    KEY_INT(rule, holds_last, OPTIONAL, IF_STATED, 0, 1 << 20),
    KEY_TEXT(rule, run, OPTIONAL),
    KEY_INT(rule, layers_min, OPTIONAL, IF_STATED, 0, 1 << 20),
    KEY_INT(rule, layers_max, OPTIONAL, IF_STATED, 0, 1 << 20),
    KEY_PART("recompute", JSON_ARRAY, OPTIONAL, 0, get_recompute, put_recompute),
    KEY_FLAG(rule, compresses_gradient),
    KEY_FLAG(rule, compresses_boundary),
};
MEMBERS(rule, struct rule, &rule_empty, true, finish_rule);

static enum status check_rule(const struct rule *r, int stage_count, int layer_count,
                              struct error *err)
{
    if (r->stage < -1 || r->stage >= stage_count)
        return refuse(err, ".stage: expected a stage from 0 to %d, found %d", stage_count - 1,
                      r->stage);
    if ((r->holds_first < 0) != (r->holds_last < 0) || r->holds_first > r->holds_last)
        return refuse(err, ": expected holds_first <= holds_last, found %d and %d", r->holds_first,
                      r->holds_last);
    if (layer_count && r->holds_last >= layer_count)
        return refuse(err, ".holds_last: expected a layer from 0 to %d, found %d", layer_count - 1,
                      r->holds_last);
    if (r->layers_min >= 0 && r->layers_max >= 0 && r->layers_min > r->layers_max)
        return refuse(err, ": expected layers_min <= layers_max, found %d and %d", r->layers_min,
                      r->layers_max);
    bool counts = r->layers_min >= 0 || r->layers_max >= 0;
    if (r->run && !counts) return refuse(err, ".run: requires layers_min or layers_max");
    if (!counts && !r->group_count && r->holds_first < 0 && !r->recompute_stated &&
        r->compresses_gradient < 0 && r->compresses_boundary < 0)
        return refuse(err, ": expected at least one condition, found none");
    return OK;
}

enum status rules_check(const struct rule *rules, int count, int stage_count, int layer_count,
                        struct error *err)
{
    for (int i = 0; i < count; i++)
        TRY(fail_within(err, check_rule(&rules[i], stage_count, layer_count, err), "rules[%d]", i));
    return OK;
}
