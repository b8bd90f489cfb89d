// The contents of a batch's folder, and its locks.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "solve/batch/batch.h"

const char *batch_path(const struct batch *b, const char *id, const char *name, struct arena *arena)
{
    return arena_print(arena, "%s/%s%s%s", b->folder, id, *name ? "/" : "", name);
}

bool batch_has(const struct batch *b, const char *id, const char *name, struct arena *arena)
{
    return !access(batch_path(b, id, name, arena), F_OK);
}

void folder_remove_files(const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *e; (e = readdir(folder));) unlinkat(dirfd(folder), e->d_name, 0);
    closedir(folder);
    rmdir(path);
}

void folder_flush(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    fsync(file);
    close(file);
}

// ---- locks

static const char *machine(void)
{
    static char name[256];
    if (gethostname(name, sizeof name - 1)) snprintf(name, sizeof name, "?");
    return name;
}

// The holder's name, for people. The lock itself is the kernel's and ends with its last holder.
static void sign(int file)
{
    char text[320];
    int length = snprintf(text, sizeof text, "process %ld on %s\n", (long)getpid(), machine());
    if (ftruncate(file, 0) || pwrite(file, text, (size_t)length, 0) != length)
        return; // a lock without a name works as well
}

enum status lock_take(int *file, const char *path, bool shared, struct error *err)
{
    *file = open(path, O_RDWR | O_CREAT, 0666);
    if (*file < 0) return refuse(err, "%s: cannot be written: %s", path, strerror(errno));
    if (!flock(*file, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB)) {
        if (!shared) sign(*file);
        return OK;
    }
    int why = errno;
    close(*file);
    *file = -1;
    if (why == EWOULDBLOCK) return OK;
    return fail(err, UNAVAILABLE, "%s: cannot be locked (flock): %s", path, strerror(why));
}

enum status lock_share(int file, const char *path, struct error *err)
{
    if (!flock(file, LOCK_SH | LOCK_NB)) return OK;
    return fail(err, UNAVAILABLE, "%s: cannot be locked (flock): %s", path, strerror(errno));
}

// Without taking the lock from another process that may try meanwhile.
static const char *holder_of(const char *path, struct arena *arena)
{
    char text[320] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    bool held = flock(file, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    if (held && pread(file, text, sizeof text - 1, 0) < 0) text[0] = '\0';
    close(file);
    text[strcspn(text, "\n")] = '\0';
    return held ? arena_copy_text(arena, text) : NULL;
}

const char *const batch_state_names[] = {"waiting", "running", "done", "failed"};

enum state batch_state(const struct batch *b, const char *id, const char **holder,
                       struct arena *arena)
{
    *holder = NULL;
    if (batch_has(b, id, "result", arena)) return STATE_DONE;
    *holder = holder_of(batch_path(b, id, "lock", arena), arena);
    if (*holder) return STATE_RUNNING;
    // It may have ended between the two checks.
    if (batch_has(b, id, "result", arena)) return STATE_DONE;
    return batch_has(b, id, "failure", arena) ? STATE_FAILED : STATE_WAITING;
}

void batch_note(const struct batch *b, const char *event, const char *id, double seconds)
{
    char path[4096], line[256];
    int length = snprintf(path, sizeof path, "%s/journal", b->folder);
    int file = length < (int)sizeof path
                   ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                   : -1;
    if (file < 0) return;
    length = snprintf(line, sizeof line, "%lld %s %s %.3f %ld %.60s\n", (long long)time(NULL),
                      event, id, seconds, (long)getpid(), machine());
    if (write(file, line, (size_t)length) != length)
        length = 0; // there is nowhere else to report
                    // it
    close(file);
}
