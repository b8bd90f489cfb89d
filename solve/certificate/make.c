// Setting up a proof that the checker's functions judge: its reading of the problem next to the
// planner's, and the resources its programme counts.
#include "solve/certificate/internal.h"

enum { BOXES_MOST = 200000, MENDED_MOST = 20000, TABLE_CELLS_MOST = 1 << 22 };

// How much all stages together can use of a group's slots, or of a budget.
static int64_t most_use(const struct maker *m, int resource)
{
    int64_t sum = 0;
    for (int s = 0; s < m->p.stages; s++) {
        int64_t most = 0;
        for (int i = 0; i < m->choices.count[s]; i++) {
            int64_t use = check_use(&m->p, s, resource, &m->choices.items[s][i]);
            most = use > most ? use : most;
        }
        sum += most;
    }
    return sum;
}

static int64_t states_of(const struct maker *m)
{
    int64_t states = 0;
    for (int s = 0; s < m->p.stages; s++)
        for (int i = 0; i < m->choices.count[s]; i++) {
            const struct check_choice *c = &m->choices.items[s][i];
            int k = 0;
            while (k < i) {
                const struct check_choice *o = &m->choices.items[s][k];
                if (o->group == c->group && o->cut == c->cut && o->boundary == c->boundary) break;
                k++;
            }
            states += k == i;
        }
    return states;
}

// Counts the resources that couple stages and can bind, the scarcest first, as long as the table
// has room.
static void choose_counted(struct maker *m)
{
    int64_t uses = 1, most = TABLE_CELLS_MOST / (2 * states_of(m) * (m->p.layers + 1) + 1);
    bool seen[RESOURCES_MOST] = {false};
    for (;;) {
        int next = -1;
        for (int r = 0; r < check_resource_count(&m->p); r++) {
            int64_t limit = check_resource_limit(&m->p, r);
            int whose = r < m->p.group_count ? m->p.groups[r].of_node_group : 0;
            if (whose && whose != r + 1) continue; // the same slots as its first group's
            if (!seen[r] && limit >= 0 && most_use(m, r) > limit &&
                (next < 0 || limit < check_resource_limit(&m->p, next)))
                next = r;
        }
        if (next < 0) return;
        seen[next] = true;
        int64_t limit = check_resource_limit(&m->p, next);
        if (limit >= 65536 || uses * (limit + 1) > 65536 || uses * (limit + 1) > 4 * most) continue;
        uses *= limit + 1;
        m->counted[next] = true;
    }
}

enum status maker_open(struct maker *m, struct proof *proof, struct arena *arena,
                       struct arena *scratch, struct error *err)
{
    const struct certificate_request *r = proof->request;
    *m = (struct maker){.request = r,
                        .result = proof->result,
                        .proof = proof,
                        .work = UINT64_MAX / 2,
                        .boxes_most = r->boxes_most ? r->boxes_most : BOXES_MOST,
                        .mended_most = MENDED_MOST,
                        .arena = arena,
                        .scratch = scratch};
    proof->counted = m->counted;
    const struct check_text *priced = &r->priced_text;
    if (r->problem) m->p = *r->problem;
    m->p.reader = (struct reader){"prices", &m->err};
    if ((!r->problem && check_read_problem(&m->p, priced, m->arena, &m->err)))
        return fail(err, SOLVER, "the checker refuses the priced document: %s", m->err.text);
    if (r->of_energy) m->p = check_below_energy(&m->p, r->of_energy->bound_ns);
    if (check_build_graph(&m->g, &m->p, m->arena) ||
        check_list_choices(&m->choices, &m->g, &m->work, m->arena))
        return fail(err, SOLVER, "the checker refuses the priced document: %s", m->err.text);
    m->symbols = check_symbol_count(&m->p);
    m->coefficients = TAKE(m->arena, m->symbols, int64_t);
    m->path_of = TAKE(m->arena, r->evidence->proof.paths, int);
    for (int i = 0; i < r->evidence->proof.paths; i++) m->path_of[i] = -2;
    check_open_replay(&m->replay, &m->g, &m->work, m->arena);
    choose_counted(m);
    if (check_open_mixer(&m->mixer, &m->choices, m->counted, m->arena))
        return fail(err, SOLVER, "%s", m->err.text);
    return OK;
}
