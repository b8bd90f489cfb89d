// What is told and kept during a search: lines of progress, to a caller's function or to stderr;
// plans and bounds, to whoever must survive this process.
#include <unistd.h>

#include "solve/layout/solve.h"

bool solve_tells(const struct solve_settings *s)
{
    return s->progress > 0 || (s->progress < 0 && isatty(STDERR_FILENO));
}

void solve_tell(const struct solve_settings *s, const struct solve_progress *p)
{
    if (!solve_tells(s)) return;
    if (s->tell) s->tell(s->tell_argument, p);
    else fprintf(stderr, "%s\n", p->text);
}

bool solve_keeps(const struct solve_settings *s, const void *of)
{
    return s->keep && s->keep_of == of;
}

void solve_keep_plan(const struct solve_settings *s, const void *of, const struct plan *plan,
                     int64_t value_ns)
{
    if (solve_keeps(s, of)) s->keep(s->keep_argument, plan, value_ns, 0);
}

void solve_keep_bound(const struct solve_settings *s, const void *of, int64_t bound_ns)
{
    if (solve_keeps(s, of)) s->keep(s->keep_argument, NULL, 0, bound_ns);
}

void solve_rechecks(const struct solve_settings *s, const void *of, bool begins)
{
    if (solve_keeps(s, of) && s->rechecks) s->rechecks(s->keep_argument, begins);
}
