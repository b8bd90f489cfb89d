// Makes a proof shorter. A round is removed if the box does not need it; small weights of a
// mixture are removed as long as it still works; and a split whose halves are closed by their
// rounds is removed if the same rounds close the box itself. A box that is split must still lose
// all that it lost, since its parts rely on that. The checker's function judges each attempt.
#include <stdlib.h>
#include <string.h>

#include "data/base/least.h"
#include "solve/certificate/internal.h"

struct shrinker {
    struct maker *m;
    struct proof_box *boxes; // the new list
    int box_count;
};

static bool lies_within(const struct maker *m, const struct check_box *a, const struct check_box *b)
{
    for (int s = 0; s < m->p.stages; s++)
        for (int i = 0, k = 0; i < a->count[s]; i++) {
            while (k < b->count[s] && b->left[s][k] < a->left[s][i]) k++;
            if (k == b->count[s] || b->left[s][k] != a->left[s][i]) return false;
        }
    for (int r = 0; r < a->span_count; r++)
        if (a->spans[r].least < b->spans[r].least || a->spans[r].most > b->spans[r].most)
            return false;
    return true;
}

// What the rounds leave of the box, in scratch; *closed: nothing.
static struct check_box use_all(struct maker *m, const struct check_box *given,
                                const struct proof_round *rounds, int count, bool *closed)
{
    struct check_box box = maker_copy_box(m, given, m->scratch);
    *closed = maker_couple(m, &box);
    for (int i = 0; i < count && !*closed; i++) *closed = maker_use(m, &box, &rounds[i]);
    return box;
}

// Whether the rounds achieve what the box b needs: close it, or leave no more than `left`.
static bool suffices(struct maker *m, const struct proof_box *b, const struct proof_round *rounds,
                     int count, const struct check_box *left)
{
    struct arena_mark mark = arena_set_mark(m->scratch);
    bool closed;
    struct check_box box = use_all(m, b->given, rounds, count, &closed);
    bool good = closed || (b->end != END_CLOSED && lies_within(m, &box, left));
    arena_reset(m->scratch, mark);
    return good;
}

static void drop_rounds(struct maker *m, struct proof_box *b, const struct check_box *left)
{
    struct proof_round *tried = TAKE(m->arena, b->round_count, struct proof_round);
    if (b->round_count > 1 && suffices(m, b, &b->rounds[b->round_count - 1], 1, left)) {
        b->rounds += b->round_count - 1;
        b->round_count = 1;
    }
    for (int drop = 0; drop < b->round_count;) {
        int kept = 0;
        for (int i = 0; i < b->round_count; i++)
            if (i != drop) tried[kept++] = b->rounds[i];
        if (!suffices(m, b, tried, kept, left)) {
            drop++;
            continue;
        }
        memcpy(b->rounds, tried, (size_t)kept * sizeof *tried);
        b->round_count = kept;
    }
}

// The paths whose weight is above `least`, with weights scaled up so that they sum to one again,
// times laps.
static struct proof_round without_light(const struct maker *m, const struct proof_round *round,
                                        int64_t least)
{
    struct proof_round fewer = *round;
    int *paths = TAKE(m->arena, round->path_count, int), count = 0;
    int64_t *weights = TAKE(m->arena, round->path_count, int64_t),
            whole = (int64_t)1 << WEIGHT_SHIFT;
    wide sum = 0;
    for (int i = 0; i < round->path_count; i++) {
        if (round->weights[i] <= least) continue;
        paths[count] = round->paths[i];
        weights[count++] = round->weights[i];
        sum += (wide)round->weights[i] * m->proof->paths[round->paths[i]].laps;
    }
    for (int i = 0; i < count; i++) weights[i] = (int64_t)(weights[i] * (wide)whole / sum);
    fewer.path_count = count;
    fewer.paths = paths;
    fewer.weights = weights;
    return fewer;
}

// Drops as many of the smallest weights as possible, by bisection.
static void drop_weights(struct maker *m, struct proof_box *b, int number,
                         const struct check_box *left)
{
    struct proof_round given = b->rounds[number], best = given;
    int count = given.path_count, most = count; // this many cannot be dropped
    if (count < 2) return;
    int64_t *sorted = TAKE_COPY(m->arena, given.weights, count);
    qsort(sorted, (size_t)count, sizeof *sorted, int64_ascending);
    for (int can = 0; most - can > 1;) {
        int middle = can + (most - can) / 2;
        b->rounds[number] = without_light(m, &given, sorted[middle - 1]);
        bool good = b->rounds[number].path_count > 0 &&
                    suffices(m, b, b->rounds, b->round_count, left);
        if (good) best = b->rounds[number], can = middle;
        else most = middle;
    }
    b->rounds[number] = best;
}

// A round that counts nothing is faster to check.
static void relax_rounds(struct maker *m, struct proof_box *b, const struct check_box *left)
{
    bool counts = false;
    for (int r = 0; r < check_resource_count(&m->p); r++) counts = counts || m->counted[r];
    for (int i = 0; i < b->round_count && counts; i++) {
        bool relaxed = b->rounds[i].relaxed;
        b->rounds[i].relaxed = true;
        if (!relaxed && (b->rounds[i].by_ranks || !suffices(m, b, b->rounds, b->round_count, left)))
            b->rounds[i].relaxed = false;
    }
}

// Drops prices of memory that the box does not need.
static void drop_memory(struct maker *m, struct proof_box *b, const struct check_box *left)
{
    for (int i = 0; i < b->round_count; i++) {
        int count = b->rounds[i].memory_count;
        b->rounds[i].memory_count = 0;
        if (count && !suffices(m, b, b->rounds, b->round_count, left))
            b->rounds[i].memory_count = count;
    }
}

static void shrink_rounds(struct maker *m, struct proof_box *b)
{
    struct arena_mark mark = arena_set_mark(m->scratch);
    bool closed;
    struct check_box left = use_all(m, b->given, b->rounds, b->round_count, &closed);
    drop_rounds(m, b, &left);
    relax_rounds(m, b, &left);
    drop_memory(m, b, &left);
    for (int i = 0; i < b->round_count; i++) drop_weights(m, b, i, &left);
    arena_reset(m->scratch, mark);
}

// Both parts of the box at `at` are closed and follow it: their rounds may close the box itself.
static void join_parts(struct shrinker *k, int at)
{
    struct proof_box *b = &k->boxes[at], whole = *b;
    const struct proof_box *one = b + 1, *other = b + 2;
    int count = 0;
    whole.rounds = TAKE(k->m->arena, b->round_count + one->round_count + other->round_count,
                        struct proof_round);
    for (const struct proof_box *x = b; x <= other; x++)
        for (int i = 0; i < x->round_count; i++) whole.rounds[count++] = x->rounds[i];
    whole.round_count = whole.round_capacity = count;
    whole.end = END_CLOSED;
    if (!suffices(k->m, &whole, whole.rounds, count, NULL)) return;
    *b = whole;
    k->box_count = at + 1;
}

// The box at `from` and all following boxes that are part of it; returns the number of the next
// one.
static int shrink_from(struct shrinker *k, int from)
{
    int at = k->box_count++, next = from + 1;
    struct proof_box *b = &k->boxes[at];
    *b = k->m->proof->boxes[from];
    b->rounds = TAKE_COPY(k->m->arena, b->rounds, b->round_count); // the parts keep their rounds
    if (k->boxes[at].end != END_CLOSED && k->boxes[at].end != END_LEAF) {
        next = shrink_from(k, next);
        next = shrink_from(k, next);
        if (k->box_count == at + 3 && k->boxes[at + 1].end == END_CLOSED &&
            k->boxes[at + 2].end == END_CLOSED)
            join_parts(k, at);
    }
    return next;
}

void maker_shrink(struct maker *m)
{
    struct proof *p = m->proof;
    struct shrinker k = {.m = m, .boxes = TAKE(m->arena, p->box_count, struct proof_box)};
    shrink_from(&k, 0);
    p->boxes = k.boxes;
    p->box_count = p->box_capacity = k.box_count;
    for (int i = 0; i < p->box_count; i++) shrink_rounds(m, &p->boxes[i]);
}
