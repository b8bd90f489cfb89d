// Boxes of the tree: their choices, how they are split, and how they are sent.
#include "solve/tree/job.h"

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

void split_apply(struct box *first, struct box *second, const struct box *of, const struct split *s,
                 const struct program *p, struct arena *arena)
{
    box_copy(first, of, p, arena);
    box_copy(second, of, p, arena);
    assert(s->stage >= 0 && s->stage < p->stage_count);
    first->depth = second->depth = of->depth + 1;
    for (int i = p->first_choice[s->stage]; i < p->first_choice[s->stage + 1]; i++) {
        bool is_first = s->by_load ? p->load_ns[i] < s->load_ns : i == s->choice;
        box_forbid(is_first ? second : first, i);
    }
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

static void pass_multipliers(struct message *m, struct multipliers *y, struct arena *arena)
{
    message_pass_array(m, &y->rows, y->count, sizeof *y->rows, arena);
    message_pass_array(m, &y->values, y->count, sizeof *y->values, arena);
}

static void pass_basis(struct message *m, struct lp_basis *b, const struct program *p,
                       struct arena *arena)
{
    const struct milp *milp = &p->formulation->milp;
    if (!b->present) *b = (struct lp_basis){.present = false}; // no pointers of another process
    if (!b->present) return;
    message_pass_array(m, &b->columns, milp->column_count, 1, arena);
    message_pass_array(m, &b->elastics, lp_elastic_count(milp, p->first_path_row), 1, arena);
    message_pass_array(m, &b->rows, p->first_path_row, 1, arena);
    message_pass_array(m, &b->path_rows, b->path_count, sizeof *b->path_rows, arena);
    message_pass_array(m, &b->path_statuses, b->path_count, 1, arena);
}

static void pass_box(struct message *m, struct box *b, const struct program *p, struct arena *arena)
{
    message_pass_array(m, &b->allowed, box_words(p), sizeof *b->allowed, arena);
    pass_multipliers(m, &b->proof, arena);
    pass_basis(m, &b->basis, p, arena);
}

void box_put(struct message *m, const struct box *b, const struct program *p)
{
    struct box own = *b;
    message_put(m, &own, sizeof own);
    pass_box(m, &own, p, NULL);
}

void box_get(struct box *b, struct message *m, const struct program *p, struct arena *arena)
{
    message_get(m, b, sizeof *b);
    pass_box(m, b, p, arena);
}

static void pass_record(struct message *m, struct record *r, const struct program *p,
                        struct arena *arena)
{
    message_pass_array(m, &r->allowed, box_words(p), sizeof *r->allowed, arena);
    message_pass_array(m, &r->removed, box_words(p), sizeof *r->removed, arena);
    pass_multipliers(m, &r->proof, arena);
}

void record_put(struct message *m, const struct record *r, const struct program *p)
{
    struct record own = *r;
    message_put(m, &own, sizeof own);
    pass_record(m, &own, p, NULL);
}

void record_get(struct record *r, struct message *m, const struct program *p, struct arena *arena)
{
    message_get(m, r, sizeof *r);
    pass_record(m, r, p, arena);
}
