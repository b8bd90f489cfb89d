// The places where shipped documents are searched.
#define _DEFAULT_SOURCE // dladdr
#define _GNU_SOURCE
#include "data/base/shipped.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/base/names.h"

enum { BESIDE = 4, PLACES = 1 + 2 * BESIDE, NAMES_MAX = 512 };

// Without /proc (a bare chroot), it is derived from the name with which the program was started.
const char *program_file(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n > 0) return arena_print(arena, "%.*s", (int)n, path);
    const char *started = (const char *)getauxval(AT_EXECFN);
    return started && realpath(started, path) ? arena_copy_text(arena, path) : NULL;
}

const char *program_beside(const char *name, struct arena *arena)
{
    const char *own = program_file(arena);
    return own ? path_beside(own, name, arena) : NULL;
}

// Its address shows where this code is.
static const char anchor;

// The file of the shared library that contains this code; NULL: a program contains it.
static const char *library_file(struct arena *arena)
{
    Dl_info found;
    char path[PATH_MAX];
    if (!dladdr(&anchor, &found) || !strstr(found.dli_fname, ".so")) return NULL;
    return realpath(found.dli_fname, path) ? arena_copy_text(arena, path) : NULL;
}

// NULL: there is no such place.
static const char *place_of(int i, const char *folder, struct arena *arena)
{
    // installed, in bin/ or lib/, and in lib/ARCHITECTURE/; built, in bin/ and build/KIND/bin/
    static const char *const beside[BESIDE] = {
        "../share/plumbline/data", "../../share/plumbline/data", "../data", "../../../data"};
    const char *told = getenv("PLUMBLINE_DATA");
    if (i == 0) return told ? arena_print(arena, "%s/%s", told, folder) : NULL;
    // A library's own first: the program may stand beside another version's.
    const char *home = i <= BESIDE ? library_file(arena) : program_file(arena);
    const char *place = arena_print(arena, "%s/%s", beside[(i - 1) % BESIDE], folder);
    return home ? path_beside(home, place, arena) : NULL;
}

// Adds the names of the documents of a place, and of its folders, to the existing names.
static int list_place(const char *place, bool folders, const char **names, int count,
                      struct arena *arena)
{
    DIR *folder = place ? opendir(place) : NULL;
    if (!folder) return count;
    for (struct dirent *e; (e = readdir(folder)) && count < NAMES_MAX;)
        if (path_ends_with(e->d_name, ".json")) names[count++] = path_stem(e->d_name, arena);
        else if (folders && e->d_name[0] != '.')
            count = list_place(arena_print(arena, "%s/%s", place, e->d_name), false, names, count,
                               arena);
    closedir(folder);
    return count;
}

// The file of a document in a place, or in one of its folders; NULL: it is not there.
static const char *find_in(const char *place, bool folders, const char *name, struct arena *arena)
{
    const char *found = arena_print(arena, "%s/%s.json", place, name);
    if (!access(found, R_OK)) return found;
    found = NULL;
    DIR *folder = folders ? opendir(place) : NULL;
    if (!folder) return NULL;
    for (struct dirent *e; !found && (e = readdir(folder));)
        if (e->d_name[0] != '.')
            found = find_in(arena_print(arena, "%s/%s", place, e->d_name), false, name, arena);
    closedir(folder);
    return found;
}

enum status shipped_list(const char *const **names, int *count, const char *folder,
                         struct arena *arena, struct error *err)
{
    const char **found = TAKE(arena, NAMES_MAX, const char *);
    *count = 0;
    for (int i = 0; i < PLACES && !*count; i++)
        *count = list_place(place_of(i, folder, arena), true, found, 0, arena);
    qsort(found, (size_t)*count, sizeof *found, compare_texts);
    *names = found;
    if (*count) return OK;
    return refuse(
        err,
        "the shipped %s are not next to the program or its library: set PLUMBLINE_DATA to "
        "the data folder",
        folder);
}

// ---- models under the names that people give them

// What is left of a name without case and punctuation.
static const char *letters_of(const char *name, struct arena *arena)
{
    char *to = arena_copy_text(arena, name);
    int n = 0;
    for (int i = 0; name[i]; i++)
        if (isalnum((unsigned char)name[i])) to[n++] = (char)tolower((unsigned char)name[i]);
    to[n] = '\0';
    return to;
}

// Whether a last part of a name says how a model was trained or stored, not what it is: -Instruct,
// -hf, -2507. A later version may have another vocabulary.
static bool is_edition(const char *part)
{
    static const char *const words[] = {"instruct", "chat",     "it",        "pt",    "hf",
                                        "base",     "thinking", "reasoning", "fp8",   "bf16",
                                        "awq",      "v0.1",     "v1.0",      "nvfp4", "preview"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (!strcasecmp(part, words[i])) return true;
    size_t digits = strspn(part, "0123456789");
    return digits == strlen(part) ? digits == 4                                // a month
                                  : digits && !strcasecmp(part + digits, "k"); // positions
}

// Later models of the shape of one before them, by the letters of both.
static const char *shape_of(const char *letters)
{
    static const char *const later[][2] = {{"deepseekr1", "deepseekv3"},
                                           {"deepseekv31", "deepseekv3"},
                                           {"glm51", "glm5"},
                                           {"minimaxm25", "minimaxm2"},
                                           {"minimaxm27", "minimaxm2"}};
    for (size_t i = 0; i < ARRAY_LENGTH(later); i++)
        if (!strcmp(letters, later[i][0])) return later[i][1];
    return letters;
}

// The shipped model that a hub's name means (meta-llama/Llama-3.1-70B-Instruct): the owner left
// out, editions at its end one by one, case and punctuation. NULL: none.
static const char *model_meant(const char *name, const char *const *names, int count,
                               struct arena *arena)
{
    const char *slash = strrchr(name, '/');
    char *own = arena_copy_text(arena, slash ? slash + 1 : name), *last;
    if (!strncasecmp(own, "meta-", 5)) own += 5;
    if (!strncasecmp(own, "nvidia-", 7)) own += 7;
    for (;; *last = '\0') {
        const char *letters = shape_of(letters_of(own, arena));
        for (int i = 0; i < count; i++)
            if (!strcmp(letters, letters_of(names[i], arena))) return names[i];
        last = strrchr(own, '-');
        if (!last || !is_edition(last + 1)) return NULL;
    }
}

static const char *find_everywhere(const char *folder, const char *name, struct arena *arena)
{
    const char *found = NULL;
    for (int i = 0; i < PLACES && !found; i++) {
        const char *place = place_of(i, folder, arena);
        if (place) found = find_in(place, true, name, arena);
    }
    return found;
}

enum status shipped_find(const char **path, const char *folder, const char *name,
                         struct arena *arena, struct error *err)
{
    const char *const *names, *slash = strchr(name, '/'), *found = NULL, *meant = NULL;
    bool hub = !strcmp(folder, "models") && slash && slash > name && slash[1] &&
               !strchr(slash + 1, '/') && name[0] != '.';
    int count;
    *path = name;
    if (path_ends_with(name, ".json") || (slash && !hub)) return OK;
    if (!hub) found = find_everywhere(folder, name, arena);
    if (found) *path = found;
    if (found || !access(name, R_OK)) return OK;
    TRY(shipped_list(&names, &count, folder, arena, err));
    if (hub) meant = model_meant(name, names, count, arena);
    if (meant) {
        *path = find_everywhere(folder, meant, arena);
        return OK;
    }
    return refuse(
        err,
        "%s: no such file, and not one of the shipped %s; the nearest is \"%s\" (plumbline "
        "%s lists them)%s",
        name, folder, names[name_nearest(hub ? slash + 1 : name, names, count)], folder,
        hub ? "; plumbline import hf reads the config.json of any other" : "");
}

enum status shipped_file(const char **path, const char *folder, const char *name,
                         struct arena *arena, struct error *err)
{
    for (int i = 0; i < PLACES; i++) {
        const char *place = place_of(i, folder, arena);
        *path = place ? arena_print(arena, "%s/%s", place, name) : NULL;
        if (place && !access(*path, R_OK)) return OK;
    }
    return refuse(err,
                  "%s/%s is not next to the program or its library: set PLUMBLINE_DATA to the data "
                  "folder",
                  folder, name);
}

static int add_gpus(const char **names, int count, const char *text, struct arena *arena)
{
    static const char key[] = "\"gpu\": \"";
    while ((text = strstr(text, key)) && count < NAMES_MAX) {
        text += sizeof key - 1;
        names[count++] = arena_print(arena, "%.*s", (int)strcspn(text, "\""), text);
    }
    return count;
}

enum status shipped_gpus(const char *const **names, int *count, const char *folder,
                         struct arena *arena, struct error *err)
{
    const char *const *files, *path, *text, **found = TAKE(arena, NAMES_MAX, const char *);
    size_t size;
    int file_count, all = 0;
    TRY(shipped_list(&files, &file_count, folder, arena, err));
    for (int i = 0; i < file_count; i++) {
        TRY(shipped_find(&path, folder, files[i], arena, err));
        TRY(file_read(path, &text, &size, arena, err));
        int more = add_gpus(found, all, text, arena);
        if (more == all + 1) all = more;
    }
    qsort(found, (size_t)all, sizeof *found, compare_texts);
    *count = 0;
    for (int i = 0; i < all; i++)
        if (!i || strcmp(found[i], found[i - 1])) found[(*count)++] = found[i];
    *names = found;
    return OK;
}
