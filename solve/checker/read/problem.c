// Reads a priced document strictly. It refuses unknown keys, wrong lengths, missing prices where a
// stage could be, and numbers whose sums might not be exact.
#include "solve/checker/read/problem.h"

#include <stdio.h>
#include <string.h>

// ---- the parts of the document

static enum status read_tables(const struct check_problem *p, const cJSON *v, const char *where,
                               int tables, int count, int64_t ***to, struct arena *arena)
{
    TRY(value_expect(&p->reader, v, where, cJSON_Array));
    int found = cJSON_GetArraySize(v);
    if (found != tables)
        return check_refuse(&p->reader, where, "expected %d tables, found %d", tables, found);
    *to = TAKE(arena, tables, int64_t *);
    int i = 0;
    for (const cJSON *e = v->child; e; e = e->next)
        TRY(value_integers(&p->reader, e, where, count, -1, MOST_NS, &(*to)[i++], arena));
    return OK;
}

enum status check_read_layers(struct check_problem *p, const cJSON *v, const char *where,
                              struct check_run *r, struct arena *arena)
{
    const cJSON *sync, *modules = NULL, *seats = NULL, *tiered = NULL;
    int64_t states, *step, *stash, *working, **again = NULL;
    int groups = p->group_count, passes = p->slices * groups, sets = 0;
    for (int mode = MODE_SETS; mode < MODES; mode++) sets += p->modes[mode];
    const struct value_field fields[] = {
        {"name", .text = &r->name},
        {"count", 1, MOST_LAYERS, .small = &r->count},
        {"recomputable", .flag = &r->recomputable},
        {"?tensor", 1, MOST_DEGREE, .small = &r->tensor},
        {"weight_bytes", 0, MOST_NS, .large = &r->weight_bytes},
        {"gradient_bytes", 0, MOST_NS, .large = &r->gradient_bytes},
        {"optimizer_bytes", 0, MOST_NS, .large = &states},
        {"stash_bytes", 0, MOST_NS, .numbers = &stash, .count = 3 + sets},
        {"working_bytes", 0, MOST_NS, .numbers = &working, .count = 3 + sets},
        {"?unsharded_bytes", 0, MOST_NS, .large = &r->unsharded_bytes},
        {"feedback_bytes", 0, MOST_NS, .numbers = &r->feedback, .count = p->gradient_count},
        {"cut", 0, p->cut_count - 1, .small = &r->cut},
        {"forward_ns", -1, MOST_NS, .numbers = &r->forward, .count = passes},
        {"backward_ns", -1, MOST_NS, .numbers = &r->backward, .count = passes},
        {"?weight_ns", -1, MOST_NS, .numbers = &r->weight, .count = groups},
        {"selective_ns", -1, MOST_NS, .numbers = &r->again[MODE_SELECTIVE], .count = passes},
        {"full_ns", -1, MOST_NS, .numbers = &r->again[MODE_FULL], .count = passes},
        {sets ? "module_sets_ns" : "?module_sets_ns", .value = &modules},
        {"optimizer_ns", -1, MOST_NS, .numbers = &step, .count = groups},
        {"sync_ns", .value = &sync},
        {"?entry_ns", 0, MOST_NS, .numbers = &r->entry, .count = 2 * groups},
        {"?seats", .value = &seats, .type = cJSON_Array},
        {"?tiered", .value = &tiered},
        {NULL},
    };
    TRY(value_fields(&p->reader, v, where, fields, arena));
    r->stash = TAKE(arena, MODES, int64_t), r->working = TAKE(arena, MODES, int64_t);
    memcpy(r->stash, stash, 3 * sizeof *stash), memcpy(r->working, working, 3 * sizeof *working);
    if (modules) TRY(read_tables(p, modules, where, sets, passes, &again, arena));
    for (int mode = MODE_SETS, set = 0; mode < MODES; mode++) {
        if (!p->modes[mode]) continue;
        r->stash[mode] = stash[3 + set], r->working[mode] = working[3 + set];
        r->again[mode] = again[set++];
    }
    if (!r->weight) r->weight = TAKE(arena, groups, int64_t);
    TRY(read_tables(p, sync, where, p->gradient_count, groups, &r->sync, arena));
    TRY(check_read_tiered(p, r, tiered, states, step, where, arena));
    return check_read_seats(p, seats, where, 3 + sets, r, arena);
}

static enum status read_run(struct check_problem *p, const cJSON *v, int i, struct arena *arena)
{
    char where[CHECK_PATH_MAX];
    snprintf(where, sizeof where, "runs[%d]", i);
    return check_read_layers(p, v, where, &p->runs[i], arena);
}

static enum status read_group(struct check_problem *p, const cJSON *v, int i, struct arena *arena)
{
    struct check_group *g = &p->groups[i];
    const char *excluded = NULL;
    char where[CHECK_PATH_MAX];
    const struct value_field fields[] = {
        {"name", .text = &g->name},
        {"gpu", .text = &g->gpu},
        {"?node_group", .text = &p->node_groups[i]},
        {"?tensor", 1, INT32_MAX, .small = &g->tensor},
        {"?context", 1, INT32_MAX, .small = &g->context},
        {"?data", 1, INT32_MAX, .small = &g->data},
        {"?seat_slots", 1, MOST_SLOTS, .small = &g->seat_slots},
        {"slots", 0, INT32_MAX, .small = &g->slots},
        {"memory_limit_bytes", 0, MOST_NS, .large = &g->memory_limit},
        {"constant_bytes", 0, MOST_NS, .large = &g->constant_bytes},
        {"?excluded", .text = &excluded},
        {"sync_constant_ns", -1, MOST_NS, .numbers = &g->sync_constant, .count = p->gradient_count},
        {p->tier_count ? "tier_limit_bytes" : NULL, -1, MOST_NS, .numbers = &g->tier_limit,
         .count = p->tier_count},
        {NULL},
    };
    snprintf(where, sizeof where, "groups[%d]", i);
    TRY(value_fields(&p->reader, v, where, fields, arena));
    g->excluded = excluded != NULL;
    if (!*g->name) return check_refuse(&p->reader, where, "has no name");
    for (int k = 0; k < i; k++)
        if (!strcmp(p->groups[k].name, g->name))
            return check_refuse(&p->reader, where, "\"%.40s\" names two groups", g->name);
    return OK;
}

static enum status read_cut(struct check_problem *p, const cJSON *v, int i, struct arena *arena)
{
    struct check_cut *c = &p->cuts[i];
    int groups = p->group_count, prices = p->slices * groups * groups * PARTS;
    const cJSON *backward;
    char where[CHECK_PATH_MAX];
    const struct value_field fields[] = {
        {"message_bytes", 0, MOST_NS, .large = &c->message_bytes},
        {"?seat_bytes", 0, MOST_NS, .numbers = &c->seat_bytes, .count = groups},
        {"feedback_bytes", 0, MOST_NS, .numbers = &c->feedback, .count = p->boundary_count},
        {"forward_ns", -1, MOST_NS, .numbers = &c->forward, .count = prices},
        {"backward_ns", .value = &backward},
        {NULL},
    };
    snprintf(where, sizeof where, "cuts[%d]", i);
    TRY(value_fields(&p->reader, v, where, fields, arena));
    TRY(read_tables(p, backward, where, p->boundary_count, prices, &c->backward, arena));
    for (int k = 0; k < prices; k++) {
        bool joined = c->forward[k % (groups * groups * PARTS) / PARTS * PARTS] >= 0,
             differs = (c->forward[k] >= 0) != joined;
        for (int o = 0; o < p->boundary_count; o++)
            differs = differs || (c->backward[o][k] >= 0) != joined;
        if (differs)
            return check_refuse(&p->reader, where,
                                "a pair of groups has some prices and lacks others");
    }
    return OK;
}

// What a schedule allows of ranks, turns and slices.
static enum status check_schedule_of(const struct check_problem *p)
{
    const struct check_schedule *schedule = &check_schedules[p->kind];
    bool alone = p->turns > 1 && p->ranks == 1 && !schedule->layered;
    if ((schedule->turns ? p->turns != schedule->turns : p->turns == 1) || alone ||
        p->stages > MOST_STAGES)
        return check_refuse(&p->reader, "layout.virtual_stages",
                            "%d on %d ranks do not fit the schedule", p->turns, p->ranks);
    if (p->slices < 1 || p->slices > MOST_SLICES || (p->slices > 1) != schedule->slices)
        return check_refuse(&p->reader, "layout.slices", "%d do not fit the schedule", p->slices);
    return OK;
}

// Three axes whose product is the tensor degree; if only the first exceeds 1, it counts as not
// stated.
static enum status read_grid(struct check_problem *p, const cJSON *v, struct arena *arena)
{
    int64_t *axes, tensor = p->layout.value[KEY_TENSOR];
    if (cJSON_GetArraySize(v) != 3)
        return check_refuse(&p->reader, "layout.tensor_grid", "expected 3 axes");
    TRY(value_integers(&p->reader, v, "layout.tensor_grid", 3, 1, tensor, &axes, arena));
    bool makes = tensor % axes[0] == 0 && tensor / axes[0] % axes[1] == 0 &&
                 tensor / axes[0] / axes[1] == axes[2];
    if (!makes)
        return check_refuse(&p->reader, "layout.tensor_grid", "expected axes that make up tensor");
    for (int i = 0; i < 2 && axes[0] != tensor; i++) p->layout.grid[i] = (int)axes[i + 1];
    return OK;
}

// Of 1f1b, whose stages all wait for each other. What it has anyway counts as not stated.
static enum status read_in_flight(struct check_problem *p, const cJSON *v, struct arena *arena)
{
    int64_t *counts;
    int own = 0;
    if (p->kind != check_schedule_default || p->local_every || p->ranks > MOST_LISTED)
        return check_refuse(&p->reader, "layout.in_flight", "does not fit the schedule");
    TRY(value_integers(&p->reader, v, "layout.in_flight", p->ranks, 1, MOST_IN_FLIGHT, &counts,
                       arena));
    for (int s = 0; s < p->ranks; s++) {
        p->layout.in_flight[s] = (uint8_t)counts[s];
        own += counts[s] == check_own_in_flight(p->ranks, s, MOST_IN_FLIGHT);
    }
    if (!check_is_executable(&p->layout, p->ranks))
        return check_refuse(&p->reader, "layout.in_flight", "the stages would wait for each other");
    if (own == p->ranks) memset(p->layout.in_flight, 0, sizeof p->layout.in_flight);
    return OK;
}

// Ranks that do not split an expert as the rest have tokens of their own; copies of the experts
// fill the ranks.
static enum status check_experts(const struct check_problem *p, bool sequence_parallel)
{
    const int *value = p->layout.value;
    int parts = value[KEY_EXPERT_TENSOR];
    wide ranks = (wide)value[KEY_DATA] * value[KEY_CONTEXT];
    if (parts && (value[KEY_TENSOR] % parts || !sequence_parallel))
        return check_refuse(&p->reader, "layout.expert_tensor", "%d does not fit tensor", parts);
    if (parts) ranks *= value[KEY_TENSOR] / parts;
    if (ranks % value[KEY_EXPERT])
        return check_refuse(&p->reader, "layout.expert", "%d does not divide the ranks",
                            value[KEY_EXPERT]);
    // Groups of data ranks with all states have all experts.
    int shard = p->layout.data_shard, groups = shard ? value[KEY_DATA] / shard : 1;
    if (shard && (value[KEY_DATA] % shard || ranks / value[KEY_EXPERT] % groups))
        return check_refuse(&p->reader, "layout.data_shard", "%d does not fit the ranks", shard);
    return OK;
}

const char *const check_orders[] = {"1-2-3", "1-3-2", "2-1-3", "2-3-1", "3-1-2", "3-2-1", NULL};

// The proof depends on some of these keys; all of them identify the layout.
static enum status read_layout(struct check_problem *p, const cJSON *v, struct arena *arena)
{
    static const char *const syncs[] = {"exposed", "overlapped", NULL};
    static const char *const contexts[] = {"stated", "ring", "all_to_all", "all_gather", NULL};
    static const char *const gathers[] = {"pass", "micro_batch", "step", NULL};
    struct check_layout *l = &p->layout;
    const cJSON *slices = NULL, *grid = NULL, *listed = NULL;
    bool sequence_parallel = false, fused_embedding = false, offload = false, beside = false;
    int overlapped = 0, *value = l->value;
    int64_t *lengths;
    const struct value_field fields[] = {
        {"?tensor", 1, INT32_MAX, .small = &value[KEY_TENSOR]},
        {"?context", 1, INT32_MAX, .small = &value[KEY_CONTEXT]},
        {"?data", 1, INT32_MAX, .small = &value[KEY_DATA]},
        {"pipeline", 1, MOST_STAGES, .small = &p->ranks},
        {"?virtual_stages", 1, MOST_STAGES, .small = &p->turns},
        {"?micro_batch", 1, INT32_MAX, .small = &value[KEY_MICRO_BATCH]},
        {"?schedule", .small = &p->kind, .names = check_schedule_names},
        {"?sequence_parallel", .flag = &sequence_parallel},
        {"?fused_attention", .flag = &l->fused_attention},
        {"?gradient_sync", .small = &overlapped, .names = syncs},
        {"?fused_embedding_sync", .flag = &fused_embedding},
        {"?zero", 0, INT32_MAX, .small = &value[KEY_ZERO]},
        {"?data_shard", 1, INT32_MAX, .small = &l->data_shard},
        {"?offload_optimizer", .flag = &offload},
        {"?expert_tensor", 1, INT32_MAX, .small = &value[KEY_EXPERT_TENSOR]},
        {"?expert", 1, INT32_MAX, .small = &value[KEY_EXPERT]},
        {"?barrier", .flag = &p->barrier},
        {"?local_loss_every", 0, MOST_STAGES, .small = &p->local_every},
        {"?stored_inputs", .flag = &p->stored},
        {"?slices", .value = &slices, .type = cJSON_Array},
        {"?in_flight", .value = &listed, .type = cJSON_Array},
        {"?tensor_grid", .value = &grid, .type = cJSON_Array},
        {"?recompute", .small = &value[KEY_RECOMPUTE], .names = check_setting_names},
        {"?recomputed_layers", 0, 1 << 20, .small = &l->recomputed},
        {"?context_kind", .small = &value[KEY_CONTEXT_KIND], .names = contexts},
        {"?overlapped_dispatch", .flag = &beside},
        {"?pool", 1, INT32_MAX, .small = &value[KEY_POOL]},
        {"?grid_order", .small = &value[KEY_GRID_ORDER], .names = check_orders},
        {"?grid_gathers", .small = &value[KEY_GRID_GATHERS], .names = gathers},
        {NULL},
    };
    value[KEY_TENSOR] = value[KEY_CONTEXT] = value[KEY_DATA] = value[KEY_MICRO_BATCH] = 1;
    value[KEY_EXPERT] = p->turns = 1;
    p->kind = check_schedule_default;
    p->barrier = true;
    TRY(value_fields(&p->reader, v, "layout", fields, NULL));
    if (value[KEY_EXPERT_TENSOR] == value[KEY_TENSOR]) value[KEY_EXPERT_TENSOR] = 0;
    TRY(check_experts(p, sequence_parallel));
    p->slices = slices ? cJSON_GetArraySize(slices) : 1;
    p->overlapped = overlapped;
    p->splits_backward = check_schedules[p->kind].splits_backward;
    p->stages = p->ranks * p->turns;
    TRY(check_schedule_of(p));
    value[KEY_PIPELINE] = p->ranks, value[KEY_TURNS] = p->turns, value[KEY_SCHEDULE] = p->kind;
    value[KEY_OVERLAPPED] = p->overlapped, value[KEY_BARRIER] = p->barrier;
    value[KEY_LOCAL] = p->local_every, value[KEY_SLICES] = p->slices;
    value[KEY_SEQUENCE_PARALLEL] = sequence_parallel, value[KEY_OFFLOAD] = offload;
    value[KEY_FUSED_EMBEDDING] = fused_embedding, value[KEY_BESIDE] = beside;
    if (grid) TRY(read_grid(p, grid, arena));
    if (listed) TRY(read_in_flight(p, listed, arena));
    if (p->slices == 1) return OK;
    TRY(value_integers(&p->reader, slices, "layout.slices", p->slices, 1, MOST_NS, &lengths,
                       arena));
    memcpy(l->slice, lengths, (size_t)p->slices * sizeof *lengths);
    return OK;
}

// One mode for all stages, of those that are offered; with first_layers, how many.
static enum status read_setting(const struct check_problem *p)
{
    int mode = p->layout.value[KEY_RECOMPUTE] - 1;
    if (mode >= 0 && (!p->modes[mode] || mode == MODE_SWAP))
        return check_refuse(&p->reader, "layout.recompute", "\"%s\" is not offered",
                            check_mode_names[mode]);
    if ((p->layout.recomputed > 0) != (mode == MODE_FIRST_LAYERS))
        return check_refuse(&p->reader, "layout.recomputed_layers", "does not fit the mode");
    return OK;
}

static enum status read_modes(struct check_problem *p, const cJSON *v)
{
    for (const cJSON *e = v->child; e; e = e->next) {
        int mode;
        TRY(value_name(&p->reader, e, "recompute", check_mode_names, &mode));
        if (p->modes[mode])
            return check_refuse(&p->reader, "recompute", "\"%s\" twice", check_mode_names[mode]);
        p->modes[mode] = true;
    }
    if (p->modes[MODE_SWAP] && !check_may_swap(p))
        return check_refuse(&p->reader, "recompute", "\"swap\" does not fit the schedule");
    if (!p->modes[MODE_NONE])
        return check_refuse(&p->reader, "recompute", "expected \"none\" among the modes");
    return read_setting(p);
}

static enum status read_budget(struct check_problem *p, const cJSON *v)
{
    const struct value_field fields[] = {
        {"?boundaries_max", 0, MOST_NS, .large = &p->budget[BUDGET_BOUNDARIES]},
        {"?stages_max", 0, MOST_NS, .large = &p->budget[BUDGET_STAGES]},
        {"?cost_max", 0, MOST_NS, .large = &p->budget[BUDGET_COST]},
        {"?energy_max_uj", 1, MOST_ENERGY, .large = &p->budget[BUDGET_ENERGY]},
        {"?rank_min", 0, 1 << 20, .small = &p->rank_min},
        {NULL},
    };
    for (int i = 0; i < BUDGETS; i++) p->budget[i] = -1;
    if (v) TRY(value_fields(&p->reader, v, "budget", fields, NULL));
    bool stated = p->runs[0].tiered && p->runs[0].tiered[0].energy;
    if (p->budget[BUDGET_ENERGY] >= 0 && !stated)
        return check_refuse(&p->reader, "budget", "energies are not stated");
    return OK;
}

// ---- the document

static enum status count_items(const struct check_problem *p, const cJSON *list, const char *name,
                               int most, int *count)
{
    *count = cJSON_GetArraySize(list);
    return *count >= 1 && *count <= most
               ? OK
               : check_refuse(&p->reader, name, "found %d of them", *count);
}

typedef enum status read_item(struct check_problem *p, const cJSON *v, int i, struct arena *arena);

static enum status read_items(struct check_problem *p, const cJSON *list, read_item *read,
                              struct arena *arena)
{
    int i = 0;
    for (const cJSON *v = list->child; v; v = v->next) TRY(read(p, v, i++, arena));
    return OK;
}

// What a proof about node groups cannot be about: places, and objectives that are not of one
// layout's groups.
static enum status read_objective(struct check_problem *p, const cJSON *root)
{
    const struct reader *r = &p->reader;
    const cJSON *objective = value_get(root, "objective");
    int minimised = MINIMISE_TIME;
    if (value_get(root, "places"))
        return check_refuse(r, "places",
                            "a proof about node groups does not cover placements: expected a "
                            "certificate about those");
    if (objective) TRY(value_name(r, objective, "objective", check_objective_names, &minimised));
    p->objective = (enum check_objective)minimised;
    if ((p->objective == MINIMISE_ENERGY) != (p->time_limit > 0))
        return check_refuse(r, "iteration_limit_ns", "goes with the objective energy");
    if (p->objective != MINIMISE_PIPETTE && p->objective != MINIMISE_COST) return OK;
    return check_refuse(r, "objective",
                        "a proof about one layout is not about the objective \"%s\"",
                        check_objective_names[minimised]);
}

static enum status read_document(struct check_problem *p, const char *file, const cJSON *root,
                                 struct arena *arena, struct error *err)
{
    static const char *const kinds[] = {"plumbline.priced", NULL};
    int version, kind, stage_count;
    const cJSON *layout, *modes, *boundary, *gradient, *groups, *runs, *cuts,
        *embedding = NULL, *budget = NULL, *rules = NULL, *tiers = NULL, *heads = NULL,
        *sharded = NULL, *vocabulary = NULL;
    const struct value_field fields[] = {
        {"kind", .small = &kind, .names = kinds},
        {"version", 1, 1, .small = &version},
        {.key = "?made_by"},
        {"?made_from", .value = &p->made_from},
        {"name", .text = &p->name},
        {"layout", .value = &layout},
        {"stage_count", 1, MOST_STAGES, .small = &stage_count},
        {"micro_batches", 1, MOST_MICRO_BATCHES, .small = &p->micro_batches},
        {"?in_turn", .flag = &p->in_turn},
        {"?recompute_any", .flag = &p->any_sets},
        {"?width_per_group", .flag = &p->width_per_group},
        {"layer_count", 1, MOST_LAYERS, .small = &p->layers},
        {"devices_per_stage", 1, MOST_NS, .large = &p->devices},
        {"recompute", .value = &modes, .type = cJSON_Array},
        {"boundary_options", .value = &boundary},
        {"gradient_options", .value = &gradient},
        {"?tiers", .value = &tiers},
        {"groups", .value = &groups, .type = cJSON_Array},
        {"runs", .value = &runs, .type = cJSON_Array},
        {"cuts", .value = &cuts, .type = cJSON_Array},
        {"?embedding_sync_ns", .value = &embedding},
        {"?local_forward_ns", 0, MOST_NS, .large = &p->local_forward},
        {"?local_backward_ns", 0, MOST_NS, .large = &p->local_backward},
        {"?local_bytes", 0, MOST_NS, .large = &p->local_bytes},
        {"?local_heads", .value = &heads, .type = cJSON_Array},
        {"?sharded_runs", .value = &sharded, .type = cJSON_Array},
        {"?vocabulary_runs", .value = &vocabulary, .type = cJSON_Array},
        {"?budget", .value = &budget},
        {"?rules", .value = &rules},
        {.key = "?objective"},
        {"?iteration_limit_ns", 1, MOST_NS, .large = &p->time_limit},
        {.key = "?places"},
        {NULL},
    };
    *p = (struct check_problem){.reader = {file, err}};
    const struct reader *r = &p->reader;
    TRY(value_fields(r, root, "", fields, NULL));
    TRY(read_objective(p, root));
    TRY(read_layout(p, layout, arena));
    if (stage_count != p->stages)
        return check_refuse(r, "stage_count", "the layout has %d stages", p->stages);
    const int *degrees = p->layout.value;
    if (p->devices != (wide)degrees[KEY_TENSOR] * degrees[KEY_CONTEXT] * degrees[KEY_DATA])
        return check_refuse(r, "devices_per_stage", "the layout has others");
    TRY(read_modes(p, modes));
    TRY(check_read_option_list(p, boundary, false, arena));
    TRY(check_read_option_list(p, gradient, true, arena));
    TRY(check_read_tier_names(p, tiers, arena));
    TRY(count_items(p, groups, "groups", MOST_SEATS, &p->group_count));
    TRY(count_items(p, runs, "runs", MOST_LAYERS, &p->run_count));
    TRY(count_items(p, cuts, "cuts", MOST_LAYERS, &p->cut_count));
    p->groups = TAKE(arena, p->group_count, struct check_group);
    p->node_groups = TAKE(arena, p->group_count, const char *);
    p->runs = TAKE(arena, p->run_count, struct check_run);
    p->cuts = TAKE(arena, p->cut_count, struct check_cut);
    TRY(read_items(p, groups, read_group, arena));
    TRY(check_find_pools(p));
    TRY(read_items(p, runs, read_run, arena));
    TRY(read_items(p, cuts, read_cut, arena));
    for (int i = 0; i < p->run_count; i++) TRY(check_run_prices(p, &p->runs[i], i));
    TRY(check_read_lists(p, heads, sharded, vocabulary, arena));
    if (embedding)
        TRY(value_integers(r, embedding, "embedding_sync_ns", p->group_count * p->group_count, -1,
                           MOST_NS, &p->embedding, arena));
    TRY(read_budget(p, budget));
    TRY(check_place_layers(p, arena));
    TRY(check_read_rules(p, rules, arena));
    TRY(check_widths(p));
    TRY(check_problem_bytes(p));
    return check_problem_times(p);
}

enum status check_read_problem(struct check_problem *p, const struct check_text *text,
                               struct arena *arena, struct error *err)
{
    const struct reader r = {text->file, err};
    cJSON *root;
    TRY(check_parse_text(&r, text, &root, arena));
    return read_document(p, text->file, root, arena, err);
}
