// What would have to change if no layout of a space has a plan: nodes, memory or batch, each by
// itself. Every "there is" was found by a search, every "none" is proven by one.
#include <inttypes.h>

#include "solve/questions/question.h"

enum { NODES_MOST = 1000000, TIMES_MOST = 64, BATCH_TIMES_MOST = 16, SECONDS_MOST = 20 };

struct remedies {
    const struct problem *problem;
    struct question question; // without a problem
    struct watch watch;
    struct arena *scratch, *arena;
    struct arena_mark mark;
};

// A problem that is refused has no answer.
static enum answer ask(const struct remedies *r, const struct problem *changed)
{
    struct question question = r->question;
    struct solved found;
    struct error refused = {OK, ""};
    enum answer answer;
    question.problem = changed;
    if (question_ask(&answer, &found, &question, r->scratch, &refused) != OK) answer = ANSWER_OPEN;
    arena_reset(r->scratch, r->mark);
    return answer;
}

// Makes the problem with this amount; false: there is no such problem.
typedef bool change_function(const struct remedies *r, struct problem *changed, int64_t amount);

static enum answer ask_amount(const struct remedies *r, change_function *change, int64_t amount)
{
    struct problem changed = *r->problem;
    return change(r, &changed, amount) ? ask(r, &changed) : ANSWER_NONE;
}

// The least amount found with a plan, from `has` on, by doubling up to `most`, then bisection; 0:
// none. *proven: with one less there is no plan.
static int64_t least_amount(const struct remedies *r, change_function *change, int64_t has,
                            int64_t most, bool *proven)
{
    int64_t none = has, plan = has;
    enum answer last = ANSWER_NONE;
    *proven = true;
    do {
        if (plan >= most || watch_is_over(&r->watch)) return 0;
        none = plan, *proven = last == ANSWER_NONE;
        plan = 2 * plan < most ? 2 * plan : most;
        last = ask_amount(r, change, plan);
    } while (last != ANSWER_PLAN);
    while (plan - none > 1) {
        int64_t middle = none + (plan - none) / 2;
        enum answer answer = ask_amount(r, change, middle);
        if (answer == ANSWER_PLAN) plan = middle;
        else none = middle, *proven = answer == ANSWER_NONE;
        if (watch_is_over(&r->watch)) break;
    }
    *proven = *proven && plan - none == 1;
    return plan;
}

static struct node_group *copy_groups(const struct remedies *r, struct problem *changed)
{
    struct cluster *c = &changed->cluster;
    return c->groups = TAKE_COPY(r->arena, c->groups, c->group_count);
}

// amount: of the first group; the others grow by the same factor, rounded up.
static bool change_nodes(const struct remedies *r, struct problem *changed, int64_t amount)
{
    struct node_group *groups = copy_groups(r, changed);
    int64_t first = groups[0].nodes;
    for (int i = 0; i < changed->cluster.group_count; i++) {
        int64_t nodes = (groups[i].nodes * amount + first - 1) / first;
        if (nodes > NODES_MOST) return false;
        groups[i].nodes = (int)nodes;
    }
    return true;
}

enum { GIGABYTE = 1000000000 };

static bool change_memory(const struct remedies *r, struct problem *changed, int64_t amount)
{
    struct node_group *groups = copy_groups(r, changed);
    double times = (double)amount * GIGABYTE / (double)groups[0].memory_bytes;
    for (int i = 0; i < changed->cluster.group_count; i++)
        groups[i].memory_bytes = (int64_t)((double)groups[i].memory_bytes * times);
    return true;
}

static bool change_batch(const struct remedies *r, struct problem *changed, int64_t amount)
{
    (void)r;
    changed->job.global_batch = amount;
    return true;
}

static const char *amount_text(const struct remedies *r, int64_t amount, const char *unit,
                               bool proven)
{
    const char *text = arena_print(r->arena, "%" PRId64 "%s", amount, unit);
    return proven ? arena_print(r->arena, "%s (none with %" PRId64 ")", text, amount - 1) : text;
}

static const char *more_nodes(const struct remedies *r)
{
    const struct cluster *c = &r->problem->cluster;
    bool proven;
    int64_t nodes = least_amount(r, change_nodes, c->groups[0].nodes,
                                 (int64_t)c->groups[0].nodes * TIMES_MOST, &proven);
    if (!nodes) return NULL;
    return amount_text(
        r, nodes,
        c->group_count == 1
            ? " nodes"
            : arena_print(r->arena, " nodes of %s and the others in proportion", c->groups[0].name),
        proven);
}

static const char *more_memory(const struct remedies *r)
{
    const struct cluster *c = &r->problem->cluster;
    bool proven;
    int64_t has = c->groups[0].memory_bytes / GIGABYTE,
            gigabytes = least_amount(r, change_memory, has, has * TIMES_MOST, &proven);
    if (!gigabytes) return NULL;
    return amount_text(r, gigabytes,
                       c->group_count == 1
                           ? " GB in a GPU"
                           : arena_print(r->arena,
                                         " GB in a GPU of %s and the others in proportion",
                                         c->groups[0].name),
                       proven);
}

// By doubling, because a batch must be divisible.
static const char *larger_batch(const struct remedies *r)
{
    int64_t has = r->problem->job.global_batch;
    for (int64_t batch = 2 * has; batch <= BATCH_TIMES_MOST * has; batch *= 2)
        if (ask_amount(r, change_batch, batch) == ANSWER_PLAN)
            return arena_print(r->arena, "a global batch of %" PRId64, batch);
    return NULL;
}

static void tell(const struct remedies *r, const struct plan *plan)
{
    char text[128];
    snprintf(text, sizeof text, "%8.1f s  no layout has a plan: what would be enough?",
             plan->effort.seconds);
    solve_tell(r->question.like, &(struct solve_progress){plan->effort.seconds, 0, 0, text});
}

void solve_advise(const struct solved *s, const struct solve_settings *settings,
                  struct arena *arena)
{
    struct plan *plan = &s->result->plan;
    const struct layouts *layouts = &s->space->layouts;
    const struct problem *problem = s->problem;
    double left_s = watch_left_s(&s->watch), limit_s = SECONDS_MOST; // left 0: there is no limit
    if (left_s > 0 && left_s < limit_s) limit_s = left_s;
    struct remedies r = {.problem = problem,
                         .question = {.like = settings, .gap = 1, .quiet = true},
                         .watch = watch_begin(s->watch.stop, limit_s),
                         .scratch = arena_open_within(arena),
                         .arena = arena};
    bool room = false, refused = false;
    const char *advice = "";
    if (plan->outcome != OUTCOME_INFEASIBLE || problem->cluster.places.node_count) return;
    for (int i = 0; i < layouts->reason_count; i++) {
        enum layout_fate fate = layouts->reasons[i].fate;
        room |= fate == FATE_MEMORY || fate == FATE_INFEASIBLE, refused |= fate == FATE_REFUSED;
    }
    TAKE(r.scratch, 1, char); // a block that resets keep
    r.mark = arena_set_mark(r.scratch);
    r.question.watch = &r.watch;
    tell(&r, plan);
    const char *found[] = {room ? more_nodes(&r) : NULL, room ? more_memory(&r) : NULL,
                           refused ? larger_batch(&r) : NULL};
    for (size_t i = 0; i < ARRAY_LENGTH(found); i++)
        if (found[i])
            advice = arena_print(arena, "%s%s%s", advice, *advice ? ", or with " : "", found[i]);
    plan->effort.seconds += watch_elapsed_s(&r.watch);
    if (!*advice && watch_is_over(&r.watch))
        plan->reason = arena_print(arena, "%s; what would be enough was not found within %.3g s",
                                   plan->reason, limit_s);
    if (*advice)
        plan->reason = arena_print(
            arena, "%s; there is one with %s%s", plan->reason, advice,
            watch_is_over(&r.watch)
                ? arena_print(arena, "; not all that may help was tried within %.3g s", limit_s)
                : "");
}
