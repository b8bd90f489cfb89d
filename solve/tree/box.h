// A box of the tree: which choices are still allowed in every stage, and the bound that it
// inherits. Splitting a box at a level of a stage's load splits the stage's allowed choices in two;
// so does every other branching.
//
// Records are what the tree proves: they are kept in full, can be evaluated a second time
// (recheck.c), and certificates are written from them.
#ifndef PLUMBLINE_SOLVE_TREE_BOX_H
#define PLUMBLINE_SOLVE_TREE_BOX_H

#include "solve/tree/bound.h"
#include "solve/tree/lp.h"
#include "solve/process/message.h"
#include "solve/tree/program.h"

// The margin with which a dynamic programme that rounds slightly differently proves the same: 2^-4
// ns.
enum { AMPLE_BITS = BOUND_FRACTION_BITS - 4 };

struct box {
    int64_t number;   // 0: the root; a child's is larger than its parent's
    int64_t bound_ns; // exact
    bool ample;       // before rounding up it was above bound_ns - 1 by more than 2^-4 ns
    int depth;
    uint64_t *allowed; // one bit for each choice number
    struct multipliers
        proof; // of bound_ns in this box or an enclosing one; count 0: the bound is the root's
    struct lp_basis basis;
};

static inline int box_words(const struct program *p) { return (p->choice_count + 63) / 64; }
static inline bool box_allows(const struct box *b, int choice)
{
    return b->allowed[choice / 64] >> (choice % 64) & 1;
}
static inline void box_forbid(struct box *b, int choice)
{
    b->allowed[choice / 64] &= ~((uint64_t)1 << (choice % 64));
}
int box_allowed_count(const struct box *b, const struct program *p, int stage);
void box_whole(struct box *b, const struct program *p, struct arena *arena);
void box_copy(struct box *to, const struct box *from, const struct program *p, struct arena *arena);
// One: a single decision is left, in chosen[]. Zero: no stage is without a choice, and there is
// more than one decision. -1: a stage has no choice.
int box_single(const struct box *b, const struct program *p, int *chosen);
// Sets closed[column] of the program for this box; all other columns false.
void box_close_columns(const struct box *b, const struct program *p, bool *closed);

// A split: some of the stage's choices against the others.
struct split {
    int stage;
    bool by_load;
    int64_t load_ns;
    int choice;
}; // first part: load below load_ns; or this one choice
void split_apply(struct box *first, struct box *second, const struct box *of, const struct split *s,
                 const struct program *p, struct arena *arena);
// Without using a relaxation: the stage with the most choices left, halved by load or by one
// choice.
bool split_blindly(struct split *s, const struct box *b, const struct program *p);

enum record_kind {
    RECORD_CLOSED,  // bound_ns by the multipliers in the box `allowed`
    RECORD_EMPTY,   // a stage has no choice left
    RECORD_LEAF,    // one decision with exact time bound_ns (program's hopeless_ns: it does not fit
                    // together)
    RECORD_REMOVED, // by the multipliers, no plan of this box better than target_ns has a choice in
                    // `removed`
    RECORD_SPLIT,   // into the boxes first and first + 1
};

struct record {
    enum record_kind kind;
    int64_t box;
    int64_t bound_ns, target_ns;
    bool ample;
    int64_t first;
    uint64_t *allowed, *removed;
    struct multipliers proof;
    struct split split;
};

struct record_list {
    struct record *items;
    int count, capacity;
};
struct record *record_add(struct record_list *list, enum record_kind kind, const struct box *b,
                          const struct program *p, struct arena *arena);

void box_put(struct message *m, const struct box *b, const struct program *p);
void box_get(struct box *b, struct message *m, const struct program *p, struct arena *arena);
void record_put(struct message *m, const struct record *r, const struct program *p);
void record_get(struct record *r, struct message *m, const struct program *p, struct arena *arena);

#endif
