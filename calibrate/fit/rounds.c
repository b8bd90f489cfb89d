// A round takes each operation once, in a random order (measure/sampling/rounds.c). As long as all
// take part, repetition r of each belongs to round r. Levels of operations and shares of rounds
// are fitted alternately (Tukey's median polish).
#include "calibrate/fit/fit.h"

#include <string.h>

enum { OPERATIONS_MIN = 20, ROUNDS_MIN = 3, TURNS = 5 };

static bool goes_by_rounds(const struct sample *s)
{
    return s->kind != SAMPLE_LINK && s->kind != SAMPLE_COLLECTIVE && s->before != BEFORE_LOAD &&
           !s->shared && s->repetitions > 0 && s->stopped_by &&
           strcmp(s->stopped_by, "imported") != 0;
}

// Repetitions of a launch, and the index of the first.
static int launch_of(const struct sample *s, int launch, int *first)
{
    *first = 0;
    if (!s->launch_repetitions) return launch ? 0 : s->repetitions;
    for (int i = 0; i < launch; i++) *first += s->launch_repetitions[i];
    return s->launch_repetitions[launch];
}

struct launch_rounds {
    const double **seconds; // [operations]
    int *repetitions;
    struct sample **samples;
    int operations, rounds;
    double *shares, *scratch;
};

static double level_of(const struct launch_rounds *l, int operation)
{
    int count = l->repetitions[operation];
    for (int r = 0; r < count; r++)
        l->scratch[r] = l->seconds[operation][r] / (r < l->rounds ? l->shares[r] : 1);
    return median_of(l->scratch, count);
}

static void polish(struct launch_rounds *l, double *levels)
{
    for (int turn = 0; turn < TURNS; turn++) {
        for (int k = 0; k < l->operations; k++) levels[k] = level_of(l, k);
        for (int r = 0; r < l->rounds; r++) {
            for (int k = 0; k < l->operations; k++)
                l->scratch[k] = levels[k] > 0 ? l->seconds[k][r] / levels[k] : 1;
            double share = median_of(l->scratch, l->operations);
            l->shares[r] = share > 0 ? share : 1;
        }
    }
    for (int k = 0; k < l->operations; k++) levels[k] = level_of(l, k);
}

static void even_launch(const struct samples *document, int launch, double *sums, int *counts,
                        struct arena *arena)
{
    int most = document->sample_count, longest = most;
    struct launch_rounds l = {.seconds = TAKE(arena, most, const double *),
                              .repetitions = TAKE(arena, most, int),
                              .samples = TAKE(arena, most, struct sample *)};
    for (int i = 0; i < document->sample_count; i++) {
        struct sample *s = &document->samples[i];
        int first, count = goes_by_rounds(s) ? launch_of(s, launch, &first) : 0;
        if (!count) continue;
        l.seconds[l.operations] = s->seconds + first;
        l.repetitions[l.operations] = count;
        l.samples[l.operations++] = s;
        l.rounds = l.operations == 1 || count < l.rounds ? count : l.rounds;
        longest = count > longest ? count : longest;
    }
    if (l.operations < OPERATIONS_MIN || l.rounds < ROUNDS_MIN) return;
    l.scratch = TAKE(arena, longest, double);
    l.shares = TAKE(arena, l.rounds, double);
    double *levels = TAKE(arena, l.operations, double);
    for (int r = 0; r < l.rounds; r++) l.shares[r] = 1;
    polish(&l, levels);
    for (int k = 0; k < l.operations; k++) {
        int at = (int)(l.samples[k] - document->samples);
        sums[at] += levels[k], counts[at]++;
    }
}

void rounds_even(struct samples *document, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    double *sums = TAKE(arena, document->sample_count + 1, double);
    int *counts = TAKE(arena, document->sample_count + 1, int),
        launches = document->launch_count > 1 ? document->launch_count : 1;
    for (int launch = 0; launch < launches; launch++)
        even_launch(document, launch, sums, counts, arena);
    for (int i = 0; i < document->sample_count; i++) {
        struct sample *s = &document->samples[i];
        int taken = 0, first;
        for (int k = 0; k < launches && goes_by_rounds(s); k++)
            taken += launch_of(s, k, &first) > 0;
        s->even_s = counts[i] && counts[i] == taken ? sums[i] / counts[i] : 0;
    }
    arena_reset(arena, mark);
}
