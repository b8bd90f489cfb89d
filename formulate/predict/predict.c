// Prediction: one pricing per set of costs, one choice per stage, one walk of the schedule's graph.
// The sums over a stage's layers and the durations are the solver's own (evaluate.c and together.c
// of formulate/choices), so that a plan and the prediction of its configuration cannot differ.
#include "formulate/predict/predict.h"

#include <stdarg.h>

#include "data/inputs/figures.h"
#include "data/base/least.h"
#include "formulate/choices/choice.h"
#include "formulate/predict/internal.h"
#include "formulate/price/price.h"

bool predict_refuse(struct prediction *prediction, const char *format, ...)
{
    va_list arguments;
    if (*prediction->reason) return false;
    va_start(arguments, format);
    vsnprintf(prediction->reason, sizeof prediction->reason, format, arguments);
    va_end(arguments);
    return false;
}

static void move_costs(struct predictor *p, const struct costs *costs)
{
    if (!p->settings.ranges) return;
    arena_reset(p->moving, p->moving_mark);
    range_move_costs(&p->moved, costs, p->moving);
}

static enum status load_clusters(struct predictor *p, struct error *err)
{
    static const char *const shipped[] = {
        "a100-16x8",      "h100-128x8",     "mixed-a100-v100", "h200-16x8",  "b200-16x8",
        "a100-40gb-16x8", "v100-16gb-16x8", "mi300x-16x8",     "t4-4x4",     "a800-16x8",
        "h100-96gb-16x8", "h800-16x8",      "h20-16x8",        "gb200-8x72", "gb300-8x72",
        "b300-16x8",      "mi325x-16x8",    "mi355x-16x8",     "l40s-16x8",  "l20-16x8",
        "a40-16x4",       "a6000-4x8",      "rtx3090-4x8",     "rtx4090-4x8"};
    const char *named[] = {p->settings.cluster};
    const char *const *names = p->settings.cluster ? named : shipped;
    p->cluster_count = p->settings.cluster ? 1 : (int)ARRAY_LENGTH(shipped);
    p->clusters = TAKE(p->arena, p->cluster_count, struct cluster);
    for (int i = 0; i < p->cluster_count; i++) {
        const char *path;
        TRY(shipped_find(&path, "clusters", names[i], p->arena, err));
        TRY(cluster_load(&p->clusters[i], path, p->arena, err));
    }
    return OK;
}

enum status predictor_open(struct predictor **predictor, const struct predict_settings *settings,
                           struct arena *arena, struct error *err)
{
    struct predictor *p = TAKE(arena, 1, struct predictor);
    const char *path;
    *predictor = p;
    p->settings = *settings;
    p->arena = arena;
    p->graphs = arena_open_within(arena);
    p->scratch = arena_open_within(arena);
    p->moving = arena_open_within(arena);
    p->memo = product_memo_open(arena);
    p->origin = p->origins;
    TAKE(p->graphs, 1, char); // an allocation that resets keep
    TAKE(p->scratch, 1, char);
    TAKE(p->moving, 1, char);
    p->moving_mark = arena_set_mark(p->moving);
    p->graphs_mark = arena_set_mark(p->graphs);
    p->scratch_mark = arena_set_mark(p->scratch);
    TRY(load_clusters(p, err));
    TRY(predict_check_likeness(p, err));
    TRY(shipped_find(&path, "costs", settings->costs ? settings->costs : "kernels", arena, err));
    TRY(costs_load(&p->costs, path, arena, err));
    p->costs = costs_copy(&p->costs, arena);
    predictor_costs_changed(p);
    return OK;
}

struct costs *predictor_costs(struct predictor *p) { return &p->costs; }

void predictor_costs_changed(struct predictor *p) { move_costs(p, &p->costs); }

// ---- one problem

// The group of every stage: groups in their order, each with as many ranks as it has room for.
bool predict_place_groups(const struct priced *priced, const struct schedule_request *request,
                          struct choice *choices, struct prediction *prediction)
{
    int group = 0, used = 0;
    for (int rank = 0; rank < priced->rank_count; rank++) {
        while (group < priced->group_count && used == priced_seats(priced, group))
            group++, used = 0;
        if (group == priced->group_count) {
            const char *excluded = priced->groups[priced->group_count - 1].excluded;
            return predict_refuse(
                prediction, "%s",
                excluded ? excluded : "the pipeline has more ranks than the cluster has room for");
        }
        for (int turn = 0; turn < request->virtual_stages; turn++)
            choices[schedule_stage_of(request, rank, turn)].group = group;
        used++;
    }
    return true;
}

// The groups of one kind of pipeline, for a row with several kinds of GPU.
static bool place_pipeline(const struct predictor *p, const struct priced *priced, int pipeline,
                           const struct schedule_request *request, struct choice *choices,
                           struct prediction *prediction)
{
    for (int rank = 0; rank < priced->rank_count; rank++) {
        int group = p->fleet.pipelines[pipeline][rank];
        if (priced->groups[group].excluded)
            return predict_refuse(prediction, "%s", priced->groups[group].excluded);
        for (int turn = 0; turn < request->virtual_stages; turn++)
            choices[schedule_stage_of(request, rank, turn)].group = group;
    }
    return true;
}

// A setting for all stages: at most the layers that a stage can recompute; first_layers of none is
// none.
static void recompute_stage(struct choice *x, const struct placement *placement,
                            const struct priced *priced)
{
    bool first = placement->recompute == RECOMPUTE_FIRST_LAYERS;
    int able = 0;
    x->recompute = placement->recompute;
    x->recomputed_layers = first ? placement->recomputed_layers : 0;
    if (!first || !layout_recomputes_alike(&priced->layout)) return;
    for (int l = x->first_layer; l < x->first_layer + x->layer_count && l < priced->layer_count;
         l++)
        able += priced->runs[priced_run_of(priced, l)].recomputable;
    if (able < x->recomputed_layers) x->recomputed_layers = able;
    if (!able) x->recompute = RECOMPUTE_NONE;
}

bool predict_place_layers(const struct placement *placement, const struct priced *priced,
                          struct choice *choices, struct prediction *prediction)
{
    int layer = 0;
    for (int s = 0; s < priced->stage_count; s++) {
        choices[s].first_layer = layer;
        choices[s].layer_count = placement->layer_count[s];
        recompute_stage(&choices[s], placement, priced);
        choices[s].boundary_option = placement->compresses_boundaries && s > 0;
        choices[s].gradient_option = placement->compresses_gradients;
        layer += choices[s].layer_count;
    }
    if (layer == priced->layer_count && placement->stage_count == priced->stage_count) return true;
    return predict_refuse(prediction,
                          "the split holds %d layers on %d stages, the model has %d, the layout %d",
                          layer, placement->stage_count, priced->layer_count, priced->stage_count);
}

static bool place(struct predictor *p, const struct priced *priced, int pipeline,
                  const struct schedule_request *request, struct prediction *prediction)
{
    memset(p->choices, 0, (size_t)priced->stage_count * sizeof *p->choices);
    for (int s = 0; s < priced->stage_count; s++)
        p->stages[s] = (struct stage_choices){&p->choices[s], 1};
    return (p->fleet.pipeline_count
                ? place_pipeline(p, priced, pipeline, request, p->choices, prediction)
                : predict_place_groups(priced, request, p->choices, prediction)) &&
           predict_place_layers(&p->placement, priced, p->choices, prediction);
}

// The choices of a priced problem for kind `pipeline` of pipeline, and the graph on which they are
// timed. Other costs leave a single kind where it is placed. false: there is no prediction.
static bool choose(struct predictor *p, const struct priced *priced, int pipeline,
                   struct choices *c, struct kept_graph **kept, struct prediction *prediction)
{
    *kept = p->placed && price_kept_talk(p->pricing) ? p->graph : NULL;
    if (!*kept) *kept = predict_graph(p, priced, prediction);
    if (!*kept) return false;
    const struct schedule_request *request = &(*kept)->schedule.request;
    *c = (struct choices){.priced = priced,
                          .schedule = &(*kept)->schedule,
                          .free_from = priced->layer_count,
                          .stages = p->stages,
                          .arena = p->scratch,
                          .virtual_stages = request->virtual_stages,
                          .rank_count = request->rank_count};
    if (!p->placed) {
        if (!place(p, priced, pipeline, request, prediction)) return false;
        p->graph = *kept;
        p->placed = !p->fleet.pipeline_count;
    }
    for (int s = 0; s < priced->stage_count; s++) choice_evaluate(c, s, &p->choices[s]);
    return true;
}

static bool find_durations(struct predictor *p, const struct choices *c, struct kept_graph *kept,
                           struct prediction *prediction)
{
    int count = graph_symbol_count(kept->graph);
    if (count > p->duration_count) {
        p->durations = TAKE(p->arena, 2 * count, int64_t);
        p->walked.durations = TAKE(p->arena, 2 * count, int64_t);
        p->duration_count = 2 * count;
    }
    if (choices_durations(c, p->chosen, p->durations)) return true;
    return predict_refuse(prediction, "no link connects two neighbouring stages");
}

// With the durations found. Many costs that are moved leave all of them as they were.
static int64_t walk(struct predictor *p, struct kept_graph *kept)
{
    struct walked *w = &p->walked;
    size_t bytes = (size_t)graph_symbol_count(kept->graph) * sizeof *p->durations;
    if (w->graph == kept && !memcmp(w->durations, p->durations, bytes)) return w->ns;
    int64_t ns = graph_longest(kept->graph, p->durations, NULL);
    if (w->graph) return ns;
    w->graph = kept, w->ns = ns;
    memcpy(w->durations, p->durations, bytes);
    return ns;
}

// The syncs of replicas with different GPUs: the time of the slowest.
static void join_syncs(struct predictor *p, int stages, int64_t *syncs, bool take)
{
    for (int i = 0; i <= 2 * stages; i++) {
        int symbol = i < stages       ? symbol_index(stages, SYMBOL_SYNC, i)
                     : i < 2 * stages ? symbol_index(stages, SYMBOL_QUEUED_SYNC, i - stages)
                                      : symbol_index(stages, SYMBOL_EMBEDDING_SYNC, 0);
        int64_t *own = &p->durations[symbol];
        syncs[i] = larger(syncs[i], *own);
        if (take) *own = syncs[i];
    }
}

static int pipeline_count(const struct predictor *p)
{
    return p->fleet.pipeline_count ? p->fleet.pipeline_count : 1;
}

// The slowest kind of pipeline, with the syncs that all kinds have together: the maximum over
// replicas of the longest path (docs/FORMULAS.md 15). The choices of the last kind stay in
// p->choices.
static bool time_of(struct predictor *p, const struct priced *priced, int64_t *ns,
                    struct kept_graph **graph, struct prediction *prediction)
{
    int64_t syncs[2 * STAGES_MAX + 1] = {0};
    struct choices c;
    struct kept_graph *kept = NULL;
    *ns = 0;
    for (int take = pipeline_count(p) == 1; take < 2; take++)
        for (int k = 0; k < pipeline_count(p); k++) {
            if (!choose(p, priced, k, &c, &kept, prediction) ||
                !find_durations(p, &c, kept, prediction))
                return false;
            join_syncs(p, priced->stage_count, syncs, take);
            if (take) *ns = larger(*ns, walk(p, kept));
        }
    *graph = kept;
    return true;
}

// The parts of a rank's memory: activations at the highest of the schedule's peaks, the largest
// working memory of its stages, otherwise sums. The context is counted once.
static struct memory_parts memory_of_rank(const struct predictor *p,
                                          const struct schedule *schedule, int rank)
{
    const struct schedule_request *r = &schedule->request;
    struct memory_parts sum = {0};
    for (int turn = 0; turn < r->virtual_stages; turn++) {
        const struct memory_parts *m = &p->choices[schedule_stage_of(r, rank, turn)].memory;
        sum.weight_bytes += m->weight_bytes;
        sum.gradient_bytes += m->gradient_bytes;
        sum.optimizer_bytes += m->optimizer_bytes;
        sum.working_bytes = larger(sum.working_bytes, m->working_bytes);
        sum.buffer_bytes += m->buffer_bytes;
        sum.feedback_bytes += m->feedback_bytes;
        sum.constant_bytes = larger(sum.constant_bytes, m->constant_bytes);
    }
    for (int i = 0; i < schedule->peak_count; i++) {
        int64_t bytes = 0;
        if (schedule->peaks[i].rank != rank) continue;
        for (int turn = 0; turn < r->virtual_stages; turn++) {
            int stage = schedule_stage_of(r, rank, turn);
            bytes += p->choices[stage].memory.activation_bytes / schedule->in_flight[stage] *
                     schedule->peaks[i].in_flight[turn];
        }
        sum.activation_bytes = larger(sum.activation_bytes, bytes);
    }
    return sum;
}

// What a device shows: the allocator takes its factor of what is requested; the rest is outside it.
static int64_t shown_bytes(const struct predictor *p, int64_t requested, double outside)
{
    double factor = p->problem.costs.allocator_factor.value;
    return factor > 1 ? round_half_up(factor * ((double)requested - outside) + outside) : requested;
}

// The device with the least room left; all must fit. *over: bytes beyond the limit, so far.
static void find_memory(const struct predictor *p, const struct schedule *schedule, int64_t *over,
                        struct prediction *prediction)
{
    const struct priced *priced = &p->priced;
    int first = schedule_rank_of(&schedule->request, 0),
        last = schedule_rank_of(&schedule->request, priced->stage_count - 1);
    for (int rank = 0; rank < priced->rank_count; rank++) {
        int stage = schedule_stage_of(&schedule->request, rank, 0), group = p->choices[stage].group;
        struct memory_parts memory = schedule->request.virtual_stages > 1
                                         ? memory_of_rank(p, schedule, rank)
                                         : p->choices[stage].memory;
        double outside = price_outside_bytes(p->pricing, group);
        int64_t requested = predict_requested_bytes(p, &memory, schedule->in_flight[stage]),
                bytes = shown_bytes(p, requested, outside),
                held = predict_held_bytes(p, requested, outside),
                capacity = p->problem.cluster.groups[group].memory_bytes,
                limit = (int64_t)((double)capacity * p->problem.job.memory_fraction) -
                        p->problem.job.memory_margin_bytes;
        if (rank == last) prediction->last_memory = memory;
        if (rank == first || rank == last)
            prediction->ends_bytes = larger(prediction->ends_bytes, bytes);
        prediction->fits = prediction->fits &&
                           requested <= priced->groups[group].memory_limit_bytes;
        if (rank == first && p->origin->origin.program == PROGRAM_NANOTRON)
            prediction->held_bytes = held; // rank 0 writes its table
        if (bytes - limit <= *over) continue;
        *over = bytes - limit;
        prediction->fullest_rank = rank;
        prediction->memory = memory;
        prediction->device_bytes = bytes;
        if (p->origin->origin.program != PROGRAM_NANOTRON) prediction->held_bytes = held;
        prediction->outside_bytes = round_half_up(outside);
        prediction->library_bytes = memory.constant_bytes - prediction->outside_bytes;
        prediction->capacity_bytes = capacity;
        prediction->limit_bytes = limit;
        prediction->gpu = priced->groups[group].gpu;
    }
}

// For every kind of pipeline; the choices of the last one stay.
static void find_memories(struct predictor *p, const struct schedule *schedule,
                          struct prediction *prediction)
{
    struct choices c;
    struct kept_graph *kept;
    int64_t over = INT64_MIN;
    prediction->fits = true;
    for (int k = 0; k + 1 < pipeline_count(p); k++)
        if (choose(p, &p->priced, k, &c, &kept, prediction))
            find_memory(p, schedule, &over, prediction);
    if (pipeline_count(p) > 1) choose(p, &p->priced, pipeline_count(p) - 1, &c, &kept, prediction);
    find_memory(p, schedule, &over, prediction);
}

// A single block; one of the recomputed ones.
static void find_block(const struct predictor *p, const struct priced *priced,
                       struct prediction *prediction)
{
    int group = p->choices[0].group;
    prediction->embedding_ns = priced->runs[0].forward_ns[group] +
                               priced->runs[0].backward_ns[group];
    for (int r = 0; r < priced->run_count; r++) {
        const struct priced_run *run = &priced->runs[r];
        if (!run->recomputable) continue;
        prediction->block_forward_ns = run->forward_ns[group];
        prediction->block_backward_ns = run->backward_ns[group];
        enum recompute mode = p->placement.recompute;
        if (!recompute_of_layer(mode)) mode = RECOMPUTE_FULL;
        if (mode != RECOMPUTE_NONE) prediction->block_backward_ns += run->again_ns[mode][group];
        return;
    }
}

// Whether no message can leave a node: a job of one kind of GPU, all of it in one.
static bool is_in_node(const struct predictor *p)
{
    const struct cluster *c = &p->problem.cluster;
    int64_t gpus = p->priced.devices_per_stage * p->priced.rank_count;
    return c->group_count == 1 && !c->places.node_count && !p->fleet.pipeline_count &&
           gpus <= c->groups[0].gpus_per_node;
}

// The time with some costs moved; everything else keeps its price.
static bool time_with(struct predictor *p, const struct moved_costs *moved, int64_t *ns,
                      struct prediction *prediction)
{
    struct error err;
    struct kept_graph *kept;
    err.status = OK;
    p->problem.costs = moved->costs;
    if (price_times(p->pricing, moved->group, &err) != OK)
        return predict_refuse(prediction, "%s", err.text);
    return time_of(p, &p->priced, ns, &kept, prediction);
}

void predict_put_range(const struct predictor *p, struct prediction *prediction)
{
    prediction->low_ns = range_end_ns(&p->range, COSTS_FAST);
    prediction->high_ns = range_end_ns(&p->range, COSTS_SLOW);
    prediction->widest = range_widest(&p->range, &prediction->widest_ns);
}

void predict_range(struct predictor *p, struct prediction *prediction)
{
    int64_t ns;
    if (*prediction->reason || !p->settings.ranges) return;
    p->range = range_begin(prediction->iteration_ns, &p->problem, p->shown);
    for (int i = 0; i < p->moved.count; i++) {
        const struct moved_costs *m = &p->moved.items[i];
        if (!range_needs(&p->range, m->group, m->end)) continue;
        bool between = m->group == COSTS_OF_NETWORK || m->group == COSTS_OF_FABRIC;
        if (between && is_in_node(p)) continue;
        if (!time_with(p, m, &ns, prediction)) return;
        range_add(&p->range, m->group, m->end, ns);
        if (m->group == COSTS_OF_LAUNCHES && m->end == COSTS_SLOW) prediction->launched_ns = ns;
    }
    predict_put_range(p, prediction);
}

// For one GPU, or the mean of several kinds: peak FLOP/s and price per hour; 0: some kind has none.
static void find_means(const struct predictor *p, int stages, double *peak, double *price)
{
    const struct fleet *f = &p->fleet;
    int parts = f->pipeline_count ? f->part_count : stages;
    bool peaks = true, prices = true;
    double gpus = 0;
    *peak = *price = 0;
    for (int i = 0; i < parts; i++) {
        int group = f->pipeline_count ? f->part_group[i] : p->choices[i].group;
        const struct node_group *g = &p->problem.cluster.groups[group];
        double here = f->pipeline_count ? (double)(f->part_end[i] - (i ? f->part_end[i - 1] : 0))
                                        : 1,
               own = gpu_peak_flop_per_s(&p->problem, g);
        peaks = peaks && own > 0, prices = prices && g->gpu_hour_price > 0;
        *peak += own * here, *price += g->gpu_hour_price * here, gpus += here;
    }
    *peak = peaks ? *peak / gpus : 0;
    *price = prices ? *price / gpus : 0;
}

static void find_figures(const struct predictor *p, int stages, struct prediction *prediction)
{
    const struct problem *problem = &p->problem;
    double per_s = (double)prediction->sequences / ((double)prediction->iteration_ns * 1e-9), peak,
           price;
    if (prediction->iteration_ns <= 0) return;
    find_means(p, stages, &peak, &price);
    prediction->tokens_per_s = per_s * (double)problem->job.sequence;
    prediction->model_flop_per_gpu_s = per_s * model_flop(&problem->model, problem->job.sequence) /
                                       prediction->gpus;
    prediction->causal_flop_per_gpu_s =
        per_s * model_flop_masked(&problem->model, problem->job.sequence) / prediction->gpus;
    if (peak > 0) {
        prediction->mfu = prediction->model_flop_per_gpu_s / peak;
        prediction->causal_mfu = prediction->causal_flop_per_gpu_s / peak;
    }
    prediction->price_per_hour = price * prediction->gpus;
    prediction->price_per_million_tokens = prediction->price_per_hour /
                                           (prediction->tokens_per_s * 3600) * 1e6;
}

void predict_once(struct predictor *p, const struct costs *costs, enum predicted what,
                  struct prediction *prediction)
{
    struct error err;
    struct kept_graph *kept;
    err.status = OK;
    p->problem.costs = *costs;
    p->placed = false;
    p->walked.graph = NULL;
    if (what != PREDICT_PLACED && price_terms_kept(&p->pricing, &p->priced, &p->problem, p->memo,
                                                   what == PREDICT_TIME, p->scratch, &err) != OK) {
        predict_refuse(prediction, "%s", err.text);
        return;
    }
    if (!time_of(p, &p->priced, &prediction->iteration_ns, &kept, prediction) ||
        what == PREDICT_TIME)
        return;
    prediction->micro_batches = p->priced.micro_batches;
    prediction->sequences = p->problem.job.global_batch;
    prediction->value_bytes = precision_bytes(p->problem.job.precision);
    prediction->gpus = (double)(p->priced.devices_per_stage * p->problem.job.layout.pipeline);
    find_figures(p, p->priced.stage_count, prediction);
    find_memories(p, &kept->schedule, prediction);
    find_block(p, &p->priced, prediction);
}

void predict_problem(struct predictor *p, const struct problem *problem,
                     const struct placement *placement, struct prediction *prediction)
{
    memset(prediction, 0, sizeof *prediction);
    p->problem = *problem;
    p->placement = *placement;
    p->shown = (struct shown_runs){0};
    p->fleet.pipeline_count = 0;
    move_costs(p, &problem->costs);
    predict_once(p, &problem->costs, PREDICT_ALL, prediction);
    predict_range(p, prediction);
    arena_reset(p->scratch, p->scratch_mark);
}
