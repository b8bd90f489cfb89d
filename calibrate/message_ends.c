// The passes of a rank one after another, and the messages that lie between them.
#include "calibrate/message_ends.h"

#include <stdlib.h>
#include <string.h>

// What a rank computes in the order in which it did, and the messages by what they carry.
static int compare_events(const void *left, const void *right)
{
    const struct run_event *a = left, *b = right;
    if (a->iteration != b->iteration) return a->iteration < b->iteration ? -1 : 1;
    if (a->replica != b->replica) return a->replica < b->replica ? -1 : 1;
    return a->tensor < b->tensor ? -1 : a->tensor > b->tensor;
}

static int compare_passes(const void *left, const void *right)
{
    const struct run_event *a = left, *b = right;
    int of = compare_events(a, b);
    if (of) return of;
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static int compare_messages(const void *left, const void *right)
{
    const struct run_event *a = left, *b = right;
    int of = compare_events(a, b);
    if (of) return of;
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (a->stage != b->stage) return a->stage < b->stage ? -1 : 1;
    if (a->micro_batch != b->micro_batch) return a->micro_batch < b->micro_batch ? -1 : 1;
    return a->slice < b->slice ? -1 : a->slice > b->slice;
}

struct messages {
    struct run_event *of; // sorted
    int count;
};

// The message over a boundary with what belongs to the pass; NULL: both its stages are of one rank.
static const struct run_event *message_of(const struct messages *m, const struct run_event *pass,
                                          int boundary)
{
    struct run_event like = *pass;
    if (pass->kind == EVENT_WEIGHT) return NULL;
    like.kind = pass->kind == EVENT_FORWARD ? EVENT_SEND_FORWARD : EVENT_SEND_BACKWARD;
    like.stage = boundary;
    return bsearch(&like, m->of, (size_t)m->count, sizeof like, compare_messages);
}

static const struct run_event *received(const struct messages *m, const struct run_event *pass)
{
    return message_of(m, pass, pass->kind == EVENT_FORWARD ? pass->stage - 1 : pass->stage);
}

static const struct run_event *sent(const struct messages *m, const struct run_event *pass)
{
    return message_of(m, pass, pass->kind == EVENT_FORWARD ? pass->stage : pass->stage - 1);
}

void message_ends_add(struct message_ends *ends, const struct plan_run *run, struct arena *arena)
{
    struct run_event *passes = TAKE(arena, run->event_count, struct run_event);
    struct messages m = {TAKE(arena, run->event_count, struct run_event), 0};
    int count = 0;
    for (int i = 0; i < run->event_count; i++) {
        const struct run_event *e = &run->events[i];
        if (e->kind == EVENT_FORWARD || e->kind == EVENT_BACKWARD || e->kind == EVENT_WEIGHT)
            passes[count++] = *e;
        if (e->kind == EVENT_SEND_FORWARD || e->kind == EVENT_SEND_BACKWARD) m.of[m.count++] = *e;
    }
    qsort(passes, (size_t)count, sizeof *passes, compare_passes);
    qsort(m.of, (size_t)m.count, sizeof *m.of, compare_messages);
    for (int i = 1; i < count; i++) {
        const struct run_event *a = &passes[i - 1], *b = &passes[i];
        if (compare_events(a, b) || a->rank != b->rank) continue;
        const struct run_event *goes = sent(&m, a), *comes = received(&m, b);
        if (b->start_ns < a->end_ns || (comes && comes->end_ns > a->end_ns)) continue;
        ends->ns += b->start_ns - a->end_ns;
        ends->count += (goes != NULL) + (comes != NULL);
    }
}

double message_ends_s(const struct message_ends *ends)
{
    return ends->count ? 1e-9 * (double)ends->ns / (double)ends->count : 0;
}

// ---- into costs

static double seconds_of(const struct collective_times *t, double bytes)
{
    const struct segment *s = t->segments;
    while (s + 1 < t->segments + t->segment_count && bytes >= s[1].from_bytes) s++;
    return s->seconds.value + (bytes - s->from_bytes) / s->bytes_per_s.value;
}

// All parts but the overhead as they were to each other.
static void give_overhead(double shares[PART_COUNT], double overhead)
{
    double rest = 1 - 2 * shares[PART_OVERHEAD];
    for (int part = 0; part < PART_COUNT; part++)
        shares[part] *= rest > 0 ? (1 - 2 * overhead) / rest : 0;
    if (rest <= 0) shares[PART_DELAY] = 1 - 2 * overhead;
    shares[PART_OVERHEAD] = overhead;
}

void message_ends_to_costs(const struct message_ends *ends, struct costs *c, const char *gpu,
                           int measured, double bytes)
{
    double end_s = message_ends_s(ends), overhead = 0;
    bool had = c->transfer_share[PART_OVERHEAD] > 0;
    if (!ends->count) return;
    for (int i = 0; i < c->collective_count; i++) {
        struct collective_times *t = &c->collectives[i];
        if (!t->send || !t->segment_count || strcmp(t->gpu, gpu)) continue;
        for (int k = 0; k < t->segment_count && !(had && i >= measured); k++) {
            struct estimate *s = &t->segments[k].seconds;
            s->value += 2 * end_s, s->low += 2 * end_s, s->high += 2 * end_s;
        }
        double whole = seconds_of(t, bytes);
        if (whole > 0) overhead = fmax(overhead, fmin(end_s / whole, 0.5));
    }
    give_overhead(c->transfer_share, overhead);
    memset(c->schedule_share_stated, 0, sizeof c->schedule_share_stated);
}
