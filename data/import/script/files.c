// Other files that a script reads in or runs, and the folder that it is in. A file is found as the
// shell would find it, or, where a part of its path is open or another machine's, by the end of its
// path in the folder of the script and those above it, up to a repository's root; none outside of
// it is opened.
#define _XOPEN_SOURCE 700 // realpath
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/base/names.h"
#include "data/import/script/internal.h"

enum { FOLDERS_UP = 5, FILE_MAX = 1 << 18 };

// ---- paths

// Without "." and "..".
static const char *plain_path(struct follow *f, const char *path)
{
    char *to = TAKE(f->arena, strlen(path) + 2, char), *end = to;
    for (const char *at = path; *at; at += strspn(at, "/")) {
        size_t length = strcspn(at, "/");
        bool up = length == 2 && at[0] == '.' && at[1] == '.';
        if (up && end > to) {
            while (end > to && *--end != '/') {
            }
        } else if (length && !(length == 1 && *at == '.') && !up) {
            *end++ = '/';
            memcpy(end, at, length), end += length;
        }
        at += length;
    }
    if (end == to) *end++ = '/';
    *end = '\0';
    f->bytes += strlen(path);
    return to;
}

static const char *real_path(struct follow *f, const char *path)
{
    char *real = realpath(path, NULL);
    const char *copy = real ? arena_copy_text(f->arena, real) : NULL;
    free(real);
    return copy;
}

const char *script_path(struct follow *f, const char *path)
{
    if (strchr(path, SCRIPT_OPEN)) return NULL;
    if (*path == '/') return plain_path(f, path);
    return f->folder ? plain_path(f, arena_print(f->arena, "%s/%s", f->folder, path)) : NULL;
}

void script_go(struct follow *f, const char *path)
{
    f->folder = *path ? script_path(f, path) : NULL;
}

static const char *folder_of(struct follow *f, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? arena_print(f->arena, "%.*s", slash == path ? 1 : (int)(slash - path), path)
                 : ".";
}

void script_set_place(struct follow *f)
{
    const char *home = real_path(f, folder_of(f, f->script->path));
    f->file = f->zero = f->script->path;
    f->start = f->folder = real_path(f, ".");
    f->home = f->root = home ? home : "/";
    for (int i = 0; i < FOLDERS_UP && strcmp(f->root, "/") != 0; i++) {
        if (!access(arena_print(f->arena, "%s/.git", f->root), F_OK)) break;
        const char *above = folder_of(f, f->root);
        if (!strcmp(above, "/")) break;
        f->root = above;
    }
}

// ---- files

// The file at that path, if it is inside of the root.
static const char *opened(struct follow *f, const char *path, const char **text)
{
    struct error ignored = {OK, ""};
    size_t size, length = strlen(f->root);
    struct stat about;
    const char *real = real_path(f, path);
    if (!real || length < 2 || strncmp(real, f->root, length) != 0 || real[length] != '/')
        return NULL;
    if (stat(real, &about)) return NULL;
    if (about.st_size > FILE_MAX) return f->large = true, NULL;
    if (file_read(real, text, &size, f->arena, &ignored) != OK || memchr(*text, '\0', size))
        return NULL;
    f->bytes += size;
    if (f->bytes > SCRIPT_BYTES_MAX) f->over = true;
    return real;
}

const char *script_file(struct follow *f, const char *name, const char **text)
{
    const char *exact = script_path(f, name), *found = exact ? opened(f, exact, text) : NULL;
    const char *open = strrchr(name, SCRIPT_CLOSE), *tail = open ? open + 1 : name;
    size_t start = f->start ? strlen(f->start) : 0; // `pwd`/NAME
    bool here = start && !open && !strncmp(name, f->start, start) && name[start] == '/';
    if (here) tail += start;
    tail += strspn(tail, "/");
    // An absolute path is another machine's: by its end, too, but not by a file's name alone.
    bool elsewhere = !open && !here && *name == '/';
    while (!found && *tail && (!elsewhere || strchr(tail, '/'))) {
        const char *folder = f->home;
        for (int i = 0; i <= FOLDERS_UP && !found; i++, folder = folder_of(f, folder)) {
            found = opened(f, arena_print(f->arena, "%s/%s", folder, tail), text);
            if (!strcmp(folder, f->root)) break;
        }
        if (found) f->script->searched = true;
        if (!elsewhere) break;
        tail += strcspn(tail, "/"), tail += strspn(tail, "/");
    }
    if (!found) return NULL;
    struct script *s = f->script;
    size_t up = strlen(f->root) + 1;
    if (strlen(s->read_in) < 400 && !strstr(s->read_in, found + up))
        s->read_in =
            arena_print(s->arena, "%s%s%s", s->read_in, *s->read_in ? ", " : "", found + up);
    return found;
}

// As source does: in the same state, whose arguments it may replace.
static void follow_here(struct follow *f, const char *path, const char *text, const char **words,
                        int count)
{
    const char *file = f->file, **arguments = f->arguments;
    int argument_count = f->argument_count, line = f->line;
    f->file = path;
    if (count > 0) f->arguments = words, f->argument_count = count;
    f->calls++;
    script_run_text(f, text, 1);
    f->calls--, f->returned = false;
    if (count > 0) f->arguments = arguments, f->argument_count = argument_count;
    f->file = file, f->line = line;
}

bool script_source(struct follow *f, const char **words, int count)
{
    const char *text, *path = count > 1 ? script_file(f, words[1], &text) : NULL;
    if (path) follow_here(f, path, text, words + 2, count - 2);
    return path != NULL;
}

// ---- other scripts

static struct variable *copied(struct follow *f, bool exported)
{
    struct variable *copy = TAKE(f->arena, f->variable_count + 1, struct variable);
    for (int i = 0; i < f->variable_count; i++) {
        struct variable *v = &f->variables[i];
        copy[i] = *v;
        size_t bytes = (size_t)v->count * sizeof *v->items;
        f->bytes += sizeof *v + bytes;
        if (exported && !v->exported && !v->pinned) v->unset = true;
        if (!v->count) continue;
        v->items = TAKE(f->arena, v->count, const char *), v->capacity = v->count;
        v->keys = TAKE(f->arena, v->count, const char *);
        memcpy(v->items, copy[i].items, bytes), memcpy(v->keys, copy[i].keys, bytes);
    }
    if (f->bytes > SCRIPT_BYTES_MAX) f->over = true;
    return copy;
}

bool script_is_name(const char *word)
{
    return *word != '-' && (path_ends_with(word, ".sh") || path_ends_with(word, ".slurm") ||
                            path_ends_with(word, ".sbatch") || path_ends_with(word, ".bash"));
}

// bash, sh, sbatch: which word is the script; -1: none.
static int script_word(const char **words, int count)
{
    static const char *const shells[] = {"bash", "sh", "sbatch", "srun", "nohup", "exec", NULL};
    const char *slash = strrchr(words[0], '/'), *name = slash ? slash + 1 : words[0];
    int shell = 0;
    if (script_is_name(words[0])) return 0;
    while (shells[shell] && strcmp(shells[shell], name) != 0) shell++;
    for (int i = 1; shells[shell] && i < count; i++) {
        if (script_is_name(words[i])) return i;
        if (strstr(words[i], ".py") || (words[i][0] == '-' && strchr(words[i], 'c'))) return -1;
    }
    return -1;
}

// A script without the ending of one, which a here-document wrote.
static bool run_written(struct follow *f, const char **words, int count)
{
    static const char shells[] = "bash sh sbatch srun source .";
    struct script *s = f->script;
    int commands = s->command_count;
    if (count < 2 || !name_is_listed(shells, words[0], strlen(words[0]))) return false;
    for (int i = 0; i < s->file_count; i++)
        if (!strcmp(s->files[i].name, words[count - 1])) {
            script_run_text(f, s->files[i].text, s->files[i].line);
            return s->command_count > commands;
        }
    return false;
}

bool script_call(struct follow *f, const char **words, int count)
{
    const char *text, *zero = f->zero, *folder = f->folder, **arguments = f->arguments;
    int at = script_word(words, count), commands = f->script->command_count;
    int argument_count = f->argument_count, functions = f->function_count;
    if (at < 0 && !f->capture) return run_written(f, words, count);
    if (f->capture) return false;
    const char *path = script_file(f, words[at], &text);
    if (!path) return script_keep_source(f, words[at]), false;
    bool ended = f->ended, launched = f->launched;
    int variable_count = f->variable_count;
    struct variable *kept = copied(f, true);
    f->zero = path, f->launched = false, f->function_count = 0;
    f->arguments = words + at + 1, f->argument_count = count - at - 1;
    follow_here(f, path, text, NULL, 0);
    if (variable_count) memcpy(f->variables, kept, (size_t)variable_count * sizeof *kept);
    f->variable_count = variable_count, f->function_count = functions;
    f->arguments = arguments, f->argument_count = argument_count;
    f->zero = zero, f->folder = folder, f->ended = ended, f->launched |= launched;
    return f->script->command_count > commands;
}
