// The order of a rank's work: its turns, right before and after them the overheads of the messages
// they use and send, and between them the transfers that block both ends. Each rank is between two
// turns: what the first one sends should follow at once, and what the next one receives must come
// before it. Both are posted, the send first; of a pair that two neighbours exchange, the forward
// message first. A transfer happens when it is first at both its ends. If all ranks wait, the
// first transfer that both ends have posted happens, otherwise the first rank's send.
#include "solve/checker/layout/graph.h"

struct post {
    int operation, peer;
}; // operation -1: none

struct stand {
    int next; // turn
    struct post send, receive;
    bool receives_first;
};

struct weave {
    struct check_streams *x;
    struct stand *stands; // [rank]
    bool *done;           // [operation]
    int turn_count;
};

static struct post post_of(const struct weave *w, int rank, int turn, bool sends)
{
    const struct check_graph *g = w->x->g;
    const struct post none = {-1, -1};
    if (turn < 0 || turn >= w->turn_count) return none;
    const struct check_turn *t = &w->x->turns[rank][turn];
    int boundary = sends ? check_boundary_out(g->p, rank, t) : check_boundary_in(g->p, rank, t),
        stage = check_stage_of(g->p, rank, t->turn);
    if (boundary < 0) return none;
    int operation = check_message_part(g, t, boundary, PART_BLOCKS, 0);
    if (w->done[operation]) return none;
    return (struct post){operation, check_rank_of(g->p, boundary == stage ? stage + 1 : stage - 1)};
}

static void stand_before(struct weave *w, int rank, int turn)
{
    struct stand *s = &w->stands[rank];
    const struct check_turn *turns = w->x->turns[rank];
    s->next = turn;
    s->send = post_of(w, rank, turn - 1, true);
    s->receive = post_of(w, rank, turn, false);
    s->receives_first = turn > 0 && turn < w->turn_count && turns[turn - 1].pass == PASS_B &&
                        turns[turn].pass == PASS_F && s->send.peer == s->receive.peer;
}

static int foremost(const struct stand *s)
{
    if (s->send.operation < 0 || (s->receives_first && s->receive.operation >= 0))
        return s->receive.operation;
    return s->send.operation;
}

static void append(struct weave *w, int rank, int operation)
{
    w->x->stream[rank][w->x->length[rank]++] = operation;
}

// A turn between the overheads of what it uses and of what it sends.
static void append_turn(struct weave *w, int rank, int turn)
{
    const struct check_graph *g = w->x->g;
    const struct check_turn *t = &w->x->turns[rank][turn];
    int in = check_boundary_in(g->p, rank, t), out = check_boundary_out(g->p, rank, t);
    if (g->parts[PART_WORKS] && in >= 0)
        append(w, rank, check_message_part(g, t, in, PART_WORKS, g->p->micro_batches));
    append(w, rank, check_turn_operation(g, rank, t));
    if (g->parts[PART_WORKS] && out >= 0)
        append(w, rank, check_message_part(g, t, out, PART_WORKS, 0));
}

static void exchange(struct weave *w, int rank, struct post post)
{
    const int ends[] = {rank, post.peer};
    w->done[post.operation] = true;
    for (int i = 0; i < 2; i++) {
        struct stand *s = &w->stands[ends[i]];
        append(w, ends[i], post.operation);
        if (s->send.operation == post.operation) s->send.operation = -1;
        if (s->receive.operation == post.operation) s->receive.operation = -1;
    }
}

static bool step(struct weave *w, int rank)
{
    struct stand *s = &w->stands[rank];
    int operation = foremost(s);
    if (operation >= 0) {
        struct post post = s->send.operation == operation ? s->send : s->receive;
        if (foremost(&w->stands[post.peer]) != operation) return false;
        exchange(w, rank, post);
        return true;
    }
    if (s->next == w->turn_count) return false;
    append_turn(w, rank, s->next);
    stand_before(w, rank, s->next + 1);
    return true;
}

static bool force(struct weave *w)
{
    int ranks = w->x->g->p->ranks;
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < 2; i++) {
            struct post post = i ? w->stands[rank].receive : w->stands[rank].send;
            if (post.operation < 0) continue;
            const struct stand *other = &w->stands[post.peer];
            if (other->send.operation != post.operation &&
                other->receive.operation != post.operation)
                continue;
            exchange(w, rank, post);
            return true;
        }
    for (int rank = 0; rank < ranks; rank++)
        if (w->stands[rank].send.operation >= 0) {
            exchange(w, rank, w->stands[rank].send);
            return true;
        }
    return false;
}

enum status check_weave_streams(struct check_streams *x, struct arena *arena)
{
    const struct check_problem *p = x->g->p;
    struct weave w = {.x = x,
                      .stands = TAKE(arena, p->ranks, struct stand),
                      .done = TAKE(arena, x->g->offset[KINDS] + 1, bool),
                      .turn_count = check_turn_count(p)};
    if (!x->g->parts[PART_BLOCKS]) {
        for (int rank = 0; rank < p->ranks; rank++)
            for (int i = 0; i < w.turn_count; i++) append_turn(&w, rank, i);
        return OK;
    }
    for (int rank = 0; rank < p->ranks; rank++) stand_before(&w, rank, 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < p->ranks; rank++)
            while (step(&w, rank)) moved = true;
        moved = moved || force(&w);
    }
    for (int rank = 0; rank < p->ranks; rank++)
        if (w.stands[rank].next < w.turn_count)
            return check_refuse(&p->reader, "layout", "the schedule deadlocks on rank %d", rank);
    return OK;
}
