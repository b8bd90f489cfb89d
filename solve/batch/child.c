// Starts programs and waits for them: this program's own commands.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/inputs/space.h"
#include "solve/batch/batch.h"

volatile sig_atomic_t stop_count;
static sigset_t before; // the signals that were blocked when this program started

static void count_stop(int signal) { (void)signal, stop_count = stop_count + 1; }
static void wake(int signal) { (void)signal; }

// Blocked except while sleeping, so that none comes between a check and the sleep.
void signals_listen(void)
{
    struct sigaction stop = {.sa_handler = count_stop}, ended = {.sa_handler = wake};
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGCHLD);
    sigprocmask(SIG_BLOCK, &all, &before);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGCHLD, &ended, NULL);
}

void signals_sleep(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    pselect(0, NULL, NULL, NULL, &time, &before);
}

// ---- starting

static bool take_over(const char *path, int flags, int file)
{
    int opened = path ? open(path, flags, 0666) : file;
    return opened >= 0 && dup2(opened, file) >= 0;
}

static void become(char **argv, const struct child_request *r)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    if (r->apart) setpgid(0, 0);
    sigaction(SIGINT, &usual, NULL);
    sigaction(SIGTERM, &usual, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (r->folder && chdir(r->folder)) {
        fprintf(stderr, "plumbline batch: %s: %s\n", r->folder, strerror(errno));
        _exit(2);
    }
    if (!take_over("/dev/null", O_RDONLY, STDIN_FILENO) ||
        !take_over(r->log, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO))
        _exit(2);
    if (!take_over(r->output, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO)) _exit(2);
    if (!r->program) execv("/proc/self/exe", argv); // works even if its file has been replaced
    execvp(argv[0], argv);
    fprintf(stderr, "plumbline batch: %s cannot be started: %s\n", argv[0], strerror(errno));
    _exit(2);
}

enum status child_start(pid_t *id, const struct child_request *request, struct error *err)
{
    enum { WORDS_MAX = 4 * SPACE_PARTS_MAX + 64 }; // a whole has four words for each part
    char *argv[WORDS_MAX] = {(char *)(uintptr_t) "plumbline"};
    int first = request->program ? 0 : 1;
    for (int i = 0; i + 2 < WORDS_MAX && request->words[i]; i++)
        argv[first + i] = (char *)(uintptr_t)request->words[i];
    fflush(stdout);
    *id = fork();
    if (*id < 0) return fail(err, SYSTEM, "no process can be started: %s", strerror(errno));
    if (!*id) become(argv, request);
    return OK;
}

// ---- waiting

bool child_ended(pid_t id, int *code)
{
    int status;
    if (waitpid(id, &status, WNOHANG) != id) return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

int child_wait(pid_t id, bool *stopped, const char *enough)
{
    static const double look_s = 0.25; // to detect the death of our parent, which wakes nobody
    pid_t parent = getppid();
    int code, passed = stop_count ? 1 : 0;
    if (passed) kill(id, SIGTERM);
    while (!child_ended(id, &code)) {
        signals_sleep(look_s);
        if (getppid() != parent && !stop_count) stop_count = 1;
        if (stop_count > passed) kill(id, passed++ ? SIGKILL : SIGTERM);
        if (passed == 1 && enough && !access(enough, F_OK)) kill(id, SIGKILL);
    }
    *stopped = stop_count > 0;
    return code;
}
