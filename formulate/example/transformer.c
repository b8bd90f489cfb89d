// Examples of transformers: a shipped model on a shipped cluster, with the user's layout or a
// sensible one, and GPT-2 XL on four machines of a calibrated kind.
#include <string.h>

#include "data/base/least.h"
#include "data/base/names.h"
#include "data/inputs/cost_keys.h"
#include "data/kinds/schedules.h"
#include "data/places/cluster_change.h"
#include "formulate/example/example.h"

enum { MICRO_BATCHES_DEFAULT = 64, SEQUENCE_DEFAULT = 2048 };
static const double machine_memory_gb = 32;

// The first shipped cluster that has this GPU.
static enum status find_cluster(struct cluster *cluster, const char *gpu, struct arena *arena,
                                struct error *err)
{
    const char **gpus;
    int count;
    TRY(cluster_of_gpu(cluster, gpu, 0, &gpus, &count, arena, err));
    if (cluster->group_count) return OK;
    int meant = name_meant(gpu, gpus, count);
    if (meant >= 0)
        return refuse(err,
                      "%s: no shipped cluster has this GPU; did you mean %s? (plumbline clusters "
                      "lists them)",
                      gpu, gpus[meant]);
    int related = name_related_gpu(gpu, gpus, count), nearest = name_nearest(gpu, gpus, count);
    return refuse(
        err,
        "%s: no shipped cluster has this GPU (plumbline clusters lists them%s%s); describe "
        "your own nodes in a cluster file, as for plan --cluster FILE%s%s",
        gpu, related < 0 ? "; the nearest is " : "", related < 0 ? gpus[nearest] : "",
        related < 0 ? "" : ", or take it as --gpu-like ", related < 0 ? "" : gpus[related]);
}

void gpu_likeness_apply(struct node_group *group, const struct gpu_likeness *likeness)
{
    if (likeness->memory_gb > 0) group->memory_bytes = (int64_t)(likeness->memory_gb * 1e9);
    if (likeness->intra_gb_per_s > 0)
        group->intra.bytes_per_s = likeness->intra_gb_per_s * 1e9,
        group->ring_count = group->switch_sum_count = 0;
}

// Its costs are the known one's, every number an assumption.
static enum status take_likeness(struct problem *p, const struct transformer_request *r,
                                 struct arena *arena, struct error *err)
{
    struct node_group *group = &p->cluster.groups[0];
    const struct gpu_costs *has = costs_find_gpu(&p->costs, r->gpu);
    if (has && !has->like)
        return refuse(err, "--gpu-like: the costs %s have %s itself", p->costs.name, r->gpu);
    TRY(costs_add_like(&p->costs, r->gpu, group->gpu, arena, err));
    gpu_likeness_apply(group, &r->likeness);
    group->gpu = group->name = r->gpu;
    return OK;
}

static enum status load_parts(struct problem *p, const struct transformer_request *r,
                              struct arena *arena, struct error *err)
{
    const char *path;
    TRY(shipped_find(&path, "models", r->model, arena, err));
    TRY(model_load(&p->model, path, arena, err));
    const char *known = r->likeness.known;
    if (r->gpu) TRY(find_cluster(&p->cluster, known ? known : r->gpu, arena, err));
    else {
        TRY(shipped_find(&path, "clusters", r->cluster, arena, err));
        TRY(cluster_load(&p->cluster, path, arena, err));
    }
    TRY(shipped_find(&path, "costs", r->costs, arena, err));
    TRY(costs_load(&p->costs, path, arena, err));
    return known ? take_likeness(p, r, arena, err) : OK;
}

// Costs of whole layers state none; what needs a newer GPU is refused with the problem.
static enum status check_precision(const struct problem *p, enum precision precision,
                                   struct arena *arena, struct error *err)
{
    const char *others = "";
    if (p->costs.layer_time_count || precision_capability(precision)) return OK;
    for (int i = 0; i < p->cluster.group_count; i++) {
        const struct gpu_costs *gpu = costs_find_gpu(&p->costs, p->cluster.groups[i].gpu);
        if (!gpu || costs_find_precision(gpu, precision)) return OK;
        others =
            arena_print(arena, "%s; %s has %s", others, gpu->gpu, costs_precisions(gpu, arena));
    }
    return refuse(err, "--precision: no GPU of the cluster has %s by the costs %s%s",
                  precision_names[precision], p->costs.name, others);
}

// NVLink domains of several hosts, of 4 GPUs each, are used in equal parts: 512 GPUs are 8 x 64 of
// 72, as public runs have them.
static void take_part_of_domains(struct node_group *g, int gpus)
{
    enum { HOST = 4, LARGEST_HOST = 16 };
    int whole = g->gpus_per_node, part = whole;
    if (whole <= LARGEST_HOST) return;
    while (part > whole / 2 && (gpus % part || part % HOST)) part--;
    if (part <= whole / 2) return;
    g->gpus_per_node = part;
    for (int i = 0; i < g->nic_count; i++)
        if (g->nics[i].count == whole) g->nics[i].count = part;
    while (g->switch_sum_count && g->switch_sums[g->switch_sum_count - 1].gpus > part)
        g->switch_sum_count--;
}

static enum status resize(struct cluster *cluster, int gpus, int nodes, struct error *err)
{
    struct node_group *first = &cluster->groups[0];
    if (nodes && gpus && gpus != nodes * first->gpus_per_node)
        return refuse(err, "--gpus %d: %d nodes of group %s have %d", gpus, nodes, first->name,
                      nodes * first->gpus_per_node);
    if (nodes) first->nodes = nodes;
    if (!gpus) return OK;
    if (gpus < first->gpus_per_node && cluster->group_count == 1 && !cluster->places.node_count) {
        first->nodes = 1, first->gpus_per_node = gpus;
        return OK;
    }
    if (gpus % first->gpus_per_node && !cluster->places.node_count)
        take_part_of_domains(first, gpus);
    if (gpus % first->gpus_per_node)
        return refuse(err, "--gpus %d: group %s has nodes of %d; expected fewer, or a multiple",
                      gpus, first->name, first->gpus_per_node);
    first->nodes = gpus / first->gpus_per_node;
    return OK;
}

static int64_t gpus_of(const struct cluster *cluster)
{
    int64_t gpus = 0;
    for (int i = 0; i < cluster->group_count; i++)
        gpus += (int64_t)cluster->groups[i].nodes * cluster->groups[i].gpus_per_node;
    return gpus;
}

// Whether a replica fits, with replicas over which the experts can be spread.
static bool is_fitting(const struct layout *l, int64_t gpus)
{
    int64_t replica = (int64_t)l->tensor * l->context * l->pipeline,
            data = l->data ? l->data : gpus / replica;
    return data > 0 && replica * data <= gpus && data * l->context % l->expert == 0;
}

// What a solve chooses anyway is no reason to refuse a small cluster or a schedule: degrees are
// halved until a replica fits, ranks have as many stages as the schedule needs.
static void fit_open_degrees(struct job *job, int64_t gpus)
{
    struct layout *l = &job->layout;
    const struct space_axis *axes = job->space.axes;
    bool pipeline = axes[SPACE_PIPELINE].kind != AXIS_FIXED,
         tensor = axes[SPACE_TENSOR].kind != AXIS_FIXED,
         stages = axes[SPACE_VIRTUAL_STAGES].kind != AXIS_FIXED;
    int needed = schedule_kinds[l->schedule].virtual_stages, ranks = needed == 1 ? 1 : 2;
    while (pipeline && l->pipeline > ranks && !is_fitting(l, gpus)) l->pipeline /= 2;
    if (stages) l->virtual_stages = needed ? needed : 2;
    while (tensor && l->tensor > 1 && !is_fitting(l, gpus)) l->tensor /= 2;
    l->sequence_parallel = l->sequence_parallel && l->tensor > 1;
}

// A stated schedule is one of several ranks: on one rank frameworks have only 1F1B.
static void keep_schedule(struct space *space, const struct transformer_request *r, int64_t gpus,
                          struct arena *arena)
{
    struct space_axis *axis = &space->axes[SPACE_PIPELINE];
    int schedule = r->stated.layout.schedule;
    if (axis->kind != AXIS_ALL || schedule == UNSTATED || schedule == SCHEDULE_1F1B) return;
    *axis = (struct space_axis){AXIS_LIST, TAKE(arena, STAGES_MAX, int), 0};
    for (int ranks = 2; ranks <= STAGES_MAX && ranks <= gpus; ranks++)
        if (gpus % ranks == 0) axis->values[axis->count++] = ranks;
    if (!axis->count) axis->values[axis->count++] = 2;
}

// As many replicas as the GPUs allow, and 64 micro-batches for each.
static enum status complete(struct job *job, const struct cluster *cluster, struct error *err)
{
    struct layout *l = &job->layout;
    int64_t gpus = gpus_of(cluster);
    fit_open_degrees(job, gpus);
    int64_t replica = (int64_t)l->tensor * l->context * l->pipeline;
    if (replica > gpus)
        return refuse(err,
                      "a replica of %d x %d x %d GPUs (tensor, context, pipeline) is more than the "
                      "cluster's %lld",
                      l->tensor, l->context, l->pipeline, (long long)gpus);
    if (!l->data) l->data = (int)(gpus / replica);
    if (!job->global_batch)
        job->global_batch = (int64_t)MICRO_BATCHES_DEFAULT * l->data * l->micro_batch;
    return OK;
}

static void offer_compression(struct job *job, const struct transformer_request *r,
                              struct arena *arena)
{
    struct compression_option *boundary = TAKE(arena, 1, struct compression_option);
    struct compression_option *gradient = TAKE(arena, 1, struct compression_option);
    *boundary = (struct compression_option){
        .form.amount = r->boundary_rank, .epilogue_only = true, .quality_cost = 1};
    *gradient = (struct compression_option){.form.amount = r->gradient_rank, .quality_cost = 1};
    job->boundary_options = boundary;
    job->boundary_option_count = r->boundary_rank > 0;
    job->gradient_options = gradient;
    job->gradient_option_count = r->gradient_rank > 0;
    job->budget.cost_max = r->quality_budget;
}

// Of Megatron's modules the one that frees the most for the time that it takes: the activations of
// experts.
static void offer_activations(struct job *job, const struct model *m)
{
    bool mixtures = false;
    for (int i = 0; i < m->run_count; i++) mixtures = mixtures || m->runs[i].kind == LAYER_MOE;
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT && mixtures; mode++)
        if (!strcmp(recompute_names[mode], recompute_module_names[MODULE_MOE_ACT]))
            job->recompute[mode] = job_like_megatron(job) &&
                                   framework_recomputes(job->space.framework, (enum recompute)mode);
}

// Transformer Engine passes windows and sinks not around its ring, torchtitan's compiled attention
// nothing.
static enum context_kind context_kind_of(const struct problem *p,
                                         const struct transformer_request *r)
{
    const struct space_limits limits = problem_space_limits(p);
    bool core = r->space.framework == FRAMEWORK_MEGATRON || r->space.framework == FRAMEWORK_NEMO;
    if (r->stated.context_kind != UNSTATED) return (enum context_kind)r->stated.context_kind;
    if (r->space.framework == FRAMEWORK_TORCHTITAN) return CONTEXT_ALL_GATHER;
    return !core            ? CONTEXT_RING
           : limits.sinks   ? CONTEXT_ALL_TO_ALL
           : limits.windows ? CONTEXT_ALL_GATHER
                            : CONTEXT_RING;
}

// What is stated is fixed, and so is what hides nothing at these costs.
static void keep_stated(struct problem *p, const struct transformer_request *r)
{
    const struct stated_layout *s = &r->stated;
    struct space_axis *axes = p->job.space.axes;
    if (s->dispatcher != UNSTATED) p->job.dispatcher = (enum dispatcher)s->dispatcher;
    if (s->graphs != UNSTATED) p->job.graphs = (enum graphs)s->graphs;
    p->job.loss_in_place = s->loss_in_place;
    if (s->context_kind != UNSTATED) axes[SPACE_CONTEXT_KIND].kind = AXIS_FIXED;
    const struct space_limits limits = problem_space_limits(p);
    bool hides = limits.experts && p->costs.dispatch_overlap.value > 0;
    if (!hides) axes[SPACE_OVERLAPPED_DISPATCH].kind = AXIS_FIXED;
    if (!limits.pools) axes[SPACE_POOL].kind = AXIS_FIXED;
    if (!p->job.space.tensor_grids)
        axes[SPACE_GRID_ORDER].kind = axes[SPACE_GRID_GATHERS].kind = AXIS_FIXED;
    job_follow_layout(&p->job);
}

static struct job job_of(const struct transformer_request *r, struct arena *arena)
{
    struct job job = {.name = r->name,
                      .sequence = r->sequence,
                      .global_batch = r->global_batch,
                      .precision = r->precision,
                      .adam = true,
                      .objective = r->objective,
                      .layout = r->layout,
                      .space = r->space,
                      .trainer = r->trainer == UNSTATED ? framework_trainer(r->space.framework)
                                                        : (enum trainer)r->trainer,
                      .budget = {.boundaries_max = -1, .stages_max = -1},
                      .memory_fraction = r->memory_fraction};
    job.gradient_bytes_per_value =
        r->gradient_bytes ? r->gradient_bytes : trainer_gradient_bytes(job.trainer, job.precision);
    for (int mode = 0; mode < RECOMPUTE_SWAP; mode++) // the others only a job can request
        job.recompute[mode] = framework_recomputes(r->space.framework, (enum recompute)mode);
    offer_compression(&job, r, arena);
    return job;
}

// Nodes that --without names leave the cluster, and the list.
static enum status drop_nodes(struct cluster *c, struct option_texts *without, struct arena *arena,
                              struct error *err)
{
    const struct cluster all = *c;
    struct cluster_change change = {{TAKE(arena, without->count, const char *), 0}, {NULL, 0}};
    struct option_texts rest = {TAKE(arena, without->count, const char *), 0};
    for (int i = 0; i < without->count; i++) {
        bool node = cluster_has_nodes(&all, without->items[i]);
        struct option_texts *to = node ? &change.without : &rest;
        to->items[to->count++] = without->items[i];
    }
    *without = rest;
    return change.without.count ? cluster_make_change(c, &all, &change, arena, err) : OK;
}

static enum status exclude(struct problem *p, const struct transformer_request *r,
                           struct arena *arena, struct error *err)
{
    struct job *job = &p->job;
    if (!r->stated.without.count || job->space.given)
        return layout_exclude(&job->layout, &job->space, job->recompute, &r->stated, &p->cluster,
                              arena, err);
    return refuse(err, "--without: requires a space to exclude it from (--layouts all)");
}

enum status example_transformer(struct problem *problem, const struct transformer_request *asked,
                                struct arena *arena, struct error *err)
{
    struct transformer_request own = *asked, *request = &own;
    *problem = (struct problem){.name = request->name};
    TRY(load_parts(problem, request, arena, err));
    int nodes = problem->cluster.groups[0].nodes;
    TRY(resize(&problem->cluster, request->gpus, request->nodes, err));
    if (problem->cluster.places.node_count && problem->cluster.groups[0].nodes != nodes)
        return refuse(err,
                      "--nodes, --gpus: %s has %d nodes with names; import the names of those that "
                      "are to be used",
                      request->cluster, nodes);
    TRY(drop_nodes(&problem->cluster, &own.stated.without, arena, err));
    for (int i = 0; i < problem->cluster.group_count && request->gpu_hour_price > 0; i++)
        problem->cluster.groups[i].gpu_hour_price = request->gpu_hour_price;
    problem->job = job_of(request, arena);
    problem->job.context_kind = context_kind_of(problem, request);
    keep_stated(problem, request);
    job_keep_shards(&problem->job, arena);
    offer_activations(&problem->job, &problem->model);
    keep_schedule(&problem->job.space, request, gpus_of(&problem->cluster), arena);
    TRY(exclude(problem, request, arena, err));
    int64_t positions = problem->model.has_shape ? problem->model.shape.positions : 0;
    if (!problem->job.sequence)
        problem->job.sequence = positions ? smaller(SEQUENCE_DEFAULT, positions) : SEQUENCE_DEFAULT;
    TRY(complete(&problem->job, &problem->cluster, err));
    return check_precision(problem, request->precision, arena, err);
}

// One device per machine: `intra` joins nothing, but must be stated.
static struct cluster four_machines(const char *gpu, double memory_gb, struct arena *arena)
{
    struct node_group *group = TAKE(arena, 1, struct node_group);
    struct nic *nic = TAKE(arena, 1, struct nic);
    double gb = fmax(machine_memory_gb, floor(memory_gb));
    *nic = (struct nic){NIC_ETHERNET, 1, {1.25e9, 50e-6}};
    *group = (struct node_group){.name = "machines",
                                 .gpu = gpu,
                                 .nodes = 4,
                                 .gpus_per_node = 1,
                                 .memory_bytes = (int64_t)gb * 1000000000,
                                 .intra = {10e9, 1e-6},
                                 .nics = nic,
                                 .nic_count = 1};
    return (struct cluster){
        .name = arena_print(arena, "four machines (assumed: %.0f GB each, 10 Gb/s Ethernet, 50 us)",
                            gb),
        .groups = group,
        .group_count = 1};
}

enum status example_four(struct problem *problem, const char *costs, double memory_gb,
                         struct arena *arena, struct error *err)
{
    struct transformer_request r = {.name = "GPT-2 XL on four machines",
                                    .sequence = 1024,
                                    .global_batch = 8,
                                    .precision = FP32,
                                    .trainer = UNSTATED,
                                    .memory_fraction = 0.9,
                                    .quality_budget = -1,
                                    .layout = {.tensor = 1,
                                               .context = 1,
                                               .data = 1,
                                               LAYOUT_PLAIN(4),
                                               .micro_batch = 1,
                                               .schedule = SCHEDULE_1F1B}};
    const char *path;
    *problem = (struct problem){.name = r.name, .job = job_of(&r, arena)};
    TRY(shipped_find(&path, "models", "gpt2-xl", arena, err));
    TRY(model_load(&problem->model, path, arena, err));
    TRY(shipped_find(&path, "costs", costs, arena, err));
    TRY(costs_load(&problem->costs, path, arena, err));
    if (!problem->costs.gpu_count)
        return refuse(err, "%s: lists no device to build four machines of", path);
    problem->cluster = four_machines(problem->costs.gpus[0].gpu, memory_gb, arena);
    return OK;
}
