// Supervision: everything ends. The process that the user started forks the one that searches, and
// stays. What is searched, judged and written is done by the child; when that does not end within a
// grace of its limit or of a signal, it is ended from outside, and the supervisor goes on with what
// the child has handed over: its best plan and bound. The grace of a limit is processor time, since
// what a busy machine keeps waiting is not to be lost. The supervisor is as large as the program
// was before the search. Where no process can be forked, the program goes on alone.
//
// SIGINT and SIGTERM are taken by the supervisor only. The first asks the search to stop; a second
// ends it at once. Without a supervisor the child ends too (at once on Linux).
#pragma once

#include "solve/process/worker.h"

// What the documentation promises: a search that was told to end has ended this long after. The
// child is killed a second earlier, which is for judging and writing.
enum { SUPERVISE_GRACE_S = 5 };

// From here on SIGINT and SIGTERM do not kill the program. Until something is supervised they set
// the flag; a program that goes on for longer than the grace after that, or gets a second one, ends
// with EXIT_NO_PLAN. May be called before main, and again.
void supervision_listen(void);
// The flag that a signal sets, in memory shared with all processes forked later.
enum status supervision_stop(const volatile int **stop, struct error *err);

struct supervise_settings {
    const char *what;        // is being done: "the search"
    double limit_s, grace_s; // of the child, until it states another one; limit 0: none
};

enum supervised_as {
    SUPERVISED_CHILD, // this is the child, or there is no supervisor
    SUPERVISED_ENDED, // the child has ended by itself, with this exit code
    SUPERVISED_LOST,  // it was ended, or died
};
struct supervised {
    enum supervised_as as;
    int exit_code;
    int died_of; // LOST: the signal it died of by itself; 0: it was ended
    bool late;   // it was ended because of its limit; false: because of signals
    bool saved;  // it had saved its result, and its exit code was to be exit_code
    const char *what;
    struct message kept; // the last message it handed over; used 0: none
    int64_t bound_ns;    // the last one it stated; 0: none
    double seconds;      // since the fork
};
// Forks. In the supervisor it returns when the child has ended. SYSTEM: no memory to share.
enum status supervise(struct supervised *s, const struct supervise_settings *settings,
                      struct arena *arena, struct error *err);

// ---- for the child; nothing happens where there is no supervisor

// What it does now, and for how long it may (0: without limit). stoppable: it looks at the flag, so
// a signal leaves it its grace; otherwise a signal ends it at once.
void supervised_begins(const char *what, double limit_s, bool stoppable);
// The result is safe: a child that is lost from here on costs only what comes after it.
void supervised_saves(int exit_code);
void supervised_keeps(const struct message *message); // replaces what was handed over before
void supervised_bounds(int64_t bound_ns);             // proven; never falls
bool supervised_is(void);                             // whether there is a supervisor
void supervised_leave(void);             // a process forked from it, that is none: a worker
void supervised_worker(int64_t process); // was forked: its processor time is the child's, too

// ---- also for workers

// This process ends when its parent does, as far as the system can do that (Linux). parent: its
// number before the fork.
void process_ends_with(int64_t parent);
