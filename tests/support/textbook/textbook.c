// The textbook formulation: binaries for
// layer-to-stage, group and mode of each stage, products by big-M. It makes the same decision and
// has the same optimum as the choices. Its durations are only bounded from below, which is enough
// because the longest path is minimised. Its relaxation is weak, which is what it is for.
#include "tests/support/textbook/textbook.h"

#include <assert.h>

#include "formulate/choices/choice.h"
#include "formulate/program/formulate.h"

void textbook_put(struct textbook *t, enum textbook_column kind, int stage, int which,
                  int64_t value)
{
    int column = textbook_column(t, kind, stage, which);
    if (column >= 0) milp_add_entry(t->m, column, value);
}

int textbook_add_column(struct textbook *t, enum textbook_column kind, int stage, int which,
                        int64_t upper, bool integer)
{
    return milp_add_column(t->m, (struct milp_column){.role = COLUMN_OTHER,
                                                      .a = kind,
                                                      .b = stage,
                                                      .c = which,
                                                      .upper = upper,
                                                      .integer = integer});
}

const struct priced_run *textbook_run(const struct textbook *t, int layer)
{
    return &t->p->runs[priced_run_of(t->p, layer)];
}

bool textbook_crosses_ranks(const struct textbook *t, int boundary)
{
    return boundary >= 0 && boundary < t->p->stage_count - 1 &&
           !schedule_is_inner(&t->c->schedule->request, boundary);
}

// Whether the binary can be one at all.
static bool possible(const struct textbook *t, enum textbook_column kind, int stage, int which)
{
    const struct priced *p = t->p;
    switch (kind) {
    case TEXTBOOK_HOLDS: return which >= stage && which <= p->layer_count - p->stage_count + stage;
    case TEXTBOOK_FULL:
        return possible(t, TEXTBOOK_HOLDS, stage, which) && textbook_run(t, which)->recomputable &&
               (p->recompute[RECOMPUTE_FULL] || p->recompute[RECOMPUTE_FIRST_LAYERS]);
    case TEXTBOOK_SELECTIVE:
        return possible(t, TEXTBOOK_HOLDS, stage, which) && textbook_run(t, which)->recomputable &&
               p->recompute[RECOMPUTE_SELECTIVE];
    case TEXTBOOK_GROUP: return !p->groups[which].excluded && p->groups[which].slots > 0;
    case TEXTBOOK_MODE: return which == RECOMPUTE_NONE || p->recompute[which];
    case TEXTBOOK_GRADIENT:
        return compression_allowed(p->gradient_options[which].form, p->budget.rank_min);
    case TEXTBOOK_BOUNDARY:
        return which == 0 ||
               (choice_sends_backward(t->c, stage) &&
                compression_allowed(p->boundary_options[which].form, p->budget.rank_min));
    case TEXTBOOK_CUT: return stage < p->stage_count - 1;
    default: return true;
    }
}

static void add_columns(struct textbook *t)
{
    const struct priced *p = t->p;
    const int width[TEXTBOOK_COLUMNS] = {
        [TEXTBOOK_HOLDS] = p->layer_count,
        [TEXTBOOK_FULL] = p->layer_count,
        [TEXTBOOK_SELECTIVE] = p->layer_count,
        [TEXTBOOK_GROUP] = p->group_count,
        [TEXTBOOK_MODE] = RECOMPUTE_COUNT,
        [TEXTBOOK_GRADIENT] = p->gradient_option_count,
        [TEXTBOOK_BOUNDARY] = p->boundary_option_count,
        [TEXTBOOK_CUT] = p->cut_count,
        [TEXTBOOK_BYTES] = 3,
    };
    for (int kind = 0; kind < TEXTBOOK_BYTES; kind++) {
        t->width[kind] = width[kind];
        t->columns[kind] = TAKE(t->arena, p->stage_count * width[kind], int);
        for (int s = 0; s < p->stage_count; s++)
            for (int i = 0; i < width[kind]; i++)
                t->columns[kind][s * width[kind] + i] =
                    !possible(t, (enum textbook_column)kind, s, i)
                        ? -1
                        : textbook_add_column(t, (enum textbook_column)kind, s, i, 1, true);
    }
}

bool textbook_covers(const struct priced *p)
{
    bool covers = !layout_recomputes_alike(&p->layout) && !p->tier_count && !p->local_head_count &&
                  !priced_mixes_layouts(p);
    for (int mode = RECOMPUTE_SWAP; mode < RECOMPUTE_COUNT; mode++)
        covers = covers && !p->recompute[mode];
    return covers;
}

enum status formulate_textbook(struct formulation *f, const struct choices *c,
                               int64_t time_upper_ns, struct arena *arena, struct error *err)
{
    if (time_upper_ns < 0 || time_upper_ns > (int64_t)1 << 53)
        return refuse(err, "the iteration time has no bound below 2^53 ns");
    assert(textbook_covers(c->priced));
    int symbols = symbol_count(c->priced->stage_count, c->priced->slice_count);
    *f = (struct formulation){.choices = c, .symbol_column = TAKE(arena, symbols, int)};
    for (int i = 0; i < symbols; i++) f->symbol_column[i] = -1;
    milp_begin(&f->milp, arena);
    milp_add_column(
        &f->milp, (struct milp_column){.role = COLUMN_TIME, .upper = time_upper_ns, .time = true});
    struct textbook t = {.f = f,
                         .m = &f->milp,
                         .c = c,
                         .p = c->priced,
                         .arena = arena,
                         .used = symbols_used(c, arena)};
    add_columns(&t);
    textbook_add_structure(&t);
    textbook_add_rules(&t);
    textbook_add_memory(&t);
    textbook_add_times(&t);
    return OK;
}

// ---- the decision of a solution, and the choice that is equal to it

static bool read_stage(struct choice *x, const struct formulation *f, const double *values,
                       int stage)
{
    bool found_group = false, found_mode = false;
    int last = -1;
    *x = (struct choice){.first_layer = -1};
    for (int j = 0; j < f->milp.column_count; j++) {
        const struct milp_column *column = &f->milp.columns[j];
        if (column->role != COLUMN_OTHER || column->b != stage || values[j] < 0.5) continue;
        switch (column->a) {
        case TEXTBOOK_HOLDS:
            if (last >= 0 && column->c != last + 1) return false;
            if (last < 0) x->first_layer = column->c;
            last = column->c;
            x->layer_count++;
            break;
        case TEXTBOOK_FULL: x->recomputed_layers++; break;
        case TEXTBOOK_GROUP: x->group = column->c, found_group = true; break;
        case TEXTBOOK_MODE: x->recompute = (enum recompute)column->c, found_mode = true; break;
        case TEXTBOOK_GRADIENT: x->gradient_option = column->c; break;
        case TEXTBOOK_BOUNDARY: x->boundary_option = column->c; break;
        default: break;
        }
    }
    if (x->recompute != RECOMPUTE_FIRST_LAYERS) x->recomputed_layers = 0;
    return last >= 0 && found_group && found_mode;
}

bool textbook_decode(const struct formulation *f, const double *values, int *chosen)
{
    const struct choices *c = f->choices;
    for (int s = 0; s < c->priced->stage_count; s++) {
        struct choice x;
        if (!read_stage(&x, f, values, s)) return false;
        x.first_layer = choices_place(c, x.first_layer);
        choice_evaluate(c, s, &x);
        chosen[s] = choice_find(c, s, &x);
        if (chosen[s] < 0) return false;
    }
    return true;
}
