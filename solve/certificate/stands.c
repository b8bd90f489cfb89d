// Stages with widths of their own on named nodes, part by part in preorder: a part is proven as far
// as few boxes do it, otherwise its next stage stands in every way.

#include <assert.h>

#include "solve/certificate/internal.h"
#include "solve/checker/places/named.h"
#include "solve/places/named.h"

enum { PARTS_MOST = 20000, BOXES_OF_PART = 100, BOXES_OF_WHOLE = 4000 };

struct stands_maker {
    struct check_named_tree *tree;
    const struct priced *base;
    struct json_writer *w;
    struct certificate_tree_result *result;
    struct check_named_part part;
    int64_t bound_ns;
    int threads;
    struct error why; // of the checker's functions
    uint64_t work;
    struct arena *arena, *scratch;
};

static void priced_of_part(struct priced *to, const struct stands_maker *m,
                           const struct check_problem *p)
{
    struct priced own;
    struct standing *at = TAKE(m->scratch, m->base->stage_count, struct standing);
    for (int s = 0; s < m->part.stands; s++) {
        at[s].seat = m->part.at[s].seat;
        for (int i = 0; i < m->base->groups[at[s].seat].data; i++)
            at[s].node[i] = m->part.at[s].node[i];
    }
    named_program(&own, m->base, at, m->part.stands, m->scratch);
    own.seat_nodes = NULL; // the graph of the problem alone
    certificate_places_priced(to, &own, p, m->scratch);
}

static enum status prove(bool *proven, struct stands_maker *m, struct error *err)
{
    const struct reader reader = {"prices", &m->why};
    struct priced *priced = TAKE(m->scratch, 1, struct priced);
    struct check_problem p;
    struct solve_result r;
    int boxes = m->part.stands == m->base->stage_count ? BOXES_OF_WHOLE : BOXES_OF_PART;
    m->why = (struct error){OK, ""};
    if (check_named_part_problem(&p, m->tree, &m->part, &reader, &m->work, m->scratch) != OK)
        return fail(err, SOLVER, "%s", m->why.text);
    priced_of_part(priced, m, &p);
    TRY(certificate_search_part(&r, priced, m->bound_ns, boxes, m->threads, m->scratch, err));
    const struct part_proof part = {&p, priced, &r, m->bound_ns, -1};
    return certificate_put_part(proven, m->w, &part, m->result, m->scratch, err);
}

static enum status put_part(struct stands_maker *m, bool *proven, struct error *err);

static enum status put_ways(struct stands_maker *m, bool *proven, struct error *err)
{
    struct arena_mark mark = arena_set_mark(m->arena);
    const struct reader reader = {"prices", &m->why};
    struct check_stand *ways;
    int count;
    *proven = check_named_ways(&ways, &count, m->tree, &m->part, &reader, &m->work, m->arena) == OK;
    if (!*proven) return OK;
    json_open_object(m->w, NULL);
    json_put_bool(m->w, "branch", true);
    json_close_object(m->w);
    m->result->parts++;
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
    struct arena_mark mark = arena_set_mark(m->scratch);
    *proven = m->result->parts < PARTS_MOST;
    if (!*proven) return OK;
    TRY(prove(proven, m, err));
    arena_reset(m->scratch, mark);
    return *proven || m->part.stands == m->base->stage_count ? OK : put_ways(m, proven, err);
}

enum status certificate_put_stands(struct certificate_tree_result *result, struct json_writer *w,
                                   const struct check_places *x, const struct priced *base,
                                   int64_t bound_ns, int threads, struct arena *arena,
                                   struct error *err)
{
    struct stands_maker *m = TAKE(arena, 1, struct stands_maker);
    const struct reader r = {"prices", &m->why};
    *result = (struct certificate_tree_result){.proven = false};
    *m = (struct stands_maker){.base = base,
                               .w = w,
                               .result = result,
                               .bound_ns = bound_ns,
                               .threads = threads,
                               .work = UINT64_MAX / 2,
                               .arena = arena_open_within(arena),
                               .scratch = arena_open_within(arena)};
    if (check_open_named(&m->tree, x, &r, &m->work, arena) != OK) return OK;
    assert(x->named->seat_count == base->group_count);
    json_open_array(w, "parts");
    TRY(put_part(m, &result->proven, err));
    json_close_array(w);
    return OK;
}
