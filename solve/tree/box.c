// Boxes of the tree: their choices, how they are split, and how they are sent.
#include "solve/tree/box.h"

#include <assert.h>
#include "data/base/grow.h"

#include <string.h>

int box_allowed_count(const struct box *b, const struct program *p, int stage)
{
    int count = 0;
    for (int i = p->first_choice[stage]; i < p->first_choice[stage + 1]; i++)
        count += box_allows(b, i);
    return count;
}

void box_whole(struct box *b, const struct program *p, struct arena *arena)
{
    *b = (struct box){.allowed = TAKE(arena, box_words(p), uint64_t)};
    for (int i = 0; i < p->choice_count; i++) b->allowed[i / 64] |= (uint64_t)1 << (i % 64);
}

// The basis is shared, because it is never changed.
void box_copy(struct box *to, const struct box *from, const struct program *p, struct arena *arena)
{
    *to = *from;
    to->allowed = TAKE_COPY(arena, from->allowed, box_words(p));
}

int box_single(const struct box *b, const struct program *p, int *chosen)
{
    int single = 1;
    for (int s = 0; s < p->stage_count; s++) {
        int count = box_allowed_count(b, p, s);
        if (!count) return -1;
        if (count > 1) single = 0;
        for (int i = p->first_choice[s]; i < p->first_choice[s + 1]; i++)
            if (box_allows(b, i)) chosen[s] = i - p->first_choice[s];
    }
    return single;
}

void box_close_columns(const struct box *b, const struct program *p, bool *closed)
{
    memset(closed, 0, (size_t)p->formulation->milp.column_count * sizeof *closed);
    for (int i = 0; i < p->choice_count; i++)
        if (!box_allows(b, i)) closed[p->column_of[i]] = true;
}

static bool split_is_first(const struct split *s, const struct program *p, int choice)
{
    return s->by_load ? p->load_ns[choice] < s->load_ns : choice == s->choice;
}

void split_apply(struct box *first, struct box *second, const struct box *of, const struct split *s,
                 const struct program *p, struct arena *arena)
{
    box_copy(first, of, p, arena);
    box_copy(second, of, p, arena);
    assert(s->stage >= 0 && s->stage < p->stage_count);
    first->depth = second->depth = of->depth + 1;
    for (int i = p->first_choice[s->stage]; i < p->first_choice[s->stage + 1]; i++)
        box_forbid(split_is_first(s, p, i) ? second : first, i);
    assert(box_allowed_count(first, p, s->stage) + box_allowed_count(second, p, s->stage) ==
           box_allowed_count(of, p, s->stage));
}

bool split_blindly(struct split *s, const struct box *b, const struct program *p)
{
    int most = 1, stage = -1;
    for (int t = 0; t < p->stage_count; t++) {
        int count = box_allowed_count(b, p, t);
        if (count > most) most = count, stage = t;
    }
    if (stage < 0) return false;
    int passed = 0, lowest = -1;
    for (int k = p->first_choice[stage]; k < p->first_choice[stage + 1]; k++) {
        int i = p->by_load[k];
        if (!box_allows(b, i)) continue;
        if (lowest < 0) lowest = i;
        if (2 * passed++ >= most && p->load_ns[i] > p->load_ns[lowest]) {
            *s = (struct split){
                .stage = stage, .by_load = true, .load_ns = p->load_ns[i], .choice = i};
            return true;
        }
    }
    assert(lowest >= 0 && passed == most);
    *s = (struct split){.stage = stage, .choice = lowest};
    return true;
}

struct record *record_add(struct record_list *list, enum record_kind kind, const struct box *b,
                          const struct program *p, struct arena *arena)
{
    GROW(arena, list->items, list->count, list->capacity, 64);
    assert(b->number >= 0 && b->bound_ns >= 0);
    struct record *r = &list->items[list->count++];
    *r = (struct record){.kind = kind,
                         .box = b->number,
                         .bound_ns = b->bound_ns,
                         .ample = b->ample,
                         .allowed = TAKE_COPY(arena, b->allowed, box_words(p))};
    return r;
}

// ---- messages

static void put_bits(struct message *m, const uint64_t *bits, const struct program *p)
{
    message_put(m, bits, (size_t)box_words(p) * sizeof *bits);
}

static uint64_t *get_bits(struct message *m, const struct program *p, struct arena *arena)
{
    uint64_t *bits = TAKE(arena, box_words(p), uint64_t);
    message_get(m, bits, (size_t)box_words(p) * sizeof *bits);
    return bits;
}

static void put_multipliers(struct message *m, const struct multipliers *y)
{
    message_put_count(m, y->unit_log2);
    message_put_count(m, y->count);
    message_put(m, y->rows, (size_t)y->count * sizeof *y->rows);
    message_put(m, y->values, (size_t)y->count * sizeof *y->values);
}

static void get_multipliers(struct multipliers *y, struct message *m, struct arena *arena)
{
    y->unit_log2 = (int)message_get_count(m);
    y->count = message_get_length(m, sizeof *y->rows + sizeof *y->values);
    y->rows = TAKE(arena, y->count, int);
    y->values = TAKE(arena, y->count, int64_t);
    message_get(m, y->rows, (size_t)y->count * sizeof *y->rows);
    message_get(m, y->values, (size_t)y->count * sizeof *y->values);
}

static void put_basis(struct message *m, const struct lp_basis *b, const struct program *p)
{
    const struct milp *milp = &p->formulation->milp;
    message_put_count(m, b->present);
    if (!b->present) return;
    message_put(m, b->columns, (size_t)milp->column_count);
    message_put(m, b->elastics, (size_t)lp_elastic_count(milp, p->first_path_row));
    message_put(m, b->rows, (size_t)p->first_path_row);
    message_put_count(m, b->path_count);
    message_put(m, b->path_rows, (size_t)b->path_count * sizeof *b->path_rows);
    message_put(m, b->path_statuses, (size_t)b->path_count);
}

static unsigned char *get_bytes(struct message *m, int count, struct arena *arena)
{
    unsigned char *bytes = TAKE(arena, count, unsigned char);
    message_get(m, bytes, (size_t)count);
    return bytes;
}

static void get_basis(struct lp_basis *b, struct message *m, const struct program *p,
                      struct arena *arena)
{
    const struct milp *milp = &p->formulation->milp;
    *b = (struct lp_basis){.present = message_get_count(m) != 0};
    if (!b->present) return;
    b->columns = get_bytes(m, milp->column_count, arena);
    b->elastics = get_bytes(m, lp_elastic_count(milp, p->first_path_row), arena);
    b->rows = get_bytes(m, p->first_path_row, arena);
    b->path_count = message_get_length(m, sizeof *b->path_rows + 1);
    b->path_rows = TAKE(arena, b->path_count, int);
    message_get(m, b->path_rows, (size_t)b->path_count * sizeof *b->path_rows);
    b->path_statuses = get_bytes(m, b->path_count, arena);
}

void box_put(struct message *m, const struct box *b, const struct program *p)
{
    message_put_count(m, b->number);
    message_put_count(m, b->bound_ns);
    message_put_count(m, b->ample);
    message_put_count(m, b->depth);
    put_bits(m, b->allowed, p);
    put_multipliers(m, &b->proof);
    put_basis(m, &b->basis, p);
}

void box_get(struct box *b, struct message *m, const struct program *p, struct arena *arena)
{
    b->number = message_get_count(m);
    b->bound_ns = message_get_count(m);
    b->ample = message_get_count(m) != 0;
    b->depth = (int)message_get_count(m);
    b->allowed = get_bits(m, p, arena);
    get_multipliers(&b->proof, m, arena);
    get_basis(&b->basis, m, p, arena);
}

void record_put(struct message *m, const struct record *r, const struct program *p)
{
    message_put_count(m, r->kind);
    message_put_count(m, r->box);
    message_put_count(m, r->bound_ns);
    message_put_count(m, r->ample);
    message_put_count(m, r->target_ns);
    message_put_count(m, r->first);
    put_bits(m, r->allowed, p);
    message_put_count(m, r->removed != NULL);
    if (r->removed) put_bits(m, r->removed, p);
    put_multipliers(m, &r->proof);
    message_put(m, &r->split, sizeof r->split);
}

void record_get(struct record *r, struct message *m, const struct program *p, struct arena *arena)
{
    *r = (struct record){.kind = (enum record_kind)message_get_count(m)};
    r->box = message_get_count(m);
    r->bound_ns = message_get_count(m);
    r->ample = message_get_count(m) != 0;
    r->target_ns = message_get_count(m);
    r->first = message_get_count(m);
    r->allowed = get_bits(m, p, arena);
    if (message_get_count(m)) r->removed = get_bits(m, p, arena);
    get_multipliers(&r->proof, m, arena);
    message_get(m, &r->split, sizeof r->split);
}
