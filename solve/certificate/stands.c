// Stages with widths of their own on named nodes, part by part in preorder: a part is proven as far
// as few boxes do it, otherwise its next stage stands in every way.

#include "solve/certificate/internal.h"
#include "solve/checker/places/named.h"
#include "solve/places/named.h"

enum { PARTS_MOST = 20000, BOXES_OF_PART = 100, BOXES_OF_WHOLE = 4000 };

struct stands_maker {
    struct parts_maker *parts;
    struct check_named_tree *tree;
    struct check_named_part part;
    struct arena *arena;
};

static void priced_of_part(struct priced *to, const struct stands_maker *m,
                           const struct check_problem *p)
{
    struct priced own;
    const struct priced *base = m->parts->base;
    struct arena *scratch = m->parts->scratch;
    struct standing *at = TAKE(scratch, base->stage_count, struct standing);
    for (int s = 0; s < m->part.stands; s++) {
        at[s].seat = m->part.at[s].seat;
        for (int i = 0; i < base->groups[at[s].seat].data; i++)
            at[s].node[i] = m->part.at[s].node[i];
    }
    named_program(&own, base, at, m->part.stands, scratch);
    own.seat_nodes = NULL; // the graph of the problem alone
    certificate_places_priced(to, &own, p, scratch);
}

static enum status prove(bool *proven, struct stands_maker *m, struct error *err)
{
    struct parts_maker *x = m->parts;
    const struct reader reader = {"prices", &x->why};
    struct priced *priced = TAKE(x->scratch, 1, struct priced);
    struct check_problem p;
    struct solve_result r;
    int boxes = m->part.stands == x->base->stage_count ? BOXES_OF_WHOLE : BOXES_OF_PART;
    x->why = (struct error){OK, ""};
    if (check_named_part_problem(&p, m->tree, &m->part, &reader, &x->work, x->scratch) != OK)
        return fail(err, SOLVER, "%s", x->why.text);
    priced_of_part(priced, m, &p);
    return certificate_prove_part(proven, &r, x, &p, priced, boxes, -1, err);
}

static enum status put_part(struct stands_maker *m, bool *proven, struct error *err);

static enum status put_ways(struct stands_maker *m, bool *proven, struct error *err)
{
    struct arena_mark mark = arena_set_mark(m->arena);
    const struct reader reader = {"prices", &m->parts->why};
    struct check_stand *ways;
    int count;
    *proven = check_named_ways(&ways, &count, m->tree, &m->part, &reader, &m->parts->work,
                               m->arena) == OK;
    if (!*proven) return OK;
    certificate_put_branch(m->parts);
    for (int i = 0; i < count && *proven; i++) {
        m->part.at[m->part.stands++] = ways[i];
        TRY(put_part(m, proven, err));
        m->part.stands--;
    }
    arena_reset(m->arena, mark);
    return OK;
}

static enum status put_part(struct stands_maker *m, bool *proven, struct error *err)
{
    struct parts_maker *x = m->parts;
    struct arena_mark mark = arena_set_mark(x->scratch);
    *proven = x->count < PARTS_MOST;
    if (!*proven) return OK;
    TRY(prove(proven, m, err));
    arena_reset(x->scratch, mark);
    return *proven || m->part.stands == x->base->stage_count ? OK : put_ways(m, proven, err);
}

enum status certificate_put_stands(struct parts_maker *x, struct error *err)
{
    struct stands_maker *m = TAKE(x->arena, 1, struct stands_maker);
    const struct reader r = {"prices", &x->why};
    *m = (struct stands_maker){.parts = x, .arena = arena_open_within(x->arena)};
    if (check_open_named(&m->tree, x->places, &r, &x->work, x->arena) != OK) return OK;
    assert(x->places->named->seat_count == x->base->group_count);
    return put_part(m, &x->proven, err);
}
