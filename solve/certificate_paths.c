// Paths of the planner's graph as the checker's: an operation is the same in both, only its number differs.
#include <stdio.h>
#include <string.h>

#include "solve/certificate_parts.h"

static int operation_of(const struct maker *m, int operation)
{
    const struct schedule *s = m->request->evidence->schedule;
    const struct operation *o = &s->operations[operation];
    int stages = s->request.stage_count, kind = o->symbol / stages, base = symbol_base_kind(kind), place = o->symbol % stages;
    int micro_batch = o->micro_batch < 0 ? 0 : o->micro_batch;
    bool sends = base >= SYMBOL_SEND_FORWARD && base < SYMBOL_EMBEDDING_SYNC;
    // A receiver's overhead has the sender's symbol and stands behind all micro-batches.
    if (sends && o->stage == place + (base < SYMBOL_SEND_BACKWARD)) micro_batch += s->request.micro_batches;
    return check_operation(&m->g, base, place, micro_batch, symbol_slice(kind));
}

// The number of the edge among its operation's successors, or -1.
static int successor_of(const struct check_graph *g, int from, int to)
{
    for (int e = g->first[from]; e < g->first[from + 1]; e++)
        if (g->next[e] == to) return e - g->first[from];
    return -1;
}

// Counts and laps as the checker will find them. false: it is no path of the checker's graph.
static bool walk(const struct maker *m, struct proof_path *path)
{
    const int *o = path->operations;
    int steps = path->operation_count - m->p.barrier;
    path->counts = TAKE(m->arena, m->symbols, int);
    path->laps = m->p.barrier;
    if (path->operation_count == 0) return false;
    if (m->p.barrier) path->counts[m->replay.symbol[o[0]]]++;
    for (int i = 0; i < steps; i++) {
        int to = o[(i + 1) % path->operation_count], successor = successor_of(&m->g, o[i], to);
        if (successor < 0) return false;
        path->laps += m->g.lap[m->g.first[o[i]] + successor];
        path->counts[m->replay.symbol[to]]++;
    }
    return path->laps > 0;
}

int maker_find_path(struct maker *m, const int *counts)
{
    struct proof_path path = {.number = -1};
    const int *operations = graph_path_operations(m->request->evidence->graph, counts, &path.operation_count);
    if (!operations) return -1;
    int *own = TAKE(m->arena, path.operation_count, int);
    for (int i = 0; i < path.operation_count; i++) own[i] = operation_of(m, operations[i]);
    path.operations = own;
    if (!walk(m, &path)) return -1;
    for (int i = 0; i < m->path_count; i++)
        if (m->paths[i].laps == path.laps && !memcmp(m->paths[i].counts, path.counts, (size_t)m->symbols * sizeof *path.counts)) return i;
    if (m->path_count == m->path_capacity) {
        int capacity = 2 * m->path_capacity + 256;
        m->paths = arena_grow(m->arena, m->paths, (size_t)m->path_count, (size_t)capacity, sizeof *m->paths);
        m->path_capacity = capacity;
    }
    m->paths[m->path_count] = path;
    return m->path_count++;
}

// "0*12 1 0*3"
static const char *steps_of(const struct maker *m, const struct proof_path *path)
{
    int steps = path->operation_count - m->p.barrier;
    size_t room = 24 * (size_t)steps + 1, used = 0;
    char *text = TAKE(m->arena, room, char);
    for (int i = 0, n; i < steps; i += n) {
        int successor = -1;
        for (n = 0; i + n < steps; n++) {
            int next = successor_of(&m->g, path->operations[i + n], path->operations[(i + n + 1) % path->operation_count]);
            if (n > 0 && next != successor) break;
            successor = next;
        }
        used += (size_t)snprintf(text + used, room - used, n > 1 ? "%s%d*%d" : "%s%d", used ? " " : "", successor, n);
    }
    return text;
}

static void put_path(const struct maker *m, struct json_writer *w, const struct proof_path *path)
{
    int kind = 0, start = path->operations[0];
    while (start >= m->g.offset[kind + 1]) kind++;
    int rest = start - m->g.offset[kind], slices = m->g.slices[kind], micro_batches = m->g.micro_batches[kind];
    json_open_flat_object(w, NULL);
    json_open_array(w, "start");
    json_put_text(w, NULL, check_kind_names[kind]);
    json_put_count(w, NULL, rest / slices / micro_batches);
    json_put_count(w, NULL, rest / slices % micro_batches);
    json_put_count(w, NULL, rest % slices);
    json_close_array(w);
    json_put_count(w, "laps", path->laps);
    json_put_text(w, "steps", steps_of(m, path));
    json_close_object(w);
}

// In the order of their numbers.
void maker_put_paths(const struct maker *m, struct json_writer *w)
{
    int used = 0, *by_number = TAKE(m->arena, m->path_count, int);
    for (int i = 0; i < m->path_count; i++)
        if (m->paths[i].number >= 0) by_number[m->paths[i].number] = i, used++;
    json_open_array(w, "paths");
    for (int i = 0; i < used; i++) put_path(m, w, &m->paths[by_number[i]]);
    json_close_array(w);
    m->result->paths = used;
}
