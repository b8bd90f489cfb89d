// Lines of progress, to a caller's function or to stderr.
#include <stdio.h>
#include <unistd.h>

#include "solve/layout/solve.h"

bool solve_tells(const struct solve_settings *s)
{
    return s->progress > 0 || (s->progress < 0 && isatty(STDERR_FILENO));
}

void solve_tell(const struct solve_settings *s, const struct solve_progress *p)
{
    if (s->tell) s->tell(s->tell_argument, p);
    else fprintf(stderr, "%s\n", p->text);
}
