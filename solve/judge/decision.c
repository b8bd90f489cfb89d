// The decision itself, without prices: layers, node groups, options.
#include <string.h>

#include "solve/judge/internal.h"

void audit_layers(struct audit *h)
{
    int64_t next = 0, layers = h->problem->model.layer_count;
    for (int s = 0; s < h->plan->stage_count; s++) {
        const struct plan_stage *x = &h->plan->stages[s];
        int64_t first = x->first_layer, behind = first + x->layer_count;
        if (x->layer_count < 1)
            REJECT(h, "layers", s, "layer_count is %d, at least 1 is needed", x->layer_count);
        if (first < 0 || behind > layers)
            REJECT(h, "layers", s,
                   "first_layer and layer_count are layers %lld to %lld, the model has 0 to %lld",
                   (long long)first, (long long)behind - 1, (long long)layers - 1);
        if (first > next)
            REJECT(h, "layers", s,
                   "first_layer is %lld: %lld layers from %lld on are missing or out of order",
                   (long long)first, (long long)(first - next), (long long)next);
        if (first < next)
            REJECT(h, "layers", s,
                   "first_layer is %lld: %lld layers before %lld appear twice or out of order",
                   (long long)first, (long long)(next - first), (long long)next);
        if (x->layer_count < 1 || first < 0 || behind > layers) h->sound[s] = false;
        next = behind;
    }
    if (next < layers)
        REJECT(h, "layers", h->plan->stage_count - 1,
               "ends before layer %lld: the last %lld layers are missing", (long long)next,
               (long long)(layers - next));
}

// ---- node groups

static bool audit_group(struct audit *h, int stage)
{
    const struct plan *p = h->plan;
    int group = p->stages[stage].group;
    if (group < 0 || group >= p->group_count) {
        REJECT(h, "count", stage, "node group %d does not exist, the plan has %d", group,
               p->group_count);
        return false;
    }
    if (h->group[group] < 0) {
        REJECT(h, "count", stage, "node group '%s' is not in the cluster", p->group_names[group]);
        return false;
    }
    const char *reason = exclusion_of(audit_at(h, stage), h->group[group]);
    if (reason)
        REJECT(h, "count", stage, "node group '%s' can hold no stage: %s", p->group_names[group],
               reason);
    return !reason;
}

// All stages of a rank are on its devices.
static void audit_rank_groups(struct audit *h, int rank, int *used)
{
    int first = schedule_stage_of(&h->request, rank, 0);
    if (h->sound[first]) used[judged_group(h, first)]++;
    for (int turn = 1; turn < h->request.virtual_stages; turn++) {
        int stage = schedule_stage_of(&h->request, rank, turn);
        if (!h->sound[first] || !h->sound[stage] ||
            judged_group(h, stage) == judged_group(h, first))
            continue;
        REJECT(h, "count", stage, "is on node group '%s', but stage %d of the same rank on '%s'",
               h->plan->group_names[h->plan->stages[stage].group], first,
               h->plan->group_names[h->plan->stages[first].group]);
    }
}

static void audit_joints(struct audit *h)
{
    const struct cluster *c = &h->problem->cluster;
    int last = h->plan->stage_count - 1;
    int64_t ns;
    for (int s = 0; s < last; s++) {
        if (!h->sound[s] || !h->sound[s + 1] || !sends_over(h, s)) continue;
        int from = judged_group(h, s), to = judged_group(h, s + 1);
        if (!stages_joined(h, s, s + 1))
            REJECT(h, "joined", s,
                   "stages %d and %d are neighbours, but no link connects '%s' and '%s'", s, s + 1,
                   c->groups[from].name, c->groups[to].name);
    }
    if (h->sound[0] && h->sound[last] && !ends_embedding_price(h, &ns))
        REJECT(
            h, "joined", -1,
            "the embedding sync needs a link between the first and the last stage's node groups");
}

void audit_groups(struct audit *h)
{
    const struct cluster *c = &h->problem->cluster;
    int *used = TAKE(h->arena, c->group_count, int);
    for (int s = 0; s < h->plan->stage_count; s++)
        if (!audit_group(h, s)) h->sound[s] = false;
    for (int rank = 0; rank < h->request.rank_count; rank++) audit_rank_groups(h, rank, used);
    if (h->at) audit_devices(h);
    for (int g = 0; g < c->group_count && !h->at; g++)
        if (used[g] > slots_of(&h->price_audit, g))
            REJECT(h, "count", -1, "%d pipeline ranks on node group '%s', it has room for %lld",
                   used[g], c->groups[g].name, (long long)slots_of(&h->price_audit, g));
    audit_joints(h);
}

// ---- recomputation and compression options

static int recomputable_layers(const struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    const struct model *m = &h->problem->model;
    int count = 0, first = 0;
    for (int r = 0; r < m->run_count; r++) {
        int behind = first + m->runs[r].count,
            from = x->first_layer > first ? x->first_layer : first;
        int to = x->first_layer + x->layer_count < behind ? x->first_layer + x->layer_count
                                                          : behind;
        if (m->runs[r].recomputable && to > from) count += to - from;
        first = behind;
    }
    return count;
}

// Where the layout has one setting, the stage's mode and number of layers follow from it; most: its
// layers that can be recomputed.
static void audit_setting(struct audit *h, int stage, int most)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    const struct layout *l = &h->judged.job.layout;
    if (l->recompute == 0) return;
    bool counts = l->recompute - 1 == RECOMPUTE_FIRST_LAYERS;
    int layers = !counts ? 0 : most < l->recomputed_layers ? most : l->recomputed_layers;
    const char *mode =
        recompute_names[counts && !layers ? RECOMPUTE_NONE : (enum recompute)(l->recompute - 1)];
    if (strcmp(mode, recompute_names[x->recompute]) || x->recomputed_layers != layers)
        REJECT(h, "recompute", stage,
               "mode '%s' of %d layers, the layout's setting for all stages is '%s' of %d",
               recompute_names[x->recompute], x->recomputed_layers, mode, layers);
}

static void audit_degree(struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    bool has = false, offered = false;
    for (int i = x->first_layer; i < x->first_layer + x->layer_count; i++)
        has = has || run_has_vocabulary(&h->problem->model.runs[judged_run(h, i)]);
    for (int i = 0; i < h->degree_count; i++)
        offered = offered || h->degrees[i] == x->vocabulary_tensor;
    if (x->vocabulary_tensor && !(has && offered))
        REJECT(h, "vocabulary", stage, "vocabulary_tensor is %d, %s", x->vocabulary_tensor,
               has ? "which the job does not offer or its prices leave out"
                   : "and the stage has neither embedding nor head");
}

// Layers that a stage names are its own, can be recomputed, and are counted once each.
static void audit_set(struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int behind = x->first_layer + x->layer_count, last = x->first_layer - 1;
    if (!x->recomputed_count) return;
    if (!h->problem->job.recompute_any || x->recompute != RECOMPUTE_FULL)
        REJECT(h, "recompute", stage,
               "it names layers, which the job's recompute_any and full allow");
    if (x->recomputed_count != x->recomputed_layers)
        REJECT(h, "recompute", stage, "it names %d layers, recomputed_layers is %d",
               x->recomputed_count, x->recomputed_layers);
    for (int i = 0; i < x->recomputed_count; last = x->recomputed[i++])
        if (x->recomputed[i] <= last || x->recomputed[i] >= behind ||
            !h->problem->model.runs[judged_run(h, x->recomputed[i])].recomputable) {
            REJECT(h, "recompute", stage,
                   "recomputed[%d] is layer %d: expected others of the stage in ascending order, "
                   "which can be recomputed",
                   i, x->recomputed[i]);
            return;
        }
}

static void audit_recompute(struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    if ((int)x->recompute < 0 || x->recompute >= RECOMPUTE_COUNT) {
        REJECT(h, "recompute", stage, "mode %d does not exist", (int)x->recompute);
        h->sound[stage] = false;
        return;
    }
    if (!job_offers(&h->problem->job, x->recompute))
        REJECT(h, "recompute", stage, "mode '%s' is not among those the job allows",
               recompute_names[x->recompute]);
    if (x->recomputed_layers && x->recompute != RECOMPUTE_FIRST_LAYERS &&
        x->recompute != RECOMPUTE_SWAP && !x->recomputed_count)
        REJECT(h, "recompute", stage, "recomputed_layers is %d, which mode '%s' does not count",
               x->recomputed_layers, recompute_names[x->recompute]);
    if (!h->sound[stage]) return;
    int most = recomputable_layers(h, stage),
        sharded_most = h->problem->job.sharded_zero ? most : 0;
    audit_set(h, stage);
    if (x->sharded_layers < 0 || x->sharded_layers > sharded_most)
        REJECT(h, "sharded", stage, "sharded_layers is %d, the stage may shard %d further",
               x->sharded_layers, sharded_most);
    audit_degree(h, stage);
    if (x->recomputed_layers < 0 || x->recomputed_layers > most)
        REJECT(h, "recompute", stage, "recomputed_layers is %d, the stage has %d that can be",
               x->recomputed_layers, most);
    audit_setting(h, stage, most);
    audit_swap(h, stage, most);
}

static bool offers(const struct compression_option *options, int count,
                   const struct compression_option *o)
{
    if (o->form.amount == 0) return o->quality_cost == 0 && !o->epilogue_only && !o->forgets;
    for (int i = 0; i < count; i++)
        if (options[i].form.method == o->form.method && options[i].form.amount == o->form.amount &&
            options[i].epilogue_only == o->epilogue_only &&
            options[i].quality_cost == o->quality_cost && options[i].forgets == o->forgets)
            return true;
    return false;
}

void audit_options(struct audit *h)
{
    const struct plan *p = h->plan;
    const struct job *j = &h->problem->job;
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        bool gradient = x->gradient_option >= 0 && x->gradient_option < p->gradient_option_count;
        bool boundary = x->boundary_option >= 0 && x->boundary_option < p->boundary_option_count;
        if (!gradient)
            REJECT(h, "compression", s, "gradient_option %d does not exist, there are %d",
                   x->gradient_option, p->gradient_option_count);
        else if (!offers(j->gradient_options, j->gradient_option_count,
                         &p->gradient_options[x->gradient_option]))
            REJECT(h, "compression", s, "gradient option %d (%s) is not the job's",
                   x->gradient_option,
                   compression_text(p->gradient_options[x->gradient_option].form, h->arena));
        else if (tiering_of(j, &p->gradient_options[x->gradient_option]) < 0)
            REJECT(h, "tiers", s, "tier option '%s' is not one of the job's",
                   p->gradient_options[x->gradient_option].tier_option);
        if (!boundary)
            REJECT(h, "compression", s, "boundary_option %d does not exist, there are %d",
                   x->boundary_option, p->boundary_option_count);
        else if (!offers(j->boundary_options, j->boundary_option_count,
                         &p->boundary_options[x->boundary_option]))
            REJECT(h, "compression", s, "boundary option %d (%s) is not the job's",
                   x->boundary_option,
                   compression_text(p->boundary_options[x->boundary_option].form, h->arena));
        else if (!sends_back_over(h, s - 1) && p->boundary_options[x->boundary_option].form.amount)
            REJECT(h, "compression", s,
                   "boundary option %d, but this stage sends no gradient to another rank",
                   x->boundary_option);
        if (!gradient || !boundary) h->sound[s] = false;
        audit_recompute(h, s);
    }
}
