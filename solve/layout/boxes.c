// The first engine: boxes closed by mixtures of paths, without a linear program. If it does not
// finish, the tree continues with the plan and the bound reached here.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/search.h"
#include "solve/layout/steps.h"

// Measured on the chain family: up to a few thousand cells of the table (layers x slots counted)
// boxes alone are faster; beyond that a relaxation is cheaper than the dynamic programme. A search
// that has not ended after BOXES_MAX boxes is left to the tree.
enum { BOXES_MAX = 400, CELLS_MAX = 10000 };
// By ranks with several stages the tree is far slower: its relaxations have all their choices as
// columns.
enum { BOXES_BY_RANKS_MAX = 100 * 1000 };
// By labels, too, no slots of the larger group are in a table.
enum { BOXES_LABELLED_MAX = 20 * 1000, CELLS_LABELLED_MAX = 1 << 17 };

static bool is_small(const struct priced *p, bool labels)
{
    int64_t limit = labels && priced_has_widths(p) ? CELLS_LABELLED_MAX : CELLS_MAX;
    int64_t cells = p->layer_count, most = 1;
    for (int g = 0; g < p->group_count && cells < (int64_t)1 << 40; g++) {
        if (priced_pool(p, g) != g) continue;
        int64_t seats = priced_has_widths(p) ? p->groups[g].slots
                                             : smaller(priced_seats(p, g), p->stage_count);
        cells *= seats + 1;
        most = larger(most, seats + 1);
    }
    return cells / most <= limit; // the largest group's seats are what the others leave
}

void solving_keep_incumbent(struct solving *s)
{
    if (!s->incumbent.found) return;
    s->incumbent_plan = TAKE(s->arena, 1, struct plan);
    choices_to_plan(s->incumbent_plan, &s->choices, s->incumbent.chosen, s->incumbent.iteration_ns,
                    s->arena);
}

static void report(void *solving, int64_t best_ns, int64_t bound_ns, int64_t boxes, int open,
                   int paths)
{
    struct tree_progress p = {.incumbent_ns = best_ns == INT64_MAX ? 0 : best_ns,
                              .bound_ns = bound_ns,
                              .boxes = boxes,
                              .path_rows = paths,
                              .open = open};
    solving_report(solving, &p);
}

// The written program has the same paths as the proof. The target is one above the optimum, so that
// the best plans stay in it.
static enum status write_program(struct solving *s, const struct box_search_result *r,
                                 struct error *err)
{
    struct program program;
    if (!s->settings->program_path) return OK;
    if (s->incumbent.found) solving_eliminate(s, s->incumbent.iteration_ns + 1, NULL, NULL);
    TRY(solving_formulate(s, &program, err));
    for (int i = 0; i < r->proof.paths; i++) {
        bool is_new;
        program_add_path(&program, r->proof.path_counts + (size_t)i * (size_t)program.paths.size,
                         &is_new);
    }
    return solving_write_program(s, &program, err);
}

static void keep_records(struct solving *s, const struct box_search_result *r)
{
    if (!s->result->evidence) return;
    s->result->evidence->proof = r->proof;
    s->result->evidence->proof_bound_ns = r->bound_ns;
}

bool solving_is_cut_off(struct solving *s)
{
    if (s->settings->cutoff_ns <= 0 || !is_small(s->priced, false) || s->settings->alternatives > 1)
        return false;
    struct box_search_settings settings = {.target_ns = INT64_MAX,
                                           .cutoff_ns = s->settings->cutoff_ns,
                                           .boxes_max = 1,
                                           .should_stop = solving_should_stop,
                                           .argument = s};
    struct box_search_result r;
    box_search(&r, &s->choices, s->graph, &settings, s->arena);
    s->effort = (struct plan_effort){r.boxes, 0, r.proof.paths, 0};
    s->bound_ns = r.bound_ns;
    keep_records(s, &r);
    return s->finished = r.finished && !r.found_better;
}

static bool improve(void *solving, int step, int *found, int64_t *found_ns)
{
    struct incumbent best = {.found = *found_ns < INT64_MAX, .iteration_ns = *found_ns};
    if (best.found) best.chosen = found;
    if (!solving_improve(solving, step, &best)) return false;
    memmove(found, best.chosen,
            (size_t)((struct solving *)solving)->priced->stage_count * sizeof *found);
    *found_ns = best.iteration_ns;
    return true;
}

enum status solving_run_boxes(struct solving *s, struct error *err)
{
    if (!is_small(s->priced, !s->result->evidence)) return OK;
    bool by_ranks = s->choices.virtual_stages > 1;
    int64_t limit = by_ranks ? s->settings->boxes_max : 0;
    struct box_search_settings settings = {
        .target_ns = s->incumbent.found ? s->incumbent.iteration_ns : INT64_MAX,
        .gap = s->settings->gap,
        .cutoff_ns = s->settings->cutoff_ns,
        .boxes_max = limit      ? limit
                     : by_ranks ? BOXES_BY_RANKS_MAX
                                : BOXES_MAX,
        .labelled_max = BOXES_LABELLED_MAX,
        .labels = !s->result->evidence,
        .recheck = s->settings->recheck,
        .should_stop = solving_should_stop,
        .report = report,
        .improve = s->settings->start_search ? improve : NULL,
        .found = solving_found,
        .rechecks = solving_rechecks,
        .argument = s};
    struct box_search_result r;
    box_search(&r, &s->choices, s->graph, &settings, s->arena);
    if (settings.recheck) solve_rechecks(s->settings, s->priced, false);
    keep_records(s, &r);
    if (r.bad)
        return fail(
            err, SOLVER,
            "%lld boxes did not prove their bound when their stored numbers were evaluated again",
            (long long)r.bad);
    if (r.found_better) {
        assert(choices_fit_together(&s->choices, r.found));
        s->incumbent = (struct incumbent){true, r.found, r.best_ns};
        solving_keep_incumbent(s);
    }
    s->effort = (struct plan_effort){r.boxes, 0, r.proof.paths, 0};
    s->bound_ns = r.bound_ns;
    s->finished = r.finished;
    s->result->limited = limit && !r.finished && r.boxes >= limit;
    if (!r.finished) return OK;
    if (s->incumbent.found) *solving_add_plan(s) = *s->incumbent_plan;
    return write_program(s, &r, err);
}
