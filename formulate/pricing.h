// What the files of pricing share: the quantities of docs/FORMULAS.md section 1, under the names they have there, and the
// rounding that turns a formula's value into a priced term. Internal to formulate/price*.c.
#ifndef PLUMBLINE_FORMULATE_PRICING_H
#define PLUMBLINE_FORMULATE_PRICING_H

#include "formulate/price.h"

struct pricing {
    const struct problem *problem;
    struct priced *priced;
    struct arena *arena;
    double b, s, c, t, d, p;            // micro-batch, sequence; context, tensor, data, pipeline degrees
    double n;                           // tokens of one micro-batch on one GPU
    double h, f, a, w, q, kv, v, g;     // the shape; 0 without one
    double e, e_g, u, R, D;             // bytes per value and gradient value; share of the unsharded; sync ranks; devices
};

// One stream over a link, efficiencies and sharing counted. joined false: there is none.
struct link_price { bool joined; double bytes_per_s, latency_s; };

// What one layer of a run occupies, before rounding (sections 4 and 5).
struct layer_bytes {
    double weight, gradient, optimizer, stash[3], working[3], message;
    double matrix_rows, matrix_columns;         // what low-rank compression of the message works on; 0: nothing
};

// A term in seconds to nanoseconds, one in bytes to bytes: halves up. BAD_INPUT names the term if it is 2^53 or more.
enum status round_time(int64_t *ns, double seconds, const char *term, const char *of, struct error *err);
enum status round_bytes(int64_t *bytes, double value, const char *term, const char *of, struct error *err);

// ---- price_links.c (section 2)
struct link_price link_of_tensor_ranks(const struct pricing *x, int group);
struct link_price link_of_context_ring(const struct pricing *x, int group);
struct link_price link_of_gradient_sync(const struct pricing *x, int group);
struct link_price link_of_stages(const struct pricing *x, int from, int to);
double all_reduce_price_s(const struct link_price *link, double bytes, double ranks);
int64_t group_slots(const struct pricing *x, const struct node_group *group);

// ---- price_memory.c (sections 4, 5, 8)
struct layer_bytes bytes_of_layer(const struct pricing *x, const struct layer_run *run);

// ---- price_layers.c (section 3)
const struct layer_time *find_layer_time(const struct pricing *x, const char *run, const char *gpu);
enum status price_layer_times(struct pricing *x, int run, int group, struct error *err);

// ---- price_sync.c (section 7)
enum status price_gradient_syncs(struct pricing *x, int run, struct error *err);
enum status price_sync_constants(struct pricing *x, struct error *err);
enum status price_embedding_sync(struct pricing *x, struct error *err);

// ---- price_transfers.c (section 6)
enum status price_transfers(struct pricing *x, struct error *err);

#endif
