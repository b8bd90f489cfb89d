// Compares two documents field by field.
#include "data/kinds/schedules.h"
#include "tests/support/same.h"

#include "data/inputs/cost_keys.h"
#include "tests/support/check.h"

#define SAME(field) assert_int_equal(a->field, b->field)
#define SAME_TEXT(field)                                                                           \
    assert_true(!a->field == !b->field && (!a->field || !strcmp(a->field, b->field)))
#define SAME_NUMBER(field) assert_true(a->field >= b->field && a->field <= b->field)

static void same_shape(const struct shape *a, const struct shape *b)
{
    SAME(hidden);
    SAME(ffn);
    SAME(heads);
    SAME(kv_heads);
    SAME(head_width);
    SAME(vocabulary);
    SAME(positions);
    SAME(vocabulary_multiple);
    SAME(query_rank);
    SAME(kv_rank);
    SAME(rotary_width);
    SAME(value_width);
    SAME(embedding_width);
    SAME(norms);
    SAME(keys_reused);
    SAME(qk_norm);
    SAME(gated_attention);
    SAME(linear.key_heads);
    SAME(linear.value_heads);
    SAME(linear.key_width);
    SAME(linear.value_width);
    SAME(linear.convolution);
    SAME(linear.decay_rank);
    SAME(linear.gate_rank);
    SAME(linear.rule);
    SAME(linear.no_norm);
    SAME(plain_norms);
    SAME(no_final_norm);
    SAME(parallel_residual);
    SAME(output_bias);
    SAME(gated_ffn);
    SAME(rms_norm);
    SAME(qkv_bias);
    SAME(linear_bias);
    SAME(dropout);
    SAME(tied_embeddings);
    SAME_TEXT(activation);
    SAME_NUMBER(norm_epsilon);
    SAME_NUMBER(rotary_base);
    SAME_NUMBER(rotary_share);
    SAME_NUMBER(rotary_factor);
    SAME_NUMBER(mtp_loss_scale);
    if (a->rotary_scaling.type) SAME_TEXT(rotary_scaling.type);
    SAME_NUMBER(rotary_scaling.low_freq_factor);
    SAME_NUMBER(rotary_scaling.high_freq_factor);
    SAME_NUMBER(rotary_scaling.beta_fast);
    SAME_NUMBER(rotary_scaling.beta_slow);
    SAME_NUMBER(rotary_scaling.mscale);
    SAME_NUMBER(rotary_scaling.mscale_all_dim);
    SAME(rotary_scaling.original_positions);
}

static void same_bytes(const struct measured_bytes *a, const struct measured_bytes *b)
{
    // Before the first int all are of int64_t, so there is no padding to compare.
    assert_memory_equal(a, b, offsetof(struct measured_bytes, tensor));
    SAME(tensor);
    SAME(context);
    SAME(data);
    SAME(micro_batch);
    SAME(by_degrees_count);
    for (int i = 0; i < a->by_degrees_count; i++) same_bytes(&a->by_degrees[i], &b->by_degrees[i]);
}

void same_model(const struct model *a, const struct model *b)
{
    SAME_TEXT(name);
    SAME(has_shape);
    SAME(run_count);
    SAME(layer_count);
    if (a->has_shape) same_shape(&a->shape, &b->shape);
    for (int i = 0; i < a->run_count; i++) {
        SAME_TEXT(runs[i].name);
        SAME(runs[i].kind);
        SAME(runs[i].count);
        SAME(runs[i].recomputable);
        SAME(runs[i].frozen);
        SAME(runs[i].adapter_rank);
        SAME(runs[i].adapter_dropout);
        for (int k = 0; k < ADAPTER_MODULE_COUNT; k++) SAME(runs[i].adapter_modules[k]);
        SAME(runs[i].weight_bits);
        SAME(runs[i].shared_weights);
        SAME(runs[i].mtp);
        SAME(runs[i].linear);
        SAME(runs[i].linear_beside);
        SAME(runs[i].no_attention);
        SAME(runs[i].no_feed_forward);
        SAME(runs[i].window);
        SAME(runs[i].chunk);
        SAME(runs[i].bidirectional);
        SAME(runs[i].cross_attention);
        SAME(runs[i].more_values);
        SAME(runs[i].more_products);
        SAME(runs[i].tokens);
        SAME(runs[i].pieces);
        assert_true(!a->runs[i].shape == !b->runs[i].shape);
        if (a->runs[i].shape) same_shape(a->runs[i].shape, b->runs[i].shape);
        if (a->runs[i].kind == LAYER_PROJECTOR) {
            SAME(runs[i].projector.inputs);
            SAME(runs[i].projector.inner);
            SAME(runs[i].projector.outputs);
            SAME(runs[i].projector.bias);
        }
        if (a->runs[i].kind == LAYER_MOE) {
            SAME(runs[i].experts.experts);
            SAME(runs[i].experts.top_k);
            SAME(runs[i].experts.ffn);
            SAME(runs[i].experts.latent);
            SAME(runs[i].experts.shared_ffn);
            SAME(runs[i].experts.shared_gate);
            SAME(runs[i].experts.router_score);
            SAME(runs[i].experts.router_all);
            SAME(runs[i].experts.router_bias);
            SAME(runs[i].experts.router_groups);
            SAME(runs[i].experts.router_top_groups);
            SAME_NUMBER(runs[i].experts.router_scale);
            SAME_NUMBER(runs[i].experts.imbalance);
        }
        if (a->runs[i].kind == LAYER_MEMORY) {
            SAME(runs[i].pool.values);
            SAME(runs[i].pool.width);
            SAME(runs[i].pool.heads);
            SAME(runs[i].pool.key_width);
            SAME(runs[i].pool.top_k);
            SAME(runs[i].pool.gated);
            SAME(runs[i].pool.shared);
        }
        if (a->runs[i].kind == LAYER_MEASURED)
            same_bytes(&a->runs[i].measured, &b->runs[i].measured);
    }
}

void same_cluster(const struct cluster *a, const struct cluster *b)
{
    SAME_TEXT(name);
    SAME(group_count);
    SAME(link_count);
    for (int i = 0; i < a->group_count; i++) {
        SAME_TEXT(groups[i].name);
        SAME_TEXT(groups[i].gpu);
        SAME(groups[i].nodes);
        SAME(groups[i].gpus_per_node);
        SAME(groups[i].memory_bytes);
        SAME(groups[i].gpu_hour_price);
        SAME(groups[i].nic_count);
        SAME_NUMBER(groups[i].intra.bytes_per_s);
        SAME_NUMBER(groups[i].intra.latency_s);
        SAME(groups[i].switch_sum_count);
        for (int k = 0; k < a->groups[i].switch_sum_count; k++) {
            SAME(groups[i].switch_sums[k].gpus);
            SAME_NUMBER(groups[i].switch_sums[k].bytes_per_s);
        }
        SAME(groups[i].ring_count);
        for (int k = 0; k < a->groups[i].ring_count; k++) {
            SAME(groups[i].rings[k].gpus);
            SAME(groups[i].rings[k].apart);
            SAME_NUMBER(groups[i].rings[k].bytes_per_s);
        }
        for (int k = 0; k < a->groups[i].nic_count; k++) {
            SAME(groups[i].nics[k].kind);
            SAME(groups[i].nics[k].count);
            SAME_NUMBER(groups[i].nics[k].link.bytes_per_s);
            SAME_NUMBER(groups[i].nics[k].link.latency_s);
        }
    }
    for (int i = 0; i < a->link_count; i++) {
        SAME(links[i].from);
        SAME(links[i].to);
        SAME_NUMBER(links[i].link.bytes_per_s);
        SAME_NUMBER(links[i].link.latency_s);
    }
}

static void same_estimate(const struct estimate *a, const struct estimate *b)
{
    SAME_NUMBER(value);
    SAME_NUMBER(low);
    SAME_NUMBER(high);
    SAME_NUMBER(valid_low);
    SAME_NUMBER(valid_high);
    SAME(origin);
    SAME_TEXT(source);
}

// All of the keys' table that are of one structure.
static void same_estimates(const void *a, const void *b, enum cost_scope scope)
{
    for (int key = 0; key < cost_key_count; key++)
        if (cost_keys[key].scope == scope)
            same_estimate((const void *)((const char *)a + cost_keys[key].offset),
                          (const void *)((const char *)b + cost_keys[key].offset));
}

void same_costs(const struct costs *a, const struct costs *b)
{
    SAME_TEXT(name);
    SAME(gpu_count);
    SAME(layer_time_count);
    for (int i = 0; i < a->gpu_count; i++) {
        SAME_TEXT(gpus[i].gpu);
        SAME(gpus[i].precision_count);
        for (int k = 0; k < a->gpus[i].precision_count; k++) {
            SAME(gpus[i].precisions[k].precision);
            same_estimates(&a->gpus[i].precisions[k], &b->gpus[i].precisions[k], COST_OF_PRECISION);
        }
        same_estimates(&a->gpus[i], &b->gpus[i], COST_OF_GPU);
    }
    for (int i = 0; i < a->layer_time_count; i++) {
        SAME_TEXT(layer_times[i].run);
        SAME_TEXT(layer_times[i].gpu);
        SAME(layer_times[i].tensor);
        SAME(layer_times[i].micro_batch);
        SAME(layer_times[i].context);
        SAME(layer_times[i].data);
        SAME_NUMBER(layer_times[i].forward_s);
        SAME_NUMBER(layer_times[i].backward_s);
        SAME_NUMBER(layer_times[i].selective_s);
        SAME_NUMBER(layer_times[i].full_s);
        SAME_NUMBER(layer_times[i].optimizer_s);
        SAME_NUMBER(layer_times[i].weight_s);
    }
    same_estimates(a, b, COST_OF_ALL);
    for (int k = 0; k < PART_COUNT; k++) SAME_NUMBER(transfer_share[k]);
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) {
        SAME(schedule_share_stated[i]);
        for (int k = 0; k < PART_COUNT; k++) SAME_NUMBER(schedule_share[i][k]);
    }
    SAME(collective_count);
    for (int i = 0; i < a->collective_count; i++) {
        SAME_TEXT(collectives[i].gpu);
        SAME(collectives[i].send);
        SAME(collectives[i].between_nodes);
        SAME(collectives[i].ranks);
        SAME(collectives[i].point_count);
        for (int k = 0; k < a->collectives[i].point_count; k++) {
            SAME_NUMBER(collectives[i].bytes[k]);
            SAME_NUMBER(collectives[i].seconds[k]);
        }
    }
}

static void same_rule(const struct rule *a, const struct rule *b)
{
    SAME(action);
    SAME(stage);
    SAME(group_count);
    SAME(holds_first);
    SAME(holds_last);
    SAME(layers_min);
    SAME(layers_max);
    SAME(recompute_stated);
    SAME(compresses_gradient);
    SAME(compresses_boundary);
    SAME_TEXT(run);
    for (int k = 0; k < a->group_count; k++) SAME_TEXT(groups[k]);
    for (int k = 0; k < RECOMPUTE_COUNT && a->recompute_stated; k++) SAME(recompute[k]);
}

void same_job(const struct job *a, const struct job *b)
{
    SAME_TEXT(name);
    SAME(sequence);
    SAME(global_batch);
    SAME(precision);
    SAME(gradient_bytes_per_value);
    SAME(adam);
    SAME(state_bytes_per_value);
    SAME(trainer);
    SAME(gathered_logits);
    SAME(chunked_loss);
    SAME(loss_in_place);
    SAME(fp8_activation_input);
    SAME(stopped_recompute);
    SAME(kept_logits);
    SAME(gathered_inputs);
    SAME(whole_gradient_sums);
    SAME(owner_broadcasts);
    SAME(split_gate);
    SAME(objective);
    SAME(fused_loss);
    SAME(scattered_messages);
    SAME(overlapped_messages);
    SAME(overlapped_tensor);
    SAME(exposed_input_gradients);
    SAME(attention_kernel);
    SAME(dispatcher);
    SAME(overlapped_dispatch);
    SAME(fixed_capacity);
    SAME(expert_products);
    SAME_NUMBER(expert_padding);
    SAME(graphs);
    SAME(context_kind);
    SAME(checkpoints);
    SAME(compiled);
    for (int k = 0; k < UNFUSED_COUNT; k++) SAME(unfused[k]);
    SAME_NUMBER(iteration_limit_s);
    SAME_NUMBER(price_limit);
    SAME(placement.homogeneous_groups);
    SAME(placement.uneven_micro_batches);
    SAME(layout.expert_tensor);
    SAME(layout.expert);
    SAME(layout.pool);
    SAME(layout.tensor);
    SAME(layout.grid_depth);
    SAME(layout.grid_rows);
    SAME(layout.context);
    SAME(layout.data);
    SAME(layout.pipeline);
    SAME(layout.micro_batch);
    SAME(layout.schedule);
    SAME(layout.sequence_parallel);
    SAME(layout.fused_attention);
    SAME(layout.gradient_sync);
    SAME(layout.fused_embedding_sync);
    SAME(layout.zero);
    for (int k = 0; k < RECOMPUTE_COUNT; k++) SAME(recompute[k]);
    SAME(boundary_option_count);
    SAME(gradient_option_count);
    SAME(rule_count);
    SAME(memory_margin_bytes);
    SAME(run_tokens);
    for (int k = 0; k < a->boundary_option_count; k++) {
        SAME(boundary_options[k].form.method);
        SAME(boundary_options[k].form.amount);
        SAME(boundary_options[k].epilogue_only);
        SAME(boundary_options[k].quality_cost);
    }
    for (int k = 0; k < a->gradient_option_count; k++) {
        SAME(gradient_options[k].form.method);
        SAME(gradient_options[k].form.amount);
        SAME(gradient_options[k].quality_cost);
    }
    SAME(tier_option_count);
    for (int k = 0; k < a->tier_option_count; k++) {
        assert_string_equal(a->tier_options[k].name, b->tier_options[k].name);
        SAME(tier_options[k].parts[TIER_OPTIMIZER].percent);
    }
    SAME(budget.boundaries_max);
    SAME(budget.stages_max);
    SAME(budget.cost_max);
    SAME(budget.rank_min);
    SAME(budget.energy_max_uj);
    SAME_NUMBER(memory_fraction);
    for (int k = 0; k < a->rule_count; k++) same_rule(&a->rules[k], &b->rules[k]);
}
