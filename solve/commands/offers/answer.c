// What offers found: a table and a sentence for people, and offers.csv with every machine.
#include <inttypes.h>

#include "data/text/table.h"
#include "solve/commands/offers/offers.h"
#include "solve/report/report.h"

// The bound on all plans of all machines: hours under a budget, else a price. Machines without a
// plan within the request do not count.
static double bound_of(const struct offers_options *r)
{
    double bound = INFINITY;
    for (int i = 0; i < r->count; i++) {
        const struct offer *o = &r->items[i];
        if (o->state == OFFER_NONE || o->state == OFFER_NOT_WITHIN) continue;
        bound = fmin(bound, offers_value(r, o, o->hours_bound));
    }
    return bound;
}

// What stands behind the least of several claims: the weakest of theirs.
static enum bound_claim claim_of(const struct offers_options *r)
{
    enum bound_claim weakest = CLAIM_PROVEN;
    for (int i = 0; i < r->count; i++)
        if (r->items[i].claim < weakest) weakest = r->items[i].claim;
    return weakest;
}

static const char *layout_text(const struct offer *o, struct arena *arena)
{
    return o->state == OFFER_PLAN ? report_layout_words(&o->layout, arena) : "";
}

static const char *state_text(const struct offer *o)
{
    static const char *const texts[] = {[OFFER_PLAN] = "plan",
                                        [OFFER_NOT_BETTER] = "no better",
                                        [OFFER_NOT_WITHIN] = "not within the limit",
                                        [OFFER_NONE] = "no plan",
                                        [OFFER_OPEN] = "none found, open",
                                        [OFFER_DISMISSED] = "dismissed by its bound"};
    return texts[o->state];
}

// A design's bound alone may say enough.
static bool is_searched(const struct offer *o) { return !o->unsearched; }

static void print_table(const struct offers_options *r, const struct offer *best,
                        struct arena *arena)
{
    printf("%-24s %6s %12s %14s %14s  %s\n", "machine", "GPUs", "hours", "price", "at least",
           "what");
    int64_t unsearched = 0;
    for (int i = 0; i < r->count; i++) {
        const struct offer *o = &r->items[i];
        if (!is_searched(o)) {
            unsearched++;
            continue;
        }
        char hours[32] = "-", price[32] = "-", least[32] = "-";
        if (o->state == OFFER_PLAN) snprintf(hours, sizeof hours, "%.6g", o->hours);
        if (o->state == OFFER_PLAN && o->gpu_hour_price > 0)
            snprintf(price, sizeof price, "%.6g", o->price);
        if (o->state != OFFER_NONE && o->price_bound > 0)
            snprintf(least, sizeof least, "%.6g", o->price_bound);
        printf("%-24s %6" PRId64 " %12s %14s %14s  %s%s%s%s\n", o->name, o->gpus, hours, price,
               least, o == best ? "* " : "", state_text(o), *layout_text(o, arena) ? ": " : "",
               o->state == OFFER_PLAN || o->state == OFFER_OPEN
                   ? layout_text(o, arena)
                   : arena_print(arena, " (%s)", bound_claim_names[o->claim]));
    }
    if (unsearched)
        printf("and %" PRId64 " designs without a search, by their bounds: offers.csv has each\n",
               unsearched);
}

static void print_answer(const struct offers_options *r, const struct offer *best,
                         struct arena *arena)
{
    if (!best) {
        bool open = false;
        for (int i = 0; i < r->count; i++) open = open || r->items[i].state == OFFER_OPEN;
        printf("\n%s%s (%s).\n", open ? "No plan was found" : "No machine has a plan",
               r->within_hours > 0 || r->budget > 0 ? " within the limit" : "",
               open ? "some searches ended at their limit" : bound_claim_names[claim_of(r)]);
        return;
    }
    double value = offers_value(r, best, best->hours), bound = fmin(bound_of(r), value);
    const char *price = best->gpu_hour_price > 0 ? arena_print(arena, ", %.6g", best->price) : "";
    double below = value > 0 ? 100 * (value - bound) / value : 0;
    printf("\n%s: %s, %.6g hours%s; ", offers_by_hours(r) ? "Fastest" : "Cheapest", best->name,
           best->hours, price);
    if (value > 0 && bound <= 0)
        printf("nothing is proven of the others, or of less on this one\n");
    else
        printf("no plan of any machine %s less than %.6g (%.*g %% below; %s)\n",
               offers_by_hours(r) ? "takes" : "costs", bound, below < 10 ? 2 : 3, below,
               bound_claim_names[claim_of(r)]);
    printf("plan: %s/plan.json\n", best->folder);
}

// Its parameters but for nodes, which every machine has, and what they come to.
static const char *design_cells(const struct offer *o, struct arena *arena)
{
    const char *text = "";
    if (!o->designs) {
        for (int i = 0; i < DESIGN_NODES + 2; i++) text = arena_print(arena, "%s,", text);
        return text;
    }
    text = arena_print(arena, ",%.9g,%.9g", design_area_mm2(o->designs, &o->design),
                       design_power_w(o->designs, &o->design));
    for (int i = 0; i < DESIGN_NODES; i++)
        text = arena_print(arena, "%s,%.15g", text, o->design.of[i]);
    return text;
}

enum status offers_write(const struct offers_options *r, const struct offer *best,
                         struct arena *arena, struct error *err)
{
    struct text out;
    text_begin(&out, arena);
    text_put(&out, "machine,nodes,gpus,gpu_hour_price,state,best,hours,hours_at_least,price,"
                   "price_at_least,claim,layout,area_mm2,power_w");
    for (int i = 0; i < DESIGN_NODES; i++) text_put(&out, ",%s", design_axis_names[i]);
    text_put(&out, "\n");
    for (int i = 0; i < r->count; i++) {
        const struct offer *o = &r->items[i];
        bool found = o->state == OFFER_PLAN, known = o->state != OFFER_NONE;
        text_put(&out, "%s,%" PRId64 ",%" PRId64 ",%.9g,%s,%d,",
                 csv_cell(o->designs ? o->name : o->machine, arena), o->nodes, o->gpus,
                 o->gpu_hour_price, csv_cell(state_text(o), arena), o == best);
        text_put(&out, "%s,%s,%s,%s,%s,%s%s\n", found ? arena_print(arena, "%.9g", o->hours) : "",
                 known ? arena_print(arena, "%.9g", o->hours_bound) : "",
                 found ? arena_print(arena, "%.9g", o->price) : "",
                 known ? arena_print(arena, "%.9g", o->price_bound) : "",
                 csv_cell(o->state == OFFER_OPEN ? "" : bound_claim_names[o->claim], arena),
                 csv_cell(layout_text(o, arena), arena), design_cells(o, arena));
    }
    return file_write(arena_print(arena, "%s/offers.csv", r->folder), out.text, out.length, err);
}

void offers_print(const struct offers_options *r, const struct offer *best, struct arena *arena)
{
    print_table(r, best, arena);
    print_answer(r, best, arena);
}
