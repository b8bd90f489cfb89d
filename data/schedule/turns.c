// The turns of every rank, as its schedule's generator writes them. Checks that each pass occurs
// once and after what it needs on its own rank, and counts the micro-batches in flight.

#include "data/schedule/builder.h"

static const char *const pass_names[PASS_COUNT] = {"forward", "backward", "weight gradient"};

#define GENERATOR(constant, name, generator, ...) generator,
turn_generator *const schedule_generators[] = {SCHEDULE_KINDS(GENERATOR)};

void turn_put(struct turn_list *list, enum pass pass, int micro_batch, int turn, int slice)
{
    if (micro_batch >= list->micro_batches) return;
    assert(list->count < list->capacity);
    list->turns[list->count++] = (struct turn){pass, micro_batch, turn, slice};
}

// The number of passes of (turn, micro-batch, slice) that are done.
static int *done_at(int *done, const struct schedule_request *r, int turn, int micro_batch,
                    int slice)
{
    return &done[((size_t)turn * (size_t)r->micro_batches + (size_t)micro_batch) *
                     (size_t)r->slice_count +
                 (size_t)slice];
}

// Whether what a turn needs from its own rank is done: the pass before it, the previous slice (on
// the way back, the next one), and the neighbouring stage if that is on the same rank.
static bool may_come(int *done, const struct schedule_request *r, int rank, const struct turn *t)
{
    int stage = schedule_stage_of(r, rank, t->turn), pass = (int)t->pass, slice = t->slice;
    if (*done_at(done, r, t->turn, t->micro_batch, slice) != pass) return false;
    if (t->pass == PASS_WEIGHT) return true;
    int before = t->pass == PASS_FORWARD ? slice - 1 : slice + 1;
    if (before >= 0 && before < r->slice_count &&
        *done_at(done, r, t->turn, t->micro_batch, before) <= pass)
        return false;
    int boundary = t->pass == PASS_FORWARD ? stage - 1 : stage,
        other = t->pass == PASS_FORWARD ? stage - 1 : stage + 1;
    if (boundary < 0 || boundary >= r->stage_count - 1 || !schedule_is_inner(r, boundary))
        return true;
    if (t->pass == PASS_BACKWARD && schedule_is_local(r, boundary)) return true;
    return *done_at(done, r, other / r->rank_count, t->micro_batch, slice) > pass;
}

static enum status check_turns(const struct builder *b, int rank, struct error *err)
{
    const struct schedule_request *r = b->request;
    const struct turn_list *list = &b->turns[rank];
    struct arena_mark mark = arena_set_mark(b->arena);
    int *done = TAKE(b->arena,
                     (size_t)r->virtual_stages * (size_t)r->micro_batches * (size_t)r->slice_count,
                     int);
    enum status status = OK;
    assert(list->count == list->capacity);
    for (int i = 0; i < list->count && status == OK; i++) {
        const struct turn *t = &list->turns[i];
        assert(t->micro_batch >= 0 && t->turn >= 0 && t->turn < r->virtual_stages &&
               t->slice >= 0 && t->slice < r->slice_count && (int)t->pass < b->passes);
        if (!may_come(done, r, rank, t))
            status = refuse(
                err, "schedule: stage %d, micro-batch %d: its %s is out of order or comes twice",
                schedule_stage_of(r, rank, t->turn), t->micro_batch, pass_names[t->pass]);
        else ++*done_at(done, r, t->turn, t->micro_batch, t->slice);
    }
    arena_reset(b->arena, mark);
    return status;
}

static bool is_below(const int *one, const int *other, int count)
{
    for (int i = 0; i < count; i++)
        if (one[i] > other[i]) return false;
    return true;
}

// Keeps the peaks of one rank, from `first` on; none is below another.
static void note_peak(struct builder *b, int first, int rank, const int *held)
{
    struct schedule *s = b->schedule;
    int turns = b->request->virtual_stages, kept = first;
    for (int i = first; i < s->peak_count; i++)
        if (is_below(held, s->peaks[i].in_flight, turns)) return;
    for (int i = first; i < s->peak_count; i++)
        if (!is_below(s->peaks[i].in_flight, held, turns)) s->peaks[kept++] = s->peaks[i];
    s->peaks = kept < s->peak_count ? s->peaks
                                    : arena_grow(b->arena, s->peaks, (size_t)kept, (size_t)kept + 1,
                                                 sizeof *s->peaks);
    s->peaks[kept] = (struct peak){rank, TAKE_COPY(b->arena, held, turns)};
    s->peak_count = kept + 1;
}

// A micro-batch is in flight from the forward of its first slice to its last release, which is also
// the first slice's.
static void count_in_flight(struct builder *b, int rank, int *held)
{
    const struct schedule_request *r = b->request;
    const struct turn_list *list = &b->turns[rank];
    int first = b->schedule->peak_count;
    for (int k = 0; k < r->virtual_stages; k++) held[k] = 0;
    bool grew = false;
    for (int i = 0; i <= list->count; i++) {
        const struct turn *t = i < list->count ? &list->turns[i] : NULL;
        bool starts = t && t->pass == PASS_FORWARD && t->slice == 0,
             ends = t && (int)t->pass == b->passes - 1 && t->slice == 0;
        if (grew && (ends || !t)) {
            note_peak(b, first, rank, held);
            grew = false;
        }
        if (starts) {
            int *most = &b->schedule->in_flight[schedule_stage_of(r, rank, t->turn)];
            if (++held[t->turn] > *most) *most = held[t->turn];
            grew = true;
        }
        if (ends) held[t->turn]--;
    }
    for (int k = 0; k < r->virtual_stages; k++)
        assert(held[k] == 0); // everything that went forward has been released
}

enum status make_turns(struct builder *b, struct error *err)
{
    const struct schedule_request *r = b->request;
    int capacity = b->passes * r->micro_batches * r->virtual_stages * r->slice_count,
        *held = TAKE(b->arena, r->virtual_stages, int);
    b->turns = TAKE(b->arena, r->rank_count, struct turn_list);
    for (int rank = 0; rank < r->rank_count; rank++) {
        b->turns[rank] = (struct turn_list){TAKE(b->arena, capacity, struct turn), 0, capacity,
                                            r->micro_batches};
        schedule_generators[r->kind](&b->turns[rank], r, rank);
        TRY(check_turns(b, rank, err));
        count_in_flight(b, rank, held);
    }
    return OK;
}
