// See search.h. Open boxes stand in a heap by their bound, then by age, so that the
// order, and with it the answer, depends on nothing but the problem. Masks of boxes that are done
// are used again.
#include "data/results/bound.h"
#include "solve/boxes/search.h"

#include <assert.h>
#include <string.h>

#include "data/base/heap.h"
#include "data/base/least.h"
#include "solve/boxes/dynamic.h"

enum { MASK_BYTES_MAX = 1 << 28 };
#define NEVER_NS (INT64_MAX / 4) // above every time

// bound_ns is proven by steps of this box or of one around it.
struct open_box {
    bool *mask;
    struct layer_span
        *spans; // behind the mask, in the same room; NULL where the closer does not go by ranks
    int64_t bound_ns, number; // number of its record
    const struct box_step *steps;
    int step_count;
};

struct box_search {
    struct box_search_result *r;
    const struct box_search_settings *settings;
    const struct choices *c;
    struct box_closer *closer;
    struct arena *arena, *result_arena;
    int stages, ranks, resources, choice_count, *first_choice; // of a stage in a mask
    bool by_ranks;
    int improvements; // asked for
    struct open_box *heap;
    int open, capacity;
    int64_t told_ns; // what was proven for the whole so far
    int64_t
        ended_ns; // the least bound of what has ended: boxes that are closed, and what left others
    bool **spare; // masks to be used again
    int spare_count, mask_count;
    struct choice_box view; // of a mask, by stage
    bool **allowed;
};

static bool goes_before(const struct open_box *a, const struct open_box *b)
{
    return a->bound_ns != b->bound_ns ? a->bound_ns < b->bound_ns : a->number < b->number;
}

HEAP(heap, struct open_box, goes_before)

static void push(struct box_search *s, struct open_box box)
{
    if (s->open == s->capacity) {
        int capacity = 2 * s->capacity + 256;
        s->heap = arena_grow(s->arena, s->heap, (size_t)s->open, (size_t)capacity, sizeof *s->heap);
        s->spare = arena_grow(s->arena, s->spare, (size_t)s->spare_count, (size_t)capacity + 4,
                              sizeof *s->spare);
        s->capacity = capacity;
    }
    assert(box.bound_ns >= 0 && box.number >= 0 && box.number < s->r->proof.count);
    heap_push(s->heap, &s->open, &box);
}

// Room for a mask with spans behind it.
static size_t mask_room(const struct box_search *s)
{
    return ((size_t)s->choice_count + 15) / 16 * 16;
}

static bool *take_mask(struct box_search *s)
{
    if (s->spare_count) return s->spare[--s->spare_count];
    s->mask_count++;
    return TAKE(s->arena, mask_room(s) + (size_t)s->ranks * sizeof(struct layer_span), bool);
}

static struct layer_span *spans_of(const struct box_search *s, bool *mask)
{
    return s->by_ranks ? (struct layer_span *)(void *)(mask + mask_room(s)) : NULL;
}

static void view(struct box_search *s, const struct open_box *box)
{
    for (int i = 0; i < s->stages; i++) s->allowed[i] = box->mask + s->first_choice[i];
    s->view = (struct choice_box){s->allowed, box->spans};
}

static bool is_first_half(const struct box_answer *a, const struct choice *c, int index)
{
    if (a->branch_choice >= 0) return index == a->branch_choice;
    return a->branch_group >= 0 ? c->group == a->branch_group : c->load_ns >= a->branch_load_ns;
}

// Leaves the lighter half (or the other choices) in box and returns the other half.
static struct open_box split(struct box_search *s, struct open_box *box, const struct box_answer *a)
{
    struct open_box other = *box;
    other.mask = take_mask(s);
    memcpy(other.mask, box->mask, (size_t)s->choice_count);
    other.spans = spans_of(s, other.mask);
    if (s->by_ranks) memcpy(other.spans, box->spans, (size_t)s->ranks * sizeof *box->spans);
    if (a->branch_rank >= 0) {
        assert(a->branch_rank < s->ranks && a->branch_layers > box->spans[a->branch_rank].least &&
               a->branch_layers <= box->spans[a->branch_rank].most);
        box->spans[a->branch_rank].most = a->branch_layers - 1;
        other.spans[a->branch_rank].least = a->branch_layers;
        return other;
    }
    assert(a->branch_stage >= 0 && a->branch_stage < s->stages &&
           a->branch_choice < s->c->stages[a->branch_stage].count);
    const struct stage_choices *stage = &s->c->stages[a->branch_stage];
    for (int i = 0; i < stage->count; i++)
        (is_first_half(a, &stage->items[i], i) ? box : &other)
            ->mask[s->first_choice[a->branch_stage] + i] = false;
    return other;
}

static void keep_plan(struct box_search *s, const struct box_answer *a)
{
    if (a->found_ns >= s->r->best_ns) return;
    assert(a->found_ns >= 0);
    s->r->best_ns = a->found_ns;
    s->r->found_better = true;
    memcpy(s->r->found, a->found, (size_t)s->stages * sizeof *a->found);
}

// What a box must reach to be closed: with a gap asked, a little less than the best plan's time.
static int64_t closing_ns(const struct box_search *s)
{
    int64_t best = s->r->best_ns < NEVER_NS ? s->r->best_ns : NEVER_NS;
    return bound_closing(best, s->settings->gap, s->settings->cutoff_ns);
}

// Settles the box; true: closed. Its bound rises to what is proven for it, and its record says why.
static bool settle(struct box_search *s, struct open_box *box, struct box_answer *a)
{
    int64_t closing = closing_ns(s);
    view(s, box);
    if (box_closer_is_balanced(s->closer) && box->step_count)
        box_closer_begin_with(s->closer, &box->steps[box->step_count - 1]);
    bool closed = box_close(s->closer, &s->view, closing, 0, a);
    keep_plan(s, a);
    s->r->boxes++;
    s->r->closed += closed;
    struct box_record *r = &s->r->proof.records[box->number];
    r->steps = box_steps_copy(a->steps, a->step_count, s->resources, s->result_arena);
    r->step_count = a->step_count;
    r->proven_ns = a->bound_ns;
    r->single = a->single;
    int64_t ended_ns = closed ? smaller(a->bound_ns, a->removed_ns) : a->removed_ns;
    r->claim_ns = smaller(ended_ns, NEVER_NS);
    s->ended_ns = smaller(s->ended_ns, ended_ns);
    assert(closed ? a->single || ended_ns >= closing : ended_ns >= closing);
    assert(s->c->joint ||
           a->found_ns >= box->bound_ns); // no plan of it takes less than was proven before
    assert(s->r->closed <= s->r->boxes && s->r->boxes <= s->r->proof.count);
    if (a->bound_ns > box->bound_ns) {
        box->bound_ns = a->bound_ns;
        box->steps = r->steps;
        box->step_count = r->step_count;
    }
    return closed;
}

// Two new records behind that of the box, which keeps the lighter part; the other part waits.
static void split_box(struct box_search *s, struct open_box *box, const struct box_answer *a)
{
    struct box_proof *p = &s->r->proof;
    int64_t parent = box->number;
    struct open_box other = split(s, box, a);
    box->number =
        box_proof_add(p, box->mask, s->choice_count, box->spans, s->ranks, s->result_arena);
    other.number =
        box_proof_add(p, other.mask, s->choice_count, other.spans, s->ranks, s->result_arena);
    assert(box->number > parent && other.number == box->number + 1);
    assert(other.bound_ns == box->bound_ns);
    p->records[parent].first_part = box->number;
    p->records[box->number].parent = p->records[other.number].parent = parent;
    struct box_record *r = &p->records[parent];
    r->branch_stage = a->branch_stage;
    r->branch_rank = a->branch_rank;
    r->branch_choice = a->branch_choice;
    r->branch_group = a->branch_group;
    r->branch_load_ns = a->branch_load_ns;
    r->branch_layers = a->branch_layers;
    r->turned = a->branch_choice >= 0 || a->branch_group >= 0;
    if (a->branch_choice >= 0)
        r->branched = arena_grow(s->result_arena,
                                 &s->c->stages[a->branch_stage].items[a->branch_choice], 1, 1,
                                 sizeof *r->branched);
    push(s, other);
}

// A box that nobody looked at on its own: the bound of one around it holds for it.
static void record_inherited(struct box_search *s, const struct open_box *box)
{
    struct box_record *r = &s->r->proof.records[box->number];
    r->steps = box->steps;
    r->step_count = box->step_count;
    r->claim_ns = r->proven_ns = box->bound_ns;
}

// What is proven for the whole: the least bound of the boxes that are open, of those that have
// ended and of what left them. Where a gap is asked that is more than what they had to reach.
static int64_t bound_of(struct box_search *s, int64_t dived_ns)
{
    int64_t bound = smaller(smaller(s->r->best_ns, NEVER_NS), s->ended_ns);
    if (s->open) bound = smaller(bound, s->heap[0].bound_ns);
    bound = smaller(bound, dived_ns);
    assert(
        bound >=
        s->told_ns); // only boxes below what closes one are looked at, and nothing ends below that
    return s->told_ns = bound;
}

static bool is_over(struct box_search *s)
{
    const struct box_search_settings *t = s->settings;
    return s->r->boxes >= t->boxes_max ||
           (int64_t)s->mask_count * s->choice_count > MASK_BYTES_MAX ||
           (t->should_stop && t->should_stop(t->argument));
}

// From one box downwards, the lighter half each time, until it closes. By ranks one box alone: a
// light half of one of many stages is no lighter where the others take up its layers, and what is
// asked for is the bound. false: stopped with the box put back.
static bool dive(struct box_search *s, struct open_box box)
{
    struct box_answer a;
    bool closed = false;
    while (!closed && box.bound_ns < closing_ns(s)) {
        if (is_over(s)) {
            push(s, box);
            return false;
        }
        closed = settle(s, &box, &a);
        if (!closed) split_box(s, &box, &a);
        if (!closed && s->settings->report)
            s->settings->report(s->settings->argument, s->r->best_ns, bound_of(s, box.bound_ns),
                                s->r->boxes, s->open, box_closer_path_count(s->closer));
        if (!closed && box_closer_is_balanced(s->closer)) {
            push(s, box);
            return true;
        }
    }
    if (!closed) {
        record_inherited(s, &box);
        s->ended_ns = smaller(s->ended_ns, box.bound_ns);
    }
    assert(s->spare_count < s->capacity + 4);
    s->spare[s->spare_count++] = box.mask;
    return true;
}

static void open_search(struct box_search *s)
{
    s->first_choice = TAKE(s->arena, s->stages, int);
    for (int i = 0; i < s->stages; i++) {
        s->first_choice[i] = s->choice_count;
        s->choice_count += s->c->stages[i].count;
    }
    s->allowed = TAKE(s->arena, s->stages, bool *);
    bool *whole = take_mask(s);
    memset(whole, true, (size_t)s->choice_count);
    struct layer_span *spans = spans_of(s, whole);
    for (int i = 0; i < s->ranks && spans; i++)
        spans[i] = (struct layer_span){0, s->c->priced->layer_count};
    push(s, (struct open_box){.mask = whole,
                              .spans = spans,
                              .number = box_proof_add(&s->r->proof, whole, s->choice_count, spans,
                                                      s->ranks, s->result_arena)});
}

// Another search for plans, ever longer ones, when so many boxes did not end it.
static void improve(struct box_search *s)
{
    static const int64_t at_boxes[] = {20, 200, 1000};
    const struct box_search_settings *t = s->settings;
    int64_t time;
    if (!t->improve || s->improvements == (int)ARRAY_LENGTH(at_boxes) ||
        s->r->boxes < at_boxes[s->improvements])
        return;
    int *found = TAKE(s->arena, s->stages, int);
    if (s->r->found_better) memcpy(found, s->r->found, (size_t)s->stages * sizeof *found);
    time = s->r->found_better ? s->r->best_ns : INT64_MAX;
    if (!t->improve(t->argument, s->improvements++, found, &time)) return;
    struct box_answer a = {.found = found, .found_ns = time};
    keep_plan(s, &a);
}

void box_search(struct box_search_result *r, const struct choices *c, struct graph *g,
                const struct box_search_settings *settings, struct arena *arena)
{
    struct arena *scratch = arena_open_within(arena);
    assert(settings->target_ns >= 0 && settings->gap >= 0 && settings->gap <= 1 &&
           settings->cutoff_ns >= 0);
    *r = (struct box_search_result){.best_ns = settings->target_ns,
                                    .found = TAKE(arena, c->priced->stage_count, int)};
    struct box_search s = {.r = r,
                           .settings = settings,
                           .c = c,
                           .ended_ns = INT64_MAX,
                           .arena = scratch,
                           .result_arena = arena,
                           .stages = c->priced->stage_count,
                           .ranks = c->rank_count,
                           .resources = c->priced->group_count + BUDGET_COUNT};
    s.closer = box_closer_open(c, g, scratch);
    s.by_ranks = box_closer_is_by_ranks(s.closer);
    box_closer_stop_when(s.closer, settings->should_stop, settings->argument);
    open_search(&s);
    bool stopped = false;
    while (!stopped && s.open && s.heap[0].bound_ns < closing_ns(&s)) {
        stopped = !dive(&s, heap_pop(s.heap, &s.open));
        if (box_closer_is_balanced(s.closer) && !stopped) improve(&s);
    }
    r->finished = !stopped;
    r->bound_ns = bound_of(&s, INT64_MAX);
    assert(r->bound_ns >= 0 && r->bound_ns <= r->best_ns);
    assert(!r->finished || r->bound_ns >= closing_ns(&s));
    assert(!r->found_better || r->best_ns < settings->target_ns);
    for (int i = 0; i < s.open; i++) record_inherited(&s, &s.heap[i]);
    struct box_proof *p = &r->proof;
    box_proof_take_paths(p, s.closer, graph_symbol_count(g), arena);
    arena_close(scratch);
    arena_open(scratch, arena->exit);
    if (settings->recheck) r->bad = box_proof_recheck(p, r->bound_ns, c, g, scratch);
    arena_close(scratch);
}
