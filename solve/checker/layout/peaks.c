// The micro-batches that a rank's stages hold at its fullest moments, which is all that matters
// for memory.
#include "solve/checker/layout/graph.h"

#define COMPARISONS_MOST ((int64_t)1 << 32)

static bool is_within(const int *one, const int *other, int count)
{
    for (int i = 0; i < count; i++)
        if (one[i] > other[i]) return false;
    return true;
}

static void note_moment(struct check_peaks *peaks, const int *held, int turns, struct arena *arena)
{
    int kept = 0;
    for (int i = 0; i < peaks->count; i++)
        if (is_within(held, peaks->held + i * turns, turns)) return;
    for (int i = 0; i < peaks->count; i++) {
        if (is_within(peaks->held + i * turns, held, turns)) continue;
        for (int k = 0; k < turns; k++) peaks->held[kept * turns + k] = peaks->held[i * turns + k];
        kept++;
    }
    peaks->held = arena_grow(arena, peaks->held, (size_t)(kept * turns),
                             (size_t)((kept + 1) * turns), sizeof *peaks->held);
    for (int k = 0; k < turns; k++) peaks->held[kept * turns + k] = held[k];
    peaks->count = kept + 1;
}

// A stage holds a micro-batch from the first slice of its forward to its last backward (or weight
// gradient, where that is split).
enum status check_find_peaks(struct check_graph *g, int rank, const struct check_turn *turns,
                             int64_t *comparisons, struct arena *arena)
{
    const struct check_problem *p = g->p;
    enum check_pass last = p->splits_backward ? PASS_W : PASS_B;
    struct check_peaks *peaks = &g->peaks[rank];
    int *held = TAKE(arena, p->turns, int), count = check_turn_count(p);
    for (int i = 0; i < count; i++) {
        const struct check_turn *t = &turns[i];
        if (t->slice > 0) continue;
        if (t->pass == PASS_F) held[t->turn]++;
        if (t->pass == last) {
            *comparisons += (int64_t)p->turns * (peaks->count + 1);
            note_moment(peaks, held, p->turns, arena);
            held[t->turn]--;
        }
        if (*comparisons > COMPARISONS_MOST)
            return check_refuse(&p->reader, "",
                                "the schedule has more full moments than are checked");
    }
    return OK;
}
