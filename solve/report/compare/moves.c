// Where the layers are, plan by plan, and what differs from the first: layers on other stages,
// stages on other GPUs, other recomputation or compression; replicas on other nodes.
#include <string.h>

#include "solve/report/compare/compare.h"

static const char *stage_text(const struct comparison *c, const struct plan *plan, int stage)
{
    if (stage >= plan->stage_count) return "-";
    const struct plan_stage *s = &plan->stages[stage];
    const char *text = arena_print(c->arena, "%d-%d on %s", s->first_layer,
                                   s->first_layer + s->layer_count - 1,
                                   plan->group_names[s->group]);
    for (const struct report_decision *r = report_decisions; r->what; r++) {
        const char *value = r->text(plan, &s->decision, c->arena);
        if (*value) text = arena_print(c->arena, "%s, %s%s", text, r->label, value);
    }
    return text;
}

static void put_stages(struct comparison *c)
{
    struct report_table *t = compare_open(c, "Layers of each stage, its GPUs, recomputation");
    int most = 0;
    for (int k = 0; k < c->count; k++)
        if (c->plans[k].of.plan->stage_count > most) most = c->plans[k].of.plan->stage_count;
    for (int s = 0; s < most; s++) {
        report_cell(t, arena_print(c->arena, "%d", s));
        for (int k = 0; k < c->count; k++) report_cell(t, stage_text(c, c->plans[k].of.plan, s));
    }
}

static int stage_of_layer(const struct plan *plan, int layer)
{
    int stage = 0;
    while (stage + 1 < plan->stage_count && plan->stages[stage + 1].first_layer <= layer) stage++;
    return stage;
}

static int layers_of(const struct plan *plan)
{
    const struct plan_stage *last = &plan->stages[plan->stage_count - 1];
    return last->first_layer + last->layer_count;
}

static void say(struct comparison *c, struct report_table *t, const char *what, int plan,
                const char *text)
{
    report_cell(t, what);
    for (int k = 0; k < c->count; k++) report_cell(t, k == plan ? text : "-");
}

static const char *span_text(const struct comparison *c, const char *what, int first, int end)
{
    if (end == first + 1) return arena_print(c->arena, "%s %d", what, first);
    return arena_print(c->arena, "%ss %d-%d", what, first, end - 1);
}

// Runs of layers that move between the same two stages.
static void put_layers(struct comparison *c, struct report_table *t, int k)
{
    const struct plan *a = c->plans[0].of.plan, *b = c->plans[k].of.plan;
    int layers = layers_of(a), end;
    if (layers != layers_of(b) || a->stage_count != b->stage_count) {
        say(c, t, "stages", k, arena_print(c->arena, "%d -> %d", a->stage_count, b->stage_count));
        return;
    }
    for (int layer = 0; layer < layers; layer = end) {
        int from = stage_of_layer(a, layer), to = stage_of_layer(b, layer);
        for (end = layer + 1;
             end < layers && stage_of_layer(a, end) == from && stage_of_layer(b, end) == to;)
            end++;
        if (from == to) continue;
        say(c, t, span_text(c, "layer", layer, end), k,
            arena_print(c->arena, "stage %d -> %d", from, to));
    }
}

// What differs on the stage; "" if nothing does.
static const char *change_of(const struct comparison *c, int k, int stage)
{
    const struct plan *a = c->plans[0].of.plan, *b = c->plans[k].of.plan;
    const struct plan_stage *x = &a->stages[stage], *y = &b->stages[stage];
    const char *from = a->group_names[x->group], *to = b->group_names[y->group],
               *change = strcmp(from, to) ? arena_print(c->arena, "%s -> %s", from, to) : "";
    for (const struct report_decision *r = report_decisions; r->what; r++) {
        const char *then = r->text(a, &x->decision, c->arena),
                   *now = r->text(b, &y->decision, c->arena);
        if (strcmp(then, now))
            change = arena_print(c->arena, "%s%s%s %s -> %s", change, *change ? ", " : "", r->what,
                                 *then ? then : "none", *now ? now : "none");
    }
    return change;
}

static void put_options(struct comparison *c, struct report_table *t, int k)
{
    int stages = c->plans[0].of.plan->stage_count, end;
    if (stages != c->plans[k].of.plan->stage_count) return;
    for (int i = 0; i < stages; i = end) {
        const char *change = change_of(c, k, i);
        for (end = i + 1; end < stages && !strcmp(change, change_of(c, k, end));) end++;
        if (*change) say(c, t, span_text(c, "stage", i, end), k, change);
    }
}

// Replicas are identified by their numbers.
static void put_nodes(struct comparison *c, struct report_table *t, int k)
{
    const struct plan_placement *a = c->plans[0].of.plan->placement,
                                *b = c->plans[k].of.plan->placement;
    if (!a || !b || a->replica_count != b->replica_count || a->rank_count != b->rank_count) return;
    int moved = 0, ranks = a->replica_count * a->rank_count;
    for (int i = 0; i < ranks; i++) moved += strcmp(a->nodes[i], b->nodes[i]) != 0;
    if (moved)
        say(c, t, "ranks on other nodes", k, arena_print(c->arena, "%d of %d", moved, ranks));
}

void compare_moves(struct comparison *c)
{
    put_stages(c);
    if (c->count == 1) return;
    struct report_table *t = compare_open(c, "What is placed differently than in the first");
    for (int k = 1; k < c->count; k++) {
        put_layers(c, t, k);
        put_options(c, t, k);
        put_nodes(c, t, k);
    }
    if (!t->cell_count) c->section_count--;
}
