// What the files of the choices share: pricing one choice, the rules on one stage, and when one
// choice makes another needless.
#ifndef PLUMBLINE_FORMULATE_CHOICES_CHOICE_H
#define PLUMBLINE_FORMULATE_CHOICES_CHOICE_H

#include "formulate/choices/choices.h"

// Where the choice's layers start. For a middle stage in the count form: one possible place; its
// layers are all alike.
int choice_first_layer(const struct choices *c, int stage, const struct choice *choice);
int span_recomputable(const struct priced *p, int first_layer, int layer_count);

// Fills in prices, quality cost, cut and memory of the decision that stands in *choice
// (docs/FORMULAS.md 7, 8 and 13).
void choice_evaluate(const struct choices *c, int stage, struct choice *choice);

// ---- swap.c

// Like layers that follow each other in a stage that swaps.
struct swap_piece {
    const struct priced_run *run;
    enum recompute mode; // none or full
    bool swapped;
    int count;
};
// Adds to the choice's passes, which are one slice's, and memory what the transfers of its swapped
// layers do (docs/FORMULAS.md 8, Swapping).
void choice_add_swaps(struct choice *x, int64_t *forward_ns, int64_t *backward_ns,
                      const struct swap_piece *pieces, int count, struct arena *scratch);
// Whether the numbers of its swapped and recomputed layers are ones that the stage may have.
bool choice_may_swap(const struct choices *c, int stage, const struct choice *x);

int choice_broken_rule(const struct choices *c, int stage,
                       const struct choice *choice); // index of the first, or -1
// Bytes over the limit at least, whatever the rank's other stages do; <= 0: it may fit, and does
// where it is the only one.
int64_t choice_excess_bytes(const struct choices *c, int stage, const struct choice *choice);
// The same without working memory, of this choice or any other.
int64_t choice_resident_excess_bytes(const struct choices *c, int stage,
                                     const struct choice *choice);
// Whether the stage sends a gradient to the stage before it, so that its compression is a choice.
bool choice_sends_backward(const struct choices *c, int stage);
// The most layers that the stages of a rank with several can hold together, on any group: a bound;
// -1: no group holds it.
int choices_rank_most_layers(const struct choices *c, int rank, struct arena *scratch);
// Fills in c->peaks and c->least, where ranks have several stages.
void choices_prepare_ranks(struct choices *c);
// Whether no plan gets worse when `other` is replaced by `choice`.
bool choice_dominates(const struct choices *c, const struct choice *choice,
                      const struct choice *other);
// The choice of the stage that does the same as x or better; -1: none is left.
int choice_find(const struct choices *c, int stage, const struct choice *x);

#endif
