// The checker's tables from a priced document, and back.
#include "data/kinds/schedules.h"
#include "tests/support/claims/tables.h"

#include "tests/support/check.h"

// ---- the checker's tables as a priced document

static int64_t *copy(const int64_t *numbers, int count, struct arena *arena)
{
    return arena_grow(arena, numbers, (size_t)count, (size_t)count, sizeof *numbers);
}

static void copy_shares(struct priced_run *to, const struct check_run *r,
                        const struct check_problem *p, struct arena *arena)
{
    to->tiered = TAKE(arena, p->gradient_count, struct priced_tiered);
    to->tiered_count = p->gradient_count;
    for (int o = 0; o < p->gradient_count; o++) {
        struct priced_tiered *t = &to->tiered[o];
        *t = (struct priced_tiered){.weight_bytes = r->weight_bytes,
                                    .tier_bytes = TAKE(arena, 1, int64_t),
                                    .optimizer_bytes = r->optimizer_bytes[o],
                                    .optimizer_ns = copy(r->optimizer[o], p->group_count, arena)};
        if (r->tiered && r->tiered[o].energy)
            t->energy_uj = copy(r->tiered[o].energy, p->group_count, arena),
            t->again_uj = copy(r->tiered[o].again, p->group_count, arena),
            t->swap_uj = copy(r->tiered[o].swapped, p->group_count, arena);
        if (!p->modes[MODE_SWAP]) continue;
        t->away_ns = copy(r->tiered[o].away, p->group_count, arena),
        t->back_ns = copy(r->tiered[o].back, p->group_count, arena);
    }
}

static void copy_run(struct priced_run *to, const struct check_run *r,
                     const struct check_problem *p, struct arena *arena)
{
    int passes = p->slices * p->group_count;
    *to = (struct priced_run){.name = r->name,
                              .count = r->count,
                              .recomputable = r->recomputable,
                              .weight_bytes = r->weight_bytes,
                              .gradient_bytes = r->gradient_bytes,
                              .optimizer_bytes = r->optimizer_bytes[0],
                              .unsharded_bytes = r->unsharded_bytes,
                              .cut = r->cut};
    memcpy(to->stash_bytes, r->stash, sizeof to->stash_bytes);
    memcpy(to->working_bytes, r->working, sizeof to->working_bytes);
    to->feedback_bytes = copy(r->feedback, p->gradient_count, arena);
    to->forward_ns = copy(r->forward, passes, arena),
    to->backward_ns = copy(r->backward, passes, arena);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (r->again[mode]) to->again_ns[mode] = copy(r->again[mode], passes, arena);
    to->weight_ns = copy(r->weight, p->group_count, arena),
    to->optimizer_ns = copy(r->optimizer[0], p->group_count, arena);
    to->sync_ns = TAKE(arena, p->gradient_count, int64_t *);
    for (int o = 0; o < p->gradient_count; o++)
        to->sync_ns[o] = copy(r->sync[o], p->group_count, arena);
    for (int o = 0; o < p->gradient_count && !to->tiered; o++)
        if (p->gradient[o].tiers || p->modes[MODE_SWAP]) copy_shares(to, r, p, arena);
}

static void copy_cut(struct priced_cut *to, const struct check_cut *c,
                     const struct check_problem *p, struct arena *arena)
{
    int prices = p->slices * p->group_count * p->group_count * PARTS;
    *to = (struct priced_cut){.message_bytes = c->message_bytes,
                              .feedback_bytes = copy(c->feedback, p->boundary_count, arena),
                              .forward_ns = copy(c->forward, prices, arena),
                              .backward_ns = TAKE(arena, p->boundary_count, int64_t *)};
    for (int o = 0; o < p->boundary_count; o++)
        to->backward_ns[o] = copy(c->backward[o], prices, arena);
}

static void copy_rule(struct rule *to, const struct check_rule *r, const struct check_problem *p,
                      struct arena *arena)
{
    *to = (struct rule){.action = r->forbids ? RULE_FORBID : RULE_REQUIRE,
                        .stage = r->stage,
                        .holds_first = r->holds_first,
                        .holds_last = r->holds_last,
                        .run = r->run < 0 ? NULL : p->runs[r->run].name,
                        .layers_min = r->layers_min,
                        .layers_max = r->layers_max,
                        .recompute_stated = r->modes_stated,
                        .compresses_gradient = r->compresses_gradient,
                        .compresses_boundary = r->compresses_boundary};
    to->groups = TAKE(arena, p->group_count, const char *);
    for (int g = 0; g < p->group_count; g++)
        if (r->groups >> g & 1) to->groups[to->group_count++] = p->groups[g].name;
    for (int mode = 0; mode < MODES && r->modes_stated; mode++)
        to->recompute[mode] = r->modes >> mode & 1;
}

static void copy_groups(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    to->group_count = p->group_count;
    to->groups = TAKE(arena, p->group_count, struct priced_group);
    for (int g = 0; g < p->group_count; g++) {
        const struct check_group *from = &p->groups[g];
        to->groups[g] = (struct priced_group){
            .name = from->name,
            .gpu = from->name,
            .slots = from->slots,
            .memory_limit_bytes = from->memory_limit,
            .constant_bytes = from->constant_bytes,
            .excluded = from->excluded ? "excluded" : NULL,
            .sync_constant_ns = copy(from->sync_constant, p->gradient_count, arena)};
    }
}

static void copy_options(struct priced *to, const struct check_problem *p, struct arena *arena)
{
    to->boundary_option_count = p->boundary_count, to->gradient_option_count = p->gradient_count;
    to->boundary_options = TAKE(arena, p->boundary_count, struct compression_option);
    to->gradient_options = TAKE(arena, p->gradient_count, struct compression_option);
    for (int o = 0; o < p->boundary_count; o++)
        to->boundary_options[o] = (struct compression_option){
            .form = {(enum compression_method)p->boundary[o].form, p->boundary[o].amount},
            .epilogue_only = p->boundary[o].epilogue_only,
            .quality_cost = p->boundary[o].cost,
            .forgets = !p->boundary[o].remembers};
    for (int o = 0; o < p->gradient_count; o++)
        to->gradient_options[o] = (struct compression_option){
            .form = {(enum compression_method)p->gradient[o].form, p->gradient[o].amount},
            .quality_cost = p->gradient[o].cost,
            .forgets = !p->gradient[o].remembers,
            .tier_option = p->gradient[o].tiers};
    int64_t energy = p->budget[BUDGET_ENERGY];
    to->budget = (struct quality_budget){p->budget[BUDGET_BOUNDARIES], p->budget[BUDGET_STAGES],
                                         p->budget[BUDGET_COST], p->rank_min,
                                         energy < 0 ? 0 : energy};
}

void priced_of_tables(struct priced *to, const struct check_problem *p, const struct layout *layout,
                      struct arena *arena)
{
    *to = (struct priced){.name = "tables",
                          .layout = *layout,
                          .stage_count = p->stages,
                          .rank_count = p->ranks,
                          .slice_count = p->slices,
                          .micro_batches = p->micro_batches,
                          .layer_count = p->layers,
                          .devices_per_stage = 1,
                          .run_count = p->run_count,
                          .cut_count = p->cut_count,
                          .rule_count = p->rule_count,
                          .local_forward_ns = p->local_forward,
                          .local_backward_ns = p->local_backward,
                          .local_bytes = p->local_bytes};
    for (int mode = 0; mode < MODES; mode++) to->recompute[mode] = p->modes[mode];
    to->runs = TAKE(arena, p->run_count, struct priced_run),
    to->cuts = TAKE(arena, p->cut_count, struct priced_cut);
    to->rules = TAKE(arena, p->rule_count, struct rule);
    for (int r = 0; r < p->run_count; r++) copy_run(&to->runs[r], &p->runs[r], p, arena);
    for (int c = 0; c < p->cut_count; c++) copy_cut(&to->cuts[c], &p->cuts[c], p, arena);
    for (int i = 0; i < p->rule_count; i++) copy_rule(&to->rules[i], &p->rules[i], p, arena);
    copy_groups(to, p, arena);
    copy_options(to, p, arena);
    to->has_embedding_sync = p->embedding != NULL;
    int pairs = p->group_count * p->group_count;
    to->embedding_sync_ns = p->embedding ? copy(p->embedding, pairs, arena)
                                         : TAKE(arena, pairs, int64_t);
}

// ---- a priced document as the checker's tables

static int kind_of(int schedule)
{
    int kind = 0;
    while (check_schedule_names[kind] &&
           strcmp(check_schedule_names[kind], schedule_names[schedule]))
        kind++;
    assert_non_null(check_schedule_names[kind]);
    return kind;
}

static void fill_run(struct check_run *to, const struct priced *p, struct priced_run *r,
                     struct arena *arena)
{
    *to = (struct check_run){.name = r->name,
                             .count = r->count,
                             .cut = r->cut,
                             .recomputable = r->recomputable,
                             .weight_bytes = r->weight_bytes,
                             .gradient_bytes = r->gradient_bytes,
                             .unsharded_bytes = r->unsharded_bytes,
                             .stash = r->stash_bytes,
                             .working = r->working_bytes,
                             .feedback = r->feedback_bytes,
                             .forward = r->forward_ns,
                             .backward = r->backward_ns,
                             .weight = r->weight_ns,
                             .sync = r->sync_ns};
    memcpy(to->again, r->again_ns, sizeof r->again_ns);
    to->optimizer_bytes = TAKE(arena, p->gradient_option_count, int64_t);
    to->optimizer = TAKE(arena, p->gradient_option_count, int64_t *);
    for (int o = 0; o < p->gradient_option_count; o++) {
        to->optimizer_bytes[o] = priced_optimizer_bytes(r, o);
        to->optimizer[o] = r->tiered ? r->tiered[o].optimizer_ns : r->optimizer_ns;
    }
    if (r->tiered) to->tiered = TAKE(arena, p->gradient_option_count, struct check_tiered);
    for (int o = 0; to->tiered && o < p->gradient_option_count; o++) {
        const struct priced_tiered *t = &r->tiered[o];
        to->tiered[o] = (struct check_tiered){.weight_bytes = t->weight_bytes,
                                              .buffer_bytes = t->buffer_bytes,
                                              .tier_bytes = t->tier_bytes,
                                              .away = t->away_ns,
                                              .back = t->back_ns,
                                              .energy = t->energy_uj,
                                              .again = t->again_uj,
                                              .swapped = t->swap_uj,
                                              .forward = t->forward_ns,
                                              .backward = t->backward_ns};
    }
}

static void fill_runs(struct check_problem *to, const struct priced *p, struct arena *arena)
{
    to->run_count = p->run_count;
    to->runs = TAKE(arena, p->run_count, struct check_run);
    for (int i = 0; i < p->run_count; i++) fill_run(&to->runs[i], p, &p->runs[i], arena);
    if (p->local_head_count) to->head = TAKE(arena, 1, struct check_run);
    if (p->local_head_count) fill_run(to->head, p, &p->local_heads[0], arena);
}

static void fill_cuts(struct check_problem *to, const struct priced *p, struct arena *arena)
{
    to->cut_count = p->cut_count;
    to->cuts = TAKE(arena, p->cut_count, struct check_cut);
    for (int i = 0; i < p->cut_count; i++)
        to->cuts[i] = (struct check_cut){.message_bytes = p->cuts[i].message_bytes,
                                         .feedback = p->cuts[i].feedback_bytes,
                                         .forward = p->cuts[i].forward_ns,
                                         .backward = p->cuts[i].backward_ns};
}

static void fill_groups(struct check_problem *to, const struct priced *p, struct arena *arena)
{
    to->group_count = p->group_count;
    to->groups = TAKE(arena, p->group_count, struct check_group);
    for (int g = 0; g < p->group_count; g++)
        to->groups[g] = (struct check_group){.name = p->groups[g].name,
                                             .gpu = p->groups[g].gpu,
                                             .slots = p->groups[g].slots,
                                             .excluded = p->groups[g].excluded != NULL,
                                             .memory_limit = p->groups[g].memory_limit_bytes,
                                             .constant_bytes = p->groups[g].constant_bytes,
                                             .sync_constant = p->groups[g].sync_constant_ns,
                                             .tier_limit = p->groups[g].tier_limit_bytes};
}

static void fill_options(struct check_problem *to, const struct priced *p, struct arena *arena)
{
    to->boundary_count = p->boundary_option_count, to->gradient_count = p->gradient_option_count;
    to->boundary = TAKE(arena, to->boundary_count, struct check_option),
    to->gradient = TAKE(arena, to->gradient_count, struct check_option);
    for (int o = 0; o < to->boundary_count; o++)
        to->boundary[o] =
            (struct check_option){.form = (enum check_form)p->boundary_options[o].form.method,
                                  .amount = p->boundary_options[o].form.amount,
                                  .epilogue_only = p->boundary_options[o].epilogue_only,
                                  .cost = p->boundary_options[o].quality_cost,
                                  .remembers = !p->boundary_options[o].forgets};
    for (int o = 0; o < to->gradient_count; o++)
        to->gradient[o] =
            (struct check_option){.form = (enum check_form)p->gradient_options[o].form.method,
                                  .amount = p->gradient_options[o].form.amount,
                                  .cost = p->gradient_options[o].quality_cost,
                                  .remembers = !p->gradient_options[o].forgets,
                                  .tiers = p->gradient_options[o].tier_option,
                                  .away = p->gradient_options[o].activations};
    to->tiers = p->tiers, to->tier_count = p->tier_count;
    to->budget[BUDGET_BOUNDARIES] = p->budget.boundaries_max,
    to->budget[BUDGET_STAGES] = p->budget.stages_max, to->budget[BUDGET_COST] = p->budget.cost_max;
    to->budget[BUDGET_ENERGY] = p->budget.energy_max_uj ? p->budget.energy_max_uj : -1;
    to->rank_min = p->budget.rank_min;
}

void tables_of_priced(struct check_problem *to, const struct priced *p, struct arena *arena)
{
    struct error err = {OK, ""};
    const struct layout *l = &p->layout;
    *to = (struct check_problem){.reader = {"prices", &err},
                                 .name = p->name,
                                 .kind = kind_of(l->schedule),
                                 .barrier = l->barrier,
                                 .overlapped = l->gradient_sync == SYNC_OVERLAPPED,
                                 .splits_backward = schedule_splits_backward(l->schedule),
                                 .local_every = l->local_loss_every,
                                 .stored = l->stored_inputs,
                                 .stages = p->stage_count,
                                 .ranks = p->rank_count,
                                 .turns = l->virtual_stages,
                                 .slices = p->slice_count,
                                 .micro_batches = p->micro_batches,
                                 .layers = p->layer_count,
                                 .local_forward = p->local_forward_ns,
                                 .local_backward = p->local_backward_ns,
                                 .local_bytes = p->local_bytes};
    for (int mode = 0; mode < MODES; mode++)
        to->modes[mode] = mode == MODE_NONE || p->recompute[mode];
    if (p->has_embedding_sync) to->embedding = p->embedding_sync_ns;
    memcpy(to->layout.in_flight, l->in_flight, sizeof l->in_flight);
    assert_int_equal(p->rule_count, 0);
    fill_runs(to, p, arena);
    fill_cuts(to, p, arena);
    fill_groups(to, p, arena);
    fill_options(to, p, arena);
    if (check_place_layers(to, arena) != OK) fail_msg("%s", err.text);
}
