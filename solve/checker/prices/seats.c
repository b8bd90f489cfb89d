// Stages with widths of their own: see prices.h.
#include "data/base/least.h"
#include "solve/checker/prices/prices.h"
#include "solve/judge/price/verify_price.h"

void seats_open(struct seat_prices *s, const struct problem *p, struct arena *arena)
{
    s->count = problem_seats(p, &s->seats, arena);
    s->one = TAKE(arena, s->count, struct problem);
    s->at = TAKE(arena, s->count, struct price_audit);
}

// Slots of a node group are as many devices as every width of it takes whole.
void seats_put_groups(const struct seat_prices *s, const struct problem *p,
                      struct check_problem *to)
{
    for (int i = 0; i < s->count; i++) {
        const struct node_group *nodes = &p->cluster.groups[s->seats[i].group];
        struct check_group *own = &to->groups[i];
        int64_t slot = 0;
        int first = i;
        for (int k = 0; k < s->count; k++) {
            if (s->seats[k].group != s->seats[i].group) continue;
            slot = common_divisor(seat_devices(&s->seats[k]), slot);
            first = smaller_int(first, k);
        }
        own->name = s->seats[i].name, own->gpu = nodes->gpu;
        own->of_node_group = first + 1;
        own->seat_slots = (int)(seat_devices(&s->seats[i]) / slot);
        own->tensor = s->seats[i].tensor, own->context = s->seats[i].context;
        own->data = s->seats[i].data;
        to->node_groups[i] = nodes->name;
        own->slots = (int)((int64_t)nodes->nodes * nodes->gpus_per_node / slot);
    }
}

void seats_open_run(const struct check_problem *p, struct check_run *r,
                    const struct layer_run *layers, struct arena *arena)
{
    r->seats = TAKE(arena, p->group_count, struct check_run);
    for (int g = 0; g < p->group_count; g++) {
        r->seats[g] = *r;
        r->seats[g].stash = TAKE(arena, MODES, int64_t);
        r->seats[g].working = TAKE(arena, MODES, int64_t);
        r->seats[g].optimizer_bytes = TAKE(arena, 1, int64_t);
    }
    if (layers->kind == LAYER_MEASURED && layers->measured.entry_bytes)
        r->entry = TAKE(arena, 2 * p->group_count, int64_t);
}

void seats_take_layout(struct seat_prices *s, const struct problem *p, const struct price_audit *as)
{
    for (int i = 0; i < s->count; i++) {
        s->one[i] = problem_at_seat(p, &s->seats[i]);
        s->at[i] = price_audit_over(&s->one[i], as);
    }
}

void seats_raise_bytes(struct check_run *most, const struct check_run *own)
{
    most->weight_bytes = larger(most->weight_bytes, own->weight_bytes);
    most->gradient_bytes = larger(most->gradient_bytes, own->gradient_bytes);
    most->optimizer_bytes[0] = larger(most->optimizer_bytes[0], own->optimizer_bytes[0]);
    most->unsharded_bytes = larger(most->unsharded_bytes, own->unsharded_bytes);
    for (int mode = 0; mode < MODES; mode++) {
        most->stash[mode] = larger(most->stash[mode], own->stash[mode]);
        most->working[mode] = larger(most->working[mode], own->working[mode]);
    }
}

bool seats_entry(const struct seat_prices *s, int run, int group, int64_t ns[2])
{
    const struct price_audit *a = &s->at[group];
    const struct layer_run *r = run_of(a, run);
    int node = s->seats[group].group;
    ns[0] = ns[1] = 0;
    if (r->kind != LAYER_MEASURED || !r->measured.entry_bytes) return false;
    for (int back = 0; back < 2; back++) {
        int64_t parts[PART_COUNT];
        struct sending m = {.run = run,
                            .sender = node,
                            .receiver = node,
                            .backward = back,
                            .stated_bytes = (long double)stated_bytes(a, r)->entry_bytes};
        if (!transfer_price(a, m, parts)) continue;
        ns[0] += parts[PART_BLOCKING] + parts[PART_OVERHEAD];
        ns[1] = larger(ns[1], parts[PART_LINK]);
    }
    return true;
}
