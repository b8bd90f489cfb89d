// What a priced document says of tiers besides the GPU's own memory: their names, and each run with
// each option.
#include "data/base/least.h"
#include "solve/checker/read/problem.h"

bool check_has_tiers(const struct check_problem *p)
{
    bool some = p->tier_count > 0 || p->modes[MODE_SWAP];
    for (int o = 0; o < p->gradient_count; o++) some = some || p->gradient[o].tiers;
    return some;
}

enum status check_read_tier_names(struct check_problem *p, const cJSON *array, struct arena *arena)
{
    if (!array) return OK;
    TRY(value_expect(&p->reader, array, "tiers", cJSON_Array));
    if (cJSON_GetArraySize(array) > MOST_TIERS)
        return check_refuse(&p->reader, "tiers", "found %d", cJSON_GetArraySize(array));
    p->tiers = TAKE(arena, cJSON_GetArraySize(array), const char *);
    for (const cJSON *e = array->child; e; e = e->next) {
        TRY(value_expect(&p->reader, e, "tiers", cJSON_String));
        p->tiers[p->tier_count++] = e->valuestring;
    }
    return OK;
}

// Bounds are made of the run's own passes, so none may be shorter; what no option moves is the
// run's own, of the first the step, too.
static enum status check_entry(const struct check_problem *p, const struct check_run *r, int o,
                               const char *where)
{
    const struct check_tiered *t = &r->tiered[o];
    const int64_t *forward = check_forward(r, o), *backward = check_backward(r, o);
    if (!t->away != !p->modes[MODE_SWAP] || !t->back != !p->modes[MODE_SWAP])
        return check_refuse(&p->reader, where, "tiered, option %d: away_ns, back_ns go with swap",
                            o);
    bool plain = !p->gradient[o].tiers,
         sound = t->weight_bytes <= r->weight_bytes &&
                 (!plain || (t->weight_bytes == r->weight_bytes && !t->buffer_bytes &&
                             !t->forward && !t->backward));
    for (int k = 0; k < p->slices * p->group_count; k++)
        sound = sound && (p->groups[k % p->group_count].excluded ||
                          (forward[k] >= r->forward[k] && backward[k] >= r->backward[k]));
    return sound ? OK
                 : check_refuse(&p->reader, where, "tiered, option %d: %s", o,
                                plain ? "expected the run's own weights and passes"
                                      : "more weights or shorter passes than the run's own");
}

// All state energies or none does; with those of its layers no stage uses more than a price may be.
static enum status check_energy(const struct check_problem *p, const struct check_run *r, int o,
                                const char *where)
{
    const struct check_tiered *t = &r->tiered[o], *first = &p->runs[0].tiered[0];
    int64_t most = 0;
    for (int g = 0; t->energy && t->again && t->swapped && g < p->group_count; g++)
        most = larger(most, t->energy[g] + t->again[g] + t->swapped[g]);
    if (!t->energy != !first->energy || !t->again != !t->energy || !t->swapped != !t->energy ||
        most > MOST_ENERGY / p->layers)
        return check_refuse(&p->reader, where, "tiered, option %d: energies", o);
    return OK;
}

// Without a tier option all of the state is on the GPU, with one no more. The first option is to do
// nothing, so its step is the run's own.
static enum status check_states(const struct check_problem *p, const struct check_run *r,
                                int64_t states, const int64_t *step, const char *where)
{
    for (int o = 0; o < p->gradient_count; o++)
        if (p->gradient[o].tiers ? r->optimizer_bytes[o] > states : r->optimizer_bytes[o] != states)
            return check_refuse(&p->reader, where,
                                "tiered, option %d: expected %s%lld bytes of state, found %lld", o,
                                p->gradient[o].tiers ? "at most " : "", (long long)states,
                                (long long)r->optimizer_bytes[o]);
    for (int g = 0; g < p->group_count; g++)
        if (!p->groups[g].excluded && r->optimizer[0][g] != step[g])
            return check_refuse(&p->reader, where, "the first option is to do nothing");
    return OK;
}

enum status check_read_tiered(struct check_problem *p, struct check_run *r, const cJSON *array,
                              int64_t states, int64_t *step, const char *where, struct arena *arena)
{
    int passes = p->slices * p->group_count, o = 0;
    if (!array != !check_has_tiers(p))
        return check_refuse(&p->reader, where,
                            "tiered goes with tiers, options with parts there and swap");
    r->optimizer_bytes = TAKE(arena, p->gradient_count, int64_t);
    r->optimizer = TAKE(arena, p->gradient_count, int64_t *);
    for (int all = 0; all < p->gradient_count; all++)
        r->optimizer_bytes[all] = states, r->optimizer[all] = step;
    if (!array) return OK;
    if (p->node_groups && p->node_groups[0])
        return check_refuse(&p->reader, where, "tiered: expected none where stages have widths");
    TRY(value_expect(&p->reader, array, where, cJSON_Array));
    if (cJSON_GetArraySize(array) != p->gradient_count)
        return check_refuse(&p->reader, where, "tiered: expected %d entries, found %d",
                            p->gradient_count, cJSON_GetArraySize(array));
    r->tiered = TAKE(arena, p->gradient_count, struct check_tiered);
    for (const cJSON *e = array->child; e; e = e->next, o++) {
        struct check_tiered *t = &r->tiered[o];
        const struct value_field fields[] = {
            {"weight_bytes", 0, MOST_NS, .large = &t->weight_bytes},
            {"?buffer_bytes", 0, MOST_NS, .large = &t->buffer_bytes},
            {"tier_bytes", 0, MOST_NS, .numbers = &t->tier_bytes, .count = p->tier_count},
            {"?forward_ns", -1, MOST_NS, .numbers = &t->forward, .count = passes},
            {"?backward_ns", -1, MOST_NS, .numbers = &t->backward, .count = passes},
            {"optimizer_bytes", 0, MOST_NS, .large = &r->optimizer_bytes[o]},
            {"optimizer_ns", -1, MOST_NS, .numbers = &r->optimizer[o], .count = p->group_count},
            {"?away_ns", -1, MOST_NS, .numbers = &t->away, .count = p->group_count},
            {"?back_ns", -1, MOST_NS, .numbers = &t->back, .count = p->group_count},
            {"?energy_uj", 0, MOST_ENERGY, .numbers = &t->energy, .count = p->group_count},
            {"?again_uj", 0, MOST_ENERGY, .numbers = &t->again, .count = p->group_count},
            {"?swap_uj", 0, MOST_ENERGY, .numbers = &t->swapped, .count = p->group_count},
            {NULL},
        };
        TRY(value_fields(&p->reader, e, where, fields, arena));
        TRY(check_entry(p, r, o, where));
        TRY(check_energy(p, r, o, where));
    }
    return check_states(p, r, states, step, where);
}
