// Turns a problem into its priced form: which node groups can hold a stage, and every term of the
// decision as a whole number of nanoseconds or bytes, rounded once, halves up. The formulas and
// their sources are those of docs/FORMULAS.md. This file assembles the results of the other files
// of this folder.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"

#include <assert.h>
#include <string.h>

#include "formulate/price/pricing.h"

static enum status round_term(int64_t *to, real value, const char *unit, const char *term,
                              const char *of, struct error *err)
{
    *to = 0;
    if (value == 0) return OK; // as most are
    if (!(value < JSON_COUNT_MAX - 1))
        return refuse(err, "%s of %s: %.6g %s is beyond what can be counted (2^53)", term, of,
                      (double)value, unit);
    // A difference of two sums may be below nothing by their own rounding.
    assert(isfinite(value) && value > -0.5L);
    *to = round_half_up(value > 0 ? value : 0);
    return OK;
}

enum status round_time(int64_t *ns, real seconds, const char *term, const char *of,
                       struct error *err)
{
    return round_term(ns, seconds * 1e9, "ns", term, of, err);
}

enum status round_bytes(int64_t *bytes, real value, const char *term, const char *of,
                        struct error *err)
{
    return round_term(bytes, value, "bytes", term, of, err);
}

bool run_has_gradient(const struct pricing *x, const struct layer_run *run)
{
    for (const struct layer_run *r = x->problem->model.runs; r <= run; r++)
        if (run_is_trained(r)) return true;
    return false;
}

// Option 0 is no compression; the others are the job's options that are allowed.
static void copy_options(struct compression_option **to, int *count,
                         const struct compression_option *options, int option_count, int rank_min,
                         struct arena *arena)
{
    *to = TAKE(arena, option_count + 1, struct compression_option);
    *count = 1;
    for (int i = 0; i < option_count; i++)
        if (compression_allowed(options[i].form, rank_min)) (*to)[(*count)++] = options[i];
}

// Each compression, with everything on the device, and with every way to keep parts in tiers.
static void offer_tiers(struct priced *priced, const struct job *job, struct arena *arena)
{
    const struct compression_option *compressions = priced->gradient_options;
    int count = priced->gradient_option_count, ways = job_tier_ways(job);
    if (ways == 1) return;
    priced->gradient_option_count = count * ways;
    priced->gradient_options =
        TAKE(arena, priced->gradient_option_count, struct compression_option);
    for (int i = 0; i < count * ways; i++)
        priced->gradient_options[i] = job_option(job, compressions[i / ways], i % ways);
}

static bool needs_host(const struct job *j)
{
    for (int way = 0; way < job_tier_ways(j); way++)
        if (job_tiering(j, way).parts[TIER_OPTIMIZER].tier) return true;
    return false;
}

static bool lacks_pool_link(const struct pricing *x, int group)
{
    const struct model *m = &x->problem->model;
    for (int i = 0; i < m->run_count && x->has_pool; i++)
        if (m->runs[i].kind == LAYER_MEMORY &&
            (!link_of_pool(x, &m->runs[i], group).joined ||
             (!m->runs[i].frozen && spread_of_pool(x, &m->runs[i]).copies > 1 &&
              !link_of_pool_copies(x, &m->runs[i], group).joined)))
            return true;
    return false;
}

// Whether no link connects the group's nodes although this layout needs it.
static bool lacks_network(const struct pricing *x, int group)
{
    if (x->problem->cluster.places.node_count)
        return false; // rings join nodes one by one (nodes.c)
    if (!link_of_tensor_ranks(x, group).joined || !link_of_context_ring(x, group).joined)
        return true;
    if (x->has_experts && x->x > 1 && !link_of_experts(x, group).joined) return true;
    if (lacks_pool_link(x, group)) return true;
    if (model_shares_weights(&x->problem->model) && !link_of_copies(x, group).joined) return true;
    return has_replicas(x) && !link_of_gradient_sync(x, group).joined;
}

static bool offers(const struct priced *p, enum compression_method method)
{
    bool found = false;
    for (int o = 1; o < p->boundary_option_count; o++)
        found = found || p->boundary_options[o].form.method == method;
    for (int o = 1; o < p->gradient_option_count; o++)
        found = found ||
                (priced_compresses_sync(p, o) && p->gradient_options[o].form.method == method);
    return found;
}

static const char *lacks(const struct pricing *x, const struct node_group *nodes, const char *what,
                         const char *keys)
{
    return arena_print(x->arena, "the costs of %s do not state what %s needs: %s", nodes->gpu, what,
                       keys);
}

// Why this group can hold no stage, or NULL.
static const char *reason_to_exclude(const struct pricing *x, int group)
{
    const struct problem *problem = x->problem;
    const struct node_group *nodes = &problem->cluster.groups[group];
    const struct gpu_costs *gpu = x->gpus[group];
    if (!gpu) return arena_print(x->arena, "the costs do not list the GPU %s", nodes->gpu);
    bool needs_rates = offers(x->priced, COMPRESS_LOW_RANK) || job_has_local_head(&problem->job);
    for (int run = 0; run < problem->model.run_count; run++) {
        const struct layer_run *layers = &problem->model.runs[run];
        if (find_layer_time(x, layers->name, nodes->gpu)) continue;
        if (layers->kind == LAYER_MEASURED)
            return arena_print(x->arena,
                               "no measured time of run %s on %s (tensor %d, micro-batch %d)",
                               layers->name, nodes->gpu, problem->job.layout.tensor,
                               problem->job.layout.micro_batch);
        needs_rates = true;
    }
    if (needs_rates && !x->rates[group])
        return arena_print(x->arena, "%s lacks %s (it has %s)", nodes->gpu,
                           precision_names[problem->job.precision],
                           costs_precisions(gpu, x->arena));
    if (offers(x->priced, COMPRESS_TOP_K) &&
        !(gpu->top_k_values_per_s.value > 0 && gpu->top_k_back_values_per_s.value > 0))
        return lacks(x, nodes, "sending the largest values",
                     "top_k_values_per_s, top_k_back_values_per_s");
    if (offers(x->priced, COMPRESS_QUANTISE) &&
        !(gpu->quantise_values_per_s.value > 0 && gpu->quantise_back_values_per_s.value > 0))
        return lacks(x, nodes, "sending fewer bits",
                     "quantise_values_per_s, quantise_back_values_per_s");
    if (needs_host(&problem->job) &&
        !(gpu->host_link_bytes_per_s.value > 0 && gpu->host_memory_bytes_per_s.value > 0))
        return lacks(x, nodes, "an offloaded optimizer",
                     "host_link_bytes_per_s, host_memory_bytes_per_s");
    if (lacks_tier(x, group))
        return arena_print(x->arena, "it has no tier \"%s\", which a tier option needs",
                           lacks_tier(x, group));
    if (problem->job.checkpoints == CHECKPOINTS_HOST && !(gpu->host_link_bytes_per_s.value > 0))
        return lacks(x, nodes, "checkpoints on the host", "host_link_bytes_per_s");
    if (problem->cluster.places.node_count && !node_slots(x, group))
        return arena_print(x->arena,
                           "a device group needs %.0f devices (tensor x context) of one node, and "
                           "its nodes have %d",
                           (double)(x->t * x->c), nodes->gpus_per_node);
    if (!problem->cluster.places.node_count && !group_slots(x, nodes))
        return arena_print(x->arena,
                           "a pipeline rank needs %.0f devices (tensor x context x data) and the "
                           "group has room for none",
                           (double)x->D);
    if (lacks_network(x, group))
        return arena_print(
            x->arena, "stages of %.0f devices need a network between its nodes, and it has no NIC",
            (double)x->D);
    return NULL;
}

// Rounds down to a whole number; a value that rounding took below a whole number counts as that
// number.
static real floor_raised(real x) { return floorl(x + same_within(x)); }

// What the allocator may be asked for, plus what is outside it.
static real limit_of(const struct pricing *x, int group, real outside)
{
    const struct job *job = &x->problem->job;
    real factor = x->problem->costs.allocator_factor.value;
    real limit =
        floor_raised((real)x->problem->cluster.groups[group].memory_bytes * job->memory_fraction) -
        (real)job->memory_margin_bytes;
    return fmaxl(0, factor > 1 ? floor_raised((limit - outside) / factor + outside) : limit);
}

static enum status price_groups(struct pricing *x, struct error *err)
{
    const struct problem *problem = x->problem;
    struct priced *priced = x->priced;
    priced->group_count = problem->cluster.group_count;
    priced->groups = TAKE(x->arena, priced->group_count, struct priced_group);
    for (int i = 0; i < priced->group_count; i++) {
        const struct node_group *from = &problem->cluster.groups[i];
        real outside = x->gpus[i] ? outside_bytes(x, i) : 0;
        struct priced_group *to = &priced->groups[i];
        *to = (struct priced_group){
            .name = from->name,
            .gpu = from->gpu,
            .slots = problem->cluster.places.node_count ? 0 : (int)group_slots(x, from),
            .excluded = reason_to_exclude(x, i)};
        TRY(round_bytes(&to->memory_limit_bytes, limit_of(x, i, outside), "memory limit",
                        from->name, err));
        if (x->gpus[i])
            TRY(round_bytes(&to->constant_bytes,
                            outside + inside_bytes(x, i) + shared_pool_bytes(x) +
                                shared_weight_bytes(x),
                            "constant memory", from->name, err));
        to->sync_constant_ns = TAKE(x->arena, priced->gradient_option_count, int64_t);
        to->tier_limit_bytes = TAKE(x->arena, priced->tier_count, int64_t);
        for (int k = 0; k < priced->tier_count; k++)
            to->tier_limit_bytes[k] = tier_limit_bytes(x, i, priced->tiers[k]);
    }
    return OK;
}

static enum status price_bytes(struct pricing *x, int run, struct error *err)
{
    const char *name = x->problem->model.runs[run].name;
    struct layer_bytes bytes = bytes_of_layer(x, &x->problem->model.runs[run]);
    struct priced_run *to = &x->priced->runs[run];
    find_message(x, run, &bytes);
    if (x->times_alone) return OK;
    TRY(round_bytes(&to->weight_bytes, bytes.weight, "weights", name, err));
    TRY(round_bytes(&to->gradient_bytes, bytes.gradient, "gradients", name, err));
    TRY(round_bytes(&to->optimizer_bytes, state_that_stays(x, &bytes, 0), "optimizer state", name,
                    err));
    TRY(round_bytes(&to->unsharded_bytes, bytes.unsharded, "unsharded weights", name, err));
    TRY(price_tiered_bytes(x, run, &bytes, err));
    for (int mode = 0; mode < x->modes; mode++) {
        TRY(round_bytes(&to->stash_bytes[mode], bytes.stash[mode], "activations", name, err));
        TRY(round_bytes(&to->working_bytes[mode], bytes.working[mode], "working memory", name,
                        err));
    }
    return OK;
}

// An earlier run of the same layers, however many of them, whose arrays of prices this run has as
// well. -1: there is none. Measured times belong to a run's name.
static int run_alike(const struct pricing *x, int run)
{
    const struct layer_run *runs = x->problem->model.runs;
    struct layer_run own = runs[run];
    if (x->problem->costs.layer_time_count || (own.kind != LAYER_BLOCK && own.kind != LAYER_MOE))
        return -1;
    for (int i = 0; i < run; i++) {
        own.name = runs[i].name, own.count = runs[i].count;
        if (!memcmp(&own, &runs[i], sizeof own) &&
            run_has_gradient(x, &runs[i]) == run_has_gradient(x, &runs[run]))
            return i;
    }
    return -1;
}

// All arrays of a run's prices in one piece of memory: it is taken thousands of times a second.
static void open_run(const struct pricing *x, struct priced_run *to)
{
    const struct priced *priced = x->priced;
    int groups = priced->group_count, passes = priced->slice_count * groups,
        options = priced->gradient_option_count;
    int64_t *next =
        TAKE(x->arena, (x->modes + 2) * passes + (options + 2) * groups + options, int64_t);
    to->forward_ns = next, to->backward_ns = next += passes, next += passes;
    for (int mode = RECOMPUTE_NONE + 1; mode < x->modes; mode++)
        if (mode <= RECOMPUTE_FULL || (mode >= RECOMPUTE_SETS && priced->recompute[mode]))
            to->again_ns[mode] = next, next += passes;
    to->weight_ns = next, to->optimizer_ns = next += groups, next += groups;
    to->feedback_bytes = next, next += options;
    to->sync_ns = TAKE(x->arena, options, int64_t *);
    for (int i = 0; i < options; i++) to->sync_ns[i] = next, next += groups;
}

enum status price_run(struct pricing *x, int run, struct error *err)
{
    struct priced *priced = x->priced;
    int alike = run_alike(x, run);
    const struct layer_run *from = &x->problem->model.runs[run];
    struct priced_run *to = &priced->runs[run];
    if (alike >= 0) *to = priced->runs[alike];
    to->name = from->name, to->count = from->count, to->recomputable = from->recomputable;
    if (alike >= 0) return OK;
    open_run(x, to);
    open_tiers(x, run);
    TRY(price_bytes(x, run, err));
    for (int group = 0; group < priced->group_count; group++)
        if (!priced->groups[group].excluded) TRY(price_layer_times(x, run, group, err));
    return price_gradient_syncs(x, run, err);
}

static enum status price_local_loss(struct pricing *x, struct error *err)
{
    const struct local_loss *loss = &x->problem->job.local_loss;
    if (!x->problem->job.layout.local_loss_every) return OK;
    TRY(round_time(&x->priced->local_forward_ns, loss->forward_s, "forward time", "local_loss",
                   err));
    x->priced->local_bytes = loss->bytes;
    return round_time(&x->priced->local_backward_ns, loss->backward_s, "backward time",
                      "local_loss", err);
}

// The times for which price_run and price_transfers have allocated memory.
static enum status price_rest(struct pricing *x, struct error *err)
{
    TRY(price_sync_constants(x, err));
    TRY(price_embedding_sync(x, err));
    TRY(price_other_runs(x, err));
    return x->problem->cluster.places.node_count ? price_nodes(x, err) : OK;
}

// Layers that predict further tokens are on the stage of the head: no stage holds the head without
// all of them.
static void add_mtp_rule(struct priced *priced, const struct model *m, struct arena *arena)
{
    int depth = model_mtp_depth(m);
    if (!depth) return;
    struct rule *rules = TAKE(arena, priced->rule_count + 1, struct rule);
    for (int i = 0; i < priced->rule_count; i++) rules[i] = priced->rules[i];
    rules[priced->rule_count] = rule_empty;
    rules[priced->rule_count].action = RULE_FORBID;
    rules[priced->rule_count].holds_first = rules[priced->rule_count].holds_last = m->layer_count -
                                                                                   1;
    rules[priced->rule_count].layers_max = depth;
    priced->rules = rules, priced->rule_count++;
}

struct pricing_wishes {
    bool keeps, links_free, times_alone;
    struct product_memo *memo;
};

static enum status price_all(struct pricing *x, struct priced *priced,
                             const struct problem *problem, struct pricing_wishes wishes,
                             struct arena *arena, struct error *err)
{
    const struct job *job = &problem->job;
    *priced = (struct priced){.name = problem->name,
                              .objective = job->objective,
                              .iteration_limit_ns = problem_energy_limit_ns(problem),
                              .layout = job->layout,
                              .stage_count = layout_stage_count(&job->layout),
                              .rank_count = job->layout.pipeline,
                              .slice_count = job->layout.slice_count,
                              .micro_batches = job_micro_batches(job),
                              .layer_count = problem->model.layer_count,
                              .run_count = problem->model.run_count,
                              .budget = job->budget,
                              .rules = job->rules,
                              .rule_count = job->rule_count};
    add_mtp_rule(priced, &problem->model, arena);
    *x = pricing_of(problem, priced, arena);
    x->links_free = wishes.links_free;
    x->memo = wishes.memo;
    x->times_alone = wishes.times_alone;
    if (wishes.keeps)
        x->kept = TAKE(
            arena, (int64_t)priced->run_count * problem->cluster.group_count * priced->slice_count,
            struct kept_layer);
    priced->devices_per_stage = (int64_t)x->D;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        priced->recompute[mode] = job_offers(job, (enum recompute)mode);
    if (schedule_splits_backward(job->layout.schedule) || priced->slice_count > 1)
        priced->recompute[RECOMPUTE_SWAP] = false;
    copy_options(&priced->boundary_options, &priced->boundary_option_count, job->boundary_options,
                 job->boundary_option_count, job->budget.rank_min, arena);
    copy_options(&priced->gradient_options, &priced->gradient_option_count, job->gradient_options,
                 job->gradient_option_count, job->budget.rank_min, arena);
    offer_tiers(priced, job, arena);
    keep_links(x);
    keep_attentions(x);
    name_tiers(x);
    TRY(price_groups(x, err));
    TRY(price_local_loss(x, err));
    priced->runs = TAKE(arena, priced->run_count, struct priced_run);
    x->messages = TAKE(arena, priced->run_count, struct message);
    for (int run = 0; run < priced->run_count; run++) TRY(price_run(x, run, err));
    TRY(price_transfers(x, err));
    return price_rest(x, err);
}

enum status price_terms_alike(struct priced *priced, const struct problem *problem,
                              struct product_memo *memo, struct arena *arena, struct error *err)
{
    struct pricing x;
    if (job_has_widths(&problem->job)) return price_seats(priced, problem, arena, err);
    return price_all(&x, priced, problem, (struct pricing_wishes){.memo = memo}, arena, err);
}

enum status price_terms(struct priced *priced, const struct problem *problem, struct arena *arena,
                        struct error *err)
{
    return price_terms_alike(priced, problem, NULL, arena, err);
}

enum status price_terms_of_free_links(struct priced *priced, const struct problem *problem,
                                      struct arena *arena, struct error *err)
{
    struct pricing x;
    assert(problem->cluster.places.node_count && problem->job.objective != OBJECTIVE_PIPETTE);
    return price_all(&x, priced, problem, (struct pricing_wishes){.links_free = true}, arena, err);
}

enum status price_terms_kept(struct pricing **kept, struct priced *priced,
                             const struct problem *problem, struct product_memo *memo,
                             bool times_alone, struct arena *arena, struct error *err)
{
    struct pricing_wishes wishes = {.keeps = true, .times_alone = times_alone, .memo = memo};
    *kept = TAKE(arena, 1, struct pricing);
    return price_all(*kept, priced, problem, wishes, arena, err);
}

// What is compressed is computed, and a gather beside the next forward pass shows by that pass.
static bool talk_computes(const struct pricing *x)
{
    bool beside = x->overlapped && !x->problem->job.layout.barrier;
    return beside || x->problem->cluster.places.node_count ||
           x->priced->gradient_option_count > 1 || x->priced->boundary_option_count > 1;
}

// What is summed whole is converted, and what stages share is updated with their sync.
static bool syncs_compute(const struct pricing *x)
{
    return x->problem->job.whole_gradient_sums || x->has_pool ||
           model_shares_weights(&x->problem->model);
}

enum status price_times(struct pricing *x, enum cost_group moved, struct error *err)
{
    bool all = (moved >= COSTS_OF_NODE && moved <= COSTS_OF_FABRIC) || talk_computes(x),
         syncs = all || (moved == COSTS_OF_MEMORY && syncs_compute(x)),
         messages = all || moved == COSTS_OF_LAUNCHES, syncs_anew = syncs || x->syncs_moved,
         messages_anew = messages || x->messages_moved;
    x->syncs_moved = syncs, x->messages_moved = messages;
    pricing_find_costs(x);
    keep_links(x);
    for (int run = 0; run < x->priced->run_count; run++) {
        for (int group = 0; group < x->priced->group_count; group++)
            if (!x->priced->groups[group].excluded) TRY(price_layer_times(x, run, group, err));
        if (syncs_anew) TRY(price_gradient_syncs(x, run, err));
    }
    if (messages_anew) TRY(price_transfers_again(x, err));
    return syncs_anew ? price_rest(x, err) : price_other_runs(x, err);
}

bool price_kept_talk(const struct pricing *x) { return !x->syncs_moved && !x->messages_moved; }

double price_outside_bytes(const struct pricing *x, int group)
{
    return x->gpus[group] ? (double)outside_bytes(x, group) : 0;
}

enum status price_problem(struct priced *priced, const struct problem *problem, struct arena *arena,
                          struct error *err)
{
    TRY(problem_check(problem, err));
    if (problem->job.space.given) TRY(problem_check_layout(problem, err));
    TRY(problem_check_places(problem, err));
    TRY(price_terms(priced, problem, arena, err));
    return priced_check(priced, err); // so that sums are exact
}
