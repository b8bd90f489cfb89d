// Node lists in Slurm's syntax, expanded and put into a cluster.
#include "data/import/hosts/names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/import.h"
#include "data/places/places.h"

// ---- lists

enum { BRACKETS_MOST = 4 };

static enum status refuse_list(const struct text_lines *at, const char *list, struct error *err)
{
    return text_refuse(at, err, "expected names of nodes as n1,n[3-8], found '%.60s'", list);
}

static enum status add_name(struct host_names *names, const char *name, const struct text_lines *at,
                            struct error *err)
{
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-._:@%", *c)) return refuse_list(at, name, err);
    if (names->count == PLACES_MAX)
        return text_refuse(at, err, "more than the %d nodes that a cluster can name", PLACES_MAX);
    *GROWN(names->arena, names->items, names->count, names->capacity, 64) = name;
    return OK;
}

// "007" to "016": all have as many digits as the first.
struct span {
    int64_t first, last;
    int digits;
};

static bool read_span(struct span *s, const char *text, size_t length)
{
    size_t n = strspn(text, "0123456789"), m;
    if (!n || n > 9 || (n < length && text[n] != '-')) return false;
    s->digits = (int)n;
    s->first = s->last = strtoll(text, NULL, 10);
    if (n == length) return true;
    m = strspn(text + n + 1, "0123456789");
    if (!m || m > 9 || n + 1 + m != length) return false;
    s->last = strtoll(text + n + 1, NULL, 10);
    return s->last >= s->first;
}

// One name with brackets: the part before the first of them, with each of its numbers, and the same
// for the rest.
static enum status expand(struct host_names *names, const char *name, int depth,
                          const struct text_lines *at, struct error *err)
{
    const char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;
    if (!open)
        return strchr(name, ']') ? refuse_list(at, name, err) : add_name(names, name, at, err);
    if (!close || depth == BRACKETS_MOST) return refuse_list(at, name, err);
    for (const char *part = open + 1; part <= close;) {
        size_t length = strcspn(part, ",]");
        struct span span;
        if (!read_span(&span, part, length)) return refuse_list(at, name, err);
        for (int64_t i = span.first; i <= span.last; i++)
            TRY(expand(names,
                       arena_print(names->arena, "%.*s%0*" PRId64 "%s", (int)(open - name), name,
                                   span.digits, i, close + 1),
                       depth + 1, at, err));
        part += length + 1;
    }
    return OK;
}

enum status host_names_add(struct host_names *names, const char *list, const struct text_lines *at,
                           struct error *err)
{
    while (true) {
        size_t length = 0;
        for (int inside = 0; list[length] && (inside || list[length] != ','); length++)
            inside += (list[length] == '[') - (list[length] == ']');
        if (!length) return refuse_list(at, list, err);
        TRY(expand(names, arena_print(names->arena, "%.*s", (int)length, list), 0, at, err));
        if (!list[length]) return OK;
        list += length + 1;
    }
}

// ---- the cluster

enum status host_cluster(struct cluster *c, const char *like, struct arena *arena,
                         struct error *err)
{
    if (like) return import_like(c, like, arena, err);
    return refuse(
        err, "--like is missing: the file does not describe the nodes; name a cluster with such "
             "nodes (plumbline clusters lists those shipped)");
}

enum status host_group(struct node_group *g, const char *like, struct arena *arena,
                       struct error *err)
{
    struct cluster cluster;
    TRY(host_cluster(&cluster, like, arena, err));
    *g = cluster.groups[0];
    return OK;
}
