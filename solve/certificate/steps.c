// Paths as the file writes them: where they start, and which successor comes next, step by step.
// The successors of an operation come from the schedule's tables, in the order of docs/PROOFS.md
// 3.
#include <string.h>

#include "solve/certificate/internal.h"

struct successors {
    const struct schedule *s;
    struct schedule loads; // of max_load: a stream for each rank and each link, and nothing else
    bool of_loads;
    int *first;         // [operation + 1]
    int *next;          // [edge], sorted, each once
    unsigned char *lap; // [edge]: 1 if it leads to the next iteration
    int *end;           // [operation]: after its last edge
};

// For an operation of the schedule.
static struct proof_operation proof_operation_of(const struct schedule *s, int operation)
{
    assert(operation >= 0 && operation < s->operation_count);
    const struct operation *o = &s->operations[operation];
    int stages = s->request.stage_count, kind = o->symbol / stages, base = symbol_base_kind(kind),
        place = o->symbol % stages;
    int micro_batch = o->micro_batch < 0 ? 0 : o->micro_batch;
    bool sends = base >= SYMBOL_SEND_FORWARD && base < SYMBOL_EMBEDDING_SYNC;
    // A receiver's overhead has the sender's symbol and is numbered after all micro-batches.
    if (sends && o->stage == place + (base < SYMBOL_SEND_BACKWARD))
        micro_batch += s->request.micro_batches;
    return (struct proof_operation){base, place, micro_batch, symbol_slice(kind)};
}

static bool goes_before(const struct schedule *s, int a, int b)
{
    struct proof_operation x = proof_operation_of(s, a), y = proof_operation_of(s, b);
    if (x.kind != y.kind) return x.kind < y.kind;
    if (x.place != y.place) return x.place < y.place;
    return x.micro_batch != y.micro_batch ? x.micro_batch < y.micro_batch : x.slice < y.slice;
}

// Edges within the iteration before carried ones, then by name; the edges of each lap are entered
// in sequence.
static void enter_edge(struct successors *x, int before, int after, int lap)
{
    int first = x->first[before], at = x->end[before];
    for (int e = first; e < at; e++)
        if (x->next[e] == after && x->lap[e] == lap) return;
    assert(at < x->first[before + 1]); // counted before
    x->end[before]++;
    for (; at > first && x->lap[at - 1] == lap && goes_before(x->s, after, x->next[at - 1]); at--) {
        x->next[at] = x->next[at - 1];
        x->lap[at] = x->lap[at - 1];
    }
    x->next[at] = after;
    x->lap[at] = (unsigned char)lap;
}

static void each_edge(struct successors *x, bool entering)
{
    const struct schedule *s = x->s;
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++) {
            int before = s->streams[i].operations[k - 1];
            if (entering) enter_edge(x, before, s->streams[i].operations[k], 0);
            else x->first[before + 1]++;
        }
    for (int i = 0; i < s->dependence_count; i++)
        if (entering) enter_edge(x, s->dependences[i].before, s->dependences[i].after, 0);
        else x->first[s->dependences[i].before + 1]++;
    for (int i = 0; i < s->carried_count; i++)
        if (entering) enter_edge(x, s->carried[i].before, s->carried[i].after, 1);
        else x->first[s->carried[i].before + 1]++;
}

struct successors *successors_open(const struct schedule *s, const struct priced *p,
                                   struct arena *arena)
{
    struct successors *x = TAKE(arena, 1, struct successors);
    struct error err;
    if (p->objective == OBJECTIVE_MAX_LOAD) {
        x->of_loads = true;
        // Of a schedule that was built: it is built again for one micro-batch, which cannot fail.
        if (schedule_build_load(&x->loads, &s->request, arena, &err) != OK)
            x->loads.stream_count = 0;
        return x;
    }
    int count = s->operation_count;
    *x = (struct successors){
        .s = s, .first = TAKE(arena, count + 1, int), .end = TAKE(arena, count + 1, int)};
    each_edge(x, false);
    for (int i = 0; i < count; i++) x->first[i + 1] += x->first[i];
    memcpy(x->end, x->first, (size_t)(count + 1) * sizeof *x->end);
    x->next = TAKE(arena, x->first[count], int);
    x->lap = TAKE(arena, x->first[count], unsigned char);
    each_edge(x, true);
    return x;
}

static bool occupies(const struct schedule *s, const struct stream *stream, const int *counts,
                     struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    int symbols = symbol_count(s->request.stage_count, s->request.slice_count), i = 0;
    int *own = TAKE(arena, symbols, int);
    for (int k = 0; k < stream->count; k++) own[s->operations[stream->operations[k]].symbol]++;
    while (i < symbols && counts[i] <= own[i]) i++;
    arena_reset(arena, mark);
    return i == symbols;
}

static bool find_load(const struct successors *x, struct proof_path *path, const int *counts,
                      struct arena *arena)
{
    int i = 0;
    while (i < x->loads.stream_count && !occupies(&x->loads, &x->loads.streams[i], counts, arena))
        i++;
    if (i == x->loads.stream_count) return false;
    *path = (struct proof_path){.from = x->loads.streams[i].rank,
                                .to = x->loads.streams[i].to_rank,
                                .successors = TAKE(arena, 1, int),
                                .laps = 1,
                                .number = -1};
    return true;
}

bool successors_find_path(const struct successors *x, struct proof_path *path,
                          const struct graph *g, const int *counts, int laps, struct arena *arena)
{
    if (x->of_loads) return find_load(x, path, counts, arena);
    int count, barrier = x->s->request.barrier;
    const int *o = graph_path_operations(g, counts, &count);
    if (!o || count == 0) return false;
    int *steps = TAKE(arena, count, int);
    *path = (struct proof_path){.start = proof_operation_of(x->s, o[0]),
                                .successors = steps,
                                .step_count = count - barrier,
                                .laps = barrier,
                                .number = -1};
    for (int i = 0; i < path->step_count; i++) {
        int to = o[i + 1 == count ? 0 : i + 1], e = x->first[o[i]];
        while (e < x->end[o[i]] && x->next[e] != to) e++;
        if (e == x->end[o[i]]) return false;
        steps[i] = e - x->first[o[i]];
        path->laps += x->lap[e];
    }
    return path->laps == laps;
}
