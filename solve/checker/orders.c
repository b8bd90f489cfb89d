// The order of passes on each rank, for every schedule (docs/PROOFS.md 3). All but ZB-V have one
// shape: so many forwards ahead, then forward and backward in turn, weight gradients so many
// backwards behind. What differs is which pass the n-th forward or backward is.
#include "solve/checker/graph.h"

struct shape {
    int total; // forwards, and backwards
    int ahead, behind;
};

struct list {
    const struct check_problem *p;
    struct check_turn *turns;
    int count, most;
    bool overflows;
};

int check_turn_count(const struct check_problem *p)
{
    return (p->splits_backward ? 3 : 2) * p->turns * p->micro_batches * p->slices;
}

// Patterns that need more micro-batches than there are leave the surplus out.
static void put(struct list *l, enum check_pass pass, int micro_batch, int turn, int slice)
{
    if (micro_batch >= l->p->micro_batches) return;
    if (l->count == l->most) l->overflows = true;
    else l->turns[l->count++] = (struct check_turn){pass, micro_batch, turn, slice};
}

static struct shape shape_of(const struct check_problem *p, int rank)
{
    int m = p->micro_batches, behind_me = p->ranks - rank - 1,
        full = (m + p->ranks - 1) / p->ranks * p->ranks;
    switch (p->kind) {
    case ONE_F_ONE_B: return (struct shape){m, behind_me, 0};
    case ZB_H1: return (struct shape){m, behind_me, rank};
    case ZB_H2: return (struct shape){m, 2 * behind_me, 2 * rank};
    case INTERLEAVED:
        return (struct shape){full * p->turns, 2 * behind_me + (p->turns - 1) * p->ranks, 0};
    case LOOPED_BFS: return (struct shape){m * p->turns, m * p->turns, 0};
    case TOKEN_SLICED: return (struct shape){m * p->slices, m * p->slices, 0};
    default: return (struct shape){m, m, 0};
    }
}

static void put_nth(struct list *l, enum check_pass pass, int n)
{
    const struct check_problem *p = l->p;
    bool forth = pass == PASS_F;
    int last = p->turns - 1, round = p->ranks * p->turns;
    if (p->kind == INTERLEAVED) { // micro-batches in groups of as many as there are ranks, each
                                  // group turn by turn
        int turn = n % round / p->ranks;
        put(l, pass, n / round * p->ranks + n % p->ranks, forth ? turn : last - turn, 0);
    } else if (p->kind == LOOPED_BFS) {
        int turn = n / p->micro_batches;
        put(l, pass, n % p->micro_batches, forth ? turn : last - turn, 0);
    } else if (p->kind == TOKEN_SLICED) {
        int slice = n % p->slices;
        put(l, pass, n / p->slices, 0, forth ? slice : p->slices - 1 - slice);
    } else {
        put(l, pass, n, 0, 0);
    }
}

static void put_shape(struct list *l, int rank)
{
    const struct check_problem *p = l->p;
    struct shape s = shape_of(p, rank);
    int forwards = 0;
    while (forwards < s.ahead && forwards < s.total) put_nth(l, PASS_F, forwards++);
    for (int n = 0; n < s.total; n++) {
        if (forwards < s.total) put_nth(l, PASS_F, forwards++);
        put_nth(l, PASS_B, n);
        if (p->splits_backward && n >= s.behind) put_nth(l, PASS_W, n - s.behind);
    }
    for (int n = s.total > s.behind ? s.total - s.behind : 0; p->splits_backward && n < s.total;
         n++)
        put_nth(l, PASS_W, n);
}

// ---- ZB-V: turn 0 on the way down, turn 1 on the way back up

enum { DOWN, UP };

struct fold {
    struct list *l;
    int next[3][2];
}; // [pass][way]

static void go(struct fold *f, enum check_pass pass, int way)
{
    put(f->l, pass, f->next[pass][way]++, way, 0);
}

static void go_back(struct fold *f, int way)
{
    go(f, PASS_B, way);
    go(f, PASS_W, way);
}

static void put_fold(struct list *l, int rank)
{
    const struct check_problem *p = l->p;
    int to_end = p->ranks - rank, least = 2 * p->ranks - 1,
        m = p->micro_batches > least ? p->micro_batches : least;
    struct fold f = {.l = l};
    for (int i = 0; i < 2 * to_end - 1; i++) go(&f, PASS_F, DOWN);
    for (int i = 0; i < rank; i++) {
        go(&f, PASS_F, UP);
        go(&f, PASS_F, DOWN);
    }
    for (int i = 0; i < to_end; i++) {
        go(&f, PASS_F, UP);
        go_back(&f, UP);
    }
    while (f.next[PASS_F][UP] < m) {
        if (f.next[PASS_F][DOWN] < m) go(&f, PASS_F, DOWN);
        go_back(&f, DOWN);
        go(&f, PASS_F, UP);
        go_back(&f, UP);
    }
    for (int i = 0; i < rank; i++) {
        go(&f, PASS_B, DOWN);
        go(&f, PASS_B, UP);
    }
    for (int i = 0; i < to_end; i++) go_back(&f, DOWN);
    while (f.next[PASS_W][UP] < m) go(&f, PASS_W, UP);
    while (f.next[PASS_W][DOWN] < m) go(&f, PASS_W, DOWN);
}

enum status check_order_turns(const struct check_problem *p, int rank, struct check_turn *turns)
{
    struct list l = {.p = p, .turns = turns, .most = check_turn_count(p)};
    if (p->kind == ZB_V) put_fold(&l, rank);
    else put_shape(&l, rank);
    if (l.overflows || l.count != l.most)
        return check_refuse(&p->reader, "layout", "the schedule's order is not complete");
    return OK;
}
