// Halves of a case by reaches: where the best plans of two replicas differ, in the reach of a
// stage's rank or in its number of layers, the case is split there (docs/PROOFS.md 11).
#include <string.h>

#include "data/results/plan.h"
#include "solve/places/reaches/cases.h"

enum { HALVES_MAX = 32 }; // of halves

void placed_spread_rules(struct placed_reaches *m)
{
    struct priced *to = m->priced;
    int count = to->rule_count;
    struct rule *rules = TAKE(m->arena, count + HALVES_MAX, struct rule);
    for (int i = 0; i < count; i++) {
        struct rule *r = &rules[i];
        *r = m->relaxed->rules[i];
        if (!r->group_count) continue;
        int own = r->group_count;
        const char **groups = TAKE(m->arena, own + to->group_count, const char *);
        for (int k = 0; k < own; k++) groups[k] = r->groups[k];
        for (int t = m->p->group_count; t < to->group_count; t++)
            if (rule_names_group(&m->relaxed->rules[i], m->relaxed->groups[m->group_of[t]].name))
                groups[r->group_count++] = to->groups[t].name;
        r->groups = groups;
    }
    to->rules = rules;
}

void placed_add_half(struct placed_reaches *m, const struct placed_half *half)
{
    struct priced *to = m->priced;
    struct rule *r = &to->rules[to->rule_count++];
    *r = rule_empty;
    r->stage = half->stage;
    if (half->below) {
        r->layers_min = half->second ? half->below : 0;
        r->layers_max = half->second ? LAYERS_MAX : half->below - 1;
        return;
    }
    r->groups = TAKE(m->arena, to->group_count + 1, const char *);
    for (int t = 0; t < to->group_count; t++)
        if ((m->reach_of[t] == half->reach) != half->second)
            r->groups[r->group_count++] = to->groups[t].name;
    if (!r->group_count) r->groups[r->group_count++] = "";
}

static void compare(struct placed_half *half, const struct placed_reaches *m, const struct plan *a,
                    const struct plan *b, int *most)
{
    for (int s = 0; s < a->stage_count; s++) {
        unsigned reach = m->reach_of[a->stages[s].group];
        int apart = b->stages[s].layer_count - a->stages[s].layer_count;
        if (reach != m->reach_of[b->stages[s].group]) {
            *half = (struct placed_half){.stage = s, .reach = reach};
            *most = INT_MAX;
            return;
        }
        if (apart <= *most) continue;
        *most = apart;
        *half = (struct placed_half){.stage = s, .below = b->stages[s].layer_count - apart / 2};
    }
}

bool placed_find_half(struct placed_half *half, const struct placed_reaches *m,
                      const struct plan *const *looks)
{
    int most = 0;
    if (m->priced->rule_count >= m->relaxed->rule_count + HALVES_MAX) return false;
    for (int i = 0; i < (GROUPS_MAX + 1) * (GROUPS_MAX + 1) && most < INT_MAX; i++) {
        const struct plan *a = looks[i / (GROUPS_MAX + 1)], *b = looks[i % (GROUPS_MAX + 1)];
        if (a && b && a != b) compare(half, m, a, b, &most);
    }
    return most > 0;
}

void placed_name_groups(const struct placed_reaches *m, const struct plan *plan)
{
    for (int t = 0; t < m->priced->group_count; t++)
        plan->group_names[t] = m->relaxed->groups[m->group_of[t]].name;
}
