// Textbook rows that define a plan: layers in order, one group, mode and option per stage, slots,
// budgets, rules.
#include <string.h>

#include "tests/support/textbook/textbook.h"

static void end(struct textbook *t, enum row_role role, enum row_sense sense, int64_t right)
{
    milp_add_row(t->m, role, sense, right);
}

static void one_of(struct textbook *t, enum textbook_column kind, int stage, enum row_role role)
{
    for (int i = 0; i < t->width[kind]; i++) textbook_put(t, kind, stage, i, 1);
    end(t, role, ROW_EQUAL, 1);
}

// Every layer is in one stage, no stage is empty, and stage numbers never fall along the layers; so
// each stage holds an interval.
static void add_layers(struct textbook *t)
{
    const struct priced *p = t->p;
    for (int l = 0; l < p->layer_count; l++) {
        for (int s = 0; s < p->stage_count; s++) textbook_put(t, TEXTBOOK_HOLDS, s, l, 1);
        end(t, ROW_COVER, ROW_EQUAL, 1);
    }
    for (int s = 0; s < p->stage_count; s++) {
        for (int l = 0; l < p->layer_count; l++) textbook_put(t, TEXTBOOK_HOLDS, s, l, 1);
        end(t, ROW_POSITION, ROW_AT_LEAST, 1);
    }
    for (int l = 0; l + 1 < p->layer_count && p->stage_count > 1; l++) {
        for (int s = 1; s < p->stage_count; s++) {
            textbook_put(t, TEXTBOOK_HOLDS, s, l + 1, s);
            textbook_put(t, TEXTBOOK_HOLDS, s, l, -s);
        }
        end(t, ROW_POSITION, ROW_AT_LEAST, 0);
    }
}

// full[l] <= holds[l], <= mode full + mode first; >= holds[l] + mode full - 1. Mode first: a
// leading part of the stage's recomputable layers, at least one of them.
static void add_full(struct textbook *t, int stage)
{
    int previous = -1;
    bool any = false;
    for (int l = 0; l < t->p->layer_count; l++) {
        if (textbook_column(t, TEXTBOOK_FULL, stage, l) < 0) continue;
        any = true;
        textbook_put(t, TEXTBOOK_FULL, stage, l, 1);
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, -1);
        end(t, ROW_OTHER, ROW_AT_MOST, 0);
        textbook_put(t, TEXTBOOK_FULL, stage, l, 1);
        textbook_put(t, TEXTBOOK_MODE, stage, RECOMPUTE_FULL, -1);
        textbook_put(t, TEXTBOOK_MODE, stage, RECOMPUTE_FIRST_LAYERS, -1);
        end(t, ROW_OTHER, ROW_AT_MOST, 0);
        textbook_put(t, TEXTBOOK_FULL, stage, l, 1);
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, -1);
        textbook_put(t, TEXTBOOK_MODE, stage, RECOMPUTE_FULL, -1);
        end(t, ROW_OTHER, ROW_AT_LEAST, -1);
        if (previous >= 0) {
            textbook_put(t, TEXTBOOK_FULL, stage, l, 1);
            textbook_put(t, TEXTBOOK_FULL, stage, previous, -1);
            textbook_put(t, TEXTBOOK_HOLDS, stage, previous, 1);
            end(t, ROW_OTHER, ROW_AT_MOST, 1);
        }
        previous = l;
    }
    if (!any && textbook_column(t, TEXTBOOK_MODE, stage, RECOMPUTE_FIRST_LAYERS) < 0) return;
    for (int l = 0; l < t->p->layer_count; l++) textbook_put(t, TEXTBOOK_FULL, stage, l, 1);
    textbook_put(t, TEXTBOOK_MODE, stage, RECOMPUTE_FIRST_LAYERS, -1);
    end(t, ROW_OTHER, ROW_AT_LEAST, 0);
}

// selective[l] = holds[l] and mode selective
static void add_selective(struct textbook *t, int stage)
{
    for (int l = 0; l < t->p->layer_count; l++) {
        if (textbook_column(t, TEXTBOOK_SELECTIVE, stage, l) < 0) continue;
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, 1);
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, -1);
        end(t, ROW_OTHER, ROW_AT_MOST, 0);
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, 1);
        textbook_put(t, TEXTBOOK_MODE, stage, RECOMPUTE_SELECTIVE, -1);
        end(t, ROW_OTHER, ROW_AT_MOST, 0);
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, 1);
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, -1);
        textbook_put(t, TEXTBOOK_MODE, stage, RECOMPUTE_SELECTIVE, -1);
        end(t, ROW_OTHER, ROW_AT_LEAST, -1);
    }
}

// cut[c] of a boundary: the class of the run that holds the last layer before it.
static void add_cuts(struct textbook *t, int boundary)
{
    one_of(t, TEXTBOOK_CUT, boundary, ROW_OTHER);
    for (int l = 0; l + 1 < t->p->layer_count && t->p->cut_count > 1; l++) {
        textbook_put(t, TEXTBOOK_CUT, boundary, textbook_run(t, l)->cut, 1);
        textbook_put(t, TEXTBOOK_HOLDS, boundary, l, -1);
        textbook_put(t, TEXTBOOK_HOLDS, boundary + 1, l + 1, -1);
        end(t, ROW_OTHER, ROW_AT_LEAST, -1);
    }
}

static void add_slots_and_budgets(struct textbook *t)
{
    const struct priced *p = t->p;
    const struct quality_budget *b = &p->budget;
    for (int g = 0; g < p->group_count; g++) {
        for (int s = 0; s < t->c->rank_count; s++)
            textbook_put(t, TEXTBOOK_GROUP, s, g, 1); // one stage of each rank
        end(t, ROW_SLOTS, ROW_AT_MOST, p->groups[g].slots);
    }
    const int64_t limits[3] = {b->boundaries_max, b->stages_max, b->cost_max};
    for (int k = 0; k < 3; k++) {
        if (limits[k] < 0) continue;
        for (int s = 0; s < p->stage_count; s++) {
            for (int o = 0; o < p->boundary_option_count && k != 1; o++)
                textbook_put(t, TEXTBOOK_BOUNDARY, s, o,
                             k == 2 ? p->boundary_options[o].quality_cost
                                    : p->boundary_options[o].form.amount > 0);
            for (int o = 0; o < p->gradient_option_count && k != 0; o++)
                textbook_put(t, TEXTBOOK_GRADIENT, s, o,
                             k == 2 ? p->gradient_options[o].quality_cost
                                    : p->gradient_options[o].form.amount > 0);
        }
        end(t, ROW_BUDGET, ROW_AT_MOST, limits[k]);
    }
}

// All stages of a rank are on the group of its first stage.
static void add_rank_groups(struct textbook *t)
{
    for (int s = 0; s < t->p->stage_count; s++) {
        int first = choices_stage_of(t->c, choices_rank_of(t->c, s), 0);
        for (int g = 0; g < t->p->group_count && s != first; g++) {
            if (textbook_column(t, TEXTBOOK_GROUP, s, g) < 0) continue;
            textbook_put(t, TEXTBOOK_GROUP, s, g, 1);
            textbook_put(t, TEXTBOOK_GROUP, first, g, -1);
            end(t, ROW_RANK, ROW_EQUAL, 0);
        }
    }
}

void textbook_add_structure(struct textbook *t)
{
    add_layers(t);
    for (int s = 0; s < t->p->stage_count; s++) {
        one_of(t, TEXTBOOK_GROUP, s, ROW_CHOOSE_ONE);
        one_of(t, TEXTBOOK_MODE, s, ROW_CHOOSE_ONE);
        one_of(t, TEXTBOOK_GRADIENT, s, ROW_CHOOSE_ONE);
        one_of(t, TEXTBOOK_BOUNDARY, s, ROW_CHOOSE_ONE);
        add_full(t, s);
        add_selective(t, s);
        if (s + 1 < t->p->stage_count) add_cuts(t, s);
    }
    add_rank_groups(t);
    add_slots_and_budgets(t);
}

// ---- rules

enum condition {
    CONDITION_GROUP,
    CONDITION_FIRST,
    CONDITION_LAST,
    CONDITION_RECOMPUTE,
    CONDITION_GRADIENT,
    CONDITION_BOUNDARY,
    CONDITION_COUNT
};

static bool names_group(const struct rule *r, const char *name)
{
    for (int i = 0; i < r->group_count; i++)
        if (!strcmp(r->groups[i], name)) return true;
    return false;
}

// Adds the terms of a sum of binaries that is one if the condition holds; false: the rule does not
// state it.
static bool put_condition(struct textbook *t, const struct rule *r, int stage,
                          enum condition condition)
{
    const struct priced *p = t->p;
    switch (condition) {
    case CONDITION_GROUP:
        for (int g = 0; g < p->group_count && r->group_count; g++)
            if (names_group(r, p->groups[g].name)) textbook_put(t, TEXTBOOK_GROUP, stage, g, 1);
        return r->group_count > 0;
    case CONDITION_FIRST:
        if (r->holds_first >= 0) textbook_put(t, TEXTBOOK_HOLDS, stage, r->holds_first, 1);
        return r->holds_first >= 0;
    case CONDITION_LAST:
        if (r->holds_last >= 0 && r->holds_last != r->holds_first)
            textbook_put(t, TEXTBOOK_HOLDS, stage, r->holds_last, 1);
        return r->holds_last >= 0 && r->holds_last != r->holds_first;
    case CONDITION_RECOMPUTE:
        for (int i = 0; i < RECOMPUTE_COUNT && r->recompute_stated; i++)
            if (r->recompute[i]) textbook_put(t, TEXTBOOK_MODE, stage, i, 1);
        return r->recompute_stated;
    case CONDITION_GRADIENT:
        for (int o = 0; o < p->gradient_option_count && r->compresses_gradient >= 0; o++)
            if ((p->gradient_options[o].form.amount > 0) == r->compresses_gradient)
                textbook_put(t, TEXTBOOK_GRADIENT, stage, o, 1);
        return r->compresses_gradient >= 0;
    default:
        for (int o = 0; o < p->boundary_option_count && r->compresses_boundary >= 0; o++)
            if ((p->boundary_options[o].form.amount > 0) == r->compresses_boundary)
                textbook_put(t, TEXTBOOK_BOUNDARY, stage, o, 1);
        return r->compresses_boundary >= 0;
    }
}

static void put_counted(struct textbook *t, const struct rule *r, int stage)
{
    for (int l = 0; l < t->p->layer_count; l++)
        if (!r->run || !strcmp(r->run, textbook_run(t, l)->name))
            textbook_put(t, TEXTBOOK_HOLDS, stage, l, 1);
}

static void require(struct textbook *t, const struct rule *r, int stage)
{
    for (int i = 0; i < CONDITION_COUNT; i++)
        if (put_condition(t, r, stage, (enum condition)i)) end(t, ROW_OTHER, ROW_EQUAL, 1);
    if (r->layers_min >= 0) {
        put_counted(t, r, stage);
        end(t, ROW_OTHER, ROW_AT_LEAST, r->layers_min);
    }
    if (r->layers_max >= 0) {
        put_counted(t, r, stage);
        end(t, ROW_OTHER, ROW_AT_MOST, r->layers_max);
    }
}

// The number of conditions that hold, minus one for each side on which the layer count is outside
// its range, stays below the number stated.
static void forbid(struct textbook *t, const struct rule *r, int stage, int index)
{
    int below = -1, above = -1, stated = 0, most = t->p->layer_count;
    if (r->layers_min > 0) { // no count is below 0
        below = textbook_add_column(t, TEXTBOOK_OUTSIDE, stage, 2 * index, 1, true);
        put_counted(t, r, stage);
        milp_add_entry(t->m, below, most);
        end(t, ROW_OTHER, ROW_AT_MOST, r->layers_min - 1 + most);
    }
    if (r->layers_max >= 0) {
        above = textbook_add_column(t, TEXTBOOK_OUTSIDE, stage, 2 * index + 1, 1, true);
        put_counted(t, r, stage);
        milp_add_entry(t->m, above, -r->layers_max - 1);
        end(t, ROW_OTHER, ROW_AT_LEAST, 0);
    }
    for (int i = 0; i < CONDITION_COUNT; i++)
        stated += put_condition(t, r, stage, (enum condition)i);
    if (below >= 0) milp_add_entry(t->m, below, -1);
    if (above >= 0) milp_add_entry(t->m, above, -1);
    end(t, ROW_OTHER, ROW_AT_MOST, stated - 1);
}

void textbook_add_rules(struct textbook *t)
{
    for (int i = 0; i < t->p->rule_count; i++) {
        const struct rule *r = &t->p->rules[i];
        for (int s = 0; s < t->p->stage_count; s++) {
            if (r->stage >= 0 && r->stage != s) continue;
            if (r->action == RULE_REQUIRE) require(t, r, s);
            else forbid(t, r, s, i);
        }
    }
}
