// Plans found early: of sensible layouts before the space is scanned, and of dissimilar layouts
// before the queue is processed.
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/base/least.h"
#include "solve/layouts/search.h"
#include "solve/process/supervise.h"

// ---- scouts: plans of some dissimilar layouts before the queue is processed, so that bounds close
// the rest

enum { SCOUTS_MAX = 1 << 16, SCOUTS_LOOKED_AT = 32, SCOUTS_PER_DEGREES = 4 };
// A space with more layouts is large; about as many scouts are bounded with all its degrees.
enum { LARGE = 1 << 16, SCOUTS_OF_ALL_DEGREES = 2048, SCOUTS_AROUND_BEST = 12 };
// Limit for a scout: passes of a graph times the square of its ranks (paths begin and end at any
// two). Larger ones take longer to look at than a first plan is worth, except for one of each
// schedule.
enum { SCOUTS_COST_MAX = 5 * 1000 * 1000, SCOUTS_OF_SCHEDULES_COST_MAX = 50 * 1000 * 1000 };
struct scouts {
    const struct search *search;
    const struct layouts *layouts;
    struct candidate *all;
    int count;
};

static bool same_kind(const struct layout *a, const struct layout *b)
{
    return same_degrees(a, b) && a->schedule == b->schedule &&
           a->virtual_stages == b->virtual_stages && a->micro_batch == b->micro_batch &&
           a->grid_depth == b->grid_depth && a->grid_rows == b->grid_rows &&
           a->sequence_parallel == b->sequence_parallel && a->zero == b->zero;
}

// What means of passes do not show.
static int slowed_by(const struct layout *l)
{
    return 4 * l->offload_optimizer + 2 * (l->gradient_sync == SYNC_EXPOSED) + l->barrier;
}

static int64_t cost_of(const struct layouts *all, const struct layout *l)
{
    int64_t micro_batches = all->global_batch / l->data / l->micro_batch;
    int64_t passes = micro_batches * layout_stage_count(l) * l->slice_count;
    return passes * l->pipeline * l->pipeline;
}

// Layouts that differ only in the inner switches are adjacent in the space: takes the one of each
// such kind with the least bound, of equal ones what slows it least.
static bool scout_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct scouts *x = argument;
    if (!x->search->scanned[number] || layouts_fate(x->layouts, number) != FATE_OPEN) return true;
    if (cost_of(x->layouts, layout) > SCOUTS_COST_MAX) return true;
    struct candidate *last = x->count ? &x->all[x->count - 1] : NULL;
    int64_t bound_ns = x->layouts->value[number];
    if (last && same_kind(&last->layout, layout)) {
        if (bound_ns < last->bound_ns ||
            (bound_ns == last->bound_ns && slowed_by(layout) < slowed_by(&last->layout)))
            *last = (struct candidate){.number = number, .bound_ns = bound_ns, .layout = *layout};
        return true;
    }
    if (x->count < SCOUTS_MAX)
        x->all[x->count++] =
            (struct candidate){.number = number, .bound_ns = bound_ns, .layout = *layout};
    return true;
}

static int candidates_by_bound(const void *a, const void *b)
{
    const struct candidate *const *x = a, *const *y = b;
    if ((*x)->bound_ns != (*y)->bound_ns) return (*x)->bound_ns < (*y)->bound_ns ? -1 : 1;
    return candidates_by_number(a, b);
}

// Moves the best to the front, at most a few of each tuple of degrees; returns their number.
static int spread(struct candidate **round, int count)
{
    int chosen = 0;
    for (int i = 0; i < count && chosen < SCOUTS_LOOKED_AT; i++) {
        int alike = 0;
        for (int k = 0; k < chosen; k++)
            alike += same_degrees(&round[k]->layout, &round[i]->layout);
        if (alike < SCOUTS_PER_DEGREES && round[i]->bound_ns < LAYOUT_TOO_SLOW)
            round[chosen++] = round[i];
    }
    return chosen;
}

// The same for layouts with the same degrees: one of each schedule and micro-batch; of those within
// 0.2 % of its least bound, the one with the most stages of a rank, whose pipeline idles least.
static int spread_schedules(struct candidate **round, int count)
{
    struct candidate *chosen[SCOUTS_AROUND_BEST];
    int64_t least_ns[SCOUTS_AROUND_BEST];
    int chosen_count = 0;
    for (int i = 0; i < count; i++) {
        const struct layout *l = &round[i]->layout;
        int k = 0;
        while (k < chosen_count && (chosen[k]->layout.schedule != l->schedule ||
                                    chosen[k]->layout.micro_batch != l->micro_batch))
            k++;
        if (k == SCOUTS_AROUND_BEST || round[i]->bound_ns >= LAYOUT_TOO_SLOW) continue;
        bool better = k < chosen_count && l->virtual_stages > chosen[k]->layout.virtual_stages &&
                      round[i]->bound_ns - least_ns[k] <= least_ns[k] / 500;
        if (k == chosen_count) least_ns[chosen_count++] = round[i]->bound_ns;
        else if (!better) continue;
        chosen[k] = round[i];
    }
    memcpy(round, chosen, (size_t)chosen_count * sizeof *round);
    return chosen_count;
}

// Context ranks and micro-batches of more sequences often take as long.
static bool same_ranks(const struct layout *a, const struct layout *b)
{
    return a->tensor == b->tensor && a->pipeline == b->pipeline &&
           a->expert_tensor == b->expert_tensor && a->expert == b->expert;
}

// Keeps the fastest plan with each choice of degrees, the few fastest of them.
static void note_promising(struct search *s, const struct layout *layout, int64_t iteration_ns)
{
    struct promising *all = s->promising;
    int at = 0, end = s->promising_count;
    while (at < end && !same_ranks(&all[at].layout, layout)) at++;
    if (at < end && all[at].iteration_ns <= iteration_ns) return;
    if (at == end && end < PROMISING_MAX) s->promising_count++;
    if (at == end && end == PROMISING_MAX && all[--at].iteration_ns <= iteration_ns) return;
    for (; at > 0 && all[at - 1].iteration_ns > iteration_ns; at--) all[at] = all[at - 1];
    all[at] = (struct promising){*layout, iteration_ns};
}

static int64_t best_known_anyway_ns(const struct search *s)
{
    int64_t first_ns = s->first.stage_count ? s->first.iteration_ns : INT64_MAX;
    return s->best.stage_count ? smaller(s->best.iteration_ns, first_ns) : first_ns;
}

// Looks at those with the least sharpened bounds, as spread. false: stopped.
static bool look_at_best(struct search *s, struct candidate **round, int count,
                         int (*spread_over)(struct candidate **round, int count))
{
    struct message requests[SCOUTS_LOOKED_AT], answers[SCOUTS_LOOKED_AT] = {{0}};
    int64_t enough = best_known_anyway_ns(s);
    if (!layouts_sharpen(s, enough, round, count)) return false;
    if (count) qsort(round, (size_t)count, sizeof *round, candidates_by_bound);
    while (count && round[count - 1]->bound_ns >= enough) count--;
    count = spread_over(round, count);
    assert(count <= SCOUTS_LOOKED_AT);
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], s->arena);
        request_look(&requests[i], REQUEST_SCOUT, &round[i]->layout, 0, 0, 0);
    }
    bool whole = layouts_ask(s, requests, count, answers);
    for (int i = 0; i < count; i++) {
        struct layout_answer a;
        if (!layout_answer_get(&answers[i], &a, s->problem, s->arena) || !a.plan.stage_count)
            continue;
        layouts_take_plan(s, &a.plan, round[i]->number);
        note_promising(s, &round[i]->layout, a.plan.iteration_ns);
        layouts_note_work(s, round[i]->number, a.plan.iteration_ns, -1, a.plan.effort.boxes);
    }
    return whole;
}

bool layouts_is_large(const struct search *s) { return s->layouts->count > LARGE; }

// space_each_of some ranges, or the whole space.
static void scout_kinds(struct search *s, const struct space_range *ranges, int64_t range_count)
{
    const struct space *space = &s->problem->job.space;
    struct scouts x = {s, s->layouts, TAKE(s->arena, SCOUTS_MAX, struct candidate), 0};
    struct candidate **round = TAKE(s->arena, SCOUTS_MAX, struct candidate *);
    if (ranges) space_each_of(space, &s->limits, &s->index, ranges, range_count, scout_visit, &x);
    else space_each(space, &s->limits, scout_visit, &x);
    for (int i = 0; i < x.count; i++) round[i] = &x.all[i];
    look_at_best(s, round, x.count, ranges ? spread_schedules : spread);
}

void layouts_scout(struct search *s) { scout_kinds(s, NULL, 0); }

// ---- scouts of a large space: most of its least bounds are of layouts that nobody could run

// Those with these degrees that are worth a look: of 1F1B or of each other schedule up to `each`
// micro-batches, the smallest, and of several numbers of stages of a rank the greatest.
static int choose_kinds(const struct search *s, const struct first_degrees *d, bool of_1f1b,
                        int each, struct candidate **round)
{
    int64_t most = of_1f1b ? SCOUTS_COST_MAX : SCOUTS_OF_SCHEDULES_COST_MAX;
    int count = 0;
    for (int i = 0; i < d->count; i++) {
        struct candidate *c = &d->kinds[i].layout;
        const struct layout *l = &c->layout;
        struct problem one = problem_with_layout(s->problem, l);
        struct error err = {0};
        int at = 0, alike = 0;
        if ((l->schedule == SCHEDULE_1F1B) != of_1f1b || cost_of(s->layouts, l) > most) continue;
        for (; at < count && (round[at]->layout.schedule != l->schedule ||
                              round[at]->layout.micro_batch != l->micro_batch);
             at++)
            alike += round[at]->layout.schedule == l->schedule;
        if (alike >= each || problem_check_layout(&one, &err) != OK) continue;
        round[at] = c;
        if (at == count) count++;
    }
    return count;
}

// The one of each schedule with the least bound.
static int spread_over_schedules(struct candidate **round, int count)
{
    int chosen = 0;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < chosen && round[k]->layout.schedule != round[i]->layout.schedule) k++;
        if (k == chosen && round[i]->bound_ns < LAYOUT_TOO_SLOW) round[chosen++] = round[i];
    }
    return chosen;
}

void layouts_scout_degrees(struct search *s)
{
    const struct layouts_first *f = &s->sensible;
    int most = 0;
    for (int d = 0; d < f->degrees_count; d++) most += f->degrees[d].count;
    struct candidate **round = TAKE(s->arena, most, struct candidate *);
    static const int each_most[] = {6, 2};
    for (int others = 0; others < 2; others++) {
        int each = smaller_int((2 - others) * SCOUTS_OF_ALL_DEGREES / (f->degrees_count + 1),
                               each_most[others]),
            count = 0;
        for (int d = 0; d < f->degrees_count; d++)
            count += choose_kinds(s, &f->degrees[d], !others, larger_int(each, 1), round + count);
        if (!look_at_best(s, round, count, others ? spread_over_schedules : spread)) return;
    }
    layouts_report_scan(s, "scouts with all degrees are back");
}

struct gathering {
    const struct search *search;
    const struct layout *degrees;
    int64_t below;
    struct space_range *ranges;
    int64_t count, capacity;
};

static bool gather_visit(void *argument, int64_t number, const struct layout *layout)
{
    struct gathering *g = argument;
    const struct search *s = g->search;
    if (!same_degrees(layout, g->degrees) || s->scanned[number] ||
        layouts_fate(s->layouts, number) != FATE_OPEN || s->layouts->value[number] >= g->below ||
        !layouts_is_here(s, number))
        return true;
    struct space_range *last = g->count ? &g->ranges[g->count - 1] : NULL;
    if (last && last->end == number) last->end++;
    else {
        GROW(s->arena, g->ranges, g->count, g->capacity, 64);
        g->ranges[g->count++] = (struct space_range){number, number + 1};
    }
    return true;
}

// The tuples of the index that have these degrees.
static struct space_range range_of_degrees(const struct search *s, const struct layout *l)
{
    const struct space_index *x = &s->index;
    const int degrees[] = {l->tensor, l->context, l->pipeline, l->data};
    struct space_range range = {-1, 0};
    for (int i = 0; i < x->tuple_count; i++) {
        if (memcmp(x->tuples[i].values, degrees, sizeof degrees)) continue;
        if (range.first < 0) range.first = x->tuples[i].first;
        range.end = i + 1 < x->tuple_count ? x->tuples[i + 1].first : x->count;
    }
    return range;
}

void layouts_scout_around_best(struct search *s)
{
    if (s->best.stage_count) note_promising(s, &s->best.layout, s->best.iteration_ns);
    for (int i = 0; i < s->promising_count && !layouts_is_over(s); i++) {
        const struct layout degrees = s->promising[i].layout;
        struct gathering g = {
            .search = s, .degrees = &degrees, .below = layouts_closing_anyway_ns(s)};
        struct space_range all = range_of_degrees(s, &degrees);
        space_each_of(&s->problem->job.space, &s->limits, &s->index, &all, 1, gather_visit, &g);
        if (!g.count) continue;
        if (!layouts_scan_ranges(s, g.ranges, g.count)) return;
        scout_kinds(s, g.ranges, g.count);
    }
    layouts_report_scan(s, "scouts around the best plans are back");
}

// ---- the first plan, before the space is scanned

// A few tuples of degrees of each tier; if no tier has a plan, all of them.
enum { FIRST_LOOKS = 6, FIRST_LOOKS_AGAIN = 256 };

// Layouts without a price or room have no bound; those with the same degrees mostly fail for the
// same reason.
static bool worth_a_look(const struct candidate *c, struct candidate *const *looked, int count)
{
    for (int i = 0; i < count; i++)
        if (same_degrees(&looked[i]->layout, &c->layout)) return false;
    return c->bound_ns > 0 && c->bound_ns < LAYOUT_TOO_SLOW;
}

static void look_first(struct search *s, struct candidate *c)
{
    struct message request, answer = {0};
    struct layout_answer a;
    message_begin(&request, s->arena);
    request_look(&request, REQUEST_FIRST, &c->layout, 0, 0, 0);
    if (!layouts_ask(s, &request, 1, &answer) ||
        !layout_answer_get(&answer, &a, s->problem, s->arena) || !a.plan.stage_count)
        return;
    if (s->first.stage_count && a.plan.iteration_ns >= s->first.iteration_ns) return;
    s->first = a.plan, s->first_number = c->number;
    layouts_keep_plan(s, &a.plan);
    layouts_report_scan(s, "a first plan, before the layouts are priced");
}

// One after the other, so that the first plan is available as soon as it is found. true: there is
// one.
static bool look_at_tier(struct search *s, struct candidate **round, int count, bool again)
{
    struct candidate *looked[FIRST_LOOKS_AGAIN];
    int looks = 0, most = again ? FIRST_LOOKS_AGAIN : FIRST_LOOKS;
    for (int i = 0; i < count && looks < most && !layouts_is_over(s); i++) {
        if (!worth_a_look(round[i], looked, looks)) continue;
        looked[looks++] = round[i];
        if (!again || looks > FIRST_LOOKS) look_first(s, round[i]);
    }
    return s->first.stage_count != 0;
}

static void find_first(struct search *s)
{
    for (int i = 0; i < 2 * FIRST_TIERS && !layouts_is_over(s); i++) {
        struct first_tier *tier = &s->sensible.tiers[i % FIRST_TIERS];
        bool again = i >= FIRST_TIERS;
        struct candidate **round = TAKE(s->arena, tier->count, struct candidate *);
        for (int k = 0; k < tier->count; k++) round[k] = &tier->layouts[k];
        if (!layouts_sharpen(s, INT64_MAX, round, tier->count)) return;
        if (tier->count) qsort(round, (size_t)tier->count, sizeof *round, candidates_by_bound);
        if (look_at_tier(s, round, tier->count, again)) return;
    }
}

// A limit of time may pass on a busy machine before this had any of it: where there is a
// supervisor, its flag ends it, by processor time.
void layouts_find_first(struct search *s)
{
    double limit_s = s->watch.limit_s;
    if (supervised_is()) s->watch.limit_s = 0;
    find_first(s);
    s->watch.limit_s = limit_s;
}

void layouts_take_first(struct search *s)
{
    const struct plan *first = &s->first;
    if (!first->stage_count || (s->best.stage_count && first->iteration_ns >= s->best.iteration_ns))
        return;
    assert(s->first_number >= 0 && s->first_number < s->layouts->count);
    s->best = *first, s->best_number = s->first_number;
    s->frontier.best_ns = first->iteration_ns;
    for (int i = 0; i < s->work_count; i++)
        if (s->work[i].number == s->first_number) {
            s->work[i].iteration_ns = first->iteration_ns;
            return;
        }
    layouts_note_work(s, s->first_number, first->iteration_ns, -1, first->effort.boxes);
}
