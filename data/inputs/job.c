// Jobs: load, check, save. job_parts.c reads and writes what the priced document repeats (layout,
// rules, budget).
#include "data/inputs/job.h"

#include <string.h>

#include "data/inputs/job_fields.h"
#include "data/inputs/space.h"
#include "data/kinds/schedules.h"

#define SEQUENCE_MAX 16777216.0     // 2^24 tokens
#define BATCH_MAX 1073741824.0      // 2^30 sequences
#define MARGIN_MAX 1125899906842624 // 2^50 bytes
#define TOKENS_MAX 1000000000000000
#define LOCAL_LOSS_MAX_S 1e3

static const char *name_of(const struct job *j) { return document_name(&j->document, "job"); }

// ---- reading and writing

static const struct member local_head_rows[] = {
    KEY_COUNT(local_head, vocabulary, REQUIRED, ALWAYS_WRITTEN, 1, 1 << 26),
    KEY_COUNT(local_head, embedding_width, OPTIONAL, IF_SET, 1, 1 << 20),
};
static MEMBERS(local_head, struct local_head, NULL, true, NULL);

static const struct member local_loss_rows[] = {
    KEY_NUMBER(local_loss, forward_s, OPTIONAL, ALWAYS_WRITTEN, 0, LOCAL_LOSS_MAX_S),
    KEY_NUMBER(local_loss, backward_s, OPTIONAL, ALWAYS_WRITTEN, 0, LOCAL_LOSS_MAX_S),
    KEY_COUNT(local_loss, bytes, OPTIONAL, ALWAYS_WRITTEN, 0, MARGIN_MAX),
    KEY_OBJECT("head", local_loss, head, OPTIONAL, IF_SET, &local_head_members),
    KEY_BOOL(local_loss, step_each_micro_batch, OPTIONAL, IF_SET),
};

// The numbers are missing only beside a head.
GET_MEMBER(finish_local_loss)
{
    static const char *const numbers[] = {"forward_s", "backward_s", "bytes"};
    const struct local_loss *loss = to;
    for (size_t i = 0; i < ARRAY_LENGTH(numbers) && !loss->head.vocabulary; i++)
        if (!json_has(value, numbers[i]))
            return json_refuse(value, err, "key \"%s\" is missing", numbers[i]);
    return OK;
}

static MEMBERS(local_loss, struct local_loss, NULL, true, finish_local_loss);

static const struct member placement_rows[] = {
    KEY_BOOL(placement_wishes, homogeneous_groups, OPTIONAL, IF_SET),
    KEY_BOOL(placement_wishes, uneven_micro_batches, OPTIONAL, IF_SET),
};
static MEMBERS(placement, struct placement_wishes, NULL, true, NULL);

// Offers every set of these modules.
GET_MEMBER(get_modules)
{
    bool listed[MODULE_COUNT] = {false}, *modes = to;
    if (!json_is_present(value)) return OK;
    TRY(set_get(value, recompute_module_names, listed, arena, err));
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++) {
        bool all = true;
        for (int m = 0; m < MODULE_COUNT; m++)
            all = all &&
                  (listed[m] || !recompute_repeats((enum recompute)mode, (enum recompute_module)m));
        modes[mode] = modes[mode] || all;
    }
    return OK;
}

PUT_MEMBER(put_nothing) { (void)w; } // `recompute`, `tier_options` list what it is short for

static const struct member job_rows[] = {
    KEY_TEXT(job, name, REQUIRED),
    KEY_COUNT(job, sequence, REQUIRED, ALWAYS_WRITTEN, 1, SEQUENCE_MAX),
    KEY_COUNT(job, global_batch, REQUIRED, ALWAYS_WRITTEN, 1, BATCH_MAX),
    KEY_NAME(job, precision, REQUIRED, ALWAYS_WRITTEN, precision_names),
    KEY_INT(job, gradient_bytes_per_value, OPTIONAL, ALWAYS_WRITTEN, 2, 4),
    KEY_BOOL(job, adam, OPTIONAL, ALWAYS_WRITTEN),
    KEY_INT(job, state_bytes_per_value, OPTIONAL, IF_SET, 1, STATE_BYTES_MAX),
    KEY_NAME(job, trainer, OPTIONAL, ALWAYS_WRITTEN, trainer_names),
    KEY_BOOL(job, fused_loss, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(job, compiled, OPTIONAL, IF_SET),
    KEY_SET(job, unfused, OPTIONAL, IF_SET, unfused_names),
    KEY_BOOL(job, stopped_recompute, OPTIONAL, IF_SET),
    KEY_BOOL(job, gathered_logits, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(job, chunked_loss, OPTIONAL, IF_SET),
    KEY_BOOL(job, loss_in_place, OPTIONAL, IF_SET),
    KEY_BOOL(job, fp8_activation_input, OPTIONAL, IF_SET),
    KEY_BOOL(job, kept_logits, OPTIONAL, IF_SET),
    KEY_BOOL(job, gathered_inputs, OPTIONAL, IF_SET),
    KEY_BOOL(job, whole_gradient_sums, OPTIONAL, IF_SET),
    KEY_BOOL(job, owner_broadcasts, OPTIONAL, IF_SET),
    KEY_BOOL(job, split_gate, OPTIONAL, IF_SET),
    KEY_BOOL(job, scattered_messages, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(job, overlapped_messages, OPTIONAL, IF_SET),
    KEY_BOOL(job, overlapped_tensor, OPTIONAL, IF_SET),
    KEY_BOOL(job, exposed_input_gradients, OPTIONAL, IF_SET),
    KEY_NAME(job, attention_kernel, OPTIONAL, IF_SET, attention_kernel_names),
    KEY_NAME(job, dispatcher, OPTIONAL, IF_SET, dispatcher_names),
    KEY_BOOL(job, overlapped_dispatch, OPTIONAL, IF_SET),
    KEY_BOOL(job, fixed_capacity, OPTIONAL, IF_SET),
    KEY_NAME(job, expert_products, OPTIONAL, IF_SET, expert_products_names),
    KEY_NUMBER(job, expert_padding, OPTIONAL, IF_SET, 1e-6, EXPERT_PADDING_MAX),
    KEY_NAME(job, graphs, OPTIONAL, IF_SET, graphs_names),
    KEY_NAME(job, context_kind, OPTIONAL, IF_SET, context_kind_names),
    KEY_NAME(job, checkpoints, OPTIONAL, IF_SET, checkpoints_names),
    KEY_NAME(job, objective, OPTIONAL, IF_SET, objective_names),
    KEY_OBJECT("layout", job, layout, REQUIRED, ALWAYS_WRITTEN, &layout_members),
    KEY_SPACE(job, space, OPTIONAL),
    KEY_NAME(job, stage_degrees, OPTIONAL, IF_SET, stage_degrees_names),
    KEY_NAME(job, replicas, OPTIONAL, IF_SET, replicas_names),
    KEY_LIST(job, widths, width_list_count, OPTIONAL, IF_SET, 16, &width_list_members),
    KEY_SET(job, recompute, OPTIONAL, ALWAYS_WRITTEN, recompute_names),
    KEY_INT(job, sharded_zero, OPTIONAL, IF_SET, 2, 3),
    KEY_ARRAY(job, vocabulary_tensor, vocabulary_tensor_count, JSON_INT, OPTIONAL, IF_SET, 1,
              DEGREE_MAX, VOCABULARY_DEGREES_MAX),
    KEY_BOOL(job, recompute_any, OPTIONAL, IF_SET),
    KEY_PART("recompute_modules", JSON_ARRAY, OPTIONAL, offsetof(struct job, recompute),
             get_modules, put_nothing),
    KEY_LIST(job, boundary_options, boundary_option_count, OPTIONAL, ALWAYS_WRITTEN, OPTIONS_MAX,
             &boundary_offer_members),
    KEY_LIST(job, gradient_options, gradient_option_count, OPTIONAL, ALWAYS_WRITTEN, OPTIONS_MAX,
             &gradient_offer_members),
    KEY_LIST(job, tier_options, tier_option_count, OPTIONAL, IF_SET, OPTIONS_MAX,
             &tier_option_members),
    KEY_PART("offload_percents", JSON_ARRAY, OPTIONAL, 0, job_get_shares, put_nothing),
    KEY_OBJECT("budget", job, budget, OPTIONAL, ALWAYS_WRITTEN, &budget_members),
    KEY_OBJECT("local_loss", job, local_loss, OPTIONAL, IF_SET, &local_loss_members),
    KEY_OBJECT("placement", job, placement, OPTIONAL, IF_SET, &placement_members),
    KEY_NUMBER(job, memory_fraction, OPTIONAL, ALWAYS_WRITTEN, 0, 1),
    KEY_COUNT(job, memory_margin_bytes, OPTIONAL, ALWAYS_WRITTEN, 0, MARGIN_MAX),
    KEY_NUMBER(job, iteration_limit_s, OPTIONAL, IF_SET, 0, 1e6),
    KEY_NUMBER(job, price_limit, OPTIONAL, IF_SET, 0, 1e9),
    KEY_COUNT(job, run_tokens, OPTIONAL, IF_SET, 0, TOKENS_MAX),
    KEY_LIST(job, rules, rule_count, OPTIONAL, ALWAYS_WRITTEN, RULES_MAX, &rule_members),
};
MEMBERS(job, struct job, NULL, false, NULL);

int trainer_gradient_bytes(enum trainer trainer, enum precision precision)
{
    return trainer == TRAINER_DEEPSPEED && precision != FP32 ? 2 : 4;
}

double job_expert_padding(const struct job *j)
{
    return j->expert_padding > 0 ? j->expert_padding : 1;
}

// Both of Adam's moments in fp32 and, next to 16-bit weights, theirs (docs/FORMULAS.md 4).
int job_state_bytes(const struct job *j)
{
    return j->state_bytes_per_value ? j->state_bytes_per_value : j->precision == FP32 ? 8 : 12;
}

enum status job_load(struct job *j, const char *path, struct arena *arena, struct error *err)
{
    *j = (struct job){.adam = true, .memory_fraction = MEMORY_FRACTION_DEFAULT};
    TRY(document_load(&j->document, path, "plumbline.job", &job_members, j, NULL, arena, err));
    j->recompute[RECOMPUTE_NONE] = true;
    if (!j->gradient_bytes_per_value)
        j->gradient_bytes_per_value = trainer_gradient_bytes(j->trainer, j->precision);
    // Stages take as many devices as their widths do, the layout states no more than a rank each.
    if (j->space.given && job_has_widths(j)) j->space.fewer_devices = true;
    job_follow_layout(j);
    return job_check(j, err);
}

void job_follow_layout(struct job *j)
{
    struct layout *l = &j->layout;
    if (j->space.given) { // whose layouts have it, or are refused
        l->overlapped_dispatch |= j->overlapped_dispatch;
        j->overlapped_dispatch = false;
        return;
    }
    if (l->context_kind) j->context_kind = (enum context_kind)(l->context_kind - 1);
    j->overlapped_dispatch |= l->overlapped_dispatch;
}

enum status job_save(const struct job *j, const char *path, struct arena *arena, struct error *err)
{
    return document_save(&j->document, "plumbline.job", &job_members, j, NULL, path, arena, err);
}

// ---- checking

// Replicas with different numbers of micro-batches: each has at least its unit.
static enum status check_uneven(const struct job *j, struct error *err)
{
    const struct layout *l = &j->layout;
    int64_t unit = layout_micro_batch_unit(l), together = job_micro_batches_together(j),
            others = (l->data - 1) * unit;
    // With this schedule, an order with fewer micro-batches is not part of one with more, but
    // bounds rely on that.
    if (schedule_kinds[l->schedule].nests == NESTS_NEVER)
        return refuse(err, "placement.uneven_micro_batches: expected another schedule than %s",
                      schedule_names[l->schedule]);
    if (j->global_batch % (unit * l->micro_batch))
        return refuse(err, "global_batch: expected a multiple of %s %lld, found %lld",
                      unit > 1 ? "micro_batch x pipeline (interleaved)" : "micro_batch",
                      (long long)unit * l->micro_batch, (long long)j->global_batch);
    if (together < others + unit)
        return refuse(
            err, "global_batch: expected %lld micro-batches or more for %d replicas, found %lld",
            (long long)(others + unit), l->data, (long long)together);
    if (together - others > MICRO_BATCHES_MAX)
        return refuse(
            err, "global_batch: expected at most %d micro-batches per replica, found %lld possible",
            MICRO_BATCHES_MAX, (long long)(together - others));
    return OK;
}

static enum status check_batch(const struct job *j, struct error *err)
{
    const struct layout *l = &j->layout;
    int64_t together = (int64_t)l->data * l->micro_batch;
    if (j->sequence % l->context)
        return refuse(err, "sequence: expected a multiple of layout.context %d, found %lld",
                      l->context, (long long)j->sequence);
    int64_t parts = (int64_t)l->context * layout_tensor_axis(l, 0);
    if (l->sequence_parallel && j->sequence % parts)
        return refuse(err,
                      "sequence: expected a multiple of layout.context x %s %lld for "
                      "sequence_parallel, found %lld",
                      layout_has_grid(l) ? "tensor_grid's first axis" : "tensor", (long long)parts,
                      (long long)j->sequence);
    if (j->placement.uneven_micro_batches) return check_uneven(j, err);
    if (j->global_batch % together)
        return refuse(
            err, "global_batch: expected a multiple of layout.data x micro_batch %lld, found %lld",
            (long long)together, (long long)j->global_batch);
    if (j->global_batch / together > MICRO_BATCHES_MAX)
        return refuse(err,
                      "global_batch: expected at most %d micro-batches per replica, found %lld",
                      MICRO_BATCHES_MAX, (long long)(j->global_batch / together));
    return OK;
}

// What a schedule requires of the batch and the sequence.
static enum status check_schedule(const struct job *j, struct error *err)
{
    const struct layout *l = &j->layout;
    int64_t tokens = 0;
    if (job_micro_batches(j) < layout_micro_batch_unit(l))
        return refuse(err,
                      "layout.schedule: %s expects at least as many micro-batches per replica as "
                      "pipeline ranks (%d), found %d",
                      schedule_names[l->schedule], l->pipeline, job_micro_batches(j));
    if (l->slice_count == 1) return OK;
    for (int i = 0; i < l->slice_count; i++) tokens += l->slices[i];
    if (tokens != j->sequence)
        return refuse(err, "layout.slices: expected a sum of sequence %lld, found %lld",
                      (long long)j->sequence, (long long)tokens);
    if (l->context > 1)
        return refuse(err, "layout.context: token-sliced expects 1, found %d", l->context);
    if (j->boundary_option_count || j->gradient_option_count || job_tier_ways(j) > 1)
        return refuse(err, "boundary_options, gradient_options, offload_percents, tier_options: "
                           "expected none with token-sliced");
    return OK;
}

static enum status check_compressions(const char *key, const struct compression_option *options,
                                      int count, struct error *err)
{
    static const int most[] = {RANK_MAX, 999, 8};
    for (int i = 0; i < count; i++) {
        const struct compression_form *form = &options[i].form;
        if (form->amount < 1 || form->amount > most[form->method] || options[i].quality_cost < 0 ||
            options[i].quality_cost > QUALITY_MAX)
            return refuse(err, "%s[%d]: %s or quality_cost is out of range", key, i,
                          compression_keys[form->method]);
    }
    return OK;
}

static enum status check_options(const struct job *j, struct error *err)
{
    if (j->boundary_option_count > OPTIONS_MAX || j->gradient_option_count > OPTIONS_MAX)
        return refuse(err, "boundary_options, gradient_options: expected at most %d of each",
                      OPTIONS_MAX);
    TRY(check_compressions("boundary_options", j->boundary_options, j->boundary_option_count, err));
    TRY(check_compressions("gradient_options", j->gradient_options, j->gradient_option_count, err));
    TRY(job_check_tiers(j, err));
    return members_check(&budget_members, &j->budget, "budget.", err);
}

// What sets of modules free and take is that of Megatron's layers.
static enum status check_modules(const struct job *j, struct error *err)
{
    int mode = RECOMPUTE_SETS;
    while (mode < RECOMPUTE_COUNT && !j->recompute[mode]) mode++;
    if (mode == RECOMPUTE_COUNT || (job_like_megatron(j) && !layout_has_grid(&j->layout)))
        return OK;
    return refuse(err,
                  "recompute: expected trainer megatron and no tensor_grid for recompute modules, "
                  "found \"%s\" with trainer %s",
                  recompute_names[mode], trainer_names[j->trainer]);
}

static enum status check_recompute(const struct job *j, struct error *err)
{
    const struct layout *l = &j->layout;
    if (!layout_recomputes_alike(l) || layout_recompute(l) == RECOMPUTE_NONE ||
        j->recompute[layout_recompute(l)])
        return OK;
    return refuse(err, "layout.recompute: expected each, none or a mode the job offers, found %s",
                  recompute_setting_names[l->recompute]);
}

static enum status check_padding(const struct job *j, struct error *err)
{
    if (job_expert_padding(j) >= 1 || j->fixed_capacity) return OK;
    return refuse(err,
                  "expert_padding: expected at least 1 without fixed_capacity, which alone drops "
                  "rows, found %g",
                  j->expert_padding);
}

static enum status check_layout(const struct job *j, struct error *err)
{
    TRY(check_padding(j, err));
    TRY(layout_check(&j->layout, err));
    TRY(check_recompute(j, err));
    TRY(check_schedule(j, err));
    TRY(check_batch(j, err));
    TRY(check_modules(j, err));
    return rules_check(j->rules, j->rule_count, layout_stage_count(&j->layout), 0, err);
}

// A list in flight is of the layout's own stages, or the space has every one.
static enum status check_lists(const struct job *j, struct error *err)
{
    static const enum space_key keys[] = {SPACE_PIPELINE, SPACE_SCHEDULE, SPACE_LOCAL_LOSS_EVERY};
    if (!j->space.given || !j->layout.in_flight[0]) return OK;
    if (j->space.in_flight_max)
        return refuse(err, "space.in_flight_max: expected a layout without in_flight");
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (j->space.axes[keys[i]].kind != AXIS_FIXED)
            return refuse(err,
                          "layout.in_flight: expected a space without %s, or with in_flight_max",
                          space_key_names[keys[i]]);
    return OK;
}

void job_keep_shards(struct job *j, struct arena *arena)
{
    static const int shards[] = {1, 2, 3};
    int count = (int)ARRAY_LENGTH(shards);
    struct space_axis *zero = &j->space.axes[SPACE_ZERO];
    if (job_sums_wide_in_shards(j) && zero->kind == AXIS_ALL)
        *zero = (struct space_axis){AXIS_LIST, TAKE_COPY(arena, shards, count), count};
}

static enum status check_wide_sums(const struct job *j, struct error *err)
{
    const struct space_axis *zero = &j->space.axes[SPACE_ZERO];
    bool whole = zero->kind == AXIS_FIXED ? !j->layout.zero : zero->kind == AXIS_ALL;
    for (int i = 0; i < zero->count; i++) whole = whole || !zero->values[i];
    if (!whole || !job_sums_wide_in_shards(j)) return OK;
    return refuse(err,
                  "%s.zero: expected 1 to 3, as the space's framework deepspeed sums gradients of "
                  "4 bytes next to weights in %s only where they are sharded, found %s",
                  zero->kind == AXIS_FIXED ? "layout" : "space", precision_names[j->precision],
                  zero->kind == AXIS_ALL ? "all" : "0");
}

static enum status check(const struct job *j, struct error *err)
{
    TRY(members_check(&job_members, j, "", err));
    if (j->gradient_bytes_per_value != 2 && j->gradient_bytes_per_value != 4)
        return refuse(err, "gradient_bytes_per_value: expected 2 or 4, found %d",
                      j->gradient_bytes_per_value);
    if (j->state_bytes_per_value < 0 || j->state_bytes_per_value > STATE_BYTES_MAX)
        return refuse(err, "state_bytes_per_value: expected 1 to %d, found %d", STATE_BYTES_MAX,
                      j->state_bytes_per_value);
    if (j->state_bytes_per_value && !j->adam)
        return refuse(err, "state_bytes_per_value: expected none without adam, found %d",
                      j->state_bytes_per_value);
    if (j->whole_gradient_sums && !job_may_sum_whole(j))
        return refuse(err,
                      "whole_gradient_sums: expected trainer other or deepspeed and no "
                      "gradient_options next to it, found %s and %d",
                      trainer_names[j->trainer], j->gradient_option_count);
    if (j->owner_broadcasts && !job_may_broadcast(j))
        return refuse(err,
                      "owner_broadcasts: expected trainer other, and neither whole_gradient_sums "
                      "nor gradient_options next to it, found %s",
                      trainer_names[j->trainer]);
    if (j->split_gate && !job_may_split_gate(j))
        return refuse(err, "split_gate: expected trainer other, found %s",
                      trainer_names[j->trainer]);
    if (j->exposed_input_gradients && j->trainer != TRAINER_MEGATRON)
        return refuse(err, "exposed_input_gradients: expected trainer megatron, found %s",
                      trainer_names[j->trainer]);
    if (j->loss_in_place && j->trainer != TRAINER_MEGATRON)
        return refuse(err, "loss_in_place: expected trainer megatron, found %s",
                      trainer_names[j->trainer]);
    if (j->fp8_activation_input && (j->trainer != TRAINER_MEGATRON || j->precision == FP32 ||
                                    job_unfused(j, UNFUSED_ACTIVATION)))
        return refuse(err,
                      "fp8_activation_input: expected trainer megatron, 16 bits or fewer and no "
                      "unfused activation, found %s in %s%s",
                      trainer_names[j->trainer], precision_names[j->precision],
                      job_unfused(j, UNFUSED_ACTIVATION) ? ", unfused" : "");
    if (j->kept_logits && (!job_may_be_pytorch(j) || j->chunked_loss))
        return refuse(
            err, "kept_logits: expected trainer other or torchtitan and no chunked_loss, found %s",
            trainer_names[j->trainer]);
    if (j->gathered_inputs && !job_may_be_pytorch(j))
        return refuse(err, "gathered_inputs: expected trainer other or torchtitan, found %s",
                      trainer_names[j->trainer]);
    if (!(j->memory_fraction > 0))
        return refuse(err, "memory_fraction: expected above 0 and at most 1, found %g",
                      j->memory_fraction);
    TRY(check_padding(j, err));
    TRY(members_check(&local_loss_members, &j->local_loss, "local_loss.", err));
    TRY(check_options(j, err));
    TRY(framework_check(j, err));
    bool free = !j->space.given || j->space.framework == FRAMEWORK_ANY;
    if (!free &&
        (j->expert_products || (j->expert_padding > 1 && !j->fixed_capacity) ||
         (j->fixed_capacity && framework_trainer(j->space.framework) == TRAINER_TORCHTITAN)))
        return refuse(err,
                      "expert_products, expert_padding, fixed_capacity: expected by_trainer, and "
                      "padding to a fixed_capacity alone, which torchtitan does not have, as the "
                      "launch files of the space's framework %s state no other",
                      framework_names[j->space.framework]);
    TRY(check_wide_sums(j, err));
    if (j->space.given && j->placement.uneven_micro_batches)
        return refuse(err, "placement.uneven_micro_batches: expected a job without space");
    if (j->space.slice_tokens && j->sequence % j->space.slice_tokens)
        return refuse(err, "space.slice_tokens: expected a divisor of sequence %lld, found %d",
                      (long long)j->sequence, j->space.slice_tokens);
    TRY(check_lists(j, err));
    if (!j->space.given) return check_layout(j, err);
    TRY(layout_check(&j->layout, err));
    return rules_check(j->rules, j->rule_count, STAGES_MAX, 0, err);
}

enum status job_check(const struct job *j, struct error *err)
{
    return fail_within(err, check(j, err), "%s: ", name_of(j));
}

enum status job_check_layout(const struct job *j, struct error *err)
{
    return fail_within(err, check_layout(j, err), "%s: ", name_of(j));
}

int64_t job_micro_batches_together(const struct job *j)
{
    return j->global_batch / j->layout.micro_batch;
}

int layout_micro_batch_unit(const struct layout *l)
{
    return schedule_kinds[l->schedule].in_groups ? l->pipeline : 1;
}

int job_micro_batches(const struct job *j)
{
    int64_t together = job_micro_batches_together(j),
            each = (int64_t)j->layout.data * layout_micro_batch_unit(&j->layout);
    if (j->placement.uneven_micro_batches)
        return (int)((together + each - 1) / each) * layout_micro_batch_unit(&j->layout);
    return (int)(j->global_batch / ((int64_t)j->layout.data * j->layout.micro_batch));
}

bool job_has_local_head(const struct job *j)
{
    return j->layout.local_loss_every > 0 && j->local_loss.head.vocabulary > 0;
}
