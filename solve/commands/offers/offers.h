// What the files of the command offers share: machines, the request, their order.
#pragma once

#include "data/hardware/designs.h"
#include "data/results/bound.h"
#include "data/results/claim.h"
#include "formulate/example/example.h"

// One machine: a number of nodes with a kind of GPU, or a design. The result: its best plan that
// beats the machines before it, or why there is none; hours and price of the whole training, and
// the bounds on both for all its plans.
struct offer {
    const char *machine, *name, *folder;
    bool is_cluster; // a shipped cluster or a file, else a kind of GPU
    int64_t nodes, gpus;
    double gpu_hour_price;
    struct problem *problem; // NULL: not yet written
    enum {
        OFFER_PLAN,
        OFFER_NOT_BETTER,
        OFFER_NOT_WITHIN,
        OFFER_NONE,
        OFFER_OPEN,
        OFFER_DISMISSED // by its bound, without a search
    } state;
    struct layout layout;
    enum bound_claim claim; // of the bounds, and of what it says there is not
    double hours, hours_bound, price, price_bound;
    bool lost; // its plan could not be written

    const struct designs *designs; // NULL: not a design
    struct design design;
    double least_hours; // 0: not known before it is searched
    bool unsearched;    // its bound said enough
};

struct offers_options {
    const char *model, *costs, *folder;
    struct option_texts offers, designs;
    int64_t sequence, global_batch;
    int framework, precision;
    double tokens, within_hours, budget, gap, time_limit_s;
    bool fastest, force;
    struct stated_layout stated;
    struct offer *items;
    int count, capacity;
};

struct offer *offers_add(struct offers_options *r, const char *machine, const char *name,
                         int64_t nodes, double price, struct arena *arena);
// The machine's five documents, as plumbline plan writes them; then its problem is loaded.
enum status offers_write_problem(const struct offers_options *r, struct offer *o,
                                 struct arena *arena, struct error *err);
double offers_iterations(const struct offers_options *r, const struct problem *p);
double offers_price(const struct offer *o, double hours);
bool offers_by_hours(const struct offers_options *r); // the fastest is asked for, not the cheapest
// Hours or price, by what is asked for, of a machine that takes so many hours.
double offers_value(const struct offers_options *r, const struct offer *o, double hours);

// ---- designs.c
// Adds the choices of all documents of designs that are within their limits, each with its bound.
enum status offers_add_designs(struct offers_options *r, struct arena *arena, struct error *err);
// By their bounds, the least first; what has none stays in front, as it came.
void offers_order(struct offers_options *r, struct arena *arena);
// false: it has to be searched. True: its bound, or a search of a machine with at least as much of
// everything, says that it has no plan, or none within the request, or that it is no better than
// the best by more than the gap.
bool offers_dismiss(const struct offers_options *r, struct offer *o, const struct offer *best);
void offers_leave_open(struct offer *o); // not searched: its bound is all that is known

// ---- answer.c
void offers_print(const struct offers_options *r, const struct offer *best, struct arena *arena);
enum status offers_write(const struct offers_options *r, const struct offer *best,
                         struct arena *arena, struct error *err);
