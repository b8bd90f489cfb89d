// The rounds of the search: sharper bounds of the next layouts, then looks at them by the workers.
#include <stdlib.h>

#include "data/base/grow.h"
#include "solve/layouts/search.h"

enum { SHARPEN_ROUND = 4096, SHARPEN_PIECE = 512, SOLVE_ROUND = 4 };

// ---- one round of sharper bounds

bool layouts_sharpen(struct search *s, int64_t enough, struct candidate **round, int count)
{
    int pieces = (count + SHARPEN_PIECE - 1) / SHARPEN_PIECE;
    struct message *requests = TAKE(s->arena, pieces, struct message),
                   *answers = TAKE(s->arena, pieces, struct message);
    const struct layout **layouts = TAKE(s->arena, count, const struct layout *);
    int64_t *bounds = TAKE(s->arena, SHARPEN_PIECE, int64_t);
    struct candidate **sorted = TAKE_COPY(s->arena, round, count); // near ones share prices
    if (count) qsort(sorted, (size_t)count, sizeof *sorted, candidates_by_number);
    for (int i = 0; i < count; i++) layouts[i] = &sorted[i]->layout;
    for (int p = 0; p < pieces; p++) {
        int first = p * SHARPEN_PIECE;
        message_begin(&requests[p], s->arena);
        request_sharpen(&requests[p], enough, layouts + first,
                        count - first < SHARPEN_PIECE ? count - first : SHARPEN_PIECE);
    }
    bool whole = layouts_ask(s, requests, pieces, answers);
    for (int p = 0; p < pieces && whole; p++) {
        int first = p * SHARPEN_PIECE,
            end = first + SHARPEN_PIECE < count ? first + SHARPEN_PIECE : count;
        if (answers[p].broken || !answer_sharpen(&answers[p], bounds, end - first)) continue;
        for (int i = first; i < end; i++) {
            layouts_note_own(s, sorted[i]->number, bounds[i - first]);
            if (bounds[i - first] > sorted[i]->bound_ns) sorted[i]->bound_ns = bounds[i - first];
        }
    }
    return whole;
}

bool layouts_sharpen_round(struct search *s)
{
    struct candidate **round = TAKE(s->arena, SHARPEN_ROUND, struct candidate *);
    int count = 0;
    for (struct candidate *c; count < SHARPEN_ROUND && (c = layouts_first_in_line(s)) &&
                              c->level == LEVEL_SCANNED && c->bound_ns < layouts_closing_ns(s);)
        round[count++] = frontier_pop(&s->frontier);
    bool whole = layouts_sharpen(s, layouts_closing_ns(s), round, count);
    for (int i = 0; i < count; i++) {
        if (round[i]->bound_ns == INT64_MAX) {
            layouts_set_fate(s, round[i], FATE_INFEASIBLE,
                             "memory: no recomputation that is allowed lets its layers fit");
            continue;
        }
        if (round[i]->bound_ns == LAYOUT_TOO_SLOW) {
            layouts_set_fate(s, round[i], FATE_INFEASIBLE,
                             "no plan of it satisfies the job's limits of time and price");
            continue;
        }
        if (whole) round[i]->level = LEVEL_SHARPENED;
        layouts_set_fate(s, round[i], FATE_OPEN, "its bound leaves room for a better plan");
        layouts_put_in_line(s, round[i]);
    }
    return whole;
}

// ---- one round of solves

static void follow(struct search *s, const struct candidate *c, const struct candidate *other)
{
    GROW(s->arena, s->followers, s->follower_count, s->follower_capacity, 256);
    assert(c->number != other->number);
    assert(other->number >= 0 &&
           layouts_fate(s->layouts, other->number) != FATE_SAME); // the other was itself looked at
    s->followers[s->follower_count++] = (struct follower){c->number, other->number};
}

static int64_t devices_of(const struct layout *l)
{
    return (int64_t)l->tensor * l->context * l->data * l->pipeline;
}

// An already examined layout that this one is no better than.
static const struct candidate *better_known(struct search *s, const struct candidate *c,
                                            const struct priced *priced)
{
    for (int i = 0; i < s->looked_at_count; i++) {
        const struct candidate *other = s->looked_at[i].candidate;
        bool dearer = problem_counts_devices(s->problem) &&
                      devices_of(&other->layout) > devices_of(&c->layout);
        if (!dearer && layout_no_worse(s->looked_at[i].priced, priced)) return other;
    }
    return NULL;
}

static void note_looked_at(struct search *s, struct candidate *c, const struct priced *priced)
{
    GROW(s->arena, s->looked_at, s->looked_at_count, s->looked_at_capacity, 256);
    assert(priced->stage_count > 0);
    s->looked_at[s->looked_at_count++] = (struct looked_at){c, priced};
}

void layouts_note_work(struct search *s, int64_t number, int64_t iteration_ns, int64_t other,
                       int64_t boxes)
{
    GROW(s->arena, s->work, s->work_count, s->work_capacity, 256);
    assert(number >= 0 && number < s->layouts->count && other != number);
    s->work[s->work_count++] = (struct layouts_work){number, iteration_ns, other, boxes};
}

// A layout that is no better than an already examined one follows it; any other one becomes an
// examined one. *on: whether it is to be looked at.
static enum status goes_on(struct search *s, struct candidate *c, bool *on, struct error *err)
{
    struct arena_mark mark = arena_set_mark(s->arena);
    struct priced *priced = TAKE(s->arena, 1, struct priced);
    TRY(layout_price(priced, s->problem, &c->layout, s->arena, err));
    const struct candidate *other = better_known(s, c, priced);
    *on = !other;
    if (*on) {
        note_looked_at(s, c, priced);
        return OK;
    }
    arena_reset(s->arena, mark);
    layouts_set_fate(s, c, FATE_SAME, "in nothing better than another layout");
    follow(s, c, other);
    layouts_note_work(s, c->number, 0, other->number, 0);
    return OK;
}

enum status layouts_choose_round(struct search *s, enum candidate_level level,
                                 struct candidate **round, int *count, struct error *err)
{
    int most = level == LEVEL_SHARPENED ? ROOT_ROUND : SOLVE_ROUND;
    *count = 0;
    for (struct candidate *c; *count < most && (c = layouts_first_in_line(s)) &&
                              c->level == level && c->bound_ns < layouts_closing_ns(s);) {
        bool on = true;
        frontier_pop(&s->frontier);
        if (level == LEVEL_SHARPENED) TRY(goes_on(s, c, &on, err));
        if (on) round[(*count)++] = c;
    }
    return OK;
}

void layouts_take_plan(struct search *s, const struct plan *plan, int64_t number)
{
    if (!plan->stage_count) return;
    bool better = !s->best.stage_count || plan->iteration_ns < s->best.iteration_ns ||
                  (plan->iteration_ns == s->best.iteration_ns && number < s->best_number);
    assert(plan->iteration_ns >= 0 && number >= 0 && number < s->layouts->count);
    if (!better) return;
    s->best = *plan, s->best_number = number, s->frontier.best_ns = plan->iteration_ns;
    if (!s->first.stage_count || plan->iteration_ns < s->first.iteration_ns)
        layouts_keep_plan(s, plan);
}

static void take_answer(struct search *s, struct candidate *c, const struct layout_answer *a,
                        enum layouts_request request)
{
    if (a->sidelined) s->sidelined = a->sidelined;
    plan_effort_add(&s->effort, &a->plan.effort);
    if (a->one_width_ns && (!s->one_width_ns || a->one_width_ns < s->one_width_ns))
        s->one_width_ns = a->one_width_ns, s->one_width_group = a->one_width_group;
    layouts_note_own(s, c->number, a->infeasible ? INT64_MAX : a->bound_ns);
    if (a->infeasible) {
        layouts_set_fate(s, c, FATE_INFEASIBLE,
                         a->reason && *a->reason ? a->reason : "no plan satisfies its limits");
        return;
    }
    layouts_take_plan(s, &a->plan, c->number);
    if (a->plan.stage_count && a->plan.iteration_ns < c->bound_ns) {
        assert(s->task.known); // no plan takes less than one of our bounds
        s->false_bound = c->number;
        return;
    }
    if (a->bound_ns > c->bound_ns) c->bound_ns = a->bound_ns;
    layouts_note_work(s, c->number, a->plan.stage_count ? a->plan.iteration_ns : 0, -1,
                      a->plan.effort.boxes);
    if (a->limited) c->solves++;
    c->level = request == REQUEST_ROOT || a->limited ? LEVEL_ROOTED : LEVEL_SOLVED;
    layouts_set_fate(s, c, a->finished ? FATE_SOLVED : FATE_OPEN,
                     a->finished ? "solved to the requested gap"
                                 : "its bound leaves room for a better plan");
    if (!a->finished) layouts_put_in_line(s, c);
}

bool layouts_look_round(struct search *s, enum layouts_request request, struct candidate **round,
                        int count)
{
    struct message requests[ROOT_ROUND], answers[ROOT_ROUND] = {{0}};
    assert(count > 0 && count <= ROOT_ROUND);
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], s->arena);
        request_look(&requests[i], request, &round[i]->layout,
                     s->best.stage_count ? s->best.iteration_ns : 0, watch_left_s(&s->watch),
                     round[i]->solves);
    }
    bool whole = layouts_ask(s, requests, count, answers);
    for (int i = 0; i < count; i++) {
        struct layout_answer answer;
        if (layout_answer_get(&answers[i], &answer, s->problem, s->arena) && answer.status == OK) {
            take_answer(s, round[i], &answer, request);
            continue;
        }
        // A layout that made a first look crash may not crash a solve; one that crashed a solve is
        // not tried again.
        round[i]->level = request == REQUEST_ROOT ? LEVEL_ROOTED : LEVEL_SOLVED;
        layouts_set_fate(s, round[i], FATE_OPEN,
                         whole && !layouts_is_over(s) ? "a worker process failed on it"
                                                      : "stopped while it was examined");
        layouts_put_in_line(s, round[i]);
    }
    return whole;
}

// Followers get the bound of the layout they follow, which comes before them in work.
void layouts_settle_followers(struct search *s)
{
    struct layouts *l = s->layouts;
    for (int i = 0; i < s->follower_count; i++) {
        const struct follower *f = &s->followers[i];
        enum layout_fate fate = layouts_fate(l, f->other);
        assert(fate != FATE_REFUSED && fate != FATE_MEMORY);
        if (s->own_ns) layouts_note_own(s, f->number, s->own_ns[f->other]);
        if (fate == FATE_INFEASIBLE) {
            l->reason[f->number] = (uint16_t)layouts_reason(
                l, FATE_INFEASIBLE, "so is a layout that it is in nothing better than", s->arena);
            continue;
        }
        if (l->value[f->other] > l->value[f->number]) l->value[f->number] = l->value[f->other];
    }
}
