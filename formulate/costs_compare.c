// Every number of two or more documents of costs beside each other.
#include "formulate/commands.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/base/grow.h"
#include "data/base/names.h"
#include "data/base/shipped.h"
#include "data/inputs/cost_keys.h"

// ---- one number in all documents

struct number {
    const char *key, *gpu;   // gpu NULL: of no GPU; a precision follows it
    struct estimate *values; // [documents]; 0: not stated
};

struct numbers {
    struct number *items;
    int count, capacity, documents, at; // at: the document that is visited
    const char *gpu;
    struct arena *arena;
};

static struct number *number_of(struct numbers *n, const char *key, const char *gpu)
{
    for (int i = 0; i < n->count; i++)
        if (!strcmp(n->items[i].key, key) &&
            (gpu ? n->items[i].gpu && !strcmp(n->items[i].gpu, gpu) : !n->items[i].gpu))
            return &n->items[i];
    struct number *to = GROWN(n->arena, n->items, n->count, n->capacity, 64);
    *to = (struct number){key, gpu, TAKE(n->arena, n->documents, struct estimate)};
    return to;
}

static void visit(struct estimate *e, const struct cost_key *key, void *context)
{
    struct numbers *n = context;
    if (e->value != 0) number_of(n, key->name, n->gpu)->values[n->at] = *e;
}

// Numbers of precisions of one width are told apart by visiting one precision at a time.
static void visit_gpu(struct numbers *n, struct costs *c, int key, struct gpu_costs *g)
{
    const struct cost_key *k = &cost_keys[key];
    n->gpu = g->gpu;
    if (k->scope != COST_OF_PRECISION) {
        costs_visit(c, key, g->gpu, 0, visit, n);
        return;
    }
    for (int i = 0; i < g->precision_count; i++) {
        n->gpu =
            arena_print(n->arena, "%s, %s", g->gpu, precision_names[g->precisions[i].precision]);
        visit((struct estimate *)((char *)&g->precisions[i] + k->offset), k, n);
    }
}

static void take_document(struct numbers *n, struct costs *c)
{
    for (int key = 0; key < cost_key_count; key++) {
        n->gpu = NULL;
        if (cost_keys[key].scope == COST_OF_ALL) {
            costs_visit(c, key, NULL, 0, visit, n);
            continue;
        }
        for (int i = 0; i < c->gpu_count; i++)
            if (!c->gpus[i].like) visit_gpu(n, c, key, &c->gpus[i]);
    }
}

static enum status load_all(struct numbers *n, const char **paths, int count, struct error *err)
{
    n->documents = count;
    for (n->at = 0; n->at < count; n->at++) {
        struct costs c;
        TRY(shipped_find(&paths[n->at], "costs", paths[n->at], n->arena, err));
        TRY(costs_load(&c, paths[n->at], n->arena, err));
        take_document(n, &c);
    }
    return OK;
}

static bool apart(const struct estimate *a, const struct estimate *b)
{
    return a->high < b->low || b->high < a->low;
}

static const char *words_of(const struct estimate *e, struct arena *arena)
{
    if (e->value == 0) return "-";
    if (e->low == e->high) return arena_print(arena, "%.4g", e->value);
    return arena_print(arena, "%.4g (%.4g to %.4g)", e->value, e->low, e->high);
}

static double change_of(const struct estimate *from, const struct estimate *to)
{
    return from->value != 0 && to->value != 0 ? 100 * (to->value / from->value - 1) : HUGE_VAL;
}

static void print_line(const struct number *x, const char *from, const char *to, double change,
                       const char *verdict)
{
    char share[32] = "";
    if (isfinite(change)) snprintf(share, sizeof share, "%+.1f %%", change);
    printf("%-32s %-20.40s %32s %32s %10s  %s\n", x->key, x->gpu ? x->gpu : "", from, to, share,
           verdict);
}

// ---- diff

enum status costs_diff(const struct option_texts *words, struct arena *arena, struct error *err)
{
    struct numbers n = {.arena = arena};
    int shown = 0, outside = 0;
    if (words->count != 3)
        return refuse(err, "diff: expected two documents of costs, found %d", words->count - 1);
    TRY(load_all(&n, &words->items[1], 2, err));
    for (int i = 0; i < n.count; i++) {
        const struct number *x = &n.items[i];
        const struct estimate *a = &x->values[0], *b = &x->values[1];
        double change = change_of(a, b);
        if (a->value == b->value) continue;
        bool both = a->value != 0 && b->value != 0, far = both && apart(a, b);
        print_line(x, words_of(a, arena), words_of(b, arena), change,
                   !both ? "in one"
                   : far ? "outside both intervals"
                         : "");
        shown++, outside += far;
    }
    printf("%d of %d numbers differ, %d by more than both intervals leave open\n", shown, n.count,
           outside);
    return OK;
}

// ---- history

// A folder's documents, in the order of their names.
static enum status list_folder(const char ***paths, int *count, const char *folder,
                               struct arena *arena, struct error *err)
{
    DIR *at = opendir(folder);
    struct dirent *entry;
    int capacity = 0;
    *paths = NULL, *count = 0;
    if (!at) return refuse(err, "%s: expected a folder of costs", folder);
    while ((entry = readdir(at))) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json")) continue;
        GROW(arena, *paths, *count, capacity, 16);
        (*paths)[(*count)++] = arena_print(arena, "%s/%s", folder, entry->d_name);
    }
    closedir(at);
    if (*count) qsort(*paths, (size_t)*count, sizeof **paths, compare_texts);
    return *count > 1 ? OK
                      : refuse(err, "%s: expected at least two documents (.json), found %d", folder,
                               *count);
}

// The last document's number against the first's; since when: the first from which on all are
// outside the first one's interval.
static void tell_number(const struct number *x, const char **paths, int count, int *drifted,
                        struct arena *arena)
{
    int first = 0, since = count;
    while (first < count && x->values[first].value == 0) first++;
    if (first == count) return;
    for (int i = count - 1; i > first; i--) {
        if (x->values[i].value == 0) continue;
        if (!apart(&x->values[first], &x->values[i])) break;
        since = i;
    }
    double change = change_of(&x->values[first], &x->values[count - 1]);
    if (since == count) return;
    ++*drifted;
    print_line(x, words_of(&x->values[first], arena), words_of(&x->values[count - 1], arena),
               change, arena_print(arena, "outside since %s", paths[since]));
}

enum status costs_history(const struct option_texts *words, struct arena *arena, struct error *err)
{
    struct numbers n = {.arena = arena};
    const char **paths = &words->items[1];
    int count = words->count - 1, drifted = 0;
    struct stat s;
    if (count == 1 && !stat(paths[0], &s) && S_ISDIR(s.st_mode))
        TRY(list_folder(&paths, &count, paths[0], arena, err));
    if (count < 2)
        return refuse(err, "history: expected a folder, or at least two documents of costs");
    TRY(load_all(&n, paths, count, err));
    for (int i = 0; i < n.count; i++) tell_number(&n.items[i], paths, count, &drifted, arena);
    printf("%d of %d numbers drifted over %d documents, from %s to %s\n", drifted, n.count, count,
           paths[0], paths[count - 1]);
    return OK;
}
