// Problems: the four documents of one solve, and the checks that need more than one of them.
#include "data/inputs/problem.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "data/base/least.h"
#include "data/base/shipped.h"
#include "data/inputs/job_fields.h"
#include "data/kinds/schedules.h"

// A file next to the problem's, or a shipped document of that name; folder NULL: none is shipped.
static enum status find_document(const char **found, const char *path, const char *key,
                                 const char *folder, const char *name, struct arena *arena,
                                 struct error *err)
{
    struct error why = {OK, ""};
    *found = path_beside(path, name, arena);
    if (!access(*found, R_OK)) return OK;
    if (!folder || strchr(name, '/') || path_ends_with(name, ".json"))
        return refuse(err, "%s: %s: %s: cannot be read: %s", path, key, *found, strerror(errno));
    if (shipped_find(found, folder, name, arena, &why) == OK && *found != name) return OK;
    return refuse(err, "%s: %s: %s", path, key, why.text);
}

// Paths relative to the problem's, or names of shipped documents.
struct names {
    const char *name, *model, *cluster, *costs, *job;
};

static const struct member problem_rows[] = {
    KEY_TEXT(names, name, OPTIONAL),    KEY_TEXT(names, model, REQUIRED),
    KEY_TEXT(names, cluster, REQUIRED), KEY_TEXT(names, costs, REQUIRED),
    KEY_TEXT(names, job, REQUIRED),
};
MEMBERS(problem, struct names, NULL, false, NULL);

enum status problem_load(struct problem *p, const char *path, struct arena *arena,
                         struct error *err)
{
    struct names n = {0};
    *p = (struct problem){0};
    path = path_of_document(path, "problem.json", arena);
    TRY(document_load(&p->document, path, "plumbline.problem", &problem_members, &n, NULL, arena,
                      err));
    p->name = n.name;
    TRY(find_document(&n.model, path, "model", "models", n.model, arena, err));
    TRY(find_document(&n.cluster, path, "cluster", "clusters", n.cluster, arena, err));
    TRY(find_document(&n.costs, path, "costs", "costs", n.costs, arena, err));
    TRY(find_document(&n.job, path, "job", NULL, n.job, arena, err));
    return problem_compose(p, n.model, n.cluster, n.costs, n.job, arena, err);
}

enum status problem_compose(struct problem *p, const char *model, const char *cluster,
                            const char *costs, const char *job, struct arena *arena,
                            struct error *err)
{
    TRY(model_load(&p->model, model, arena, err));
    TRY(cluster_load(&p->cluster, cluster, arena, err));
    TRY(costs_load(&p->costs, costs, arena, err));
    TRY(job_load(&p->job, job, arena, err));
    if (!p->name) p->name = p->job.name;
    TRY(problem_check_names(p, arena, err));
    return problem_check(p, err);
}

static enum status check_divides(const char *file, const char *key, int64_t value, const char *by,
                                 int64_t divisor, struct error *err)
{
    if (value % divisor == 0) return OK;
    return refuse(err, "%s: %s: expected a multiple of %s %lld, found %lld", file, key, by,
                  (long long)divisor, (long long)value);
}

// The same for a key of a run; run -1: of the model. A search checks every layout of a space: a
// name that nobody will see is not written.
static enum status check_run_divides(const char *file, int run, const char *key, int64_t value,
                                     const char *by, int64_t divisor, struct error *err)
{
    char name[40];
    if (value % divisor == 0) return OK;
    snprintf(name, sizeof name, "runs[%d].%s", run, key);
    return check_divides(file, run < 0 ? key : name, value, by, divisor, err);
}

// The vocabulary may be padded, so it need not be a multiple of anything.
static enum status check_shape(const struct problem *p, const char *model, int run,
                               const struct shape *s, struct error *err)
{
    const struct layout *l = &p->job.layout;
    const char *by = layout_has_grid(l) ? "the first axis of the job's tensor_grid"
                                        : "the job's layout.tensor";
    const struct {
        const char *key;
        int64_t value;
    } parts[] = {{"shape.heads", s->heads},
                 {"shape.kv_heads", job_shares_keys(&p->job, s->kv_heads) ? 0 : s->kv_heads},
                 {s->linear.key_heads ? "shape.linear.key_heads" : "shape.linear.value_heads",
                  s->linear.key_heads ? s->linear.key_heads : s->linear.value_heads},
                 {"shape.ffn", s->ffn}};
    if (p->job.context_kind == CONTEXT_ALL_TO_ALL && l->context > 1)
        for (size_t k = 0; k < 2; k++)
            TRY(check_run_divides(model, run, parts[k].key, k ? s->kv_heads : s->heads,
                                  "the job's layout.tensor x context",
                                  (int64_t)l->tensor * l->context, err));
    for (size_t k = 0; k < ARRAY_LENGTH(parts); k++)
        TRY(check_run_divides(model, run, parts[k].key, parts[k].value, by,
                              layout_tensor_axis(l, 0), err));
    return OK;
}

static enum status check_positions(const struct problem *p, struct error *err)
{
    const struct shape *s = &p->model.shape;
    if (s->positions > 0 && p->job.sequence > s->positions)
        return refuse(err, "%s: sequence: expected at most the model's %lld positions, found %lld",
                      document_name(&p->job.document, "job"), (long long)s->positions,
                      (long long)p->job.sequence);
    return OK;
}

static bool has_kind(const struct problem *p, enum layer_kind kind)
{
    for (int i = 0; i < p->model.run_count; i++)
        if (p->model.runs[i].kind == kind) return true;
    return false;
}

static bool has_blocks(const struct problem *p)
{
    return has_kind(p, LAYER_BLOCK) || has_kind(p, LAYER_MOE);
}

// An expert's tensor ranks split its width; expert ranks have equally many experts.
static enum status check_experts(const struct problem *p, const char *model, struct error *err)
{
    const struct layout *l = &p->job.layout;
    for (int run = 0; run < p->model.run_count; run++) {
        const struct expert_shape *e = &p->model.runs[run].experts;
        if (p->model.runs[run].kind != LAYER_MOE) continue;
        TRY(check_run_divides(model, run, "moe.ffn", e->ffn,
                              l->expert_tensor ? "the job's layout.expert_tensor"
                                               : "the job's layout.tensor",
                              layout_expert_tensor(l), err));
        TRY(check_run_divides(model, run, "moe.shared_ffn", e->shared_ffn,
                              "the job's layout.tensor", l->tensor, err));
        TRY(check_run_divides(model, run, "moe.experts", e->experts, "the job's layout.expert",
                              l->expert, err));
    }
    return OK;
}

static const char *what_is_shared(const struct model *m)
{
    return model_shared_pool(m)      ? "whose memory layers share a pool"
           : model_shares_weights(m) ? "whose layers share weights"
                                     : NULL;
}

// For runs with their own shape, and for projectors.
static enum status check_own_shapes(const struct problem *p, const char *model, struct error *err)
{
    for (int i = 0; i < p->model.run_count; i++) {
        const struct layer_run *r = &p->model.runs[i];
        if (r->shape) TRY(check_shape(p, model, i, r->shape, err));
        TRY(check_run_divides(model, i, "projector.inner", r->projector.inner,
                              "the job's layout.tensor", p->job.layout.tensor, err));
    }
    return OK;
}

// What the prices of towers do not cover.
static enum status check_towers(const struct problem *p, const char *job, struct error *err)
{
    const struct layout *l = &p->job.layout;
    if (!model_has_towers(&p->model)) return OK;
    if (l->context > 1)
        return refuse(err, "%s: layout.context: expected 1 for a model with a tower, found %d", job,
                      l->context);
    if (l->pipeline > 1 && model_ties_behind_tower(&p->model))
        return refuse(err,
                      "%s: layout.pipeline: expected 1 for tied embeddings behind a tower, unless "
                      "they are frozen, found %d",
                      job, l->pipeline);
    return OK;
}

static enum status check_layout_fits(const struct problem *p, struct error *err)
{
    const char *job = document_name(&p->job.document, "job");
    const char *model = document_name(&p->model.document, "model");
    int stages = layout_stage_count(&p->job.layout);
    if (stages > p->model.layer_count)
        return refuse(err, "%s: layout.%s: expected at most the model's %d layers, found %d", job,
                      p->job.layout.virtual_stages > 1 ? "pipeline x virtual_stages" : "pipeline",
                      p->model.layer_count, stages);
    if (has_blocks(p)) TRY(check_shape(p, model, -1, &p->model.shape, err));
    TRY(problem_check_grid_layout(p, err));
    TRY(check_experts(p, model, err));
    TRY(problem_check_pool_layout(p, err));
    TRY(check_own_shapes(p, model, err));
    TRY(check_towers(p, job, err));
    if (p->job.layout.slice_count > 1 && model_looks_ahead(&p->model))
        return refuse(
            err,
            "%s: layout.schedule: expected one without slices for a model whose attention "
            "is not all causal, found \"%s\"",
            job, schedule_names[p->job.layout.schedule]);
    bool spread = p->job.layout.expert > 1;
    if ((spread || p->job.layout.expert_tensor) && !has_kind(p, LAYER_MOE))
        return refuse(err, "%s: layout.%s: expected %d for a model without moe layers, found %d",
                      job, spread ? "expert" : "expert_tensor", spread ? 1 : p->job.layout.tensor,
                      spread ? p->job.layout.expert : p->job.layout.expert_tensor);
    if (!p->job.layout.barrier && what_is_shared(&p->model))
        return refuse(err, "%s: layout.barrier: expected true for a model %s, found false", job,
                      what_is_shared(&p->model));
    if (job_mixing_key(&p->job) && p->job.layout.virtual_stages > 1)
        return refuse(err, "%s: layout.virtual_stages: expected 1 next to %s, found %d", job,
                      job_mixing_key(&p->job), p->job.layout.virtual_stages);
    if (p->job.layout.zero && model_shares_weights(&p->model))
        return refuse(
            err, "%s: layout.zero: expected 0 for a model whose layers share weights, found %d",
            job, p->job.layout.zero);
    return fail_within(
        err, rules_check(p->job.rules, p->job.rule_count, stages, p->model.layer_count, err),
        "%s: ", job);
}

// DeepSpeed's pipeline has one loss, after its last layer.
static enum status check_mtp(const struct problem *p, const char *job, struct error *err)
{
    if (p->job.trainer != TRAINER_DEEPSPEED || !model_mtp_depth(&p->model)) return OK;
    return refuse(
        err,
        "%s: trainer: expected megatron or torchtitan for a model with layers that predict further "
        "tokens (mtp), which DeepSpeed does not support; `import hf --mtp 0` leaves them out",
        job);
}

// What all ranks have a part of is sent over one link: no places, and only one group.
static enum status check_shared(const struct problem *p, struct error *err)
{
    const char *shared = what_is_shared(&p->model),
               *cluster = document_name(&p->cluster.document, "cluster");
    if (!shared) return OK;
    if (p->cluster.places.node_count)
        return refuse(err, "%s: places: expected none for a model %s", cluster, shared);
    if (p->cluster.group_count == 1) return OK;
    return refuse(err, "%s: groups: expected one group for a model %s, found %d", cluster, shared,
                  p->cluster.group_count);
}

// Requests that a cluster with places cannot serve: what would make the ranks of a stage depend on
// each other in addition to its sync.
enum status problem_check_places(const struct problem *p, struct error *err)
{
    const struct layout *l = &p->job.layout;
    const char *job = document_name(&p->job.document, "job");
    const char *wrong = l->zero > 1        ? "zero at most 1"
                        : l->in_flight[0]  ? "no in_flight"
                        : l->expert > 1    ? "expert 1"
                        : l->expert_tensor ? "no expert_tensor"
                        : !l->barrier      ? "a barrier"
                                           : NULL;
    if (!wrong && schedule_kinds[l->schedule].folds && p->model.has_shape &&
        (p->model.shape.tied_embeddings || model_mtp_depth(&p->model)))
        wrong = "the ends of the model on two ranks (this schedule puts them on one, and the "
                "embeddings are tied)";
    if (p->job.budget.energy_max_uj && !problem_states_energy(p))
        return refuse(err, "%s: budget.energy_max_uj: expected %s", job, problem_energy_needs);
    if (!p->cluster.places.node_count && p->job.placement.uneven_micro_batches)
        return refuse(err, "%s: placement.uneven_micro_batches: expected a cluster with places",
                      job);
    if (!p->cluster.places.node_count) return OK;
    for (int g = 0; g < p->cluster.group_count; g++)
        if (p->cluster.groups[g].tier_count)
            return refuse(err, "%s: groups[%d].tiers: expected none with places",
                          document_name(&p->cluster.document, "cluster"), g);
    bool moves = job_swaps(&p->job);
    for (int i = 0; i < p->job.tier_option_count; i++)
        moves = moves || tier_option_moves_weights(&p->job.tier_options[i]);
    if (moves)
        return refuse(err,
                      "%s: recompute, tier_options: expected no \"swap\" and only the optimizer in "
                      "tiers for a cluster with places",
                      job);
    if (p->job.placement.uneven_micro_batches && p->job.objective != OBJECTIVE_ITERATION_TIME)
        return refuse(err,
                      "%s: placement.uneven_micro_batches: expected the objective "
                      "\"iteration_time\", found \"%s\"",
                      job, objective_names[p->job.objective]);
    if (p->job.placement.uneven_micro_batches && p->job.space.given)
        return refuse(err,
                      "%s: placement.uneven_micro_batches: expected a job with one layout, found a "
                      "space of them",
                      job);
    for (int i = 0; i < p->model.run_count && !wrong; i++)
        if (p->model.runs[i].kind == LAYER_MEMORY) wrong = "a model without memory layers";
    if (p->cluster.places.node_count > PLACED_NODES_MAX)
        return refuse(err,
                      "%s: places.nodes: expected at most %d nodes to place ranks on, found %d",
                      document_name(&p->cluster.document, "cluster"), PLACED_NODES_MAX,
                      p->cluster.places.node_count);
    if (wrong && !p->job.space.given)
        return refuse(err, "%s: layout: a cluster with places needs %s", job, wrong);
    return OK;
}

enum status problem_check_layout(const struct problem *p, struct error *err)
{
    TRY(job_check_layout(&p->job, err));
    TRY(check_layout_fits(p, err));
    return problem_check_seats(p, err);
}

// Devices count equally: a cost is their number x time.
static enum status check_prices(const struct problem *p, const char *job, struct error *err)
{
    const struct cluster *c = &p->cluster;
    for (int g = 0; g < c->group_count; g++) {
        double price = c->groups[g].gpu_hour_price;
        if (p->job.price_limit > 0 && !(price > 0))
            return refuse(err, "%s: price_limit: expected a gpu_hour_price of group %s", job,
                          c->groups[g].name);
        if (price < c->groups[0].gpu_hour_price || price > c->groups[0].gpu_hour_price)
            return refuse(err,
                          "%s: %s: expected one gpu_hour_price for all groups, found %g and %g",
                          job, p->job.price_limit > 0 ? "price_limit" : "objective",
                          c->groups[0].gpu_hour_price, price);
    }
    return OK;
}

static enum status check_limits(const struct problem *p, const char *job, struct error *err)
{
    bool cost = p->job.objective == OBJECTIVE_COST, price = p->job.price_limit > 0,
         limited = price || p->job.iteration_limit_s > 0;
    if (p->job.objective == OBJECTIVE_ENERGY) return problem_check_energy(p, err);
    const char *what = cost                           ? "objective cost"
                       : price                        ? "price_limit"
                       : p->job.iteration_limit_s > 0 ? "iteration_limit_s"
                                                      : NULL;
    if (!what) return OK;
    if (!p->job.space.given)
        return refuse(
            err,
            "%s: %s: expected a space of layouts (all plans of one layout use the same devices)",
            job, what);
    if (p->cluster.places.node_count)
        return refuse(err, "%s: %s: expected a cluster without places", job, what);
    if (limited && !cost && p->job.objective != OBJECTIVE_ITERATION_TIME)
        return refuse(err, "%s: %s: expected the objective iteration_time or cost", job, what);
    return cost || price ? check_prices(p, job, err) : OK;
}

enum status problem_check(const struct problem *p, struct error *err)
{
    const char *job = document_name(&p->job.document, "job");
    TRY(model_check(&p->model, err));
    TRY(cluster_check(&p->cluster, err));
    TRY(costs_check(&p->costs, err));
    TRY(job_check(&p->job, err));
    TRY(fail_within(err, framework_check_gpus(&p->job, &p->model, &p->cluster, &p->costs, err),
                    "%s: ", job));
    TRY(problem_check_grid(p, err));
    TRY(problem_check_shard(p, err));
    TRY(check_mtp(p, job, err));
    TRY(p->job.space.given ? problem_check_framework(p, err) : check_layout_fits(p, err));
    TRY(check_shared(p, err));
    TRY(check_limits(p, job, err));
    TRY(problem_check_local_head(p, err));
    TRY(problem_check_mixing(p, err));
    TRY(problem_check_widths(p, err));
    if (p->job.objective == OBJECTIVE_PIPETTE) TRY(problem_check_pipette(p, err));
    if (has_blocks(p)) TRY(check_positions(p, err));
    return OK;
}

struct problem problem_with_layout(const struct problem *p, const struct layout *layout)
{
    struct problem one = *p;
    one.job.layout = *layout;
    switches_set(&one.job);
    one.job.space = (struct space){.given = false};
    job_follow_layout(&one.job);
    one.job.iteration_limit_s = one.job.price_limit = 0;
    if (one.job.objective == OBJECTIVE_COST) one.job.objective = OBJECTIVE_ITERATION_TIME;
    return one;
}

static int64_t floor_ns(double seconds)
{
    double ns = floor(seconds * 1e9);
    return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

// A second of one device costs the price of an hour / 3600; an iteration trains on its tokens.
struct layout_worth problem_layout_worth(const struct problem *p, const struct layout *l)
{
    const struct job *j = &p->job;
    int64_t devices = (int64_t)l->tensor * l->context * l->data * l->pipeline;
    struct layout_worth w = {j->objective == OBJECTIVE_COST ? devices : 1, INT64_MAX};
    if (j->iteration_limit_s > 0) w.cap_ns = floor_ns(j->iteration_limit_s);
    if (j->price_limit > 0) {
        double tokens = (double)j->global_batch * (double)j->sequence,
               second = (double)devices * p->cluster.groups[0].gpu_hour_price / 3600;
        w.cap_ns = smaller(w.cap_ns, floor_ns(j->price_limit / 1e6 * tokens / second));
    }
    return w;
}

bool problem_counts_devices(const struct problem *p)
{
    return p->job.objective == OBJECTIVE_COST || p->job.price_limit > 0;
}

struct space_limits problem_space_limits(const struct problem *p)
{
    const struct job *j = &p->job;
    struct space_limits limits = {.layout = &j->layout,
                                  .global_batch = j->global_batch,
                                  .sequence = j->sequence,
                                  .layers = p->model.layer_count,
                                  .precision = j->precision,
                                  .context_kind = j->context_kind,
                                  .pools = model_pool_span(&p->model),
                                  .mtp_depth = model_mtp_depth(&p->model),
                                  .tied = p->model.shape.tied_embeddings,
                                  .recompute = j->recompute,
                                  .uneven_stages = j->space.uneven_stages || !j->space.given};
    for (int g = 0; g < p->cluster.group_count; g++)
        limits.devices += (int64_t)p->cluster.groups[g].nodes * p->cluster.groups[g].gpus_per_node;
    limits.sinks = model_has_sinks(&p->model), limits.hybrid = model_is_hybrid(&p->model);
    limits.latent = p->model.shape.kv_rank > 0;
    if (has_blocks(p)) limits.key_heads = p->model.shape.kv_heads;
    for (int i = 0; i < p->model.run_count; i++) {
        const struct layer_run *r = &p->model.runs[i];
        if (r->shape) limits.key_heads = common_divisor(limits.key_heads, r->shape->kv_heads);
        if (r->kind == LAYER_MOE)
            limits.experts = common_divisor(limits.experts, r->experts.experts);
        limits.windows |= r->window > 0;
    }
    return limits;
}

enum status problem_save(const struct problem *p, const char *path, struct arena *arena,
                         struct error *err)
{
    const struct names n = {p->name, path_relative(path, p->model.document.path, arena),
                            path_relative(path, p->cluster.document.path, arena),
                            path_relative(path, p->costs.document.path, arena),
                            path_relative(path, p->job.document.path, arena)};
    return document_save(&p->document, "plumbline.problem", &problem_members, &n, NULL, path, arena,
                         err);
}
