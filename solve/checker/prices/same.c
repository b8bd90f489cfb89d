// Compares a priced document with the same tables priced independently from the problem: number by
// number, everything that the checker reads, so that nothing has to be trusted. Prices for a group
// that can hold no stage are not compared.
#include <stdio.h>
#include <string.h>

#include "solve/checker/prices/open.h"
#include "solve/checker/proof.h"

struct comparison {
    const struct check_problem *document, *own;
    struct error *err;
    int64_t compared;
    char where[2 * CHECK_PATH_MAX];
};

#define WHERE(c, ...) snprintf((c)->where, sizeof(c)->where, __VA_ARGS__)

static enum status same(struct comparison *c, const char *what, int64_t found, int64_t own)
{
    c->compared++;
    if (found == own) return OK;
    return fail(c->err, (enum status)NOT_PROVEN, "%s: %s%s%s is %lld, by the problem it is %lld",
                c->document->reader.file, c->where, *c->where && *what ? "." : "", what,
                (long long)found, (long long)own);
}

static enum status same_text(struct comparison *c, const char *what, const char *found,
                             const char *own)
{
    c->compared++;
    if (!strcmp(found, own)) return OK;
    return fail(c->err, (enum status)NOT_PROVEN,
                "%s: %s%s%s is \"%.40s\", by the problem it is \"%.40s\"", c->document->reader.file,
                c->where, *c->where ? "." : "", what, found, own);
}

struct pair {
    const char *what;
    int64_t found, own;
};

static enum status same_pairs(struct comparison *c, const char *where, const struct pair *pairs,
                              size_t count)
{
    WHERE(c, "%s", where);
    for (size_t i = 0; i < count; i++) TRY(same(c, pairs[i].what, pairs[i].found, pairs[i].own));
    return OK;
}

// ---- the layout

#define KEY_NAME(constant, key) key,
static enum status same_layout(struct comparison *c)
{
    static const char *const names[KEYS] = {CHECK_KEYS(KEY_NAME)};
    const struct check_layout *a = &c->document->layout, *b = &c->own->layout;
    WHERE(c, "layout");
    TRY(same_text(c, "schedule", check_schedule_names[a->value[KEY_SCHEDULE]],
                  check_schedule_names[b->value[KEY_SCHEDULE]]));
    for (int key = 0; key < KEYS; key++) TRY(same(c, names[key], a->value[key], b->value[key]));
    TRY(same(c, "recomputed_layers", a->recomputed, b->recomputed));
    for (int i = 0; i < 2; i++) TRY(same(c, "tensor_grid", a->grid[i], b->grid[i]));
    TRY(same(c, "fused_attention", a->fused_attention, b->fused_attention));
    TRY(same(c, "data_shard", a->data_shard, b->data_shard));
    for (int i = 0; i < MOST_SLICES; i++) TRY(same(c, "slices", a->slice[i], b->slice[i]));
    for (int i = 0; i < MOST_LISTED; i++)
        TRY(same(c, "in_flight", a->in_flight[i], b->in_flight[i]));
    return OK;
}

// What follows from the layout, or has one value for the whole document.
static enum status same_numbers(struct comparison *c)
{
    const struct check_problem *a = c->document, *b = c->own;
    const struct pair pairs[] = {
        {"kind of schedule", a->kind, b->kind},
        {"objective", a->objective, b->objective},
        {"barrier", a->barrier, b->barrier},
        {"overlapped", a->overlapped, b->overlapped},
        {"splits backward", a->splits_backward, b->splits_backward},
        {"local_loss_every", a->local_every, b->local_every},
        {"stored_inputs", a->stored, b->stored},
        {"stage_count", a->stages, b->stages},
        {"ranks", a->ranks, b->ranks},
        {"stages of a rank", a->turns, b->turns},
        {"slices", a->slices, b->slices},
        {"micro_batches", a->micro_batches, b->micro_batches},
        {"layer_count", a->layers, b->layers},
        {"devices_per_stage", a->devices, b->devices},
        {"number of groups", a->group_count, b->group_count},
        {"number of runs", a->run_count, b->run_count},
        {"number of rules", a->rule_count, b->rule_count},
        {"number of boundary_options", a->boundary_count, b->boundary_count},
        {"number of gradient_options", a->gradient_count, b->gradient_count},
        {"local_forward_ns", a->local_forward, b->local_forward},
        {"local_backward_ns", a->local_backward, b->local_backward},
        {"local_bytes", a->local_bytes, b->local_bytes},
        {"number of local_heads", a->head != NULL, b->head != NULL},
        {"embedding_sync_ns stated", a->embedding != NULL, b->embedding != NULL},
        {"budget.boundaries_max", a->budget[BUDGET_BOUNDARIES], b->budget[BUDGET_BOUNDARIES]},
        {"budget.stages_max", a->budget[BUDGET_STAGES], b->budget[BUDGET_STAGES]},
        {"budget.cost_max", a->budget[BUDGET_COST], b->budget[BUDGET_COST]},
        {"budget.energy_max_uj", a->budget[BUDGET_ENERGY], b->budget[BUDGET_ENERGY]},
        {"budget.rank_min", a->rank_min, b->rank_min},
        {"number of tiers", a->tier_count, b->tier_count},
        {"iteration_limit_ns", a->time_limit, b->time_limit},
        {"in_turn", a->in_turn, b->in_turn},
        {"recompute_any", a->any_sets, b->any_sets},
        {"width_per_group", a->width_per_group, b->width_per_group},
        {"widths", a->groups[0].of_node_group > 0, b->groups[0].of_node_group > 0},
    };
    TRY(same_pairs(c, "", pairs, sizeof pairs / sizeof *pairs));
    for (int i = 0; i < b->tier_count; i++) TRY(same_text(c, "tiers", a->tiers[i], b->tiers[i]));
    TRY(same_text(c, "name", a->name, b->name));
    for (int mode = 0; mode < MODES; mode++) {
        WHERE(c, "recompute");
        TRY(same(c, check_mode_names[mode], a->modes[mode], b->modes[mode]));
    }
    return OK;
}

static enum status same_options(struct comparison *c, const char *what,
                                const struct check_option *a, const struct check_option *b,
                                int count)
{
    for (int i = 0; i < count; i++) {
        const struct pair pairs[] = {{"compression", a[i].form, b[i].form},
                                     {"amount", a[i].amount, b[i].amount},
                                     {"error_feedback", a[i].remembers, b[i].remembers},
                                     {"epilogue_only", a[i].epilogue_only, b[i].epilogue_only},
                                     {"quality_cost", a[i].cost, b[i].cost},
                                     {"across_passes", a[i].across, b[i].across}};
        char where[CHECK_PATH_MAX];
        snprintf(where, sizeof where, "%s[%d]", what, i);
        TRY(same_pairs(c, where, pairs, sizeof pairs / sizeof *pairs));
        TRY(same_text(c, "tier_option", a[i].tiers ? a[i].tiers : "",
                      b[i].tiers ? b[i].tiers : ""));
        TRY(same_text(c, "activations", a[i].away ? a[i].away : "", b[i].away ? b[i].away : ""));
    }
    return OK;
}

static enum status same_rule(struct comparison *c, int i)
{
    const struct check_rule *a = &c->document->rules[i], *b = &c->own->rules[i];
    const struct pair pairs[] = {
        {"action forbid", a->forbids, b->forbids},
        {"stage", a->stage, b->stage},
        {"groups as bits", (int64_t)a->groups, (int64_t)b->groups},
        {"holds_first", a->holds_first, b->holds_first},
        {"holds_last", a->holds_last, b->holds_last},
        {"run", a->run, b->run},
        {"layers_min", a->layers_min, b->layers_min},
        {"layers_max", a->layers_max, b->layers_max},
        {"recompute stated", a->modes_stated, b->modes_stated},
        {"recompute as bits", (int64_t)a->modes, (int64_t)b->modes},
        {"compresses_gradient", a->compresses_gradient, b->compresses_gradient},
        {"compresses_boundary", a->compresses_boundary, b->compresses_boundary},
    };
    char where[CHECK_PATH_MAX];
    snprintf(where, sizeof where, "rules[%d]", i);
    return same_pairs(c, where, pairs, sizeof pairs / sizeof *pairs);
}

// ---- prices

static enum status same_width(struct comparison *c, int g)
{
    const struct check_group *a = &c->document->groups[g], *b = &c->own->groups[g];
    TRY(same_text(c, "node_group", c->document->node_groups[g], c->own->node_groups[g]));
    TRY(same(c, "tensor", a->tensor, b->tensor));
    TRY(same(c, "context", a->context, b->context));
    return same(c, "data", a->data, b->data);
}

static enum status same_group(struct comparison *c, int g)
{
    const struct check_group *a = &c->document->groups[g], *b = &c->own->groups[g];
    WHERE(c, "groups[%d]", g);
    TRY(same_text(c, "name", a->name, b->name));
    TRY(same_text(c, "gpu", a->gpu, b->gpu));
    WHERE(c, "groups[%d] \"%.40s\"", g, b->name);
    TRY(same(c, "excluded", a->excluded, b->excluded));
    TRY(same(c, "node_group", a->of_node_group, b->of_node_group));
    TRY(same(c, "seat_slots", a->seat_slots, b->seat_slots));
    if (b->of_node_group) TRY(same_width(c, g));
    if (b->excluded) return OK;
    TRY(same(c, "slots", a->slots, b->slots));
    TRY(same(c, "memory_limit_bytes", a->memory_limit, b->memory_limit));
    TRY(same(c, "constant_bytes", a->constant_bytes, b->constant_bytes));
    for (int i = 0; i < c->own->tier_count; i++)
        TRY(same(c, "tier_limit_bytes", a->tier_limit[i], b->tier_limit[i]));
    for (int o = 0; o < c->own->gradient_count; o++)
        TRY(same(c, "sync_constant_ns", a->sync_constant[o], b->sync_constant[o]));
    return OK;
}

static enum status same_bytes(struct comparison *c, const struct check_run *a,
                              const struct check_run *b)
{
    TRY(same(c, "count", a->count, b->count));
    TRY(same(c, "recomputable", a->recomputable, b->recomputable));
    TRY(same(c, "weight_bytes", a->weight_bytes, b->weight_bytes));
    TRY(same(c, "gradient_bytes", a->gradient_bytes, b->gradient_bytes));
    for (int o = 0; check_has_tiers(c->own) && o < c->own->gradient_count; o++) {
        const struct check_tiered *x = &a->tiered[o], *y = &b->tiered[o];
        TRY(same(c, "tiered weight_bytes", x->weight_bytes, y->weight_bytes));
        TRY(same(c, "buffer_bytes", x->buffer_bytes, y->buffer_bytes));
        for (int i = 0; i < c->own->tier_count; i++)
            TRY(same(c, "tier_bytes", x->tier_bytes[i], y->tier_bytes[i]));
    }
    TRY(same(c, "unsharded_bytes", a->unsharded_bytes, b->unsharded_bytes));
    for (int mode = 0; mode < MODES; mode++) {
        TRY(same(c, "stash_bytes", a->stash[mode], b->stash[mode]));
        TRY(same(c, "working_bytes", a->working[mode], b->working[mode]));
    }
    for (int o = 0; o < c->own->gradient_count; o++)
        TRY(same(c, "feedback_bytes", a->feedback[o], b->feedback[o]));
    for (int o = 0; o < c->own->gradient_count; o++)
        TRY(same(c, "optimizer_bytes", a->optimizer_bytes[o], b->optimizer_bytes[o]));
    return OK;
}

static enum status same_energy(struct comparison *c, const struct check_tiered *a,
                               const struct check_tiered *b, int group)
{
    TRY(same(c, "energies", a->energy != NULL, b->energy != NULL));
    if (!a->energy) return OK;
    TRY(same(c, "energy_uj", a->energy[group], b->energy[group]));
    TRY(same(c, "again_uj", a->again[group], b->again[group]));
    return same(c, "swap_uj", a->swapped[group], b->swapped[group]);
}

// Its bytes at a width, and the message before it.
static enum status same_seat(struct comparison *c, const char *list, int i, int g,
                             const struct check_run *a, const struct check_run *b)
{
    const struct check_problem *p = c->own;
    WHERE(c, "%s[%d] \"%.40s\" on \"%.40s\"", list, i, b->name, p->groups[g].name);
    TRY(same_bytes(c, &a->seats[g], &b->seats[g]));
    for (int of_link = 0; of_link < 2 && b->entry; of_link++)
        TRY(same(c, "entry_ns", a->entry[of_link * p->group_count + g],
                 b->entry[of_link * p->group_count + g]));
    return OK;
}

static enum status same_run(struct comparison *c, const char *list, int i,
                            const struct check_run *a, const struct check_run *b)
{
    const struct check_problem *p = c->own;
    WHERE(c, "%s[%d]", list, i);
    TRY(same_text(c, "name", a->name, b->name));
    WHERE(c, "%s[%d] \"%.40s\"", list, i, b->name);
    TRY(same_bytes(c, a, b));
    TRY(same(c, "entry_ns stated", a->entry != NULL, b->entry != NULL));
    for (int g = 0; g < p->group_count; g++) {
        if (p->groups[g].excluded) continue;
        if (b->seats) TRY(same_seat(c, list, i, g, a, b));
        for (int slice = 0; slice < p->slices; slice++) {
            int at = slice * p->group_count + g;
            WHERE(c, "%s[%d] \"%.40s\", slice %d on \"%.40s\"", list, i, b->name, slice,
                  p->groups[g].name);
            TRY(same(c, "forward_ns", a->forward[at], b->forward[at]));
            TRY(same(c, "backward_ns", a->backward[at], b->backward[at]));
            for (int o = 0; check_has_tiers(p) && o < p->gradient_count; o++) {
                TRY(same(c, "tiered forward_ns", check_forward(a, o)[at], check_forward(b, o)[at]));
                TRY(same(c, "tiered backward_ns", check_backward(a, o)[at],
                         check_backward(b, o)[at]));
            }
            for (int mode = 0; mode < MODES; mode++)
                if (b->again[mode])
                    TRY(same(c, check_mode_names[mode], a->again[mode][at], b->again[mode][at]));
        }
        WHERE(c, "%s[%d] \"%.40s\" on \"%.40s\"", list, i, b->name, p->groups[g].name);
        TRY(same(c, "weight_ns", a->weight[g], b->weight[g]));
        for (int o = 0; o < p->gradient_count; o++) {
            for (int back = 0; back < 2 && p->modes[MODE_SWAP]; back++)
                TRY(same(c, back ? "back_ns" : "away_ns", check_swap(a, o, back)[g],
                         check_swap(b, o, back)[g]));
            TRY(same(c, "optimizer_ns", a->optimizer[o][g], b->optimizer[o][g]));
            if (check_has_tiers(p)) TRY(same_energy(c, &a->tiered[o], &b->tiered[o], g));
            TRY(same(c, "sync_ns", a->sync[o][g], b->sync[o][g]));
        }
    }
    return OK;
}

// The run's layers in other layouts.
static enum status same_others(struct comparison *c, int run, const struct check_run *a,
                               const struct check_run *b)
{
    for (; a && b; a = a->next, b = b->next) {
        const char *list = b->tensor ? "vocabulary_runs of run" : "sharded_runs";
        WHERE(c, "%s[%d]", list, run);
        TRY(same(c, "tensor", a->tensor, b->tensor));
        TRY(same_run(c, list, run, a, b));
    }
    WHERE(c, "runs[%d]", run);
    return same(c, "other layouts of its layers", a != NULL, b != NULL);
}

// For the message after a run. The two may put runs into different classes, as long as each run's
// numbers are equal.
static enum status same_message(struct comparison *c, int run)
{
    static const char *const parts[] = {[PART_BLOCKS] = "blocking",
                                        [PART_LINKS] = "link",
                                        [PART_DELAYS] = "delay",
                                        [PART_WORKS] = "overhead"};
    const struct check_problem *p = c->own;
    const struct check_cut *a = &c->document->cuts[c->document->runs[run].cut],
                           *b = &p->cuts[p->runs[run].cut];
    WHERE(c, "message behind run \"%.40s\"", p->runs[run].name);
    TRY(same(c, "message_bytes", a->message_bytes, b->message_bytes));
    for (int o = 0; o < p->boundary_count; o++)
        TRY(same(c, "feedback_bytes", a->feedback[o], b->feedback[o]));
    for (int g = 0; b->seat_bytes && g < p->group_count; g++)
        if (!p->groups[g].excluded) TRY(same(c, "seat_bytes", a->seat_bytes[g], b->seat_bytes[g]));
    for (int at = 0; at < p->slices * p->group_count * p->group_count * PARTS; at++) {
        int pair = at / PARTS, from = pair / p->group_count % p->group_count,
            to = pair % p->group_count;
        if (p->groups[from].excluded || p->groups[to].excluded) continue;
        const char *part = parts[at % PARTS];
        WHERE(c, "message behind run \"%.40s\", slice %d from \"%.30s\" to \"%.30s\": forward_ns",
              p->runs[run].name, pair / p->group_count / p->group_count, p->groups[from].name,
              p->groups[to].name);
        TRY(same(c, part, a->forward[at], b->forward[at]));
        memcpy(strrchr(c->where, ':'), ": back_ns", sizeof ": back_ns");
        for (int o = 0; o < p->boundary_count; o++)
            TRY(same(c, part, a->backward[o][at], b->backward[o][at]));
    }
    return OK;
}

static enum status same_embedding(struct comparison *c)
{
    const struct check_problem *p = c->own;
    for (int at = 0; p->embedding && at < p->group_count * p->group_count; at++) {
        int from = at / p->group_count, to = at % p->group_count;
        if (p->groups[from].excluded || p->groups[to].excluded) continue;
        WHERE(c, "embedding_sync_ns from \"%.40s\" to \"%.40s\"", p->groups[from].name,
              p->groups[to].name);
        TRY(same(c, "", c->document->embedding[at], p->embedding[at]));
    }
    return OK;
}

enum status check_same_prices(const struct check_problem *document, const struct check_problem *own,
                              int64_t *compared, struct error *err)
{
    struct comparison c = {.document = document, .own = own, .err = err};
    if (own->doubtful)
        return fail(err, (enum status)NOT_PROVEN,
                    "%lld prices of the problem are so close to a rounding boundary that the judge "
                    "cannot tell how they round",
                    (long long)own->doubtful);
    TRY(same_layout(&c));
    TRY(same_numbers(&c));
    TRY(same_options(&c, "boundary_options", document->boundary, own->boundary,
                     own->boundary_count));
    TRY(same_options(&c, "gradient_options", document->gradient, own->gradient,
                     own->gradient_count));
    for (int g = 0; g < own->group_count; g++) TRY(same_group(&c, g));
    for (int i = 0; i < own->rule_count; i++) TRY(same_rule(&c, i));
    for (int i = 0; i < own->run_count; i++)
        TRY(same_run(&c, "runs", i, &document->runs[i], &own->runs[i]));
    if (own->head) TRY(same_run(&c, "local_heads", 0, document->head, own->head));
    for (int i = 0; i < own->run_count; i++)
        TRY(same_others(&c, i, document->runs[i].next, own->runs[i].next));
    for (int i = 0; i < own->run_count; i++) TRY(same_message(&c, i));
    TRY(same_embedding(&c));
    *compared = c.compared;
    return OK;
}

enum status check_confirm(const struct check_basis *basis, const struct check_problem *priced,
                          const cJSON *made_from, int64_t *confirmed)
{
    TRY(check_same_sources(&priced->reader, priced->made_from, made_from, basis->inputs,
                           basis->input_count));
    return check_same_prices(priced, basis->own, confirmed, priced->reader.err);
}
