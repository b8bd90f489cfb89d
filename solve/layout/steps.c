// The steps between the choices and the tree, and from the tree to the result.

#include "data/base/grow.h"
#include "formulate/graph/objective.h"
#include "solve/layout/internal.h"
#include "solve/layout/steps.h"

struct plan *solving_add_plan(struct solving *s)
{
    GROW(s->arena, s->plans, s->plan_count, s->plan_capacity, 4);
    return &s->plans[s->plan_count++];
}

// With a requested gap, plans within it of the incumbent need not stay; the proven bound is then at
// most this.
int64_t solving_closing_ns(const struct solving *s)
{
    return bound_closing(s->incumbent.found ? s->incumbent.iteration_ns : NEVER_NS,
                         s->settings->gap, s->settings->cutoff_ns);
}

int64_t solving_eliminate(struct solving *s, int64_t target_ns, struct box_proof *proof,
                          int64_t *removed_ns)
{
    if (s->result->evidence && proof)
        return eliminate_recorded(&s->choices, s->graph, target_ns, solving_should_stop, s, proof,
                                  removed_ns, s->arena);
    return eliminate(&s->choices, s->graph, target_ns, NULL, NULL, 0, solving_should_stop, s,
                     removed_ns, s->arena);
}

static void solving_add_starting_paths(struct solving *s, struct program *program)
{
    int *paths, count = graph_starting_paths(s->graph, &paths, solving_should_stop, s, s->arena);
    for (int i = 0; i < count; i++) {
        bool is_new;
        program_add_path(program, paths + (size_t)i * (size_t)program->paths.size, &is_new);
    }
}

// The bound of the time column comes from the program itself: the longest path at the symbols'
// greatest values.
enum status solving_formulate(struct solving *s, struct program *program, struct error *err)
{
    TRY(formulate_choices(&s->formulation, &s->choices, (int64_t)1 << 53, s->arena, err));
    int64_t greatest_ns = solving_greatest_ns(&s->formulation, s->graph, s->arena);
    s->formulation.milp.columns[0].upper = greatest_ns;
    program_prepare(program, &s->formulation, s->graph, greatest_ns, s->arena);
    solving_add_starting_paths(s, program);
    return OK;
}

static enum status write_program(const struct solving *s, const struct program *program,
                                 struct error *err)
{
    TRY(milp_write(&program->formulation->milp, s->settings->program_path, s->arena, err));
    return s->settings->map_path
               ? formulation_write_map(program->formulation, s->settings->map_path,
                                       s->settings->map_problem, s->arena, err)
               : OK;
}

// A full disk takes the program, not the plan.
enum status solving_write_program(struct solving *s, const struct program *program,
                                  struct error *err)
{
    if (!s->settings->program_path || write_program(s, program, err) == OK) return OK;
    if (err->status != BAD_INPUT) return err->status;
    s->result->unwritten = arena_copy_text(s->arena, err->text);
    *err = (struct error){OK, ""};
    return OK;
}

void solving_report(void *solving, const struct tree_progress *p)
{
    struct solving *s = solving;
    s->shown_bound_ns = bound_stated(p->bound_ns, p->incumbent_ns, s->shown_bound_ns);
    solve_keep_bound(s->settings, s->priced, s->shown_bound_ns);
    double now = clock_s();
    if (!solve_tells(s->settings) || now - s->shown_s < 0.5) return;
    s->shown_s = now;
    char incumbent[32] = "none", gap[32] = "-", text[256];
    if (p->incumbent_ns > 0) {
        snprintf(incumbent, sizeof incumbent, "%.9f s", (double)p->incumbent_ns / 1e9);
        snprintf(gap, sizeof gap, "%.4f %%",
                 100 * (double)(p->incumbent_ns - p->bound_ns) / (double)p->incumbent_ns);
    }
    double seconds = now - s->watch.begin_s;
    snprintf(text, sizeof text,
             "%8.1f s  plan %s  bound %.9f s  gap %s  boxes %lld (%d open)  rows %d", seconds,
             incumbent, (double)s->shown_bound_ns / 1e9, gap, (long long)p->boxes, p->open,
             p->path_rows);
    solve_tell(s->settings,
               &(struct solve_progress){seconds, p->incumbent_ns, s->shown_bound_ns, text});
}

void solving_found(void *solving, const int *chosen, int64_t time_ns)
{
    struct solving *s = solving;
    struct arena own;
    struct plan plan;
    struct error unstated = {OK, ""};
    if (!solve_keeps(s->settings, s->priced) || (s->kept_ns && time_ns >= s->kept_ns)) return;
    s->kept_ns = time_ns;
    arena_open(&own, s->arena->exit);
    choices_to_plan(&plan, &s->choices, chosen, time_ns, &own);
    if (objective_state(&plan, s->priced, &s->schedule, &own, &unstated) == OK)
        solve_keep_plan(s->settings, s->priced, &plan, time_ns);
    arena_close(&own);
}

void solving_rechecks(void *solving, int64_t bound_ns)
{
    const struct solving *s = solving;
    char text[96];
    double seconds = watch_elapsed_s(&s->watch);
    if (bound_ns < NEVER_NS / 2) solve_keep_bound(s->settings, s->priced, bound_ns);
    solve_rechecks(s->settings, s->priced, true);
    snprintf(text, sizeof text, "%8.1f s  bound %.9f s: its proof is evaluated again", seconds,
             (double)bound_ns / 1e9);
    solve_tell(s->settings, &(struct solve_progress){seconds, s->kept_ns, bound_ns, text});
}

static void fill_plan(const struct solving *s, struct plan *plan, const char *why)
{
    plan->seed = s->settings->seed;
    plan->effort = s->effort;
    plan->effort.seconds = watch_elapsed_s(&s->watch);
    plan->bound_ns = s->bound_ns;
    if (plan->stage_count && plan->bound_ns < s->settings->known_bound_ns)
        plan->bound_ns = s->settings->known_bound_ns;
    if (plan->stage_count && plan->bound_ns > plan->iteration_ns)
        plan->bound_ns = plan->iteration_ns;
    plan->bound_ns = plan->stage_count
                         ? bound_stated(plan->bound_ns, plan->iteration_ns, s->shown_bound_ns)
                         : bound_stated(plan->bound_ns, 0, 0);
    plan->reason = why;
    plan_end(plan, s->settings->gap, s->finished && !s->result->cut_off);
}

void solving_finish(struct solving *s, const char *why)
{
    struct solve_result *r = s->result;
    r->finished = s->finished;
    if (!s->plan_count) {
        const struct priced *p = s->priced;
        r->plan = (struct plan){.name = p->name,
                                .layout = p->layout,
                                .micro_batches = p->micro_batches,
                                .devices_per_stage = p->devices_per_stage,
                                .graph = plan_graph_of(&s->schedule.request)};
        if (s->finished && !r->cut_off) s->bound_ns = 0;
        fill_plan(s, &r->plan,
                  r->cut_off    ? "every plan takes as long as the cut-off, or longer"
                  : s->finished ? why
                                : "the search was stopped before it found a plan");
        return;
    }
    for (int i = 0; i < s->plan_count; i++) fill_plan(s, &s->plans[i], why);
    // Each states how far it can be from the best plan at most.
    r->alternatives = s->plans;
    r->alternative_count = s->plan_count;
    r->plan = s->plans[0];
}
