// One layout of a space: whether the argument named for it holds.
#include "solve/checker/space/arguments.h"

const char check_fate_letters[FATES + 1] = "rmbdpg";

enum { WORK_OF_RANK = 64 }; // of a bound, in steps

// Tables of a layout that no rule refuses; *why if the refusal only shows in them.
static enum status ask_bytes(struct check_layouts *x, const struct check_layout *layout,
                             const char **why)
{
    *why = NULL;
    if (!x->pricer->bytes(x->pricer->context, layout, &x->p))
        return *why = "a price beyond what can be counted", OK;
    x->p->reader = x->reader;
    if (!check_has_slots(x->p)) return *why = "room for fewer ranks", OK;
    return check_problem_bytes(x->p);
}

static enum status sketch(struct check_layouts *x, struct check_sketch *s)
{
    const struct check_held *held;
    TRY(check_find_held(&x->held, x->p, &held));
    TRY(check_spend(x->p, x->held.work, (uint64_t)x->p->ranks * WORK_OF_RANK));
    check_sketch_bytes(s, x->p, held);
    return OK;
}

static enum status ask_times(struct check_layouts *x, struct check_sketch *s, const char **why)
{
    if (!x->pricer->times(x->pricer->context))
        return *why = "a price beyond what can be counted", OK;
    TRY(check_problem_times(x->p));
    check_sketch_times(s);
    uint64_t shares = (uint64_t)(s->main_count + 1) * (uint64_t)(s->others + 1);
    return s->others ? check_spend(x->p, x->held.work, (uint64_t)x->p->ranks * shares) : OK;
}

// Also for a layout that is refused, which has no plan.
static enum status in_slow_group(struct check_layouts *x, const struct check_layout *layout,
                                 bool *holds)
{
    int64_t goal_ns = check_goal_ns(x->space, layout, x->bound_ns), takes = 0;
    if (goal_ns > 0) TRY(check_group_takes(x, layout, &takes));
    return *holds = goal_ns > 0 && takes >= goal_ns, OK;
}

enum status check_fate_holds(struct check_layouts *x, const struct check_layout *layout,
                             enum check_fate fate, bool *holds, const char **why)
{
    struct check_sketch s;
    *holds = false;
    *why = NULL;
    if (x->space->width_count && fate != FATE_IS_REFUSED) return OK;
    if (fate == FATE_IS_GROUP) return in_slow_group(x, layout, holds);
    *why = check_space_refusal(x->space, layout);
    if (!*why) TRY(ask_bytes(x, layout, why));
    if (*why) return *holds = fate == FATE_IS_REFUSED, OK;
    if (fate == FATE_IS_MEMORY || fate == FATE_IS_BOUND) TRY(sketch(x, &s));
    if (fate == FATE_IS_MEMORY) return *holds = check_never_fits(&s), OK;
    if (fate == FATE_IS_REFUSED) {
        if (!x->pricer->times(x->pricer->context))
            *why = "a price beyond what can be counted", *holds = true;
        return OK;
    }
    int64_t goal_ns = check_goal_ns(x->space, layout, x->bound_ns);
    if (fate != FATE_IS_BOUND || goal_ns < 0) return OK;
    TRY(ask_times(x, &s, why));
    if (!*why) *holds = check_average_reaches(&s, goal_ns) || check_filling_reaches(&s, goal_ns);
    return OK;
}

enum status check_find_fate(struct check_layouts *x, const struct check_layout *layout,
                            enum check_fate *fate)
{
    struct check_sketch s;
    bool slow = false, seated = x->space->width_count > 0;
    if (!seated) TRY(in_slow_group(x, layout, &slow));
    if (slow) return *fate = FATE_IS_GROUP, OK;
    const char *why = check_space_refusal(x->space, layout);
    *fate = FATE_IS_REFUSED;
    if (!why) TRY(ask_bytes(x, layout, &why));
    if (why) return OK;
    if (seated) {
        if (x->pricer->times(x->pricer->context)) *fate = FATE_IS_PROVEN;
        return OK;
    }
    TRY(sketch(x, &s));
    if (check_never_fits(&s)) return *fate = FATE_IS_MEMORY, OK;
    TRY(ask_times(x, &s, &why));
    if (why) return OK;
    int64_t goal_ns = check_goal_ns(x->space, layout, x->bound_ns);
    bool bounded = goal_ns >= 0 &&
                   (check_average_reaches(&s, goal_ns) || check_filling_reaches(&s, goal_ns));
    *fate = bounded ? FATE_IS_BOUND : FATE_IS_PROVEN;
    return OK;
}
