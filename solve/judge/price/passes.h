// The parts of a layer's passes, as the judge prices them: what a GPU computes, what its ranks say
// to each other, and for how long that has the links (docs/FORMULAS.md, sections 3 and 7).
#pragma once

#include "solve/judge/price/verify_price.h"

struct work {                     // seconds of one pass of one slice on one GPU
    long double linear, adapters; // products with the layer's matrices, and with its adapters
    long double data, weight;     // the products that give the gradients of inputs and of weights
    long double adapter_data, adapter_weight; // the same for the adapters
    long double operands;          // in addition to the FLOP of a pass of products: their matrices
    long double learning_operands; // the same for the pass that gives the gradients of weights
    long double attention_back, memory_back; // in the backward pass, as often as it runs there
    long double attention,
        scores; // scores: their traffic, part of memory; run again by selective recomputation
    long double repeated, dropped; // run again: by selective recomputation, by single operators'
    long double memory, gather;    // gather: a pool's values again in the backward pass
    long double narrowing;         // inputs of 8-bit products, written and read again
    long double weightless;        // done along with `weight`, but gives no weight gradient
    long double overhead, overhead_back, launch;
    long double forward_factor, backward_factor; // of kernels in sequence over kernels alone
    long double step_factor; // of the kernels of a training step over the same kernels
    long double small;       // launches of the elementwise kernels
    // Of data and weight, those of a part's product that reads what all tensor ranks have.
    struct first_product {
        long double data, weight;
    } first[2]; // attention; feed-forward part, or head
};
// Replaces the time of products at one rate by their time by shape; false: these rates do not give
// it. slower: the share of the rates that is reached.
bool shaped_products(const struct price_audit *a, int run, int group,
                     const struct precision_costs *rates, struct piece piece, long double slower,
                     struct work *w);
// The same for the scores and the context of unfused attention, and the backward pass.
void unfused_products(const struct price_audit *a, int run, int group,
                      const struct precision_costs *rates, struct piece piece, struct work *w);
// What a block's recomputation leaves out: the product that nothing reads again; 0 where it does
// not stop.
long double unread_product_s(const struct price_audit *a, int run, int group, struct piece piece);
// Seconds of the keys' product, of the attention's output and of a gated layer's second one.
long double every_second_product_s(const struct price_audit *a, int run, int group,
                                   struct piece piece);
// Forward products by themselves: of queries, keys and values up from latents; of a feed-forward
// part, with its router and experts.
long double latents_up_s(const struct price_audit *a, int run, int group, long double tokens);
long double feed_forward_s(const struct price_audit *a, int run, int group, long double tokens);
long double judged_checkpoint_bytes(const struct price_audit *a, const struct layer_run *r,
                                    long double tokens);
// More time of full recomputation, where it starts from what is elsewhere.
struct computed judged_fetched_s(const struct price_audit *a, int run, int group, struct piece p,
                                 long double forward);

// Seconds for which something has the links inside nodes, and those between nodes.
struct on_links {
    long double inside, across;
};
void judged_hold(struct on_links *held, struct joint link, long double seconds);

struct talk {
    long double forward_s, backward_s, lost_s;
    struct on_links ahead, back; // by collectives of either pass, shown or hidden
    long double chunked_s; // in addition, in either pass: overlaps the products, chunk by chunk
    long double reduce_s, reduce_lost_s; // scatter and gather of a block's output
    long double keys_s;                  // gather of all context ranks' keys and values, if kept
    struct computed ffn;                 // of forward_s and routed_s, that of the feed-forward part
    long double routed_s, routed_back_s; // in addition: dispatch and combine of experts' tokens
    // In addition, in the backward pass beside the first product of such parts: its input comes
    // while the data's gradient is computed, that gradient goes while the weights' is.
    bool beside_first[2];
    long double comes_s, goes_s;
};
// Of a grid: with that over its third axis, and apart that of products' inputs' gradients.
struct grid_talk {
    struct talk pass; // its on_links without the third axis
    long double products_s, gather_s, gather_back_s, scatter_s;
    struct on_links gathered, gathered_back, scattered;
};
struct grid_talk grid_talk_of(const struct price_audit *a, int run, int group, struct piece slice);
long double gathered_matrices(const struct price_audit *a, int run); // values on one GPU
bool keeps_gathered_matrices(const struct price_audit *a, int run);
struct computed gathered_after_step(const struct price_audit *a, int run, int group);
struct talk talk_of(const struct price_audit *a, int run, int group, struct piece slice,
                    long double attention_s);
long double chunks_shown_s(const struct price_audit *a, int group, const struct talk *talk,
                           long double compute);
// What sharded weights and gradients add to a pass (section 7).
struct gathers {
    long double weights_s, gradients_s, lost_s;
    struct on_links weights, gradients;
};
struct gathers gathers_of(const struct price_audit *a, int run, int group);

struct work work_of(const struct price_audit *a, int run, int group, struct piece slice);
struct passes {
    long double forward_s, backward_s, weight_s, lost_s;
    struct on_links ahead; // in the forward pass, but for what is gathered beside it
    struct computed again[RECOMPUTE_COUNT]; // seconds
};
struct passes passes_of(const struct price_audit *a, int run, int group, int slice);

// A set of Megatron's modules (section 5): what it frees of one micro-batch, the most that one of
// them frees, and seconds of running them again.
struct judged_set {
    long double freed, most;
};
struct judged_set judged_set_bytes(const struct price_audit *a, int run, enum recompute set);
struct computed judged_set_s(const struct price_audit *a, int run, int group, struct piece p,
                             enum recompute set, const struct work *w, const struct talk *talk);
