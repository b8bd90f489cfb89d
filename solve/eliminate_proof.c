// The records of a search by boxes, and their second evaluation: see eliminate_proof.h.
#include "solve/eliminate_proof.h"

#include <string.h>

#include "solve/dynamic.h"

int64_t box_proof_add(struct box_proof *p, const bool *allowed, int choice_count, struct arena *arena)
{
    if (p->count == p->capacity) {
        int64_t capacity = 2 * p->capacity + 64;
        p->records = arena_grow(arena, p->records, (size_t)p->count, (size_t)capacity, sizeof *p->records);
        p->capacity = capacity;
    }
    struct box_record *r = &p->records[p->count];
    *r = (struct box_record){.given = TAKE(arena, (choice_count + 7) / 8, unsigned char), .first_part = -1};
    for (int i = 0; i < choice_count; i++)
        if (allowed[i])
            r->given[i / 8] = (unsigned char)(r->given[i / 8] | 1u << i % 8);
    return p->count++;
}

static void *copy(const void *items, int count, size_t size, struct arena *arena)
{
    return arena_grow(arena, items, (size_t)count, (size_t)count, size);
}

const struct box_step *box_steps_copy(const struct box_step *steps, int count, int resources, struct arena *arena)
{
    struct box_step *copies = copy(steps, count, sizeof *steps, arena);
    for (int i = 0; i < count; i++) {
        copies[i].ids = copy(steps[i].ids, steps[i].path_count, sizeof *steps[i].ids, arena);
        copies[i].weights = copy(steps[i].weights, steps[i].path_count, sizeof *steps[i].weights, arena);
        copies[i].prices = steps[i].prices ? copy(steps[i].prices, resources, sizeof *steps[i].prices, arena) : NULL;
    }
    return copies;
}

// ---- once more

struct recheck {
    const struct box_proof *proof;
    const struct choices *c;
    struct box_closer *closer;
    int stages;
    bool **given, **left;       // views of masks
};

static void unpack(const struct recheck *k, const struct box_record *r, bool **allowed)
{
    for (int s = 0, at = 0; s < k->stages; s++)
        for (int i = 0; i < k->c->stages[s].count; i++, at++)
            allowed[s][i] = r->given[at / 8] >> at % 8 & 1;
}

static bool is_whole(const struct recheck *k)
{
    for (int s = 0; s < k->stages; s++)
        for (int i = 0; i < k->c->stages[s].count; i++)
            if (!k->given[s][i])
                return false;
    return true;
}

// left becomes what both parts hold together, all of it a product of choices: at every stage but one the choices that both
// hold, at that one those that either holds.
static void join_parts(struct recheck *k, const struct box_record *r)
{
    unpack(k, &k->proof->records[r->first_part], k->given);
    unpack(k, &k->proof->records[r->first_part + 1], k->left);
    for (int s = 0; s < k->stages; s++)
        for (int i = 0; i < k->c->stages[s].count; i++)
            k->left[s][i] = s == r->branch_stage ? k->left[s][i] || k->given[s][i] : k->left[s][i] && k->given[s][i];
}

static bool weights_hold(const struct recheck *k, const struct box_record *r)
{
    for (int i = 0; i < r->step_count; i++) {
        wide sum = 0;
        for (int p = 0; p < r->steps[i].path_count; p++) {
            if (r->steps[i].weights[p] < 0 || r->steps[i].ids[p] < 0 || r->steps[i].ids[p] >= k->proof->paths)
                return false;
            sum += r->steps[i].weights[p];
        }
        if (sum > (wide)1 << WEIGHT_BITS)
            return false;
    }
    return true;
}

static bool holds(struct recheck *k, int64_t number, int64_t bound_ns)
{
    const struct box_record *r = &k->proof->records[number];
    bool is_split = r->first_part >= 0;
    if (r->claim_ns < bound_ns || !weights_hold(k, r))
        return false;
    if (is_split && (r->first_part <= number || r->first_part + 1 >= k->proof->count))
        return false;
    if (is_split)
        join_parts(k, r);
    unpack(k, r, k->given);
    if (number == 0 && !is_whole(k))
        return false;
    return box_repeat(k->closer, k->given, r->claim_ns, r->steps, r->step_count, is_split ? k->left : NULL) || (!is_split && r->claim_ns <= 0);
}

int64_t box_proof_recheck(const struct box_proof *p, int64_t bound_ns, const struct choices *c, struct graph *g, struct arena *arena)
{
    struct recheck k = {.proof = p, .c = c, .closer = box_closer_open(c, g, arena), .stages = c->priced->stage_count};
    box_closer_take_paths(k.closer, p->path_counts, p->paths);
    k.given = TAKE(arena, k.stages, bool *);
    k.left = TAKE(arena, k.stages, bool *);
    for (int s = 0; s < k.stages; s++) {
        k.given[s] = TAKE(arena, c->stages[s].count, bool);
        k.left[s] = TAKE(arena, c->stages[s].count, bool);
    }
    int64_t bad = p->count == 0 && bound_ns > 0;
    for (int64_t i = 0; i < p->count; i++)
        bad += !holds(&k, i, bound_ns);
    return bad;
}
