// Stages with widths of their own, in a priced document: a group is a node group with one width,
// and groups of one node group share its slots. Bytes are by group then. The width itself says what
// the prices are of; the proof depends on the slots alone.
#include "solve/checker/read/problem.h"

#include <string.h>

enum status check_find_pools(struct check_problem *p)
{
    bool widths = p->node_groups[0] != NULL;
    for (int g = 0; g < p->group_count; g++) {
        struct check_group *own = &p->groups[g];
        int stated = (own->tensor > 0) + (own->context > 0) + (own->data > 0) +
                     (own->seat_slots > 0) + (p->node_groups[g] != NULL);
        if (stated != (widths ? 5 : 0))
            return check_refuse(&p->reader, "groups",
                                "node_group, degrees and seat_slots: stated for some groups, not "
                                "for all");
        int first = 0;
        while (widths && strcmp(p->node_groups[first], p->node_groups[g]) != 0) first++;
        if (!widths) continue;
        own->of_node_group = first + 1;
        if (own->slots != p->groups[first].slots)
            return check_refuse(&p->reader, "groups",
                                "one node group has two numbers of slots, %d and %d",
                                p->groups[first].slots, own->slots);
    }
    return OK;
}

static enum status read_seat(const struct check_problem *p, const cJSON *v, const char *where,
                             int modes, struct check_run *to, struct arena *arena)
{
    int64_t states, *stash, *working;
    const struct value_field fields[] = {
        {"weight_bytes", 0, MOST_NS, .large = &to->weight_bytes},
        {"gradient_bytes", 0, MOST_NS, .large = &to->gradient_bytes},
        {"optimizer_bytes", 0, MOST_NS, .large = &states},
        {"stash_bytes", 0, MOST_NS, .numbers = &stash, .count = modes},
        {"working_bytes", 0, MOST_NS, .numbers = &working, .count = modes},
        {"?unsharded_bytes", 0, MOST_NS, .large = &to->unsharded_bytes},
        {NULL},
    };
    to->unsharded_bytes = 0;
    TRY(value_fields(&p->reader, v, where, fields, arena));
    to->optimizer_bytes = TAKE(arena, 1, int64_t);
    to->optimizer_bytes[0] = states;
    to->stash = TAKE(arena, MODES, int64_t), to->working = TAKE(arena, MODES, int64_t);
    int at = 0;
    for (int mode = 0; mode < MODES; mode++)
        if (mode <= MODE_FULL || (mode >= MODE_SETS && p->modes[mode]))
            to->stash[mode] = stash[at], to->working[mode] = working[at], at++;
    return OK;
}

// Sums are bounded by the run's own bytes: no seat has more.
static bool is_above(const struct check_run *a, const struct check_run *b)
{
    bool above = a->weight_bytes > b->weight_bytes || a->gradient_bytes > b->gradient_bytes ||
                 a->optimizer_bytes[0] > b->optimizer_bytes[0] ||
                 a->unsharded_bytes > b->unsharded_bytes;
    for (int mode = 0; mode < MODES; mode++)
        above = above || a->stash[mode] > b->stash[mode] || a->working[mode] > b->working[mode];
    return above;
}

enum status check_read_seats(const struct check_problem *p, const cJSON *v, const char *where,
                             int modes, struct check_run *r, struct arena *arena)
{
    bool widths = p->node_groups[0] != NULL;
    if ((v != NULL) != widths || (v && cJSON_GetArraySize(v) != p->group_count))
        return check_refuse(&p->reader, where, "seats: expected one for each group with widths");
    if (!v) return OK;
    if (p->gradient_count > 1)
        return check_refuse(&p->reader, where, "seats do not go with gradient options");
    struct check_run *seats = TAKE(arena, p->group_count, struct check_run);
    int g = 0;
    for (const cJSON *e = v->child; e; e = e->next, g++) {
        seats[g] = *r;
        TRY(read_seat(p, e, where, modes, &seats[g], arena));
        if (is_above(&seats[g], r))
            return check_refuse(&p->reader, where, "seats: more bytes than the run's own");
    }
    r->seats = seats;
    return OK;
}

// Where replicas take micro-batches in turn: what docs/PROOFS.md 15.6 assumes.
static enum status check_turns(const struct check_problem *p)
{
    bool right = p->node_groups[0] && p->objective == MINIMISE_LOAD && !p->rule_count &&
                 p->kind == check_schedule_default && !p->local_every && !p->layout.in_flight[0] &&
                 !p->width_per_group &&
                 p->budget[BUDGET_ENERGY] < 0; // nothing is compressed, so others limit nothing
    for (int g = 0; g < p->group_count && right; g++)
        right = p->groups[g].of_node_group == 1 && p->groups[g].data > 0 &&
                p->micro_batches % p->groups[g].data == 0;
    if (p->any_sets) right = right && p->modes[MODE_FULL] && !p->layout.value[KEY_RECOMPUTE];
    return right ? OK
                 : check_refuse(&p->reader, "in_turn",
                                "expected widths of one node group, whose data degrees divide "
                                "micro_batches, schedule 1f1b, objective max_load, no rules, "
                                "energy_max_uj, in_flight or local losses, and recompute_any with "
                                "\"full\" alone");
}

enum status check_widths(const struct check_problem *p)
{
    bool stated = p->any_sets;
    for (int i = 0; i < p->run_count; i++) stated = stated || p->runs[i].entry;
    if (stated && !p->in_turn)
        return check_refuse(&p->reader, "in_turn", "expected it with recompute_any and entry_ns");
    if (p->in_turn) TRY(check_turns(p));
    bool widths = p->node_groups[0] != NULL;
    if (p->width_per_group && (!widths || p->objective == MINIMISE_ENERGY))
        return check_refuse(&p->reader, "width_per_group",
                            "expected it with widths of stages and another objective");
    if (widths && (p->turns > 1 || p->boundary_count > 1 || p->tier_count || p->modes[MODE_SWAP]))
        return check_refuse(&p->reader, "groups",
                            "widths do not go with several stages of a rank, boundary options or "
                            "swap");
    for (int c = 0; c < p->cut_count; c++) {
        const struct check_cut *cut = &p->cuts[c];
        bool right = (cut->seat_bytes != NULL) == widths;
        for (int g = 0; right && widths && g < p->group_count; g++)
            right = cut->seat_bytes[g] <= cut->message_bytes;
        if (!right)
            return check_refuse(&p->reader, "cuts",
                                "seat_bytes: expected by widths, none above message_bytes");
    }
    return OK;
}
