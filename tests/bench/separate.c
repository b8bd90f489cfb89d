// The benchmark's loop for other solvers: writes a formulation's program, solves it by the solver's
// command, replays the decision with plumbline's own graph, adds the critical path as a row and
// repeats, until the gap between the best replay and the solver's bound is reached. It has the same
// starting rows and the same separator as plumbline, without its elimination.
//
//     bench-separate PROBLEM choices|textbook LIMIT_S GAP COMMAND
// COMMAND is called as: COMMAND program.mps answer.txt seconds gap. Its answer: "bound B" if it
// proved one, and a line "NAME VALUE" for every column that is not zero.
//
// Prints: seconds, best replay in ms, bound in ms, gap, rounds, path rows.
#define _DEFAULT_SOURCE // mkdtemp
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "formulate/program/formulate.h"
#include "formulate/price/price.h"
#include "tests/support/textbook/textbook.h"

static const double unit_ns =
    1 << 20; // time as the others get it, about a millisecond: nanoseconds trouble them

struct loop {
    struct problem problem;
    struct priced priced;
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    struct formulation f;
    const char *command;
    double limit_s, gap, started_s;
    char folder[64], program[96], answer[96];
    double *values;
    int *chosen, *counts;
    int64_t *durations, best_ns;
    double bound_ns;
    int rounds;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum status open_loop(struct loop *l, const char *path, bool textbook, struct arena *arena,
                             struct error *err)
{
    TRY(problem_load(&l->problem, path, arena, err));
    TRY(price_problem(&l->priced, &l->problem, arena, err));
    TRY(schedule_build_priced(&l->schedule, &l->priced, arena, err));
    TRY(graph_compile(&l->graph, &l->schedule, arena, err));
    TRY(choices_build(&l->choices, &l->priced, &l->schedule, arena, err));
    int symbols = graph_symbol_count(l->graph);
    l->counts = TAKE(arena, symbols + 1, int);
    l->durations = TAKE(arena, symbols, int64_t);
    int64_t upper = (int64_t)1 << 53;
    if (textbook) TRY(formulate_textbook(&l->f, &l->choices, upper, arena, err));
    else TRY(formulate_choices(&l->f, &l->choices, upper, arena, err));
    for (int i = 0; i < symbols; i++) // no plan takes longer than all symbols at their greatest
        l->durations[i] =
            l->f.symbol_column[i] < 0 ? 0 : l->f.milp.columns[l->f.symbol_column[i]].upper;
    l->f.milp.columns[0].upper = graph_longest(l->graph, l->durations, NULL);
    int *paths, count = graph_starting_paths(l->graph, &paths, NULL, NULL, arena);
    for (int i = 0; i < count; i++)
        formulate_add_path(&l->f, paths + (size_t)i * ((size_t)symbols + 1));
    l->values = TAKE(arena, l->f.milp.column_count, double);
    l->chosen = TAKE(arena, l->priced.stage_count, int);
    l->best_ns = INT64_MAX;
    return OK;
}

// ---- the program in free MPS, time in units of 2^20 ns: a power of two, so that every number
// stays exact

static double scale_of(const struct loop *l, int column)
{
    return l->f.milp.columns[column].time ? unit_ns : 1;
}

static double row_scale(const struct loop *l, const struct milp_row *r)
{
    for (int e = r->first; e < r->first + r->count; e++)
        if (l->f.milp.columns[l->f.milp.entry_column[e]].time) return unit_ns;
    return 1;
}

struct entry {
    int column, row;
    double value;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return x->column != y->column ? (x->column > y->column) - (x->column < y->column)
                                  : (x->row > y->row) - (x->row < y->row);
}

static struct entry *list_entries(const struct loop *l, struct arena *arena)
{
    const struct milp *m = &l->f.milp;
    struct entry *entries = TAKE(arena, m->entry_count, struct entry);
    int count = 0;
    for (int i = 0; i < m->row_count; i++)
        for (int e = m->rows[i].first; e < m->rows[i].first + m->rows[i].count; e++)
            entries[count++] = (struct entry){m->entry_column[e], i,
                                              (double)m->entry_value[e] *
                                                  scale_of(l, m->entry_column[e]) /
                                                  row_scale(l, &m->rows[i])};
    qsort(entries, (size_t)count, sizeof *entries, compare_entries);
    return entries;
}

static bool write_program(const struct loop *l, struct arena *arena)
{
    const struct milp *m = &l->f.milp;
    FILE *f = fopen(l->program, "w");
    if (!f) return false;
    struct arena_mark mark = arena_set_mark(arena);
    const struct entry *entries = list_entries(l, arena);
    int total = 0;
    for (int i = 0; i < m->row_count; i++) total += m->rows[i].count;
    fprintf(f, "NAME bench FREE\nROWS\n N time\n");
    for (int i = 0; i < m->row_count; i++)
        fprintf(f, " %c r%d\n",
                m->rows[i].sense == ROW_EQUAL     ? 'E'
                : m->rows[i].sense == ROW_AT_MOST ? 'L'
                                                  : 'G',
                i);
    fprintf(f, "COLUMNS\n");
    for (int j = 0, e = 0; j < m->column_count; j++) {
        bool integer = m->columns[j].integer;
        if (integer) fprintf(f, " M%d 'MARKER' 'INTORG'\n", j);
        if (j == 0) fprintf(f, " x0 time 1\n");
        for (; e < total && entries[e].column == j; e++)
            fprintf(f, " x%d r%d %.17g\n", j, entries[e].row, entries[e].value);
        if (integer) fprintf(f, " N%d 'MARKER' 'INTEND'\n", j);
    }
    fprintf(f, "RHS\n");
    for (int i = 0; i < m->row_count; i++)
        if (m->rows[i].right)
            fprintf(f, " rhs r%d %.17g\n", i, (double)m->rows[i].right / row_scale(l, &m->rows[i]));
    fprintf(f, "BOUNDS\n");
    for (int j = 0; j < m->column_count; j++)
        fprintf(f, " LO b x%d %.17g\n UP b x%d %.17g\n", j,
                (double)m->columns[j].lower / scale_of(l, j), j,
                (double)m->columns[j].upper / scale_of(l, j));
    fprintf(f, "ENDATA\n");
    arena_reset(arena, mark);
    return fclose(f) == 0;
}

// ---- rounds

// false: the command gave no solution. The bound counts in any case.
static bool ask(struct loop *l, struct arena *arena)
{
    char line[512];
    double left = l->limit_s - (now_s() - l->started_s);
    if (left <= 0 || !write_program(l, arena)) return false;
    remove(l->answer);
    snprintf(line, sizeof line, "%s %s %s %.1f %g", l->command, l->program, l->answer,
             left < 1 ? 1 : left, l->gap / 2);
    if (system(line) == -1) return false;
    FILE *f = fopen(l->answer, "r");
    bool any = false;
    memset(l->values, 0, (size_t)l->f.milp.column_count * sizeof *l->values);
    while (f && fgets(line, sizeof line, f)) {
        double value;
        int column;
        if (sscanf(line, "bound %lf", &value) == 1 && value * unit_ns > l->bound_ns)
            l->bound_ns = value * unit_ns;
        else if (sscanf(line, "x%d %lf", &column, &value) == 2 && column >= 0 &&
                 column < l->f.milp.column_count) {
            l->values[column] = value * scale_of(l, column);
            any = true;
        }
    }
    if (f) fclose(f);
    return any;
}

static bool decode(struct loop *l)
{
    if (!l->f.choice_column) return textbook_decode(&l->f, l->values, l->chosen);
    for (int s = 0; s < l->priced.stage_count; s++) {
        int found = 0;
        for (int i = 0; i < l->choices.stages[s].count; i++)
            if (l->values[l->f.choice_column[s][i]] >= 0.5) l->chosen[s] = i, found++;
        if (found != 1) return false;
    }
    return true;
}

static double gap_of(const struct loop *l)
{
    return l->best_ns == INT64_MAX ? 1 : 1 - l->bound_ns / (double)l->best_ns;
}

// false: nothing more to do.
static bool round_trip(struct loop *l, struct arena *arena)
{
    l->rounds++;
    if (!ask(l, arena) || !decode(l) || !choices_fit_together(&l->choices, l->chosen) ||
        !choices_durations(&l->choices, l->chosen, l->durations))
        return false;
    int64_t time = graph_longest(l->graph, l->durations, l->counts);
    l->best_ns = time < l->best_ns ? time : l->best_ns;
    formulate_add_path(&l->f, l->counts);
    if (l->f.milp.column_count > 0 && (double)time <= l->values[0] * (1 + 1e-9))
        return false; // its own optimum already: no path is missing
    return gap_of(l) > l->gap;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct error err = {OK, ""};
    static struct loop l;
    if (argc != 6)
        return fprintf(stderr,
                       "usage: bench-separate PROBLEM choices|textbook LIMIT_S GAP COMMAND\n"),
               2;
    arena_open(&arena, NULL);
    l.limit_s = atof(argv[3]);
    l.gap = atof(argv[4]);
    l.command = argv[5];
    snprintf(l.folder, sizeof l.folder, "/tmp/plumbline-bench-XXXXXX");
    if (!mkdtemp(l.folder)) return perror("mkdtemp"), 1;
    snprintf(l.program, sizeof l.program, "%s/program.mps", l.folder);
    snprintf(l.answer, sizeof l.answer, "%s/answer.txt", l.folder);
    l.started_s = now_s();
    if (open_loop(&l, argv[1], !strcmp(argv[2], "textbook"), &arena, &err) != OK)
        return fprintf(stderr, "bench-separate: %s\n", err.text), 2;
    while (round_trip(&l, &arena))
        ;
    double best = l.best_ns == INT64_MAX ? NAN : (double)l.best_ns / 1e6;
    printf("%.2f %.6f %.6f %.6f %d %d\n", now_s() - l.started_s, best, l.bound_ns / 1e6, gap_of(&l),
           l.rounds, l.f.path_row_count);
    remove(l.program);
    remove(l.answer);
    rmdir(l.folder);
    arena_close(&arena);
    return 0;
}
