// Shared by the files of the choices: the pricing of one choice, the rules on one stage, and when
// one choice makes another unnecessary.
#pragma once

#include "formulate/choices/choices.h"

// Where the choice's layers start. For a middle stage in the count form: one possible place, since
// its layers are all alike.
int choice_first_layer(const struct choices *c, int stage, const struct choice *choice);
int span_recomputable(const struct priced *p, int first_layer, int layer_count);
// The vocabulary's degree that a stage with the choice's layers may have after the choice's; -1:
// there is none. Whether it may have the choice's.
int choice_next_degree(const struct choices *c, int stage, const struct choice *x);
bool choice_may_have_degree(const struct choices *c, int stage, const struct choice *x);

// Sets prices, quality cost, cut and memory of the decision in *choice (docs/FORMULAS.md 7, 8 and
// 13).
void choice_evaluate(const struct choices *c, int stage, struct choice *choice);

// ---- swap.c

// Consecutive layers that are treated alike, in a stage that swaps.
struct swap_piece {
    const struct priced_run *run;
    enum recompute mode; // none or full
    bool swapped;
    int count;
};
// Adds to the choice's passes, each of one slice, and to its memory what the transfers of its
// swapped layers need (docs/FORMULAS.md 8, Swapping); what of them runs under other passes, if it
// may.
void choice_add_swaps(struct choice *x, bool across_passes, int64_t *forward_ns,
                      int64_t *backward_ns, const struct swap_piece *pieces, int count,
                      struct arena *scratch);
// Whether the stage may have these numbers of swapped and recomputed layers.
bool choice_may_swap(const struct choices *c, int stage, const struct choice *x);

int choice_broken_rule(const struct choices *c, int stage,
                       const struct choice *choice); // index of the first one, or -1
// A lower bound of the bytes over the limit, whatever the rank's other stages do. <= 0: the choice
// may fit, and does fit if the stage is the rank's only one.
int64_t choice_excess_bytes(const struct choices *c, int stage, const struct choice *choice);
// The same without working memory, of this choice or of any other.
int64_t choice_resident_excess_bytes(const struct choices *c, int stage,
                                     const struct choice *choice);
// Whether the stage sends a gradient to the previous stage, so that its compression is a choice.
bool choice_sends_backward(const struct choices *c, int stage);
// An upper bound of the layers that the stages of a rank with several can hold together, on any
// group; -1: no group can hold the rank.
int choices_rank_most_layers(const struct choices *c, int rank, struct arena *scratch);
// Sets c->peaks and c->least, if ranks have several stages.
void choices_prepare_ranks(struct choices *c);
// Whether no plan gets worse when `other` is replaced by `choice`.
bool choice_dominates(const struct choices *c, const struct choice *choice,
                      const struct choice *other);
// The choice of the stage that is equal to x or better; -1: none is left.
int choice_find(const struct choices *c, int stage, const struct choice *x);

// Bytes that a stage holds all the time, without the constant.
static inline int64_t resident_bytes(const struct memory_parts *m)
{
    return m->weight_bytes + m->gradient_bytes + m->optimizer_bytes + m->buffer_bytes +
           m->feedback_bytes;
}
