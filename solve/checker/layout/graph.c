// See graph.h. A message is up to five operations in series: overhead at its sender, a part that
// blocks both ends' compute, a part that occupies the link from rank to rank, a pure delay, and
// overhead at its receiver. The last gradients are followed by syncs, embedding sync and
// optimizer.
#include "solve/checker/layout/graph.h"

#define SEND_NAMES(name) name ".blocking", name ".link", name ".delay", name ".overhead"
const char *const check_kind_names[] = {"forward",
                                        "backward",
                                        "weight",
                                        "sync",
                                        "optimizer",
                                        SEND_NAMES("send_forward"),
                                        SEND_NAMES("send_backward"),
                                        SEND_NAMES("send_epilogue"),
                                        "embedding_sync",
                                        "queued_sync",
                                        "away",
                                        "back",
                                        NULL};

struct edge {
    int before, after;
}; // after: its complement, if the dependence is on the previous iteration
// Edges are kept in blocks, so that growing never copies them.
enum { EDGES_OF_BLOCK = 8000 };
struct edges {
    struct edge items[EDGES_OF_BLOCK];
    int count;
    struct edges *older;
};

struct build {
    struct check_graph *g;
    const struct check_problem *p;
    struct check_streams streams;
    int turn_count;
    struct edges *edges; // the newest block
    int edge_count;
    struct arena *arena;
};

static void join(struct build *b, int before, int after, int lap)
{
    if (!b->edges || b->edges->count == EDGES_OF_BLOCK) {
        struct edges *block = TAKE(b->arena, 1, struct edges);
        block->older = b->edges;
        b->edges = block;
    }
    b->edges->items[b->edges->count++] = (struct edge){before, lap ? ~after : after};
    b->edge_count++;
}

int check_symbol_of(const struct check_graph *g, int operation)
{
    int kind = 0;
    while (operation >= g->offset[kind + 1]) kind++;
    int rest = operation - g->offset[kind];
    return check_symbol(g->p, kind, rest / g->slices[kind] / g->micro_batches[kind],
                        rest % g->slices[kind]);
}

// ---- turns

int check_turn_operation(const struct check_graph *g, int rank, const struct check_turn *t)
{
    static const int kinds[] = {KIND_FORWARD, KIND_BACKWARD, KIND_WEIGHT};
    return check_operation(g, kinds[t->pass], check_stage_of(g->p, rank, t->turn), t->micro_batch,
                           t->slice);
}

int check_boundary_in(const struct check_problem *p, int rank, const struct check_turn *t)
{
    int stage = check_stage_of(p, rank, t->turn);
    if (t->pass == PASS_F) return check_sends_forward(p, stage - 1) ? stage - 1 : -1;
    return t->pass == PASS_B && check_sends_backward(p, stage) ? stage : -1;
}

int check_boundary_out(const struct check_problem *p, int rank, const struct check_turn *t)
{
    int stage = check_stage_of(p, rank, t->turn);
    if (t->pass == PASS_F) return check_sends_forward(p, stage) ? stage : -1;
    return t->pass == PASS_B && check_sends_backward(p, stage - 1) ? stage - 1 : -1;
}

int check_message_part(const struct check_graph *g, const struct check_turn *t, int boundary,
                       int part, int half)
{
    int kind = t->pass == PASS_F ? KIND_SEND_FORWARD : KIND_SEND_BACKWARD;
    if (kind == KIND_SEND_BACKWARD && t->slice == 0 && g->epilogue &&
        g->exists[check_operation(g, KIND_SEND_EPILOGUE + part, boundary, t->micro_batch, 0)])
        kind = KIND_SEND_EPILOGUE;
    return check_operation(g, kind + part, boundary, half + t->micro_batch, t->slice);
}

static enum status order_turns(struct build *b)
{
    struct check_streams *x = &b->streams;
    // a turn, the blocking parts and overheads of its two messages, and the optimizers
    int of_turn = 1 + 2 * b->g->parts[PART_BLOCKS] + 2 * b->g->parts[PART_WORKS],
        capacity = of_turn * b->turn_count + b->p->turns;
    x->turns = TAKE(b->arena, b->p->ranks, struct check_turn *);
    x->stream = TAKE(b->arena, b->p->ranks, int *);
    x->length = TAKE(b->arena, b->p->ranks, int);
    for (int rank = 0; rank < b->p->ranks; rank++) {
        x->turns[rank] = TAKE(b->arena, b->turn_count, struct check_turn);
        x->stream[rank] = TAKE(b->arena, capacity, int);
        TRY(check_order_turns(b->p, rank, x->turns[rank]));
        for (int i = 0; i < b->turn_count; i++) {
            int operation = check_turn_operation(b->g, rank, &x->turns[rank][i]);
            if (b->g->exists[operation])
                return check_refuse(&b->p->reader, "layout",
                                    "a pass appears twice in the schedule's order");
            b->g->exists[operation] = true;
        }
    }
    return OK;
}

// ---- messages

// The number of receives, in the order of the receiving stage, after which a boundary's backward
// messages belong to the drain.
static int first_of_drain(const struct check_problem *p, int boundary)
{
    return p->micro_batches - (p->ranks - boundary % p->ranks);
}

// If two neighbours of the series are in one compute stream, that stream alone orders them.
static void send(struct build *b, int rank, const struct check_turn *t, int boundary, int kind)
{
    enum { SENDER = 1, RECEIVER = 2 };
    static const struct {
        int part, streams;
    } series[] = {{PART_WORKS, SENDER},
                  {PART_BLOCKS, SENDER | RECEIVER},
                  {PART_LINKS, 0},
                  {PART_DELAYS, 0},
                  {PART_WORKS, RECEIVER}};
    struct check_graph *g = b->g;
    int stage = check_stage_of(b->p, rank, t->turn),
        sender = t->pass == PASS_F ? stage - 1 : stage + 1, streams = SENDER,
        before = check_operation(g, t->pass == PASS_F ? KIND_FORWARD : KIND_BACKWARD, sender,
                                 t->micro_batch, t->slice);
    for (int i = 0; i < 5; i++) {
        if (!g->parts[series[i].part]) continue;
        int half = series[i].part == PART_WORKS && series[i].streams == RECEIVER
                       ? b->p->micro_batches
                       : 0,
            operation = check_operation(g, kind + series[i].part, boundary, half + t->micro_batch,
                                        t->slice);
        g->exists[operation] = true;
        if (!(streams & series[i].streams)) join(b, before, operation, 0);
        before = operation;
        streams = series[i].streams;
    }
    if (!(streams & RECEIVER)) join(b, before, check_turn_operation(g, rank, t), 0);
}

static void send_messages(struct build *b)
{
    for (int rank = 0; rank < b->p->ranks; rank++) {
        int received[MOST_STAGES] = {0};
        for (int i = 0; i < b->turn_count; i++) {
            const struct check_turn *t = &b->streams.turns[rank][i];
            int boundary = check_boundary_in(b->p, rank, t), kind = KIND_SEND_FORWARD;
            if (boundary < 0) continue;
            if (t->pass == PASS_B) {
                bool drains = b->g->epilogue && t->slice == 0 &&
                              received[boundary] >= first_of_drain(b->p, boundary);
                received[boundary] += t->slice == 0;
                kind = drains ? KIND_SEND_EPILOGUE : KIND_SEND_BACKWARD;
            }
            send(b, rank, t, boundary, kind);
        }
    }
}

// Each stage has room for one micro-batch of what goes away and for one of what comes back: the
// pass that fills the first waits until the one before has left, the second is free once it was
// used. Nothing comes back before all of it is away.
static void swap_across(struct build *b)
{
    struct check_graph *g = b->g;
    for (int stage = 0; stage < b->p->stages && b->p->across; stage++) {
        int gone = -1, used = -1;
        for (int i = 0; i < b->turn_count; i++) {
            const struct check_turn *t = &b->streams.turns[stage][i];
            int pass = check_turn_operation(g, stage, t),
                away = check_operation(g, KIND_AWAY, stage, t->micro_batch, 0),
                back = check_operation(g, KIND_BACK, stage, t->micro_batch, 0);
            if (t->pass == PASS_F) {
                g->exists[away] = true;
                join(b, pass, away, 0);
                if (gone >= 0) join(b, gone, pass, 0);
                gone = away;
            } else {
                g->exists[back] = true;
                join(b, away, back, 0);
                join(b, back, pass, 0);
                if (used >= 0) join(b, used, back, 0);
                used = pass;
            }
        }
    }
}

// Messages from one rank to another share a link, in the order of the turns that send them.
static void order_links(struct build *b)
{
    const struct check_problem *p = b->p;
    int *first = TAKE(b->arena, p->ranks, int), *last = TAKE(b->arena, p->ranks, int);
    for (int rank = 0; rank < p->ranks; rank++) {
        for (int to = 0; to < p->ranks; to++) first[to] = -1;
        for (int i = 0; i < b->turn_count; i++) {
            const struct check_turn *t = &b->streams.turns[rank][i];
            int boundary = check_boundary_out(p, rank, t);
            if (boundary < 0) continue;
            int to = check_rank_of(p, t->pass == PASS_F ? boundary + 1 : boundary),
                operation = check_message_part(b->g, t, boundary, PART_LINKS, 0);
            if (first[to] < 0) first[to] = operation;
            else join(b, last[to], operation, 0);
            last[to] = operation;
        }
        for (int to = 0; to < p->ranks && !p->barrier; to++)
            if (first[to] >= 0) join(b, last[to], first[to], 1);
    }
}

// ---- the end of the iteration

struct ending {
    int last_gradient[MOST_STAGES]; // index in its rank's turns
    int after[MOST_STAGES];         // what the stage's next step waits for
    int turns[MOST_STAGES];         // of a rank, sorted by their last gradients
    int queued[MOST_STAGES];        // [stage]: what else to wait for, its queued sync; -1: nothing
    int last_sync[MOST_STAGES];     // [rank]: the stage whose sync is its last
    int embedding;                  // -1: none
};

static void find_gradients(struct build *b, struct ending *e)
{
    for (int rank = 0; rank < b->p->ranks; rank++) {
        const struct check_turn *turns = b->streams.turns[rank];
        for (int i = 0; i < b->turn_count; i++)
            if (turns[i].pass != PASS_F)
                e->last_gradient[check_stage_of(b->p, rank, turns[i].turn)] = i;
        for (int k = 0; k < b->p->turns; k++) {
            int stage = check_stage_of(b->p, rank, k),
                last = b->p->overlapped ? e->last_gradient[stage] : b->turn_count - 1;
            e->after[stage] = check_turn_operation(b->g, rank, &turns[last]);
        }
    }
}

static void sort_stages(struct build *b, struct ending *e, int rank)
{
    for (int k = 0; k < b->p->turns; k++) {
        int stage = check_stage_of(b->p, rank, k), at = k;
        while (at > 0 && e->last_gradient[e->turns[at - 1]] > e->last_gradient[stage]) at--;
        for (int i = k; i > at; i--) e->turns[i] = e->turns[i - 1];
        e->turns[at] = stage;
    }
}

// Whatever comes after a stage's ending waits for both ways in which its sync may be the last.
static void join_ending(struct build *b, const struct ending *e, int stage, int after, int lap)
{
    join(b, e->after[stage], after, lap);
    if (e->queued[stage] >= 0) join(b, e->queued[stage], after, lap);
}

// The rank's syncs share one stream: an overlapped one also ends no earlier than its full time
// after the one before it.
static void queue_sync(struct build *b, struct ending *e, int stage, int before)
{
    int queued = check_operation(b->g, KIND_QUEUED_SYNC, stage, 0, 0);
    b->g->exists[queued] = true;
    join_ending(b, e, before, queued, 0);
    e->queued[stage] = queued;
}

static void end_with_syncs(struct build *b, struct ending *e)
{
    for (int stage = 0; stage < b->p->stages; stage++) e->queued[stage] = -1;
    for (int rank = 0; rank < b->p->ranks && b->g->sync; rank++) {
        sort_stages(b, e, rank);
        for (int k = 0; k < b->p->turns; k++) {
            int stage = e->turns[k], sync = check_operation(b->g, KIND_SYNC, stage, 0, 0);
            b->g->exists[sync] = true;
            join(b, e->after[stage], sync, 0);
            if (k > 0 && b->p->overlapped) queue_sync(b, e, stage, e->turns[k - 1]);
            else if (k > 0) join(b, e->after[e->turns[k - 1]], sync, 0);
            e->after[stage] = sync;
        }
        e->last_sync[rank] = e->turns[b->p->turns - 1];
    }
    e->embedding = -1;
    if (!b->p->embedding) return;
    int last = b->p->stages - 1;
    e->embedding = check_operation(b->g, KIND_EMBEDDING_SYNC, 0, 0, 0);
    b->g->exists[e->embedding] = true;
    join_ending(b, e, 0, e->embedding, 0);
    join_ending(b, e, last, e->embedding, 0);
    e->after[0] = e->after[last] = e->embedding;
    e->queued[0] = e->queued[last] = -1;
}

static void end_with_optimizers(struct build *b, struct ending *e)
{
    for (int rank = 0; rank < b->p->ranks && b->g->optimizer; rank++) {
        sort_stages(b, e, rank);
        for (int k = 0; k < b->p->turns; k++) {
            int stage = e->turns[k], optimizer = check_operation(b->g, KIND_OPTIMIZER, stage, 0, 0);
            b->g->exists[optimizer] = true;
            if (b->g->sync || e->after[stage] == e->embedding)
                join_ending(b, e, stage, optimizer, 0);
            b->streams.stream[rank][b->streams.length[rank]++] = optimizer;
        }
    }
}

// Without a barrier a rank starts its next iteration when it has finished this one.
static void carry_over(struct build *b, const struct ending *e)
{
    int last_rank = check_rank_of(b->p, b->p->stages - 1);
    for (int rank = 0; rank < b->p->ranks; rank++) {
        const int *stream = b->streams.stream[rank];
        join(b, stream[b->streams.length[rank] - 1], stream[0], 1);
        if (b->g->optimizer) continue; // the optimizer waited for the syncs
        if (b->g->sync)
            join(b, check_operation(b->g, KIND_SYNC, e->last_sync[rank], 0, 0), stream[0], 1);
        if (check_has_kind(b->g, KIND_QUEUED_SYNC))
            join(b, check_operation(b->g, KIND_QUEUED_SYNC, e->last_sync[rank], 0, 0), stream[0],
                 1);
        if (e->embedding >= 0 && (rank == 0 || rank == last_rank))
            join(b, e->embedding, stream[0], 1);
    }
}

static void end_iteration(struct build *b)
{
    struct ending *e = TAKE(b->arena, 1, struct ending);
    find_gradients(b, e);
    end_with_syncs(b, e);
    end_with_optimizers(b, e);
    for (int rank = 0; rank < b->p->ranks; rank++)
        for (int i = 1; i < b->streams.length[rank]; i++)
            join(b, b->streams.stream[rank][i - 1], b->streams.stream[rank][i], 0);
    if (!b->p->barrier) carry_over(b, e);
}

// ---- successors

// Those of the same iteration first, each sorted by number. They are few, so insertion sort
// suffices.
static bool goes_before(int one, int other)
{
    return (one < 0) != (other < 0) ? one >= 0 : one < 0 ? ~one < ~other : one < other;
}

static void sort_successors(int *next, int count)
{
    for (int i = 1; i < count; i++) {
        int successor = next[i], at = i;
        for (; at > 0 && goes_before(successor, next[at - 1]); at--) next[at] = next[at - 1];
        next[at] = successor;
    }
}

// The successors of each operation, stored contiguously: next[first[i]] .. next[first[i + 1] - 1].
static void place_edges(struct build *b)
{
    struct check_graph *g = b->g;
    int count = g->offset[KINDS];
    g->first = TAKE(b->arena, count + 2, int);
    g->next = TAKE(b->arena, b->edge_count, int);
    for (struct edges *block = b->edges; block; block = block->older)
        for (int i = 0; i < block->count; i++) g->first[block->items[i].before + 2]++;
    for (int i = 2; i <= count; i++) g->first[i + 1] += g->first[i];
    for (struct edges *block = b->edges; block; block = block->older)
        for (int i = 0; i < block->count; i++)
            g->next[g->first[block->items[i].before + 1]++] = block->items[i].after;
}

static void list_successors(struct build *b)
{
    struct check_graph *g = b->g;
    int kept = 0;
    place_edges(b);
    g->lap = TAKE(b->arena, b->edge_count, unsigned char);
    for (int i = 0; i < g->offset[KINDS]; i++) {
        int first = g->first[i], end = g->first[i + 1];
        sort_successors(g->next + first, end - first);
        g->first[i] = kept;
        for (int k = first, before = 0; k < end; before = g->next[k++]) {
            if (k > first && g->next[k] == before) continue;
            g->lap[kept] = g->next[k] < 0;
            g->next[kept++] = g->next[k];
        }
    }
    g->first[g->offset[KINDS]] = kept;
    for (int i = 0; i < kept; i++)
        if (g->lap[i]) g->next[i] = ~g->next[i];
}

static enum status order_operations(struct build *b)
{
    struct check_graph *g = b->g;
    int count = g->offset[KINDS], placed = 0, *waits = TAKE(b->arena, count, int);
    for (int i = 0; i < g->first[count]; i++) waits[g->next[i]] += !g->lap[i];
    g->order = TAKE(b->arena, count, int);
    for (int i = 0; i < count; i++) {
        g->operation_count += g->exists[i];
        if (g->exists[i] && !waits[i]) g->order[placed++] = i;
    }
    for (int done = 0; done < placed; done++)
        for (int k = g->first[g->order[done]]; k < g->first[g->order[done] + 1]; k++)
            if (!g->lap[k] && --waits[g->next[k]] == 0) g->order[placed++] = g->next[k];
    return placed == g->operation_count
               ? OK
               : check_refuse(&b->p->reader, "layout", "the schedule deadlocks");
}

enum status check_build_graph(struct check_graph *g, const struct check_problem *p,
                              struct arena *arena)
{
    struct build b = {
        .g = g, .p = p, .streams = {.g = g}, .turn_count = check_turn_count(p), .arena = arena};
    int64_t comparisons = 0;
    *g = (struct check_graph){.p = p};
    TRY(check_number_operations(g));
    g->exists = TAKE(arena, g->offset[KINDS] + 1, bool);
    g->peaks = TAKE(arena, p->ranks, struct check_peaks);
    TRY(order_turns(&b));
    for (int rank = 0; rank < p->ranks; rank++)
        TRY(check_find_peaks(g, rank, b.streams.turns[rank], &comparisons, arena));
    send_messages(&b);
    swap_across(&b);
    TRY(check_weave_streams(&b.streams, arena));
    if (g->parts[PART_LINKS]) order_links(&b);
    end_iteration(&b);
    list_successors(&b);
    return order_operations(&b);
}
