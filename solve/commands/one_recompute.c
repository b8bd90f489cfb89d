// One recompute setting for all stages of a plan.
#include "solve/commands/one_recompute.h"

#include "formulate/choices/choice.h"
#include "formulate/predict/predict.h"
#include "formulate/price/price.h"
#include "solve/report/replay.h"

struct setting {
    enum recompute mode;
    int layers; // of RECOMPUTE_FIRST_LAYERS, at most those of a stage
};

struct search {
    const struct plan *plan;
    struct choices *choices;
    struct choice *stages; // [stage_count]
    int *chosen;           // the only choice of each stage
    struct arena *arena;
};

static bool same_options(const struct plan *plan, const struct priced *p)
{
    if (plan->gradient_option_count != p->gradient_option_count ||
        plan->boundary_option_count != p->boundary_option_count)
        return false;
    for (int i = 0; i < p->gradient_option_count; i++)
        if (!compression_same(&plan->gradient_options[i], &p->gradient_options[i])) return false;
    for (int i = 0; i < p->boundary_option_count; i++)
        if (!compression_same(&plan->boundary_options[i], &p->boundary_options[i])) return false;
    return true;
}

// Takes the plan's decisions other than recomputation, stage by stage; false: it is not a plan of
// the problem.
static bool begin(struct search *s, const struct priced *p)
{
    const struct plan *plan = s->plan;
    if (plan->stage_count != p->stage_count || plan->group_count != p->group_count ||
        !same_options(plan, p))
        return false;
    s->choices->stages = TAKE(s->arena, p->stage_count, struct stage_choices);
    s->stages = TAKE(s->arena, p->stage_count, struct choice);
    s->chosen = TAKE(s->arena, p->stage_count, int);
    for (int i = 0; i < p->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[i];
        if (stage->layer_count < 1 || stage->first_layer + stage->layer_count > p->layer_count ||
            p->groups[stage->group].excluded ||
            (stage->boundary_option && !choice_sends_backward(s->choices, i)))
            return false;
        s->stages[i] = (struct choice){.first_layer = stage->first_layer,
                                       .layer_count = stage->layer_count,
                                       .group = stage->group,
                                       .gradient_option = stage->gradient_option,
                                       .boundary_option = stage->boundary_option};
        s->choices->stages[i] = (struct stage_choices){&s->stages[i], 1};
    }
    choices_prepare_ranks(s->choices);
    return true;
}

// Evaluates stage i with this setting.
static void set(const struct search *s, int i, struct setting setting)
{
    struct choice *x = &s->stages[i];
    int some = span_recomputable(s->choices->priced, x->first_layer, x->layer_count);
    x->recompute = setting.mode;
    x->recomputed_layers = 0;
    if (setting.mode == RECOMPUTE_FIRST_LAYERS) {
        x->recomputed_layers = setting.layers < some ? setting.layers : some;
        if (!x->recomputed_layers) x->recompute = RECOMPUTE_NONE;
    }
    choice_evaluate(s->choices, i, x);
}

static bool rank_fits(const struct search *s, int rank, struct setting setting)
{
    const struct choices *c = s->choices;
    struct memory_parts memory;
    for (int k = 0; k < c->virtual_stages; k++) set(s, choices_stage_of(c, rank, k), setting);
    choices_rank_memory(c, s->chosen, rank, &memory);
    int group = s->stages[choices_stage_of(c, rank, 0)].group;
    return memory_total(&memory) <= c->priced->groups[group].memory_limit_bytes;
}

// Whether all ranks have room for it.
static bool fits(const struct search *s, struct setting setting)
{
    for (int rank = 0; rank < s->choices->rank_count; rank++)
        if (!rank_fits(s, rank, setting)) return false;
    return true;
}

// The plan with the settings evaluated last, timed on its schedule.
static enum status make(struct plan *to, const struct search *s, struct error *err)
{
    const struct choices *c = s->choices;
    int count = s->plan->stage_count;
    struct report_replay replay;
    *to = *s->plan;
    to->stages = TAKE(s->arena, count, struct plan_stage);
    to->ranks = s->plan->ranks ? TAKE(s->arena, c->rank_count, struct plan_rank) : NULL;
    for (int i = 0; i < count; i++) {
        const struct choice *x = &s->stages[i];
        struct plan_stage *stage = &to->stages[i];
        *stage = s->plan->stages[i];
        stage->recompute = x->recompute, stage->recomputed_layers = x->recomputed_layers;
        stage->weight_ns = x->weight_ns, stage->memory = x->memory;
        if (!to->placement) stage->sync_ns = x->sync_ns, stage->queued_sync_ns = x->queued_sync_ns;
        stage->slices = TAKE(s->arena, c->priced->slice_count, struct plan_slice);
        for (int k = 0; k < c->priced->slice_count; k++) {
            stage->slices[k] = s->plan->stages[i].slices[k];
            stage->slices[k].forward_ns = x->forward_ns[k];
            stage->slices[k].backward_ns = x->backward_ns[k];
        }
    }
    for (int rank = 0; to->ranks && rank < c->rank_count; rank++)
        choices_rank_memory(c, s->chosen, rank, &to->ranks[rank].memory);
    TRY(report_replay(&replay, to, s->arena, err));
    to->iteration_ns = replay.iteration_ns;
    return OK;
}

static enum status consider(const struct plan **best, const struct search *s,
                            struct setting setting, struct error *err)
{
    struct plan *plan = TAKE(s->arena, 1, struct plan);
    TRY(make(plan, s, err));
    if (setting.mode == RECOMPUTE_SELECTIVE || setting.mode == RECOMPUTE_FULL)
        for (int i = 0; i < plan->stage_count; i++) plan->stages[i].recompute = setting.mode;
    if (!*best || plan->iteration_ns < (*best)->iteration_ns) *best = plan;
    return OK;
}

static int most_layers(const struct search *s)
{
    const struct priced *p = s->choices->priced;
    int most = 0;
    for (int i = 0; i < p->stage_count; i++) {
        int some = span_recomputable(p, s->stages[i].first_layer, s->stages[i].layer_count);
        if (some > most) most = some;
    }
    return most;
}

// Whether the framework has one setting with the mode, and the modes of layers are priced for it.
static bool is_setting(const struct search *s, enum framework framework, enum recompute mode)
{
    const struct priced_run *first = &s->choices->priced->runs[0];
    bool priced = mode == RECOMPUTE_NONE || !recompute_of_layer(mode) || first->again_ns[mode];
    return priced && framework_recomputes(framework, mode);
}

static enum status search(const struct plan **to, const struct search *s, enum framework framework,
                          struct error *err)
{
    int most = most_layers(s);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        struct setting setting = {(enum recompute)mode, 0};
        if (mode == RECOMPUTE_FIRST_LAYERS || !is_setting(s, framework, setting.mode) ||
            !fits(s, setting))
            continue;
        TRY(consider(to, s, setting, err));
    }
    if (!framework_recomputes(framework, RECOMPUTE_FIRST_LAYERS)) most = 0;
    // The fewest recomputed layers that fit take the least time.
    for (int layers = 1; layers < most; layers++)
        if (fits(s, (struct setting){RECOMPUTE_FIRST_LAYERS, layers})) {
            TRY(consider(to, s, (struct setting){RECOMPUTE_FIRST_LAYERS, layers}, err));
            break;
        }
    return OK;
}

// ---- a setting for each rank

static int64_t rank_load(const struct search *s, int rank)
{
    int64_t sum = 0;
    for (int k = 0; k < s->choices->virtual_stages; k++)
        sum += s->stages[choices_stage_of(s->choices, rank, k)].load_ns;
    return sum;
}

// Chooses the setting of least work among those that fit; false: none fits.
static bool settle_rank(const struct search *s, int rank, enum framework framework, int most)
{
    struct setting best = {RECOMPUTE_NONE, -1};
    int64_t least = INT64_MAX;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        bool first = mode == RECOMPUTE_FIRST_LAYERS;
        if (!is_setting(s, framework, (enum recompute)mode)) continue;
        for (int layers = first; layers < (first ? most : 1); layers++) {
            struct setting setting = {(enum recompute)mode, layers};
            if (!rank_fits(s, rank, setting) || rank_load(s, rank) >= least) continue;
            least = rank_load(s, rank), best = setting;
        }
    }
    return best.layers >= 0 && rank_fits(s, rank, best);
}

static enum status search_ranks(const struct plan **to, const struct search *s,
                                enum framework framework, struct error *err)
{
    int most = most_layers(s);
    for (int rank = 0; rank < s->choices->rank_count; rank++)
        if (!settle_rank(s, rank, framework, most)) return OK;
    struct plan *plan = TAKE(s->arena, 1, struct plan);
    TRY(make(plan, s, err));
    *to = plan;
    return OK;
}

enum status one_recompute_find(const struct plan **to, const struct plan *plan,
                               const struct problem *problem, enum framework framework,
                               bool by_rank, struct arena *arena, struct error *err)
{
    struct problem own = problem_with_layout(problem, &plan->layout);
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct schedule *schedule = TAKE(arena, 1, struct schedule);
    *to = NULL;
    TRY(price_problem(priced, &own, arena, err));
    struct schedule_request request = schedule_request_of(priced);
    TRY(schedule_build(schedule, &request, arena, err));
    struct choices choices = {.priced = priced,
                              .schedule = schedule,
                              .by_position = true,
                              .virtual_stages = request.virtual_stages,
                              .rank_count = request.rank_count,
                              .arena = arena};
    struct search s = {.plan = plan, .choices = &choices, .arena = arena};
    if (!begin(&s, priced)) return OK;
    TRY(by_rank ? search_ranks(to, &s, framework, err) : search(to, &s, framework, err));
    if (*to) return OK;
    return fail(err, BAD_INPUT,
                "%s: stages: recomputation differs between them, and no setting that %s has for "
                "all of them fits into memory; --nearest FOLDER solves for a plan that has one",
                document_name(&plan->document, "the plan"), framework_names[framework]);
}
