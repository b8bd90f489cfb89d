// Textbook rows of memory. A product of binaries and sums becomes "at most, unless": a big M that
// is the maximum of what it switches off. docs/FORMULAS.md, sections 8 and 13.
#include "data/base/least.h"
#include "tests/support/textbook/textbook.h"

// Working bytes of a rank: at least those of each layer of each of its stages in its mode, plus the
// unsharded bytes of all layers of the stage.
static int add_working(struct textbook *t, int rank)
{
    int64_t most = 0, unsharded = 0;
    for (int r = 0; r < t->p->run_count; r++) {
        for (int i = 0; i < 3; i++) most = larger(most, t->p->runs[r].working_bytes[i]);
        unsharded += t->p->runs[r].count * t->p->runs[r].unsharded_bytes;
    }
    return textbook_add_column(t, TEXTBOOK_BYTES, choices_stage_of(t->c, rank, 0), 0,
                               most + unsharded, false);
}

static void add_working_rows(struct textbook *t, int column, int stage)
{
    for (int l = 0; l < t->p->layer_count; l++) {
        const int64_t *bytes = textbook_run(t, l)->working_bytes;
        milp_add_entry(t->m, column, 1);
        for (int k = 0; k < t->p->layer_count; k++)
            textbook_put(t, TEXTBOOK_HOLDS, stage, k,
                         -textbook_run(t, k)->unsharded_bytes -
                             (k == l ? bytes[RECOMPUTE_NONE] : 0));
        textbook_put(t, TEXTBOOK_FULL, stage, l, bytes[RECOMPUTE_NONE] - bytes[RECOMPUTE_FULL]);
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l,
                     bytes[RECOMPUTE_NONE] - bytes[RECOMPUTE_SELECTIVE]);
        milp_add_row(t->m, ROW_OTHER, ROW_AT_LEAST, 0);
    }
}

// Bytes of a layer that depend on its stage's option: the feedback of a compressed sync and, if
// options offload, the part of the optimizer's state that stays.
static int64_t option_bytes(const struct priced *p, const struct priced_run *run, int option)
{
    return run->feedback_bytes[option] +
           (priced_tiers(p) ? priced_optimizer_bytes(run, option) : 0);
}

static int add_option_bytes(struct textbook *t, int stage)
{
    const struct priced *p = t->p;
    int64_t most = 0;
    for (int o = 0; o < p->gradient_option_count; o++) {
        int64_t sum = 0;
        for (int r = 0; r < p->run_count; r++)
            sum += p->runs[r].count * option_bytes(p, &p->runs[r], o);
        most = larger(most, sum);
    }
    int column = textbook_add_column(t, TEXTBOOK_BYTES, stage, 1, most, false);
    for (int o = 0; o < p->gradient_option_count; o++) {
        milp_add_entry(t->m, column, 1);
        for (int l = 0; l < p->layer_count; l++)
            textbook_put(t, TEXTBOOK_HOLDS, stage, l, -option_bytes(p, textbook_run(t, l), o));
        textbook_put(t, TEXTBOOK_GRADIENT, stage, o, -most);
        milp_add_row(t->m, ROW_OTHER, ROW_AT_LEAST, -most);
    }
    return column;
}

static int add_boundary_feedback(struct textbook *t, int stage)
{
    const struct priced *p = t->p;
    int64_t most = 0;
    for (int c = 0; c < p->cut_count; c++)
        for (int o = 0; o < p->boundary_option_count; o++)
            most = larger(most, p->cuts[c].feedback_bytes[o]);
    int column = textbook_add_column(t, TEXTBOOK_BYTES, stage, 2, most, false);
    for (int c = 0; c < p->cut_count && textbook_crosses_ranks(t, stage - 1); c++)
        for (int o = 0; o < p->boundary_option_count; o++) {
            int64_t bytes = p->cuts[c].feedback_bytes[o];
            milp_add_entry(t->m, column, 1);
            textbook_put(t, TEXTBOOK_CUT, stage - 1, c, -bytes);
            textbook_put(t, TEXTBOOK_BOUNDARY, stage, o, -bytes);
            milp_add_row(t->m, ROW_OTHER, ROW_AT_LEAST, -bytes);
        }
    return column;
}

// Bytes of the stage except constants and working memory, as terms; returns their maximum.
static int64_t put_bytes(struct textbook *t, int stage, int in_flight, const int *feedback)
{
    const struct priced *p = t->p;
    int64_t most = 0, message = 0;
    for (int l = 0; l < p->layer_count; l++) {
        const struct priced_run *run = textbook_run(t, l);
        const int64_t *stash = run->stash_bytes;
        int64_t states = run->weight_bytes + run->gradient_bytes +
                         (priced_tiers(p) ? 0 : run->optimizer_bytes);
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, states + in_flight * stash[RECOMPUTE_NONE]);
        textbook_put(t, TEXTBOOK_FULL, stage, l,
                     in_flight * (stash[RECOMPUTE_FULL] - stash[RECOMPUTE_NONE]));
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l,
                     in_flight * (stash[RECOMPUTE_SELECTIVE] - stash[RECOMPUTE_NONE]));
        most += states +
                in_flight * larger(stash[RECOMPUTE_NONE],
                                   larger(stash[RECOMPUTE_FULL], stash[RECOMPUTE_SELECTIVE]));
    }
    for (int c = 0; c < p->cut_count; c++) {
        if (textbook_crosses_ranks(t, stage - 1))
            textbook_put(t, TEXTBOOK_CUT, stage - 1, c, 2 * p->cuts[c].message_bytes);
        if (textbook_crosses_ranks(t, stage))
            textbook_put(t, TEXTBOOK_CUT, stage, c, 2 * p->cuts[c].message_bytes);
        message = larger(message, p->cuts[c].message_bytes);
    }
    for (int i = 0; i < 2; i++) {
        milp_add_entry(t->m, feedback[i], 1);
        most += t->m->columns[feedback[i]].upper;
    }
    return most + 4 * message;
}

static int64_t local_bytes(const struct textbook *t, int stage)
{
    bool local = stage < t->p->stage_count - 1 &&
                 schedule_is_local(&t->c->schedule->request, stage);
    return local ? t->p->local_bytes : 0;
}

// What the rank's stages need at one moment, in_flight[turn], unless the rank is on another group.
static void add_moment(struct textbook *t, int rank, const int *in_flight, int working,
                       int (*feedback)[2])
{
    const struct priced *p = t->p;
    int first = choices_stage_of(t->c, rank, 0);
    for (int g = 0; g < p->group_count; g++) {
        if (textbook_column(t, TEXTBOOK_GROUP, first, g) < 0) continue;
        int before = t->m->entry_count;
        int64_t most = t->m->columns[working].upper,
                room = p->groups[g].memory_limit_bytes - p->groups[g].constant_bytes;
        milp_add_entry(t->m, working, 1);
        for (int turn = 0; turn < t->c->virtual_stages; turn++) {
            int stage = choices_stage_of(t->c, rank, turn);
            most += put_bytes(t, stage, in_flight[turn], feedback[stage]);
            room -= local_bytes(t, stage);
        }
        if (most <= room) {
            t->m->entry_count = before;
            continue;
        }
        textbook_put(t, TEXTBOOK_GROUP, first, g, most - room);
        milp_add_row(t->m, ROW_MEMORY, ROW_AT_MOST, most);
    }
}

void textbook_add_memory(struct textbook *t)
{
    int(*feedback)[2] =
        (int(*)[2])arena_take(t->arena, (size_t)t->p->stage_count, sizeof *feedback);
    for (int rank = 0; rank < t->c->rank_count; rank++) {
        int working = add_working(t, rank);
        for (int turn = 0; turn < t->c->virtual_stages; turn++) {
            int stage = choices_stage_of(t->c, rank, turn);
            add_working_rows(t, working, stage);
            feedback[stage][0] = add_option_bytes(t, stage);
            feedback[stage][1] = add_boundary_feedback(t, stage);
        }
        if (t->c->virtual_stages == 1)
            add_moment(t, rank, &t->c->schedule->in_flight[rank], working, feedback);
        for (int i = 0; t->c->virtual_stages > 1 && i < t->c->peaks[rank].count; i++)
            add_moment(t, rank, t->c->peaks[rank].in_flight[i], working, feedback);
    }
}
