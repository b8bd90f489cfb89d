// The program as the tree sees it, and its pool of path rows.
#include "solve/tree/job.h"

// A power of two in nanoseconds, as a unit in which the heaviest stage is a number near 16.
static int unit_for(int64_t heaviest_ns)
{
    int unit = 0;
    while (unit < 40 && heaviest_ns >> unit >= 32) unit++;
    return unit;
}

static void sort_by_load(struct program *p, int stage)
{
    int *order = p->by_load + p->first_choice[stage],
        n = p->first_choice[stage + 1] - p->first_choice[stage];
    for (int i = 1; i < n; i++) {
        int moved = order[i], k = i;
        for (; k > 0 && p->load_ns[order[k - 1]] > p->load_ns[moved]; k--) order[k] = order[k - 1];
        order[k] = moved;
    }
}

void program_prepare(struct program *p, struct formulation *f, struct graph *graph,
                     int64_t time_upper_ns, struct arena *arena)
{
    const struct choices *c = f->choices;
    *p = (struct program){.formulation = f, .choices = c, .graph = graph, .arena = arena};
    p->stage_count = c->priced->stage_count;
    p->symbol_count = graph_symbol_count(graph);
    path_pool_open(&p->paths, p->symbol_count + 1, arena);
    p->first_choice = TAKE(arena, p->stage_count + 1, int);
    for (int s = 0; s < p->stage_count; s++)
        p->first_choice[s + 1] = p->first_choice[s] + c->stages[s].count;
    p->choice_count = p->first_choice[p->stage_count];
    p->stage_of = TAKE(arena, p->choice_count, int);
    p->column_of = TAKE(arena, p->choice_count, int);
    p->by_load = TAKE(arena, p->choice_count, int);
    p->load_ns = TAKE(arena, p->choice_count, int64_t);
    int64_t heaviest_ns = 1;
    for (int s = 0; s < p->stage_count; s++) {
        for (int i = 0; i < c->stages[s].count; i++) {
            int number = p->first_choice[s] + i;
            p->stage_of[number] = s;
            p->column_of[number] = f->choice_column[s][i];
            p->by_load[number] = number;
            p->load_ns[number] = c->stages[s].items[i].load_ns;
            if (p->load_ns[number] > heaviest_ns) heaviest_ns = p->load_ns[number];
        }
        sort_by_load(p, s);
    }
    p->unit_log2 = unit_for(heaviest_ns);
    p->hopeless_ns = time_upper_ns + 1;
    p->first_path_row = f->milp.row_count;
    p->durations = TAKE(arena, p->symbol_count, int64_t);
    p->counts = TAKE(arena, p->paths.size, int);
}

int program_add_path(struct program *p, const int *counts, bool *is_new)
{
    int id = path_pool_add(&p->paths, counts, is_new);
    if (*is_new) {
        int row = formulate_add_path(p->formulation, counts);
        assert(row == p->first_path_row + id);
    }
    return p->first_path_row + id;
}

void program_forget_paths(struct program *p, int path_count)
{
    struct milp *m = &p->formulation->milp;
    if (p->paths.count == path_count) return;
    p->formulation->path_row_count -= p->paths.count - path_count;
    path_pool_forget(&p->paths, path_count);
    m->row_count = p->first_path_row + path_count;
    m->entry_count =
        m->row_count ? m->rows[m->row_count - 1].first + m->rows[m->row_count - 1].count : 0;
}

enum { FINE_BITS = 12 }; // fractional durations are in units of 2^-12 ns

double program_longest_at(struct program *p, const double *symbol_ns, int *counts)
{
    for (int i = 0; i < p->symbol_count; i++)
        p->durations[i] = symbol_ns[i] > 0 ? (int64_t)llround(ldexp(symbol_ns[i], FINE_BITS)) : 0;
    return ldexp((double)graph_longest(p->graph, p->durations, counts), -FINE_BITS);
}

static int64_t time_of(struct program *p, const int *chosen, int *counts)
{
    if (!choices_fit_together(p->choices, chosen) ||
        !choices_durations(p->choices, chosen, p->durations))
        return -1;
    return graph_longest(p->graph, p->durations, counts);
}

int64_t program_time(struct program *p, const int *chosen) { return time_of(p, chosen, NULL); }

bool program_critical(struct program *p, const int *chosen)
{
    return time_of(p, chosen, p->counts) >= 0;
}
