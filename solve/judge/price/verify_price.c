// The judge's prices: notation and node groups (docs/FORMULAS.md, sections 1, 2 and 8).
#include "solve/judge/kinds/kinds.h"
#include "solve/judge/price/verify_price.h"

#include <float.h>
#include <string.h>

// ---- rounding

// Costs are decimal fractions held in binary. An exact half may be low by about 2^-50 of its
// value, and still counts as a half.
#define SAME 0x1p-44L

static long double raised(long double x) { return x + least(SAME * x, 0x1p-6L); }

// Rounds the raised x down. way: the direction for doubtful values.
static int64_t cut(const struct price_audit *a, long double x, long double error, int way)
{
    int64_t low = (int64_t)greatest(0, x - error),
            high = (int64_t)greatest(0, x + least(error, WHOLE_MAX));
    if (low == high) return low;
    if (a->doubts) a->doubts->prices++;
    return way < 0 ? low : way > 0 ? high : (int64_t)x;
}

static int64_t whole(const struct price_audit *a, struct computed x)
{
    if (!(x.value < WHOLE_MAX)) return WHOLE_MAX;
    if (!(x.value > 0)) return 0;
    return cut(a, raised(x.value) + 0.5L, a->error * (x.value + x.lost + 1), a->direction);
}

int64_t judged_whole(const struct price_audit *a, long double x)
{
    return whole(a, (struct computed){x, 0});
}

int64_t judged_nanoseconds(const struct price_audit *a, struct computed seconds)
{
    return whole(a, (struct computed){seconds.value * 1e9L, seconds.lost * 1e9L});
}

// For a limit.
static int64_t judged_floor(const struct price_audit *a, struct computed x)
{
    if (!(x.value < WHOLE_MAX)) return WHOLE_MAX;
    return x.value > 0 ? cut(a, raised(x.value), a->error * (x.value + x.lost + 1), -a->direction)
                       : 0;
}

bool judged_reaches(const struct price_audit *a, long double x, long double y)
{
    long double over = x + SAME * x - y;
    if (a->doubts && fabsl(over) < a->error * (x + y)) a->doubts->sizes++;
    return over >= 0;
}

// ---- section 1

static bool has_kind(const struct price_audit *a, enum layer_kind kind)
{
    for (int i = 0; i < a->problem->model.run_count; i++)
        if (run_of(a, i)->kind == kind) return true;
    return false;
}

bool passes_gradient(const struct price_audit *a, int run)
{
    while (run >= 0 && !run_is_trained(run_of(a, run))) run--;
    return run >= 0;
}

static bool has_frozen_end(const struct price_audit *a)
{
    for (int i = 0; i < a->problem->model.run_count; i++)
        if ((run_of(a, i)->kind == LAYER_EMBEDDING || run_of(a, i)->kind == LAYER_HEAD) &&
            run_of(a, i)->frozen)
            return true;
    return false;
}

static long double padded_vocabulary(const struct problem *p)
{
    int64_t vocabulary = p->model.shape.vocabulary, multiple = p->model.shape.vocabulary_multiple;
    multiple = (multiple ? multiple : 1) * p->job.layout.tensor;
    return (vocabulary + multiple - 1) / multiple * multiple;
}

// A single rank that is to share its values with nobody has them whole, as without ZeRO.
static bool shares_with_none(const struct layout *l)
{
    int64_t devices = (int64_t)l->tensor * l->context * l->data,
            parts = (int64_t)(l->expert_tensor ? l->expert_tensor : l->tensor) * l->expert;
    return l->data_shard == 1 && l->data > 1 && l->context == 1 && devices == l->data * parts;
}

// Sharded gradients cannot be accumulated over micro-batches: a pipeline's engine keeps them whole
// until the last, and scattering once is ZeRO 1. DeepSpeed's engine has no such rule. PyTorch's has
// it at any stage: what its backward passes find gathered stays so.
static int zero_stage(const struct job *j)
{
    int zero = j->layout.zero;
    if (shares_with_none(&j->layout)) return 0;
    if (j->layout.pipeline == 1 || j->trainer == TRAINER_DEEPSPEED) return zero;
    return zero == 2 || (zero && j->trainer == TRAINER_TORCHTITAN) ? 1 : zero;
}

// Where a stage's micro-batches are finished before the next stage begins (looped breadth-first),
// an engine built for it gathers a stage once forward and once backward, and scatters once. FSDP2
// does not.
static bool shards_by_stages(const struct job *j)
{
    return judged_kinds[j->layout.schedule].gathers_by_stage && zero_stage(j) > 1 &&
           j->trainer != TRAINER_TORCHTITAN && !j->placement.uneven_micro_batches;
}

// One GPU's part in a grid: whole sequences, heads and FFN split by the first axis, each token's
// values by the second.
static void split_by_grid(struct price_audit *a, const struct layout *l)
{
    int64_t both = (int64_t)l->grid_depth * l->grid_rows;
    a->outer = (long double)(l->tensor / both);
    a->inner = l->grid_depth;
    a->sequences = (long double)(l->micro_batch / l->grid_rows);
    a->tokens = a->sequences * (long double)a->problem->job.sequence;
    a->share = 1 / a->inner / (l->sequence_parallel ? a->outer : 1);
}

// A rank has at least one KV head: where there are more ranks, several have the same.
long double width_held(const struct shape *s, const struct layout *l)
{
    bool shared = !layout_has_grid(l) && l->tensor > s->kv_heads;
    return (long double)(shared ? l->tensor : s->kv_heads) * s->head_width;
}

struct price_audit price_audit_of(const struct problem *problem)
{
    const struct job *j = &problem->job;
    const struct layout *l = &j->layout;
    const struct shape *s = &problem->model.shape;
    struct price_audit a = {
        .problem = problem,
        .error = LDBL_EPSILON / 2 * (256 + problem->model.run_count),
        .stage_count = layout_stage_count(l),
        .pipeline = l->pipeline,
        .micro_batches = (int)(j->global_batch / ((int64_t)l->data * l->micro_batch)),
        .ranks = (int64_t)l->data * l->context,
        .expert_parts = l->expert_tensor ? l->expert_tensor : l->tensor,
        .collective = (int64_t)l->tensor * l->context,
        .devices = (int64_t)l->tensor * l->context * l->data,
        .zero = zero_stage(j),
        .comes_and_stays = zero_stage(j) == 1 && l->zero == 3,
        .gridded = layout_has_grid(l),
        .outer = l->tensor,
        .inner = 1,
        .sequences = l->micro_batch,
        .by_stages = shards_by_stages(j),
        .tokens = (long double)l->micro_batch * (long double)j->sequence / l->context,
        .share = l->sequence_parallel ? 1.0L / l->tensor : 1.0L,
        .value_bytes = precision_bytes(j->precision),
        .query = (long double)s->heads * s->head_width,
        .key = (long double)s->kv_heads * s->head_width,
        .summed = (long double)s->heads * (s->value_width ? s->value_width : s->head_width),
        .gates = s->gated_ffn ? 3 : 2,
        .row = s->embedding_width ? s->embedding_width : s->hidden,
        .carried = 1,
        .asked = 1,
        .vocabulary = padded_vocabulary(problem),
        .overlapped = l->gradient_sync == SYNC_OVERLAPPED,
    };
    a.held = width_held(s, l);
    a.expert_ranks = a.devices / (a.expert_parts * l->expert);
    a.alike = a.zero > 0 && l->data_shard > 0 ? l->data / l->data_shard : 1;
    a.sharing = a.ranks / a.alike, a.expert_sharing = a.expert_ranks / a.alike;
    if (a.gridded) split_by_grid(&a, l);
    for (int i = 0; i < problem->model.run_count; i++)
        if (problem->model.runs[i].cross_attention) a.carried = 2;
    for (int i = 0; i < problem->model.run_count; i++)
        if (problem->model.runs[i].mtp) a.asked += problem->model.runs[i].count;
    a.two_tables = problem->model.has_shape && l->pipeline > 1 &&
                   (s->tied_embeddings || a.asked > 1);
    a.embedding_sync = a.two_tables && !has_frozen_end(&a);
    return a;
}

struct price_audit price_audit_over(const struct problem *problem, const struct price_audit *as)
{
    struct price_audit a = price_audit_of(problem);
    a.error = greatest(a.error, as->error);
    a.doubts = as->doubts;
    a.direction = as->direction;
    return a;
}

const struct gpu_costs *gpu_of(const struct price_audit *a, int group)
{
    return costs_find_gpu(&a->problem->costs, a->problem->cluster.groups[group].gpu);
}

const struct precision_costs *rates_of(const struct price_audit *a, int group)
{
    return costs_find_precision(gpu_of(a, group), a->problem->job.precision);
}

const struct layer_time *stated_time(const struct price_audit *a, int run, int group)
{
    const struct costs *c = &a->problem->costs;
    const struct layout *l = layout_of(a);
    for (int i = 0; i < c->layer_time_count; i++) {
        const struct layer_time *t = &c->layer_times[i];
        bool same_size = (t->tensor == 0 || t->tensor == l->tensor) &&
                         (t->micro_batch == 0 || t->micro_batch == l->micro_batch) &&
                         (t->context == 0 || t->context == l->context) &&
                         (t->data == 0 || t->data == l->data) &&
                         (t->zero == 0 || t->zero == l->zero) && !a->gridded;
        if (same_size && !strcmp(t->run, run_of(a, run)->name) &&
            !strcmp(t->gpu, a->problem->cluster.groups[group].gpu))
            return t;
    }
    return NULL;
}

const struct measured_bytes *stated_bytes(const struct price_audit *a, const struct layer_run *r)
{
    const struct layout *l = layout_of(a);
    for (int i = 0; i < r->measured.by_degrees_count; i++) {
        const struct measured_bytes *b = &r->measured.by_degrees[i];
        bool unlike = (b->tensor && b->tensor != l->tensor) ||
                      (b->context && b->context != l->context) || (b->data && b->data != l->data) ||
                      (b->micro_batch && b->micro_batch != l->micro_batch) ||
                      (b->zero && b->zero != l->zero);
        if (!unlike) return b;
    }
    return &r->measured;
}

struct piece piece_of(const struct price_audit *a, int slice)
{
    const struct layout *l = layout_of(a);
    struct piece p = {a->tokens, a->problem->job.sequence, 0};
    if (l->slice_count == 1) return p;
    for (int i = 0; i < slice; i++) p.behind += l->slices[i];
    p.length = l->slices[slice];
    p.tokens = a->sequences * p.length / l->context;
    return p;
}

// ---- node groups

bool is_allowed(const struct job *j, struct compression_form form)
{
    return form.method != COMPRESS_LOW_RANK || form.amount >= j->budget.rank_min;
}

static bool offers_compression(const struct job *j, enum compression_method method)
{
    for (int i = 0; i < j->boundary_option_count; i++)
        if (j->boundary_options[i].form.method == method &&
            is_allowed(j, j->boundary_options[i].form))
            return true;
    for (int i = 0; i < j->gradient_option_count; i++)
        if (j->gradient_options[i].form.method == method &&
            is_allowed(j, j->gradient_options[i].form))
            return true;
    return false;
}

static const char *exclusion_by_costs(const struct price_audit *a, int group)
{
    const struct gpu_costs *costs = gpu_of(a, group);
    if (!costs) return "the costs do not list its GPU";
    bool rates = rates_of(a, group) != NULL;
    if (!rates && (offers_compression(&a->problem->job, COMPRESS_LOW_RANK) ||
                   job_has_local_head(&a->problem->job)))
        return "its GPU has no rates for the job's precision";
    for (int r = 0; r < a->problem->model.run_count; r++) {
        if (stated_time(a, r, group)) continue;
        if (!has_shape(a, r)) return "a measured layer has no time on its GPU";
        if (!rates) return "its GPU has no rates for the job's precision";
    }
    bool largest = costs->top_k_values_per_s.value > 0 && costs->top_k_back_values_per_s.value > 0,
         bits = costs->quantise_values_per_s.value > 0 &&
                costs->quantise_back_values_per_s.value > 0;
    if (!largest && offers_compression(&a->problem->job, COMPRESS_TOP_K))
        return "the costs have no rate at which it finds the largest values";
    if (!bits && offers_compression(&a->problem->job, COMPRESS_QUANTISE))
        return "the costs have no rate at which it packs values in few bits";
    bool host = costs->host_link_bytes_per_s.value > 0 && costs->host_memory_bytes_per_s.value > 0;
    bool moves = false;
    for (int way = 0; way < job_tier_ways(&a->problem->job); way++)
        moves = moves || job_tiering(&a->problem->job, way).parts[TIER_OPTIMIZER].percent;
    if (moves && !host) return "the costs have no rate of its host, which would update the weights";
    if (a->problem->job.checkpoints == CHECKPOINTS_HOST &&
        !(costs->host_link_bytes_per_s.value > 0))
        return "the costs have no rate of its link to the host, where checkpoints are kept";
    return judged_lack(a, group);
}

const char *exclusion_of(const struct price_audit *a, int group)
{
    const char *reason = exclusion_by_costs(a, group);
    if (reason) return reason;
    if (!slots_of(a, group)) return "it has no room for a pipeline rank of this layout";
    if (!judged_tensor_link(a, group).joined || !judged_ring_link(a, group).joined)
        return "its nodes are not connected, which the collectives of a layer require";
    if (layout_of(a)->expert > 1 && has_kind(a, LAYER_MOE) && !judged_expert_link(a, group).joined)
        return "its nodes are not connected, which the exchange between experts requires";
    if ((a->ranks > 1 || a->expert_ranks > 1) && !judged_gradient_link(a, group).joined)
        return "its nodes are not connected, which the gradient sync requires";
    for (int i = 0; i < a->problem->model.run_count; i++)
        if (run_of(a, i)->shared_weights && !judged_copies_link(a, group).joined)
            return "its nodes are not connected, which weights that layers share require";
    for (int i = 0; i < a->problem->model.run_count; i++) {
        const struct layer_run *r = run_of(a, i);
        if (r->kind != LAYER_MEMORY) continue;
        bool summed = !r->frozen && judged_pool_copies(a, r) > 1;
        if (!judged_pool_link(a, r, group).joined ||
            (summed && !judged_pool_ring(a, r, group).joined))
            return "its nodes are not connected, which memory layers require";
    }
    return NULL;
}

int64_t slots_of(const struct price_audit *a, int group)
{
    const struct node_group *g = &a->problem->cluster.groups[group];
    int64_t data = layout_of(a)->data, per_node = g->gpus_per_node;
    if (a->collective <= per_node) return g->nodes * (per_node / a->collective) / data;
    return g->nodes / ((a->collective + per_node - 1) / per_node) / data;
}

// Memory outside the allocator.
static long double outside_bytes(const struct price_audit *a, int group)
{
    const struct layout *l = layout_of(a);
    const struct gpu_costs *costs = gpu_of(a, group);
    int axes = a->gridded ? (a->outer > 1) + (l->grid_depth > 1) + (l->grid_rows > 1)
                          : l->tensor > 1;
    int communicators = axes + (l->context > 1) + (l->data > 1) + (l->pipeline > 1) +
                        (l->expert > 1) + (a->expert_parts > 1 && a->expert_parts != l->tensor) +
                        (a->alike > 1 && l->data_shard > 1);
    return (long double)costs->constant_bytes.value +
           (long double)costs->communicator_bytes.value * communicators;
}

int64_t memory_limit_of(const struct price_audit *a, int group)
{
    struct computed planned = {(long double)a->problem->cluster.groups[group].memory_bytes *
                                   a->problem->job.memory_fraction,
                               0};
    int64_t limit = judged_floor(a, planned) - a->problem->job.memory_margin_bytes;
    long double factor = a->problem->costs.allocator_factor.value;
    if (factor > 0 && gpu_of(a, group)) {
        long double outside = outside_bytes(a, group),
                    inside = ((long double)limit - outside) / factor;
        limit = judged_floor(a, (struct computed){inside + outside, 2 * (outside + fabsl(inside) +
                                                                         outside / factor)});
    }
    return limit > 0 ? limit : 0;
}

int64_t constant_bytes_of(const struct price_audit *a, int group)
{
    const struct gpu_costs *costs = gpu_of(a, group);
    if (!costs) return 0;
    bool deepspeed = a->problem->job.trainer == TRAINER_DEEPSPEED;
    long double inside = deepspeed ? 5e8L * scattered_gradient_bytes(a)
                                   : costs->library_bytes.value;
    return judged_whole(a, outside_bytes(a, group) + inside + judged_pool_bytes(a) +
                               shared_copy_bytes(a));
}
