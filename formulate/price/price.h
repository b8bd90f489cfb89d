// Pricing: turns the four documents of a problem into whole nanoseconds and bytes. The formulas are
// those of docs/FORMULAS.md.
#pragma once

#include "data/inputs/cost_keys.h"
#include "data/priced/priced.h"
#include "data/inputs/problem.h"

// BAD_INPUT for a layout that does not fit the model or the batch. It is no error if every node
// group is excluded: each has its reason, and the program is then infeasible.
enum status price_problem(struct priced *priced, const struct problem *problem, struct arena *arena,
                          struct error *err);

// The same without the checks before and after, for callers that price thousands of configurations,
// most of them alike, and have checked what differs.
enum status price_terms(struct priced *priced, const struct problem *problem, struct arena *arena,
                        struct error *err);
// The same, remembering the times of products: most layouts of a space share their shapes.
struct product_memo;
struct product_memo *product_memo_open(struct arena *arena);
enum status price_terms_alike(struct priced *priced, const struct problem *problem,
                              struct product_memo *memo, struct arena *arena, struct error *err);
// The same, but faster, for a cluster with places, with links that take no time, wherever they
// lead: a lower bound for every plan with the actual links. Prices of nodes are left out.
enum status price_terms_of_free_links(struct priced *priced, const struct problem *problem,
                                      struct arena *arena, struct error *err);
// The same, and keeps what price_times needs in *kept, which refers to the other arguments. memo
// NULL: none. times_alone: layers' bytes are left at 0.
struct pricing;
enum status price_terms_kept(struct pricing **kept, struct priced *priced,
                             const struct problem *problem, struct product_memo *memo,
                             bool times_alone, struct arena *arena, struct error *err);
// Computes the times again, and nothing else, for a problem whose costs are those of
// price_terms_kept but for the numbers of this group.
enum status price_times(struct pricing *kept, enum cost_group moved, struct error *err);
// Whether syncs and transfers are as price_terms_kept found them.
bool price_kept_talk(const struct pricing *kept);
// The kernels of one layer on one device of the group, for one micro-batch without slices: what the
// rates alone give, without the overheads, factors, collectives and gathers of a pass. For
// comparison with measured layers. false: the costs lack the GPU or the precision.
struct layer_kernels {
    double forward_flop, forward_s, backward_s, selective_s;
};
bool price_layer_kernels(struct layer_kernels *to, const struct problem *problem, int run,
                         int group);
// One product alone, of rows x columns values and this depth, priced by its shape (docs/FORMULAS.md
// section 3); the rates must state product_flop_per_s.
double product_kernel_s(const struct gpu_costs *gpu, const struct precision_costs *rates,
                        double rows, double columns, double depth);
// No layout's iteration on so many devices of this kind takes less, which has arrays and states no
// factors; of the model and job of a problem (docs/PROOFS.md 14).
struct least_work;
struct least_work *price_least_work(const struct problem *p, struct arena *arena);
double price_least_s(const struct least_work *w, const struct gpu_costs *gpu, int64_t devices);
// Whether the factor of the job's trainer was fitted to iterations, on all GPUs that the costs
// list.
bool price_factor_was_fitted(const struct problem *problem);
// Bytes of a device of the group outside the allocator: context, libraries, communicators.
double price_outside_bytes(const struct pricing *kept, int group);
