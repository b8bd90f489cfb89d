// Handlers of SIGINT and SIGTERM that let a measurement end properly; and of SIGUSR1, which
// launchers pass on to every process.
#include "measure/sampling/host.h"

#include <signal.h>

// The only variable that a signal handler sets.
static volatile sig_atomic_t interrupted;

static void note(int signal) { (void)signal, interrupted = 1; }

static void handle(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

void interrupts_listen(void)
{
    interrupted = 0;
    handle(note, (int)SA_RESETHAND);
}

bool interrupts_came(void) { return interrupted; }

void interrupts_ignore(void) { handle(SIG_IGN, 0); }
