// A flag in shared memory that tells worker processes to end.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "solve/process/stop.h"

#include <sys/mman.h>

static const double grace_s = 3;

static void release(void *flag) { munmap(flag, sizeof(int)); }

enum status shared_stop_open(struct shared_stop *s, const struct watch *watch, struct arena *arena,
                             struct error *err)
{
    void *flag = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (flag == MAP_FAILED) return fail(err, SYSTEM, "no memory to share with worker processes");
    arena_defer(arena, release, flag);
    *s = (struct shared_stop){.flag = flag, .watch = watch};
    return OK;
}

bool shared_stop_asked(void *stop)
{
    struct shared_stop *s = stop;
    if (!watch_is_over(s->watch)) return false;
    if (!*s->flag) *s->flag = 1, s->set_s = clock_s();
    return clock_s() - s->set_s > grace_s;
}
