// Reading and writing whole files, paths relative to other files, SHA-256.
#include "data/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 256 << 20, NAME_TRIES = 100 };

static void release_descriptor(void *descriptor)
{
    int *fd = descriptor;
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    return S_ISSOCK(mode) ? "a socket" : "a device";
}

// Refuses to read what could keep a reader waiting or has no end, and files that are longer than
// they state (as in /proc).
static enum status open_file(int *fd, size_t *size, const char *path, struct error *err)
{
    struct stat s;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0 && errno == ENXIO) return refuse(err, "%s: expected a file, found a socket", path);
    if (*fd < 0) return refuse(err, "%s: cannot be read: %s", path, strerror(errno));
    if (fstat(*fd, &s)) return refuse(err, "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(s.st_mode))
        return refuse(err, "%s: expected a file, found %s", path, kind_of(s.st_mode));
    *size = s.st_size > 0 ? (size_t)s.st_size : 0;
    return OK;
}

static enum status read_all(int fd, const char *path, char *bytes, size_t size, struct error *err)
{
    size_t used = 0;
    for (ssize_t n = 1; n > 0;) {
        n = read(fd, bytes + used, size + 1 - used); // one byte more shows whether the file goes on
        if (n < 0 && errno == EINTR) n = 1;
        else if (n < 0) return refuse(err, "%s: cannot be read: %s", path, strerror(errno));
        else used += (size_t)n;
        if (used > size)
            return refuse(err, "%s: larger than its stated size of %zu bytes", path, size);
    }
    if (used < size) return refuse(err, "%s: changed while it was read", path);
    bytes[used] = '\0';
    return OK;
}

// The absolute form without ".", ".." and doubled slashes; the file itself need not exist.
static const char *path_absolute(const char *path, struct arena *arena)
{
    char folder[4096] = "";
    const char *whole = path;
    if (*path != '/') {
        if (!getcwd(folder, sizeof folder)) return NULL;
        whole = arena_print(arena, "%s/%s", folder, path);
    }
    char *clean = arena_take(arena, strlen(whole) + 2, 1);
    size_t n = 0;
    for (const char *p = whole; *p;) {
        while (*p == '/') p++;
        size_t length = strcspn(p, "/");
        if (length == 2 && p[0] == '.' && p[1] == '.') {
            while (n > 0 && clean[--n] != '/') {
            }
        } else if (length > 0 && !(length == 1 && p[0] == '.')) {
            clean[n++] = '/';
            memcpy(clean + n, p, length);
            n += length;
        }
        p += length;
    }
    clean[n] = '\0';
    return clean;
}

// ---- files that are held

static const struct file_held *find_held(const char *path, struct arena *arena)
{
    const struct file_held *h = arena->files;
    while (h && strcmp(h->path, path)) h = h->older;
    return h;
}

static enum status read_file(const char *path, const char **text, size_t *size, struct arena *arena,
                             struct error *err)
{
    int *fd = TAKE(arena, 1, int);
    *fd = -1;
    arena_defer(arena, release_descriptor, fd);
    TRY(open_file(fd, size, path, err));
    if (*size > FILE_BYTES_MAX)
        return refuse(err, "%s: larger than %d MiB", path, FILE_BYTES_MAX >> 20);
    memory_allow(MEMORY_FOR_A_BYTE * *size);
    char *bytes = arena_take(arena, *size + 1, 1);
    *text = bytes;
    enum status status = read_all(*fd, path, bytes, *size, err);
    release_descriptor(fd);
    return status;
}

enum status file_read(const char *path, const char **text, size_t *size, struct arena *arena,
                      struct error *err)
{
    const char *whole = arena->holds_files ? path_absolute(path, arena) : NULL;
    const struct file_held *held = whole ? find_held(whole, arena) : NULL;
    if (held) return *text = held->text, *size = held->size, OK;
    TRY(read_file(path, text, size, arena, err));
    if (!whole) return OK;
    struct file_held *now = TAKE(arena, 1, struct file_held);
    *now = (struct file_held){arena->files, whole, *text, *size, arena_open_within(arena), NULL};
    arena->files = now;
    return OK;
}

static void close_stream(void *file) { fclose(file); }

enum status file_open(FILE **file, const char *path, struct arena *arena, struct error *err)
{
    int fd;
    size_t size;
    enum status status = open_file(&fd, &size, path, err);
    *file = status == OK ? fdopen(fd, "rb") : NULL;
    if (*file) return arena_defer(arena, close_stream, *file), OK;
    if (fd >= 0) close(fd);
    return status == OK ? fail(err, SYSTEM, "%s: cannot be read: %s", path, strerror(errno))
                        : status;
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_parts(int fd, file_part *next, void *argument)
{
    const char *text;
    size_t size;
    while (next(argument, &text, &size))
        if (!write_all(fd, text, size)) return false;
    return true;
}

static _Thread_local char *noted; // NULL: nobody wants to know

void file_note_temporaries(char *note) { noted = note; }

static void note_temporary(const char *path)
{
    if (noted) snprintf(noted, FILE_NAME_MAX, "%s", path);
}

// SIGINT and SIGTERM wait until a temporary file has become the file or is gone.
static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGALRM);
    sigprocmask(SIG_BLOCK, &all, before);
}

// Creates a new file next to `path`, with a name that hits no other file; the name goes to
// temporary[].
static int open_beside(const char *path, char *temporary, size_t length)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        snprintf(temporary, length, "%s.tmp-%ld-%d", path, (long)getpid(), i);
        note_temporary(temporary);
        int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), why = errno;
        if (fd >= 0) return fd;
        note_temporary("");
        errno = why;
        if (why != EEXIST) return -1;
    }
    return -1;
}

// The rename itself must reach the disk too; if a folder cannot be flushed, the file is still
// complete.
static void flush_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    int n = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1,
                     slash ? path : ".");
    if (n < 0 || (size_t)n >= sizeof folder) return;
    int fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

enum status file_check_place(const char *path, struct error *err)
{
    char temporary[FILE_NAME_MAX];
    struct stat s;
    if (!strcmp(path, "-")) return OK;
    if (strlen(path) > sizeof temporary - 40)
        return refuse(err, "%.60s...: the name is too long", path);
    if (!stat(path, &s) && S_ISDIR(s.st_mode))
        return refuse(err, "%s: cannot be written: it is a directory", path);
    if (!stat(path, &s) && !S_ISREG(s.st_mode)) return OK;
    sigset_t before;
    block_signals(&before);
    int fd = open_beside(path, temporary, sizeof temporary), why = errno;
    if (fd >= 0) close(fd), unlink(temporary), note_temporary("");
    sigprocmask(SIG_SETMASK, &before, NULL);
    return fd >= 0 ? OK : refuse(err, "%s: cannot be written: %s", path, strerror(why));
}

// false: not written, for the reason *why; nothing is left behind.
static bool replace_file(const char *path, char *temporary, size_t length, file_part *next,
                         void *argument, int *why)
{
    int fd = open_beside(path, temporary, length);
    *why = errno;
    if (fd < 0) return false;
    bool written = write_parts(fd, next, argument) && !fsync(fd);
    *why = errno;
    if (close(fd) && written) written = false, *why = errno;
    if (written && rename(temporary, path)) written = false, *why = errno;
    if (!written) unlink(temporary);
    note_temporary("");
    return written;
}

enum status file_write_parts(const char *path, file_part *next, void *argument, struct error *err)
{
    if (!strcmp(path, "-")) {
        const char *text;
        size_t size;
        while (next(argument, &text, &size))
            if (fwrite(text, 1, size, stdout) != size || fflush(stdout))
                return refuse(err, "standard output: cannot be written: %s", strerror(errno));
        return OK;
    }
    char temporary[FILE_NAME_MAX];
    struct stat s;
    if (strlen(path) > sizeof temporary - 40)
        return refuse(err, "%.60s...: the name is too long", path);
    if (!stat(path, &s) && !S_ISREG(s.st_mode)) {
        // A device or pipe (/dev/null) is written, not replaced; a directory is refused.
        if (S_ISDIR(s.st_mode))
            return refuse(err, "%s: cannot be written: it is a directory", path);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool written = fd >= 0 && write_parts(fd, next, argument);
        int why = errno;
        if (fd >= 0 && close(fd) && written) written = false, why = errno;
        return written ? OK : refuse(err, "%s: cannot be written: %s", path, strerror(why));
    }
    sigset_t before;
    block_signals(&before);
    int why;
    bool written = replace_file(path, temporary, sizeof temporary, next, argument, &why);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (!written) return refuse(err, "%s: cannot be written: %s", path, strerror(why));
    flush_folder(path);
    return OK;
}

struct whole {
    const char *text;
    size_t size;
};

static bool give_whole(void *argument, const char **text, size_t *size)
{
    struct whole *w = argument;
    *text = w->text, *size = w->size, w->text = NULL;
    return *text != NULL;
}

enum status file_write(const char *path, const char *text, size_t size, struct error *err)
{
    struct whole whole = {text, size};
    return file_write_parts(path, give_whole, &whole, err);
}

void sha256_text(const char *text, size_t size, char hex[SHA256_TEXT])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, size, (const uint8_t *)text);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

bool path_ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && !strcmp(path + n - m, ending);
}

bool path_is_yaml(const char *path)
{
    return path_ends_with(path, ".yaml") || path_ends_with(path, ".yml");
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_of_document(const char *path, const char *name, struct arena *arena)
{
    struct stat s;
    if (stat(path, &s) || !S_ISDIR(s.st_mode)) return path;
    return arena_print(arena, "%s%s%s", path, path_ends_with(path, "/") ? "" : "/", name);
}

const char *path_stem(const char *path, struct arena *arena)
{
    int length = (int)strlen(path), end = path_ends_with(path, ".json") ? length - 5 : length;
    return arena_print(arena, "%.*s", end, path);
}

const char *path_beside(const char *base, const char *path, struct arena *arena)
{
    const char *slash = strrchr(base, '/');
    if (*path == '/' || !slash) return arena_copy_text(arena, path);
    return arena_print(arena, "%.*s%s", (int)(slash - base + 1), base, path);
}

const char *path_relative(const char *from, const char *to, struct arena *arena)
{
    const char *a = path_absolute(from, arena), *b = path_absolute(to, arena);
    if (!a || !b) return arena_copy_text(arena, to);
    size_t common = 0; // length of the folders that both share, including the slash after them
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/') common = i + 1;
    const char *ups = "";
    for (const char *p = a + common; (p = strchr(p, '/')) != NULL; p++)
        ups = arena_print(arena, "../%s", ups);
    return arena_print(arena, "%s%s", ups, b + common);
}

enum status file_make_folder(const char *path, struct error *err)
{
    char part[4096];
    struct stat s;
    if (strlen(path) >= sizeof part) return refuse(err, "%.60s...: the name is too long", path);
    snprintf(part, sizeof part, "%s", path);
    for (char *p = part + 1;; p++) {
        char here = *p;
        if (here != '/' && here) continue;
        *p = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return refuse(err, "%s: cannot be created: %s", part, strerror(errno));
        *p = here;
        if (!here) break;
    }
    if (stat(path, &s) || !S_ISDIR(s.st_mode)) return refuse(err, "%s: expected a folder", path);
    return OK;
}
