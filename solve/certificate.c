// Making a certificate: the checker's reading of the problem beside the planner's, the bound to aim at, the proof, the file.
#include "solve/certificate.h"

#include <string.h>

#include "solve/certificate_parts.h"

enum { BOXES_MOST = 200000, MENDED_MOST = 20000, TABLE_CELLS_MOST = 1 << 22 };

// How many stages of a rank's first turn can use the group; how many stages can use the budget.
static int64_t most_use(const struct maker *m, int resource)
{
    int64_t sum = 0;
    for (int s = 0; s < m->p.stages; s++) {
        int64_t most = 0;
        for (int i = 0; i < m->choices.count[s]; i++) {
            const struct check_choice *c = &m->choices.items[s][i];
            int64_t use = resource < m->p.group_count ? s < m->p.ranks && c->group == resource
                        : resource == m->p.group_count + BUDGET_BOUNDARIES ? c->boundary > 0
                        : resource == m->p.group_count + BUDGET_STAGES ? c->gradient > 0 : c->cost;
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

// What couples stages and can bind is counted, the scarcest first, as far as the table's room goes.
static void choose_counted(struct maker *m)
{
    int64_t uses = 1, most = TABLE_CELLS_MOST / (2 * states_of(m) * (m->p.layers + 1) + 1);
    bool seen[RESOURCES_MOST] = {false};
    for (;;) {
        int next = -1;
        for (int r = 0; r < check_resource_count(&m->p); r++) {
            int64_t limit = check_resource_limit(&m->p, r);
            if (!seen[r] && limit >= 0 && most_use(m, r) > limit && (next < 0 || limit < check_resource_limit(&m->p, next))) next = r;
        }
        if (next < 0) return;
        seen[next] = true;
        int64_t limit = check_resource_limit(&m->p, next);
        if (limit >= 65536 || uses * (limit + 1) > 65536 || uses * (limit + 1) > 4 * most) continue;
        uses *= limit + 1;
        m->counted[next] = true;
    }
}

static enum status open_maker(struct maker *m, struct error *err)
{
    const struct certificate_request *r = m->request;
    const struct check_text *priced = &r->priced_text;
    if (check_read_problem(&m->p, priced->file, priced->text, priced->size, m->arena, &m->err) || check_build_graph(&m->g, &m->p, m->arena) ||
        check_list_choices(&m->choices, &m->g, &m->work, m->arena))
        return fail(err, SOLVER, "the checker does not hear the priced document: %s", m->err.text);
    m->symbols = check_symbol_count(&m->p);
    m->coefficients = TAKE(m->arena, m->symbols, int64_t);
    m->path_of = TAKE(m->arena, r->evidence->proof.paths, int);
    for (int i = 0; i < r->evidence->proof.paths; i++) m->path_of[i] = -2;
    check_open_replay(&m->replay, &m->g, &m->work, m->arena);
    choose_counted(m);
    if (check_open_mixer(&m->mixer, &m->choices, m->counted, m->arena)) return fail(err, SOLVER, "%s", m->err.text);
    return OK;
}

static bool prove_at(struct maker *m, int64_t bound_ns)
{
    m->bound_ns = bound_ns;
    m->result->mended = 0;
    return maker_prove(m);
}

// Prices that a round by ranks tries are the checker's choice for the box at hand: a smaller box need not have the better ones.
static bool is_accepted(const struct maker *m)
{
    struct arena_mark mark = arena_set_mark(m->arena);
    struct error why = {OK, ""};
    struct check_result heard;
    struct check_text text = {"certificate", m->result->text, m->result->size};
    bool accepted = !check_certificate(&heard, &text, &m->request->priced_text, CHECK_WORK_DEFAULT, m->arena, &why) && heard.accepted;
    arena_reset(m->arena, mark);
    return accepted;
}

// The shrunk proof if the checker takes it, else the proof as it was.
static void write_shrunk(struct maker *m)
{
    struct proof_box *boxes = m->boxes;
    int count = m->box_count;
    struct certificate_result result = *m->result;
    maker_shrink(m);
    maker_write(m);
    if (is_accepted(m)) return;
    m->boxes = boxes;
    m->box_count = count;
    *m->result = result;
    for (int i = 0; i < m->path_count; i++) m->paths[i].number = -1;
    maker_write(m);
}

static void close_scratch(void *scratch) { arena_close(scratch); }

// The claimed bound, else what the records prove, else what the whole problem proves as one box, else none.
static bool prove(struct maker *m)
{
    const struct plan *plan = m->request->plan;
    if (plan->outcome == OUTCOME_INFEASIBLE) return prove_at(m, -1);
    if (plan->bound_ns <= 0) return false;
    if (prove_at(m, plan->bound_ns)) return true;
    int64_t records_ns = m->request->evidence->proof_bound_ns;
    if (records_ns > 0 && records_ns < plan->bound_ns && prove_at(m, records_ns)) return true;
    int64_t root_ns = maker_root_bound(m, plan->bound_ns);
    return root_ns > 0 && root_ns < plan->bound_ns && prove_at(m, root_ns);
}

enum status certificate_make(struct certificate_result *result, const struct certificate_request *request, struct arena *arena, struct error *err)
{
    struct arena *scratch = TAKE(arena, 1, struct arena);
    arena_open(scratch, arena->exit);
    arena_defer(arena, close_scratch, scratch);
    struct maker *m = TAKE(arena, 1, struct maker);
    *result = (struct certificate_result){.bound_ns = 0};
    *m = (struct maker){.request = request, .result = result, .work = UINT64_MAX / 2, .boxes_most = request->boxes_most ? request->boxes_most : BOXES_MOST,
                        .mended_most = MENDED_MOST,
                        .arena = arena, .scratch = scratch};
    TRY(open_maker(m, err));
    bool proven = prove(m);
    if (proven && request->shrink) write_shrunk(m);
    else if (proven) maker_write(m);
    arena_close(scratch);
    arena_open(scratch, arena->exit);
    return OK;
}
