// Solving one layout: hopeless cases, an incumbent, elimination by bound, the tree. Only integers
// are passed from step to step.
#include "solve/layout/solve.h"

#include <string.h>

#include "formulate/graph/objective.h"
#include "solve/layout/steps.h"
#include "solve/tree/proof.h"

enum { BOUND_ROUNDS = 6 }; // of the dynamic programme, for a quick bound

const char *const engine_names[] = {"tree", "glpk", NULL};

void solve_defaults(struct solve_settings *s) { *s = (struct solve_settings){SOLVE_DEFAULTS}; }

bool solving_should_stop(void *solving)
{
    return watch_is_over(&((struct solving *)solving)->watch);
}

// The iteration time if every symbol has its greatest value: no plan takes longer.
int64_t solving_greatest_ns(const struct formulation *f, struct graph *g, struct arena *arena)
{
    int count = graph_symbol_count(g);
    int64_t *durations = TAKE(arena, count, int64_t);
    for (int i = 0; i < count; i++)
        if (f->symbol_column[i] >= 0) durations[i] = f->milp.columns[f->symbol_column[i]].upper;
    return graph_longest(g, durations, NULL);
}

static struct solving open_solving(struct solve_result *r, const struct priced *priced,
                                   const struct solve_settings *settings, const volatile int *stop,
                                   struct arena *arena)
{
    *r = (struct solve_result){0};
    return (struct solving){.priced = priced,
                            .settings = settings,
                            .watch = watch_begin(stop, settings->time_limit_s),
                            .arena = arena,
                            .result = r};
}

static enum status begin(struct solving *s, struct solve_result *r, const struct priced *priced,
                         const struct solve_settings *settings, const volatile int *stop,
                         struct arena *arena, struct error *err)
{
    *s = open_solving(r, priced, settings, stop, arena);
    TRY(schedule_build_priced(&s->schedule, priced, arena, err));
    TRY(choices_build(&s->choices, priced, &s->schedule, arena, err));
    if (settings->whole_batch)
        TRY(objective_batch_graph(&s->graph, priced, &s->schedule, arena, err));
    else TRY(objective_graph(&s->graph, priced, &s->schedule, arena, err));
    if (!settings->evidence) return OK;
    graph_keep_paths(s->graph, arena);
    r->evidence = TAKE(arena, 1, struct solve_evidence);
    *r->evidence =
        (struct solve_evidence){.schedule = TAKE_COPY(arena, &s->schedule, 1), .graph = s->graph};
    return OK;
}

// Takes the user's plan, if it is one of this problem.
static enum status take_start(struct solving *s, const struct plan *start, struct error *err)
{
    int stages = s->priced->stage_count, *chosen = TAKE(s->arena, stages, int);
    if (!start || !start->stage_count) return OK;
    if (start->stage_count != stages || !choices_from_plan(chosen, &s->choices, start) ||
        !choices_fit_together(&s->choices, chosen))
        return refuse(err, "%s: the plan to start from does not fit this problem",
                      document_name(&start->document, "start"));
    int64_t *durations = TAKE(s->arena, graph_symbol_count(s->graph), int64_t);
    if (!choices_durations(&s->choices, chosen, durations)) return OK;
    s->incumbent = (struct incumbent){true, chosen, graph_longest(s->graph, durations, NULL)};
    return OK;
}

// Effort, in graph walks, of a search before the tree where a rank has several stages and the graph
// is large.
static const int64_t operations_first = 40 * 1000 * 1000;

// In replays. Little at first, because most trees are small; more when the tree turns out to be
// large.
static int64_t search_effort(const struct solving *s, int step)
{
    static const int64_t factors[] = {100, 600, 3000, 10000};
    int64_t replays = 400 + factors[step] * (int64_t)s->priced->stage_count;
    int64_t most = operations_first * (step + 1) / (1 + s->schedule.operation_count);
    return s->choices.virtual_stages > 1 && most < replays ? most + 1 : replays;
}

bool solving_improve(struct solving *s, int step, struct incumbent *best)
{
    incumbent_search(best, &s->choices, s->graph, (uint64_t)s->settings->seed + 1 + (uint64_t)step,
                     search_effort(s, step + 1), solving_should_stop, s, s->arena);
    return best->found;
}

static bool improve_plan(void *solving, int step, int64_t target_ns, struct found_plan *plan)
{
    struct solving *s = solving;
    struct incumbent best = {0};
    if (!solving_improve(s, step, &best) || best.iteration_ns >= target_ns) return false;
    *plan = (struct found_plan){best.chosen, best.iteration_ns};
    return true;
}

static enum status search_incumbent(struct solving *s, int64_t effort, struct error *err)
{
    if (s->settings->start_search && priced_has_widths(s->priced))
        TRY(solving_try_widths(s, effort, err));
    if (s->settings->start_search && !s->priced->width_per_group)
        incumbent_search(&s->incumbent, &s->choices, s->graph, (uint64_t)s->settings->seed, effort,
                         solving_should_stop, s, s->arena);
    solving_keep_incumbent(s);
    if (s->incumbent.found) solving_found(s, s->incumbent.chosen, s->incumbent.iteration_ns);
    return OK;
}

static void take_tree_plans(struct solving *s, const struct tree *tree)
{
    for (int i = 0; i < tree->plan_count; i++) {
        const struct found_plan *p = &tree->plans[i];
        struct plan *plan = solving_add_plan(s);
        if (p->chosen[0] < 0) *plan = *s->incumbent_plan;
        else choices_to_plan(plan, &s->choices, p->chosen, p->time_ns, s->arena);
    }
}

// The incumbent enters the tree only by its time: elimination may have removed its choices.
static void known_plan(struct solving *s, struct found_plan *known, int *count)
{
    *count = 0;
    if (!s->incumbent.found) return;
    known->time_ns = s->incumbent.iteration_ns;
    known->chosen = TAKE(s->arena, s->priced->stage_count, int);
    if (s->settings->alternatives > 1)
        memcpy(known->chosen, s->incumbent.chosen, (size_t)s->priced->stage_count * sizeof(int));
    else
        for (int i = 0; i < s->priced->stage_count; i++) known->chosen[i] = -1;
    *count = 1;
}

// Certificates are made of the tree's records if these prove more than the boxes did.
static void keep_tree(struct solving *s, const struct tree *tree, const struct program *program,
                      const struct box_proof *root)
{
    struct solve_evidence *e = s->result->evidence;
    if (!e || s->bound_ns <= e->proof_bound_ns) return;
    tree_proof(&e->proof, tree, program, root->count ? root : NULL, s->bound_ns, s->arena);
    e->proof_bound_ns = s->bound_ns;
}

// What elimination removes takes at least this. The best plans stay in a program that is written.
static int64_t staying_ns(const struct solving *s)
{
    return s->settings->program_path && s->incumbent.found ? s->incumbent.iteration_ns + 1
                                                           : solving_closing_ns(s);
}

// Boxes that ended as a single decision were not bounded by rows: their longest paths get rows, so
// that the written program proves what the tree does.
static void add_paths_of_leaves(struct program *program, const struct tree *tree,
                                struct arena *arena)
{
    int *chosen = TAKE(arena, program->stage_count, int);
    for (int i = 0; i < tree->records.count; i++) {
        const struct record *r = &tree->records.items[i];
        struct box box = {.allowed = r->allowed};
        bool is_new;
        if (r->kind != RECORD_LEAF || box_single(&box, program, chosen) != 1) continue;
        if (program_critical(program, chosen)) program_add_path(program, program->counts, &is_new);
    }
}

static enum status run_tree(struct solving *s, struct error *err)
{
    struct program program;
    struct tree tree;
    struct box_proof root = {0};
    int64_t root_bound_ns = 0, removed_ns = INT64_MAX;
    bool by_glpk = s->settings->engine == ENGINE_GLPK; // and by it alone
    if (!by_glpk && s->settings->eliminate && s->settings->alternatives <= 1) {
        TRY(solving_run_boxes(s, err));
        if (s->finished) return OK;
        root_bound_ns = s->bound_ns;
        if (solving_should_stop(s) || s->result->limited) {
            if (s->incumbent.found) *solving_add_plan(s) = *s->incumbent_plan;
            return OK;
        }
    }
    if (!by_glpk && s->settings->eliminate && (s->incumbent.found || s->settings->cutoff_ns > 0) &&
        s->settings->alternatives <= 1) {
        int64_t eliminated_ns = solving_eliminate(s, staying_ns(s), &root, &removed_ns);
        root_bound_ns = eliminated_ns > root_bound_ns ? eliminated_ns : root_bound_ns;
    }
    if (!s->settings->evidence && s->settings->known_bound_ns > root_bound_ns)
        root_bound_ns = s->settings->known_bound_ns;
    if (s->incumbent.found && root_bound_ns > s->incumbent.iteration_ns)
        root_bound_ns = s->incumbent.iteration_ns;
    TRY(solving_formulate(s, &program, err));
    struct tree_settings settings = {
        .threads = s->settings->threads,
        .plan_count = s->settings->alternatives > 1 ? s->settings->alternatives : 1,
        .gap = s->settings->gap,
        .cutoff_ns = s->settings->cutoff_ns,
        .ended_ns = removed_ns,
        .memory_limit_bytes = s->settings->memory_limit_bytes,
        .boxes_max = s->settings->boxes_max,
        .by_glpk = by_glpk,
        .stop_asked = solving_should_stop,
        .watch = &s->watch,
        .report = solving_report,
        .found = solving_found,
        .argument = s};
    if (s->settings->start_search) settings.improve = improve_plan;
    struct found_plan known;
    int known_count;
    known_plan(s, &known, &known_count);
    TRY(tree_run(&tree, &program, &settings, &known, known_count, root_bound_ns, s->arena, err));
    if (s->settings->recheck) {
        solving_rechecks(s, tree.bound_ns);
        TRY(tree_recheck(&tree, &program, root_bound_ns, s->arena, err));
        solve_rechecks(s->settings, s->priced, false);
    }
    take_tree_plans(s, &tree);
    s->effort = (struct plan_effort){tree.boxes, tree.relaxations, program.paths.count, 0};
    s->bound_ns = tree.bound_ns;
    s->finished = tree.finished;
    s->result->limited = !tree.finished && s->settings->boxes_max &&
                         tree.boxes >= s->settings->boxes_max;
    keep_tree(s, &tree, &program, &root);
    s->result->sidelined = tree.sidelined;
    if (s->settings->program_path) add_paths_of_leaves(&program, &tree, s->arena);
    return solving_write_program(s, &program, err);
}

// Whether the starting plan and the known bound leave nothing to search for.
static bool is_known_to_end(struct solving *s)
{
    const struct solve_settings *settings = s->settings;
    if (!s->incumbent.found || settings->evidence || settings->alternatives > 1 ||
        settings->program_path || settings->known_bound_ns < solving_closing_ns(s))
        return false;
    solving_keep_incumbent(s);
    *solving_add_plan(s) = *s->incumbent_plan;
    return s->finished = true;
}

static enum status refuse_known(const struct solving *s, struct error *err)
{
    int64_t known = s->settings->known_bound_ns;
    if (!s->plan_count || s->plans[0].iteration_ns >= known) return OK;
    return refuse(
        err, "the known bound of %lld ns is wrong: a plan takes %lld ns; solve again without it",
        (long long)known, (long long)s->plans[0].iteration_ns);
}

static enum status solve(struct solving *s, const struct plan *start, const char **why,
                         struct error *err)
{
    if (choices_hopeless_stage(&s->choices, why) >= 0) {
        s->finished = true;
        return OK;
    }
    TRY(take_start(s, start, err));
    if (s->incumbent.found) solving_found(s, s->incumbent.chosen, s->incumbent.iteration_ns);
    if (solving_is_cut_off(s)) return OK;
    if (is_known_to_end(s)) return OK;
    TRY(search_incumbent(s, search_effort(s, 0), err));
    return s->priced->width_per_group ? solving_by_group(s, err) : run_tree(s, err);
}

// Closed by the cut-off rather than solved, or proven to have no plan.
static void note_cutoff(struct solving *s, const char *why)
{
    int64_t cutoff = s->settings->cutoff_ns;
    if (cutoff <= 0 || !s->finished || why) return;
    if (!s->plan_count && (s->bound_ns < cutoff || s->bound_ns >= NEVER_NS / 2))
        s->bound_ns = cutoff;
    s->result->cut_off = s->bound_ns >= cutoff;
}

enum status solve_without_reason(struct solve_result *r, const struct priced *priced,
                                 const struct solve_settings *settings, const volatile int *stop,
                                 struct arena *arena, struct error *err)
{
    struct solving s;
    const char *why = NULL;
    TRY(begin(&s, r, priced, settings, stop, arena, err));
    TRY(solve(&s, NULL, &why, err));
    note_cutoff(&s, why);
    solving_finish(&s, why);
    return OK;
}

// Up to here a plan's time is the value of the objective, whichever it is.
static enum status state_objective(struct solving *s, struct error *err)
{
    if (s->settings->whole_batch) return OK;
    for (int i = 0; i < s->plan_count; i++)
        TRY(objective_state(&s->plans[i], s->priced, &s->schedule, s->arena, err));
    if (s->plan_count) s->result->plan = s->plans[0];
    else TRY(objective_state(&s->result->plan, s->priced, &s->schedule, s->arena, err));
    return OK;
}

static enum status run_in_turn(struct solving *s, const char **why, struct error *err)
{
    TRY(schedule_build_priced(&s->schedule, s->priced, s->arena, err));
    TRY(solving_in_turn(s));
    note_cutoff(s, NULL);
    if (s->finished && !s->plan_count && !s->result->cut_off)
        *why = "no widths hold all layers in that many stages, with replicas in turn";
    return OK;
}

enum status solve_run(struct solve_result *r, const struct priced *priced,
                      const struct solve_settings *settings, const struct plan *start,
                      const volatile int *stop, struct arena *arena, struct error *err)
{
    struct solving s;
    const char *why = NULL;
    if (priced->in_turn) {
        s = open_solving(r, priced, settings, stop, arena);
        TRY(run_in_turn(&s, &why, err));
    } else {
        TRY(begin(&s, r, priced, settings, stop, arena, err));
        TRY(solve(&s, start, &why, err));
        TRY(refuse_known(&s, err));
        note_cutoff(&s, why);
        if (s.finished && !s.plan_count && !why && !s.result->cut_off)
            TRY(solving_find_reason(&s, &why, err));
    }
    solving_finish(&s, why);
    TRY(state_objective(&s, err));
    if (!r->plan.stage_count) return OK;
    solve_keep_plan(settings, priced, &r->plan, plan_value_ns(&r->plan));
    solve_keep_bound(settings, priced, r->plan.bound_ns);
    return OK;
}

enum status solve_start(struct solve_result *r, const struct priced *priced,
                        const struct solve_settings *settings, int64_t replays,
                        const volatile int *stop, struct arena *arena, struct error *err)
{
    struct solving s;
    const char *why;
    TRY(begin(&s, r, priced, settings, stop, arena, err));
    if (choices_hopeless_stage(&s.choices, &why) >= 0) return OK;
    TRY(search_incumbent(&s, replays, err));
    if (s.incumbent.found) r->plan = *s.incumbent_plan;
    return OK;
}

enum status solve_bound(int64_t *bound_ns, int64_t *time_ns, const struct priced *priced,
                        bool (*should_stop)(void *argument), void *argument, struct arena *arena,
                        struct error *err)
{
    struct solving s;
    struct solve_result r;
    struct solve_settings settings;
    const char *why;
    solve_defaults(&settings);
    *bound_ns = INT64_MAX;
    *time_ns = 0;
    TRY(begin(&s, &r, priced, &settings, NULL, arena, err));
    if (choices_hopeless_stage(&s.choices, &why) >= 0) return OK;
    struct box_closer *closer = box_closer_open(
        &s.choices, s.graph, (struct box_settings){true, should_stop, argument}, arena);
    struct choice_box whole = choice_box_whole(closer, arena);
    struct box_answer answer;
    box_close(closer, &whole, NEVER_NS, BOUND_ROUNDS, &answer);
    *bound_ns = answer.bound_ns;
    if (answer.found_ns < INT64_MAX) *time_ns = answer.found_ns;
    return OK;
}
