// How long rings took on the virtual clock from when the last member had come: collectives, as
// samples, so that costs of them follow from a run.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "measure/run/running.h"

void run_note_ring(struct running *r, const struct action *ring, int members, int64_t end_ns)
{
    struct ring_times *t = r->ring_times;
    if (r->iteration < 0 || r->replays != r->shared) return; // a walk that is not kept
    int i = 0;
    while (i < r->ring_times_count &&
           (t[i].of != ring->of || t[i].rounds != ring->rounds || t[i].bytes != ring->bytes))
        i++;
    if (i == r->ring_times_count) {
        GROW(r->arena, r->ring_times, r->ring_times_count, r->ring_times_capacity, 8);
        t = r->ring_times;
        t[r->ring_times_count++] =
            (struct ring_times){.of = ring->of, .rounds = ring->rounds, .bytes = ring->bytes};
        t[i].member_count = members;
        t[i].members = TAKE_COPY(r->arena, r->members, members);
    }
    GROW(r->arena, t[i].seconds, t[i].count, t[i].capacity, 32);
    t[i].seconds[t[i].count++] = 1e-9 * (double)(end_ns - r->ring_begun_ns);
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static struct sample sample_of(const struct ring_times *t)
{
    static const char *const operations[] = {"all_reduce", "reduce_scatter", "all_gather",
                                             "send_recv", "all_to_all"};
    qsort(t->members, (size_t)t->member_count, sizeof *t->members, ascending);
    return (struct sample){.kind = SAMPLE_COLLECTIVE,
                           .operation = operations[t->rounds],
                           .dimensions = {t->bytes, t->member_count},
                           .dimension_count = 2,
                           .precision = FP32,
                           .bytes = (double)t->bytes,
                           .from = -1,
                           .to = -1,
                           .members = t->members,
                           .member_count = t->member_count,
                           .shared = true,
                           .in_a_row = 1,
                           .busy_devices = 1,
                           .seconds = t->seconds,
                           .repetitions = t->count,
                           .stopped_by = "count"};
}

static bool is_of_same(const struct sample *a, const struct sample *b)
{
    return a->operation == b->operation && a->dimensions[0] == b->dimensions[0] &&
           a->member_count == b->member_count && a->repetitions == b->repetitions &&
           !memcmp(a->members, b->members, (size_t)a->member_count * sizeof *a->members);
}

// A ring takes until the last of its members has what it needs: the one that came last may have
// found it there.
static void take_sample(struct samples *to, int first, const struct ring_times *t)
{
    struct sample s = sample_of(t);
    int at = first;
    while (at < to->sample_count && !is_of_same(&to->samples[at], &s)) at++;
    if (at == to->sample_count) {
        to->samples[to->sample_count++] = s;
        return;
    }
    for (int i = 0; i < s.repetitions; i++)
        if (s.seconds[i] > to->samples[at].seconds[i]) to->samples[at].seconds[i] = s.seconds[i];
}

// Of all members of each ring.
void run_gather_rings(struct running *r, struct samples *to)
{
    int first = to->sample_count;
    for (int from = 0; from < ranks_count(r->ranks); from++) {
        int count = r->self == from ? r->ring_times_count : 0;
        struct ring_times *all = run_gather(r, from, r->ring_times, &count, sizeof *all);
        if (r->self == from && r->self) all = r->ring_times;
        to->samples = arena_grow(r->arena, to->samples, (size_t)to->sample_count,
                                 (size_t)(to->sample_count + count), sizeof *to->samples);
        for (int i = 0; i < count && (r->self == from || !r->self); i++) {
            struct ring_times *t = &all[i];
            int members = t->member_count, times = t->count;
            int *ends = run_gather(r, from, t->members, &members, sizeof *ends);
            double *seconds = run_gather(r, from, t->seconds, &times, sizeof *seconds);
            if (r->self) continue;
            t->members = ends, t->seconds = seconds;
            take_sample(to, first, t);
        }
    }
}
