// Machines of a document of designs: one for each choice within the limits of area and power, with
// a bound on its iterations that no layout beats (docs/FORMULAS.md 24), which orders and dismisses.
#include <inttypes.h>
#include <stdlib.h>

#include "formulate/price/price.h"
#include "solve/commands/offers/offers.h"

// With several documents each name begins with its document's.
static const char *name_of_choice(const struct offers_options *r, const struct designs *d,
                                  const struct design *x, struct arena *arena)
{
    const char *words = design_words(d, x, arena);
    return r->designs.count > 1 ? arena_print(arena, "%s-%s", d->name, words) : words;
}

// The bounds need a model and a job: those of the first machine.
static enum status add_bounds(const struct offers_options *r, int from, struct arena *arena,
                              struct error *err)
{
    struct offer *first = &r->items[from];
    TRY(offers_write_problem(r, first, arena, err));
    const struct problem *p = first->problem;
    const struct least_work *work = price_least_work(p, arena);
    for (int i = from; i < r->count; i++) {
        struct offer *o = &r->items[i];
        struct costs costs = design_costs(o->designs, &o->design, arena);
        double seconds = price_least_s(work, &costs.gpus[0], o->gpus);
        o->least_hours = offers_iterations(r, p) * seconds / 3600;
    }
    return OK;
}

static enum status add_choices(struct offers_options *r, const struct designs *d,
                               struct arena *arena, struct error *err)
{
    int from = r->count;
    int64_t choices = designs_count(d);
    for (int64_t i = 0; i < choices; i++) {
        struct design x = design_at(d, i);
        double price = design_hour_price(d, &x);
        if (!design_is_within(d, &x)) continue;
        if (!(price > 0) && !offers_by_hours(r))
            return refuse(err, "%s: hour_price: expected terms of a price above 0, or --fastest",
                          document_name(&d->document, "designs"));
        struct offer *o = offers_add(r, d->name, name_of_choice(r, d, &x, arena),
                                     (int64_t)x.of[DESIGN_NODES], price, arena);
        o->designs = d, o->design = x, o->gpus = design_devices(&x);
    }
    if (r->count > from) return add_bounds(r, from, arena, err);
    return refuse(err,
                  "%s: expected a choice within area_most_mm2 and power_most_w, found "
                  "none of %" PRId64,
                  document_name(&d->document, "designs"), choices);
}

enum status offers_add_designs(struct offers_options *r, struct arena *arena, struct error *err)
{
    for (int i = 0; i < r->designs.count; i++) {
        struct designs *d = TAKE(arena, 1, struct designs);
        TRY(designs_load(d, r->designs.items[i], arena, err));
        TRY(add_choices(r, d, arena, err));
    }
    return OK;
}

// ---- order

struct rank {
    double value;
    int at;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->at - y->at;
}

void offers_order(struct offers_options *r, struct arena *arena)
{
    struct rank *ranks = TAKE(arena, r->count, struct rank);
    struct offer *items = TAKE(arena, r->count, struct offer);
    for (int i = 0; i < r->count; i++)
        ranks[i] = (struct rank){offers_value(r, &r->items[i], r->items[i].least_hours), i};
    qsort(ranks, (size_t)r->count, sizeof *ranks, compare_ranks);
    for (int i = 0; i < r->count; i++) items[i] = r->items[ranks[i].at];
    r->items = items, r->capacity = r->count;
}

void offers_leave_open(struct offer *o)
{
    o->state = OFFER_OPEN, o->unsearched = true;
    o->hours_bound = o->least_hours, o->price_bound = offers_price(o, o->least_hours);
}

// Has as much of everything that only helps, and is alike in the rest: then it has a plan as fast
// for each of the other's (docs/PROOFS.md 17).
static bool is_at_least(const struct offer *o, const struct offer *as)
{
    static const bool only_helps[DESIGN_AXES] = {
        [DESIGN_MATRIX_UNITS] = true,
        [DESIGN_VECTOR_UNITS] = true,
        [DESIGN_LANES] = true,
        [DESIGN_BUFFER_BYTES] = true,
        [DESIGN_CLOCK_HZ] = true,
        [DESIGN_MEMORY_BYTES] = true,
        [DESIGN_MEMORY_BYTES_PER_S] = true,
    };
    if (o->designs != as->designs) return false;
    for (int i = 0; i < DESIGN_AXES; i++) {
        double has = o->design.of[i], other = as->design.of[i];
        if (only_helps[i] ? has < other : has != other) return false;
    }
    return true;
}

// What searches of machines that have at least as much say of it. true: it has no plan, as they.
static bool learn(const struct offers_options *r, struct offer *o)
{
    for (const struct offer *s = r->items; s < o; s++) {
        if (s->unsearched || !o->designs || !is_at_least(s, o)) continue;
        if (s->state == OFFER_NONE) return true;
        if (s->hours_bound > o->least_hours) o->least_hours = s->hours_bound;
    }
    return false;
}

bool offers_dismiss(const struct offers_options *r, struct offer *o, const struct offer *best)
{
    bool none = learn(r, o);
    double least = offers_value(r, o, o->least_hours), price = offers_price(o, o->least_hours);
    bool out = (r->within_hours > 0 && o->least_hours > r->within_hours) ||
               (r->budget > 0 && price > r->budget),
         behind = best && o->least_hours > 0 &&
                  least >= (1 - r->gap) * offers_value(r, best, best->hours);
    if (!none && !out && !behind) return false;
    offers_leave_open(o);
    o->state = none  ? OFFER_NONE
               : out ? OFFER_NOT_WITHIN
                     : OFFER_DISMISSED,
    o->claim = CLAIM_PROVEN;
    return true;
}
