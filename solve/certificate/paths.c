// Converts paths of the planner's graph to the checker's: operations are the same in both, only
// their numbers differ.
#include <string.h>

#include "solve/certificate/internal.h"

// Counts and laps as the checker will find them. false: not a path of the checker's graph.
static bool walk(const struct maker *m, struct proof_path *path)
{
    const struct proof_operation *o = &path->start;
    const struct check_load of = {path->from, path->to};
    path->counts = TAKE(m->arena, m->symbols, int);
    if (m->p.objective == MINIMISE_LOAD)
        return check_count_load(&m->replay.loads, of, m->symbols, path->counts);
    int at = check_operation(&m->g, o->kind, o->place, o->micro_batch, o->slice), start = at,
        laps = m->p.barrier;
    assert(at >= 0 && at < m->g.offset[KINDS]);
    if (m->p.barrier) path->counts[m->replay.symbol[at]]++;
    for (int i = 0; i < path->step_count; i++) {
        int edge = m->g.first[at] + path->successors[i];
        if (edge >= m->g.first[at + 1]) return false;
        laps += m->g.lap[edge];
        at = m->g.next[edge];
        path->counts[m->replay.symbol[at]]++;
    }
    return laps == path->laps && (m->p.barrier || at == start);
}

int maker_find_path(struct maker *m, const int *counts)
{
    struct proof_path path;
    struct proof *p = m->proof;
    const struct solve_evidence *e = m->request->evidence;
    int laps = path_laps(counts, graph_symbol_count(e->graph));
    if (!m->successors) m->successors = successors_open(e->schedule, m->request->priced, m->arena);
    if (!successors_find_path(m->successors, &path, e->graph, counts, laps, m->arena) ||
        !walk(m, &path))
        return -1;
    for (int i = 0; i < p->path_count; i++)
        if (p->paths[i].laps == path.laps &&
            !memcmp(p->paths[i].counts, path.counts, (size_t)m->symbols * sizeof *path.counts))
            return i;
    proof_add_path(p, &path);
    return p->path_count - 1;
}
