// The checker's table of schedules: properties, and the order of passes on each rank
// (docs/PROOFS.md 3).
#include "solve/checker/read/orders.h"

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

// Patterns that need more micro-batches than there are skip the surplus.
static void put(struct list *l, enum check_pass pass, int micro_batch, int turn, int slice)
{
    if (micro_batch >= l->p->micro_batches) return;
    if (l->count == l->most) l->overflows = true;
    else l->turns[l->count++] = (struct check_turn){pass, micro_batch, turn, slice};
}

// ---- schedules of one shape: a number of forwards, then forward and backward in turn, then the
// remaining backwards; weight gradients follow a number of backwards later

// Micro-batches that pass the rank's turns together: all of them, or as few as there are ranks, or
// as few more as make all groups equal.
static int group_of(const struct check_problem *p)
{
    int group = p->micro_batches;
    if (!check_schedules[p->kind].in_groups) return group;
    if (group < p->ranks) return p->ranks;
    for (int groups = p->micro_batches / p->ranks; groups > 1; groups--)
        if (p->micro_batches % groups == 0) return p->micro_batches / groups;
    return group;
}

// The n-th forward or backward: slice by slice, then turn by turn for a group of micro-batches. A
// backward's turns and slices are in reverse order.
static void put_nth(struct list *l, int group, enum check_pass pass, int n)
{
    const struct check_problem *p = l->p;
    int slice = n % p->slices, at = n / p->slices, turn = at / group % p->turns,
        micro_batch = at / group / p->turns * group + at % group;
    if (pass == PASS_F) put(l, pass, micro_batch, turn, slice);
    else put(l, pass, micro_batch, p->turns - 1 - turn, p->slices - 1 - slice);
}

// From the last stage to the first: one there, and nowhere fewer than behind it.
bool check_is_executable(const struct check_layout *l, int stages)
{
    int behind = 1;
    if (stages > MOST_LISTED || l->in_flight[stages - 1] != 1) return false;
    for (int stage = stages - 1; stage >= 0; behind = l->in_flight[stage--])
        if (l->in_flight[stage] < behind) return false;
    for (int stage = stages; stage < MOST_LISTED; stage++)
        if (l->in_flight[stage]) return false;
    return true;
}

int check_own_in_flight(int stages, int stage, int micro_batches)
{
    return stages - stage > micro_batches ? micro_batches : stages - stage;
}

static void put_shape(struct list *l, int rank)
{
    const struct check_problem *p = l->p;
    const struct check_schedule *s = &check_schedules[p->kind];
    int to_go = 0; // ranks behind it, one after another, that messages go to
    while (rank + to_go < p->ranks - 1 && check_sends_forward(p, rank + to_go)) to_go++;
    int group = group_of(p), together = s->in_groups ? group : p->ranks,
        total = (p->micro_batches + group - 1) / group * group * p->turns * p->slices,
        ahead = s->holds_all ? total : s->lead * to_go + (p->turns - 1) * together,
        behind = s->lag * rank, forwards = 0, left = ahead < total ? total - 1 - ahead : 0;
    if (p->layout.in_flight[0]) ahead = p->layout.in_flight[rank] - 1;
    if (s->catches_up && behind > left) behind = left;
    while (forwards < ahead && forwards < total) put_nth(l, group, PASS_F, forwards++);
    for (int n = 0; n < total; n++) {
        if (forwards < total) put_nth(l, group, PASS_F, forwards++);
        put_nth(l, group, PASS_B, n);
        if (p->splits_backward && n >= behind) put_nth(l, group, PASS_W, n - behind);
    }
    for (int n = total > behind ? total - behind : 0; p->splits_backward && n < total; n++)
        put_nth(l, group, PASS_W, n);
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

static void put_zb_v(struct list *l, int rank)
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

// ---- V-Half and V-Min: a micro-batch's passes follow each other from stage to stage, each a
// fixed number of slots after the previous one; the next micro-batch's are six slots later

enum { FREE = -1, SLOTS = 6 };

struct pattern {
    const struct check_problem *p;
    int rank, slot[3][2]; // [pass][way], of the first micro-batch on this rank
};

static void note(struct pattern *x, enum check_pass pass, int stage, int slot)
{
    if (check_rank_of(x->p, stage) == x->rank) x->slot[pass][stage / x->p->ranks] = slot;
}

// `step` slots between stages on the forward's way down and the backward's way up, otherwise one;
// `gap` between the loss and the way back.
static void follow(struct pattern *x, int step, int gap)
{
    int slot = 0, p = x->p->ranks, last = 2 * p - 1;
    for (int stage = 0; stage <= last; stage++) {
        note(x, PASS_F, stage, slot);
        slot += stage < p - 1 ? step : 1;
    }
    slot += gap;
    for (int stage = last; stage >= 0; stage--) {
        note(x, PASS_B, stage, slot);
        slot += stage >= p ? step : 1;
    }
}

// Weight gradients wait in a queue; each free slot takes the first one. Repeating slots are
// simulated until the initial state no longer matters.
static void queue_weights(struct pattern *x)
{
    int made[SLOTS] = {FREE, FREE, FREE, FREE, FREE, FREE}, queue[2 * SLOTS], since[2 * SLOTS],
        head = 0, tail = 0;
    bool busy[SLOTS] = {false};
    for (int way = DOWN; way <= UP; way++) {
        busy[x->slot[PASS_F][way] % SLOTS] = busy[x->slot[PASS_B][way] % SLOTS] = true;
        made[x->slot[PASS_B][way] % SLOTS] = way;
    }
    for (int slot = 0; slot < 4 * SLOTS; slot++) {
        int way = made[slot % SLOTS];
        if (way != FREE) queue[tail] = way, since[tail++] = slot;
        if (busy[slot % SLOTS] || head == tail) continue;
        x->slot[PASS_W][queue[head]] = x->slot[PASS_B][queue[head]] + slot - since[head];
        head++;
    }
}

// Round by round of six slots: which pass has a slot, and the micro-batch due in it.
static void put_pattern(struct list *l, int rank, int step, int gap)
{
    struct pattern x = {.p = l->p, .rank = rank};
    follow(&x, step, gap);
    queue_weights(&x);
    for (int round = 0; l->count < l->most; round++)
        for (int slot = 0; slot < SLOTS; slot++)
            for (int k = 0; k < 6; k++) {
                int own = x.slot[k / 2][k % 2], micro_batch = round - own / SLOTS;
                if (own % SLOTS == slot && micro_batch >= 0)
                    put(l, (enum check_pass)(k / 2), micro_batch, k % 2, 0);
            }
}

static void put_v_half(struct list *l, int rank)
{
    put_pattern(l, rank, 2, l->p->ranks % 2 == 0 ? 3 : 0);
}

static void put_v_min(struct list *l, int rank)
{
    put_pattern(l, rank, 1, l->p->ranks % 3 == 0 ? 2 : 0);
}

// ---- the table; a space with every schedule lists them in this order

#define SCHEDULES(ROW)                                                                             \
    ROW("gpipe", put_shape, .turns = 1, .holds_all = true, .in_torchtitan = true,                  \
        .fewer = PART_OF_MORE)                                                                     \
    ROW("1f1b", put_shape, .turns = 1, .lead = 1, .in_megatron = true, .in_torchtitan = true,      \
        .in_deepspeed = true, .fewer = PART_OF_MORE)                                               \
    ROW("interleaved", put_shape, .turns = 0, .lead = 2, .in_groups = true, .in_megatron = true,   \
        .in_torchtitan = true, .fewer = PART_OF_MORE_UNBLOCKED)                                    \
    ROW("zb-h1", put_shape, .turns = 1, .lead = 1, .lag = 1, .splits_backward = true,              \
        .fewer = PART_OF_MORE_UNBLOCKED)                                                           \
    ROW("zb-h2", put_shape, .turns = 1, .lead = 2, .lag = 2, .catches_up = true,                   \
        .splits_backward = true, .fewer = PART_OF_MORE_NEVER)                                      \
    ROW("zb-v", put_zb_v, .turns = 2, .folds = true, .splits_backward = true,                      \
        .in_torchtitan = true, .fewer = PART_OF_MORE_NEVER)                                        \
    ROW("looped-bfs", put_shape, .turns = 0, .holds_all = true, .layered = true,                   \
        .in_torchtitan = true, .fewer = PART_OF_MORE_UNBLOCKED)                                    \
    ROW("token-sliced", put_shape, .turns = 1, .slices = true, .holds_all = true,                  \
        .fewer = PART_OF_MORE)                                                                     \
    ROW("v-half", put_v_half, .turns = 2, .folds = true, .splits_backward = true,                  \
        .fewer = PART_OF_MORE_UNBLOCKED)                                                           \
    ROW("v-min", put_v_min, .turns = 2, .folds = true, .splits_backward = true,                    \
        .fewer = PART_OF_MORE_UNBLOCKED)

#define NAME(name, order, ...) name,
#define ORDER(name, order, ...) order,
#define PROPERTIES(name, order, ...) {__VA_ARGS__},
const char *const check_schedule_names[] = {SCHEDULES(NAME) NULL};
const struct check_schedule check_schedules[] = {SCHEDULES(PROPERTIES)};
static void (*const orders[])(struct list *l, int rank) = {SCHEDULES(ORDER)};
const int check_schedule_count = sizeof orders / sizeof *orders, check_schedule_default = 1; // 1f1b

enum status check_order_turns(const struct check_problem *p, int rank, struct check_turn *turns)
{
    struct list l = {.p = p, .turns = turns, .most = check_turn_count(p)};
    orders[p->kind](&l, rank);
    if (l.overflows || l.count != l.most)
        return check_refuse(&p->reader, "layout", "the schedule's order is not complete");
    return OK;
}
