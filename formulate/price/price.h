// Pricing: the four documents of a problem -> integer nanoseconds and bytes. The formulas are those
// of docs/FORMULAS.md.
#ifndef PLUMBLINE_FORMULATE_PRICE_PRICE_H
#define PLUMBLINE_FORMULATE_PRICE_PRICE_H

#include "data/inputs/cost_keys.h"
#include "data/priced/priced.h"
#include "data/inputs/problem.h"

// BAD_INPUT: every node group is excluded is no error (each has its reason; the program is then
// infeasible); a layout that does not fit the model or batch is.
enum status price_problem(struct priced *priced, const struct problem *problem, struct arena *arena,
                          struct error *err);

// The same without the checks before and behind it, for callers that price thousands of
// configurations of which most is equal and have checked what is not.
enum status price_terms(struct priced *priced, const struct problem *problem, struct arena *arena,
                        struct error *err);
// The same, quickly, of a cluster with places whose links take no time, wherever they lead: no plan
// takes less with the links that there are. Prices of nodes are left out.
enum status price_terms_of_free_links(struct priced *priced, const struct problem *problem,
                                      struct arena *arena, struct error *err);
// The same, with what price_times needs in *kept, which holds all three of them.
struct pricing;
enum status price_terms_kept(struct pricing **kept, struct priced *priced,
                             const struct problem *problem, struct arena *arena, struct error *err);
// Once more the times alone, of a problem whose costs' numbers have changed since, and nothing else
// (the ends of their intervals).
enum status price_times(struct pricing *kept, struct error *err);
// One layer's kernels on one device of the group, one micro-batch without slices: what the rates
// alone say, without the overheads, factors, collectives and gathers of a pass. For holding
// measured layers against them. false: the costs lack the GPU or precision.
struct layer_kernels {
    double forward_flop, forward_s, backward_s, selective_s;
};
bool price_layer_kernels(struct layer_kernels *to, const struct problem *problem, int run,
                         int group);
// One product alone, rows x columns values of this depth, by its shape (docs/FORMULAS.md section
// 3); the rates state product_flop_per_s.
double product_kernel_s(const struct gpu_costs *gpu, const struct precision_costs *rates,
                        double rows, double columns, double depth);
// Bytes of a device of the group that stand outside of the allocator: context, libraries,
// communicators.
double price_outside_bytes(const struct problem *problem, int group);

// For a job with a space: a line on standard error that its own layout alone is taken, and which
// that is.
void say_space(const struct problem *problem);

#endif
