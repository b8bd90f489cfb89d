// See search.h. Open boxes are taken by their bound, then by age. Finished boxes are reused.
#include "solve/boxes/search.h"

#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/frontier.h"

enum { MASK_BYTES_MAX = 1 << 28 };

// bound_ns is proven by steps of this box or of an enclosing one.
struct open_box {
    bool *mask;
    struct layer_span *spans; // NULL if boxes have none
    int64_t bound_ns, number; // number of its record
    int64_t of;               // number of the record that the steps are of
    const struct box_step *steps;
    int step_count;
    struct open_box *next; // in the list of boxes to reuse
};

struct box_search {
    struct box_search_result *r;
    const struct box_search_settings *settings;
    const struct choices *c;
    struct box_closer *closer;
    struct arena *arena, *result_arena;
    int stages, spans, resources, choice_count, *first_choice; // first_choice: of a stage in a mask
    int improvements;                                          // requested so far
    struct frontier frontier;
    struct open_box *spare;
    int box_count;
    struct choice_box view; // of a mask, by stage
    bool **allowed;
};

static void push(struct box_search *s, struct open_box *box)
{
    assert(box->number >= 0 && box->number < s->r->proof.count);
    frontier_push(&s->frontier, box->bound_ns, box->number, box);
}

static struct open_box *take_box(struct box_search *s)
{
    struct open_box *box = s->spare;
    if (box) {
        s->spare = box->next;
        return box;
    }
    s->box_count++;
    box = TAKE(s->arena, 1, struct open_box);
    box->mask = TAKE(s->arena, s->choice_count, bool);
    if (s->spans) box->spans = TAKE(s->arena, s->spans, struct layer_span);
    return box;
}

static void view(struct box_search *s, const struct open_box *box)
{
    for (int i = 0; i < s->stages; i++) s->allowed[i] = box->mask + s->first_choice[i];
    s->view = (struct choice_box){s->allowed, box->spans};
}

// Leaves the lighter half (or the other choices) in box and returns the other half.
static struct open_box *split(struct box_search *s, struct open_box *box,
                              const struct box_answer *a)
{
    struct open_box *other = take_box(s);
    memcpy(other->mask, box->mask, (size_t)s->choice_count);
    if (s->spans) memcpy(other->spans, box->spans, (size_t)s->spans * sizeof *box->spans);
    other->bound_ns = box->bound_ns;
    other->of = box->of;
    other->steps = box->steps;
    other->step_count = box->step_count;
    int at = a->split.at;
    if (a->split.by == SPLIT_LAYERS) {
        at = box_closer_span_at(s->closer, &a->split);
        assert(at < s->spans && a->split.value > box->spans[at].least &&
               a->split.value <= box->spans[at].most);
        box->spans[at].most = (int)a->split.value - 1;
        other->spans[at].least = (int)a->split.value;
        return other;
    }
    assert(a->split.by && at < s->stages);
    for (int i = 0; i < s->c->stages[at].count; i++)
        (box_split_has(&a->split, &s->c->stages[at].items[i], i) ? box : other)
            ->mask[s->first_choice[at] + i] = false;
    return other;
}

static void keep_plan(struct box_search *s, const struct box_answer *a)
{
    if (a->found_ns >= s->r->best_ns) return;
    assert(a->found_ns >= 0);
    s->r->best_ns = s->frontier.best_ns = a->found_ns;
    s->r->found_better = true;
    memcpy(s->r->found, a->found, (size_t)s->stages * sizeof *a->found);
    if (s->settings->found) s->settings->found(s->settings->argument, s->r->found, a->found_ns);
}

// Works on the box; true: closed. Its bound rises to what is proven for it, and its record holds
// the proof.
static bool settle(struct box_search *s, struct open_box *box, int rounds, struct box_answer *a)
{
    int64_t closing = frontier_closing_ns(&s->frontier);
    view(s, box);
    if ((box_closer_is_balanced(s->closer) || box_closer_has_labels(s->closer)) && box->step_count)
        box_closer_begin_with(s->closer, &box->steps[box->step_count - 1]);
    bool closed = box_close(s->closer, &s->view, closing, rounds, a);
    keep_plan(s, a);
    s->r->boxes++;
    s->r->closed += closed;
    struct box_record *r = &s->r->proof.records[box->number];
    r->steps = box_steps_copy(a->steps, a->step_count, s->resources, s->result_arena);
    r->step_count = a->step_count;
    r->of = box->number;
    r->target_ns = closing;
    r->proven_ns = a->bound_ns;
    r->single = a->single;
    int64_t ended_ns = closed ? smaller(a->bound_ns, a->removed_ns) : a->removed_ns;
    r->claim_ns = smaller(ended_ns, NEVER_NS);
    frontier_end(&s->frontier, ended_ns);
    assert(closed ? a->single || ended_ns >= closing : ended_ns >= closing);
    // No plan of it takes less than was proven before; a plan beyond its spans may.
    assert(s->c->joint || box->spans || a->found_ns >= box->bound_ns);
    assert(s->r->closed <= s->r->boxes && s->r->boxes <= s->r->proof.count);
    if (a->bound_ns > box->bound_ns) {
        box->bound_ns = a->bound_ns;
        box->of = box->number;
        box->steps = r->steps;
        box->step_count = r->step_count;
    }
    return closed;
}

// Adds two new records below that of the box, which keeps the lighter part; the other part becomes
// an open box.
static void split_box(struct box_search *s, struct open_box *box, const struct box_answer *a)
{
    struct box_proof *p = &s->r->proof;
    int64_t parent = box->number;
    struct open_box *other = split(s, box, a);
    box->number =
        box_proof_add(p, box->mask, s->choice_count, box->spans, s->spans, s->result_arena);
    other->number =
        box_proof_add(p, other->mask, s->choice_count, other->spans, s->spans, s->result_arena);
    assert(box->number > parent && other->number == box->number + 1);
    p->records[parent].first_part = box->number;
    p->records[box->number].parent = p->records[other->number].parent = parent;
    struct box_record *r = &p->records[parent];
    r->split = a->split;
    r->turned = box_split_states(&a->split);
    if (a->split.by == SPLIT_CHOICE)
        r->branched =
            TAKE_COPY(s->result_arena, &s->c->stages[a->split.at].items[a->split.value], 1);
    push(s, other);
}

// A box that was not worked on itself: the bound of an enclosing one holds for it.
static void record_inherited(struct box_search *s, const struct open_box *box)
{
    struct box_record *r = &s->r->proof.records[box->number];
    r->of = box->of;
    r->steps = box->steps;
    r->step_count = box->step_count;
    r->claim_ns = r->proven_ns = box->bound_ns;
}

// With a gap it is more than what boxes had to reach. It does not fall: only boxes below the
// closing bound are worked on, and nothing ends below that.
static int64_t bound_of(struct box_search *s, int64_t dived_ns)
{
    return frontier_tell(&s->frontier, smaller(frontier_bound(&s->frontier), dived_ns));
}

static bool is_over(struct box_search *s)
{
    const struct box_search_settings *t = s->settings;
    bool labelled = t->labelled_max && box_closer_has_labels(s->closer);
    return s->r->boxes >= (labelled ? t->labelled_max : t->boxes_max) ||
           (int64_t)s->box_count * s->choice_count > MASK_BYTES_MAX ||
           (t->should_stop && t->should_stop(t->argument));
}

// ---- levels

static const double level_step = 1.02, level_share = 0.95;

// The whole problem, where its bound is far from what is wanted: a mixture of plans in which one
// stage after another has nearly all layers costs less than any of them.
static bool levels_help(const struct box_search *s, const struct open_box *box)
{
    return box_closer_has_labels(s->closer) && !box->number &&
           (double)box->bound_ns < level_share * (double)frontier_closing_ns(&s->frontier);
}

// Splits off the plans in which the stage has this load or more. false: there are none, or no
// others.
static bool split_off(struct box_search *s, struct open_box *box, int stage, int64_t load_ns)
{
    struct box_answer a = {.split = {SPLIT_LOAD, stage, load_ns}};
    bool halves[2] = {false, false};
    for (int i = 0; i < s->c->stages[stage].count; i++)
        if (box->mask[s->first_choice[stage] + i])
            halves[s->c->stages[stage].items[i].load_ns >= load_ns] = true;
    if (!halves[0] || !halves[1]) return false;
    split_box(s, box, &a);
    s->r->proof.records[box->number].claim_ns = NEVER_NS; // nothing is removed from it
    return true;
}

// From the greatest level downwards, the plans in which some stage, the first of them, reaches the
// level and none the one above; what is left goes on until it closes. a: the answer of the box.
// false: stopped.
static bool split_by_levels(struct box_search *s, struct open_box *box, struct box_answer *a)
{
    double weights[STAGES_MAX], least, level;
    bool closed = false, settled = true; // settled: since its last split
    view(s, box);
    level = box_levels(s->closer, &s->view, weights, &least);
    for (level /= level_step; level > least && !closed; level /= level_step) {
        bool any = false;
        for (int t = 0; t < s->stages; t++)
            any = split_off(s, box, t, (int64_t)(level / weights[t])) || any;
        settled = settled && !any;
        if (is_over(s)) break;
        if (any) closed = settle(s, box, 1, a), settled = true;
    }
    if (!closed && settled) split_box(s, box, a);
    if (!closed) push(s, box);
    else box->next = s->spare, s->spare = box;
    return closed || !is_over(s);
}

// From one box downwards, the lighter half each time, until it closes. By ranks one box only: the
// light half of one of many stages is no lighter when the others take up its layers, and what
// matters is the bound. false: stopped, with the box put back.
static bool dive(struct box_search *s, struct open_box *box)
{
    struct box_answer a;
    bool closed = false;
    while (!closed && box->bound_ns < frontier_closing_ns(&s->frontier)) {
        if (is_over(s)) {
            push(s, box);
            return false;
        }
        closed = settle(s, box, 0, &a);
        if (!closed && levels_help(s, box)) return split_by_levels(s, box, &a);
        if (!closed) split_box(s, box, &a);
        if (!closed && s->settings->report)
            s->settings->report(s->settings->argument, s->r->best_ns, bound_of(s, box->bound_ns),
                                s->r->boxes, s->frontier.count, box_closer_path_count(s->closer));
        if (!closed && (box_closer_is_balanced(s->closer) || box_closer_has_labels(s->closer))) {
            push(s, box);
            return true;
        }
    }
    if (!closed) {
        record_inherited(s, box);
        frontier_end(&s->frontier, box->bound_ns);
    }
    box->next = s->spare;
    s->spare = box;
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
    struct open_box *whole = take_box(s);
    memset(whole->mask, true, (size_t)s->choice_count);
    for (int i = 0; i < s->spans; i++)
        whole->spans[i] = (struct layer_span){0, s->c->priced->layer_count};
    whole->number = box_proof_add(&s->r->proof, whole->mask, s->choice_count, whole->spans,
                                  s->spans, s->result_arena);
    push(s, whole);
}

// Starts another search for plans, each longer than the last, when this many boxes did not end the
// search.
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
                                    .found = TAKE(arena, c->priced->stage_count, int),
                                    .proof = {.uncounted = settings->uncounted}};
    struct box_search s = {.r = r,
                           .settings = settings,
                           .c = c,
                           .frontier = {.best_ns = settings->target_ns,
                                        .gap = settings->gap,
                                        .cutoff_ns = settings->cutoff_ns,
                                        .ended_ns = INT64_MAX,
                                        .arena = scratch},
                           .arena = scratch,
                           .result_arena = arena,
                           .stages = c->priced->stage_count,
                           .resources = c->priced->group_count + BUDGET_COUNT};
    s.closer = box_closer_open(c, g,
                               (struct box_settings){.labels = settings->labels,
                                                     .uncounted = settings->uncounted,
                                                     .should_stop = settings->should_stop,
                                                     .argument = settings->argument},
                               scratch);
    s.spans = box_closer_span_count(s.closer);
    open_search(&s);
    bool stopped = false;
    while (!stopped && frontier_is_wanted(&s.frontier)) {
        stopped = !dive(&s, frontier_pop(&s.frontier));
        if (box_closer_is_balanced(s.closer) && !stopped) improve(&s);
    }
    r->finished = !stopped;
    r->bound_ns = bound_of(&s, INT64_MAX);
    assert(r->bound_ns >= 0 && r->bound_ns <= r->best_ns);
    assert(!r->finished || r->bound_ns >= frontier_closing_ns(&s.frontier));
    assert(!r->found_better || r->best_ns < settings->target_ns);
    for (int i = 0; i < s.frontier.count; i++) record_inherited(&s, s.frontier.open[i].content);
    struct box_proof *p = &r->proof;
    box_proof_take_paths(p, s.closer, graph_symbol_count(g), arena);
    arena_close(scratch);
    arena_open(scratch, arena->exit);
    if (settings->recheck && settings->rechecks)
        settings->rechecks(settings->argument, r->bound_ns);
    if (settings->recheck) r->bad = box_proof_recheck(p, r->bound_ns, c, g, scratch);
    arena_close(scratch);
}
