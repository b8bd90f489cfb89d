// The records of a search by boxes, and their second evaluation: see proof.h.
#include "solve/boxes/proof.h"

#include "data/base/grow.h"
#include "data/base/least.h"

int64_t box_proof_add(struct box_proof *p, const bool *allowed, int choice_count,
                      const struct layer_span *spans, int span_count, struct arena *arena)
{
    GROW(arena, p->records, p->count, p->capacity, 64);
    struct box_record *r = &p->records[p->count];
    *r = (struct box_record){.given = TAKE(arena, (choice_count + 7) / 8, unsigned char),
                             .of = p->count,
                             .parent = -1,
                             .first_part = -1};
    if (spans) r->spans = TAKE_COPY(arena, spans, span_count);
    for (int i = 0; i < choice_count; i++)
        if (allowed[i]) r->given[i / 8] = (unsigned char)(r->given[i / 8] | 1u << i % 8);
    return p->count++;
}

void box_proof_take_paths(struct box_proof *p, const struct box_closer *closer, int symbols,
                          struct arena *arena)
{
    int resources = box_closer_resource_count(closer);
    assert(box_closer_path_count(closer) > 0);
    bool *counted = TAKE(arena, resources, bool);
    for (int i = 0; i < resources; i++) counted[i] = box_closer_counts(closer, i);
    p->counted = counted;
    p->sure = !box_closer_is_by_ranks(closer);
    p->paths = box_closer_path_count(closer);
    p->path_counts = TAKE_COPY(arena, box_closer_path(closer, 0), p->paths * path_size(symbols));
}

const struct box_step *box_steps_copy(const struct box_step *steps, int count, int resources,
                                      struct arena *arena)
{
    struct box_step *copies = TAKE_COPY(arena, steps, count);
    for (int i = 0; i < count; i++) {
        const struct box_step *step = &steps[i];
        copies[i].ids = TAKE_COPY(arena, step->ids, step->path_count);
        copies[i].weights = TAKE_COPY(arena, step->weights, step->path_count);
        copies[i].memory = step->memory_count ? TAKE_COPY(arena, step->memory, step->memory_count)
                                              : NULL;
        copies[i].layers = step->layer_price_count
                               ? TAKE_COPY(arena, step->layers, step->layer_price_count)
                               : NULL;
        copies[i].prices = step->prices ? TAKE_COPY(arena, step->prices, resources) : NULL;
    }
    return copies;
}

// ---- once more

struct recheck {
    const struct box_proof *proof;
    const struct choices *c;
    struct box_closer *closer;
    int stages, symbols, resources;
    struct choice_box given, left;
};

static void unpack(const struct recheck *k, const struct box_record *r,
                   const struct choice_box *box)
{
    assert(!r->spans || box->spans);
    for (int s = 0, at = 0; s < k->stages; s++)
        for (int i = 0; i < k->c->stages[s].count; i++, at++)
            box->allowed[s][i] = r->given[at / 8] >> at % 8 & 1;
    for (int i = 0; i < box_closer_span_count(k->closer); i++)
        box->spans[i] = r->spans ? r->spans[i] : (struct layer_span){0, k->c->priced->layer_count};
}

static bool is_whole(const struct recheck *k)
{
    for (int s = 0; s < k->stages; s++)
        for (int i = 0; i < k->c->stages[s].count; i++)
            if (!k->given.allowed[s][i]) return false;
    for (int i = 0; i < box_closer_span_count(k->closer); i++)
        if (k->given.spans[i].least > 0 || k->given.spans[i].most < k->c->priced->layer_count)
            return false;
    return true;
}

// The union of two spans; if there is a gap between them, only the second.
static struct layer_span join_spans(struct layer_span a, struct layer_span b)
{
    bool meet = a.least <= b.most + 1 && b.least <= a.most + 1;
    return meet ? (struct layer_span){smaller_int(a.least, b.least), larger_int(a.most, b.most)}
                : b;
}

// Sets left to what the two parts cover together, as a product: at every stage but one the choices
// that both have, at that one those that either has; or likewise at a rank, for the number of its
// layers.
static void join_parts(struct recheck *k, const struct box_record *r)
{
    assert(r->first_part > 0 && r->first_part + 1 < k->proof->count);
    unpack(k, &k->proof->records[r->first_part], &k->given);
    unpack(k, &k->proof->records[r->first_part + 1], &k->left);
    bool by_rank = r->split.by == SPLIT_LAYERS;
    for (int s = 0; s < k->stages; s++)
        for (int i = 0; i < k->c->stages[s].count; i++) {
            bool one = k->left.allowed[s][i], other = k->given.allowed[s][i];
            k->left.allowed[s][i] = s == r->split.at && !by_rank ? one || other : one && other;
        }
    for (int i = 0; i < box_closer_span_count(k->closer); i++) {
        struct layer_span one = k->left.spans[i], other = k->given.spans[i];
        k->left.spans[i] = by_rank && i == box_closer_span_at(k->closer, &r->split)
                               ? join_spans(one, other)
                               : (struct layer_span){larger_int(one.least, other.least),
                                                     smaller_int(one.most, other.most)};
    }
}

static bool weights_hold(const struct recheck *k, const struct box_record *r)
{
    for (int i = 0; i < r->step_count; i++) {
        wide sum = 0;
        for (int p = 0; p < r->steps[i].path_count; p++) {
            if (r->steps[i].weights[p] < 0 || r->steps[i].ids[p] < 0 ||
                r->steps[i].ids[p] >= k->proof->paths)
                return false;
            sum += (wide)r->steps[i].weights[p] *
                   path_laps(box_closer_path(k->closer, r->steps[i].ids[p]), k->symbols);
        }
        if (sum > (wide)1 << WEIGHT_BITS) return false;
        for (int p = 0; p < k->resources && r->steps[i].prices; p++)
            if (r->steps[i].prices[p] < 0) return false;
    }
    return true;
}

// Whether record number `of` is this one or one around it, and its box holds this one's.
static bool is_around(const struct recheck *k, int64_t of, int64_t number)
{
    const struct box_record *outer = &k->proof->records[of], *inner = &k->proof->records[number];
    int64_t at = number;
    int choices = 0;
    while (at > of && k->proof->records[at].parent < at) at = k->proof->records[at].parent;
    if (at != of) return false;
    for (int s = 0; s < k->stages; s++) choices += k->c->stages[s].count;
    for (int i = 0; i < (choices + 7) / 8; i++)
        if (inner->given[i] & ~outer->given[i]) return false;
    for (int i = 0; i < box_closer_span_count(k->closer); i++)
        if (inner->spans[i].least < outer->spans[i].least ||
            inner->spans[i].most > outer->spans[i].most)
            return false;
    return true;
}

static bool holds(struct recheck *k, int64_t number, int64_t bound_ns)
{
    const struct box_record *r = &k->proof->records[number];
    bool is_split = r->first_part >= 0;
    if (r->claim_ns < bound_ns || !weights_hold(k, r)) return false;
    if (is_split && (r->first_part <= number || r->first_part + 1 >= k->proof->count)) return false;
    if (is_split) join_parts(k, r);
    unpack(k, r, &k->given);
    if (number == 0 ? !is_whole(k) : r->parent < 0 || r->parent >= number) return false;
    if (r->of < 0 || (is_split ? r->of != number : !is_around(k, r->of, number))) return false;
    unpack(k, &k->proof->records[r->of], &k->given);
    return box_repeat(
        k->closer, &k->given, r->claim_ns,
        &(struct box_argument){r->steps, r->step_count, k->proof->records[r->of].target_ns},
        is_split ? &k->left : NULL);
}

// The record brings its own paths.
static bool at_once(void *nothing)
{
    (void)nothing;
    return true;
}

int64_t box_proof_recheck(const struct box_proof *p, int64_t bound_ns, const struct choices *c,
                          struct graph *g, struct arena *arena)
{
    struct recheck k = {
        .proof = p,
        .c = c,
        .closer = box_closer_open(
            c, g, (struct box_settings){.uncounted = p->uncounted, .should_stop = at_once}, arena),
        .stages = c->priced->stage_count,
        .symbols = graph_symbol_count(g),
        .resources = c->priced->group_count + BUDGET_COUNT};
    assert(k.resources == box_closer_resource_count(k.closer));
    box_closer_take_paths(k.closer, p->path_counts, p->paths);
    k.given = choice_box_whole(k.closer, arena);
    k.left = choice_box_whole(k.closer, arena);
    int64_t bad = p->count == 0 && bound_ns > 0;
    for (int64_t i = 0; i < p->count; i++) bad += !holds(&k, i, bound_ns);
    return bad;
}
