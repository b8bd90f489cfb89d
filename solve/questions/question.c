// Asks: prices, checks and searches the changed problem within what the watch leaves.
#include "solve/questions/question.h"

static struct solve_settings settings_of(const struct question *q)
{
    struct solve_settings s = *q->like;
    s.time_limit_s = watch_left_s(q->watch);
    s.gap = q->gap, s.cutoff_ns = q->cutoff_ns, s.boxes_max = q->boxes_max;
    s.known_bound_ns = 0; // of another problem
    s.evidence = false, s.alternatives = 0;
    s.program_path = s.map_path = NULL;
    if (q->quiet) s.progress = 0;
    if (q->tell)
        s.progress = solve_tells(q->like), s.tell = q->tell, s.tell_argument = q->tell_argument;
    return s;
}

static enum answer answer_of(const struct solve_result *r, int64_t cutoff_ns)
{
    const struct plan *p = &r->plan;
    if (p->stage_count && (!cutoff_ns || plan_value_ns(p) < cutoff_ns)) return ANSWER_PLAN;
    return r->cut_off || p->outcome == OUTCOME_INFEASIBLE ? ANSWER_NONE : ANSWER_OPEN;
}

enum status question_ask(enum answer *answer, struct solved *to, const struct question *q,
                         struct arena *arena, struct error *err)
{
    *answer = ANSWER_OPEN;
    *to = (struct solved){.problem = q->problem};
    if (watch_is_over(q->watch)) return OK;
    const struct solve_settings settings = settings_of(q);
    TRY(solve_prepare(to, q->problem, arena, err));
    TRY(solve_find(to, &settings, NULL, q->watch->stop, arena, err));
    *answer = answer_of(to->result, q->cutoff_ns);
    return OK;
}
