// The plan's decision stays; its times are priced again, and its graph is walked with them. The
// graph stays too: what it leaves out because it took no time is left out here as well.
#include "formulate/price/range.h"

#include <string.h>

#include "formulate/graph/objective.h"
#include "formulate/price/price.h"

// The same numbers of every GPU.
static bool same_gpus(const struct costs *a, const struct costs *b)
{
    bool same = true;
    for (int i = 0; i < a->gpu_count && same; i++) {
        struct gpu_costs other = b->gpus[i];
        other.precisions = a->gpus[i].precisions;
        same = !memcmp(&a->gpus[i], &other, sizeof other) &&
               !memcmp(a->gpus[i].precisions, b->gpus[i].precisions,
                       (size_t)other.precision_count * sizeof *other.precisions);
    }
    return same;
}

// Where they leave GPUs as they are, these are the very same: what depends on them alone is priced
// once. First those that leave all but compute as it is.
void range_move_costs(struct moved_costs_list *list, const struct costs *costs, struct arena *arena)
{
    static const enum cost_group groups[COST_GROUPS] = {
        COSTS_OF_TRAINER,  COSTS_OF_PRODUCTS, COSTS_OF_ATTENTION, COSTS_OF_OVERLAP, COSTS_OF_MEMORY,
        COSTS_OF_LAUNCHES, COSTS_OF_NODE,     COSTS_OF_NETWORK,   COSTS_OF_FABRIC};
    list->count = 0;
    for (int i = 0; i < COST_GROUPS; i++)
        for (int end = 0; end < COST_ENDS; end++) {
            struct moved_costs *m = &list->items[list->count];
            *m = (struct moved_costs){groups[i], (enum cost_end)end, costs_copy(costs, arena)};
            list->count += costs_move_to(&m->costs, groups[i], m->end);
            if (same_gpus(costs, &m->costs)) m->costs.gpus = costs->gpus;
        }
}

// Intervals of costs are of 90 to 95 %, many of them of few sets, the range of a time is of 80 %:
// of Student's t with 8 degrees of freedom 1.40 of 1.86, of normal errors 1.28 of 1.64 to 1.96.
static const double of_interval = 0.75;

// What mixtures leave open besides their costs, by teams (tests/calibrate/left_out.py).
static const double of_mixtures = 0.205;

// What is done once an iteration and is in no price takes 0 to 25 ms of whole runs
// (docs/VALIDATION.md 6). Runs that show how far a program's times are off take seconds.
static const double once_ns = 25e6;

struct range range_begin(int64_t ns, const struct problem *problem, struct shown_runs shown)
{
    const struct estimate *spread = &problem->costs.iteration_spread;
    double own = log1p(spread->value);
    bool cold = spread->value > 0 && spread->origin == ORIGIN_ASSUMED;
    struct range range = {
        .ns = ns, .host = 1, .own = own * own, .fitted = price_factor_was_fitted(problem)};
    if (!cold) return range;
    if (model_first_run(&problem->model, LAYER_MOE)) range.own += of_mixtures * of_mixtures;
    if (shown.host > 0) range.host = shown.host;
    if (shown.off <= 0) return range;
    double once = log1p(once_ns / (double)ns);
    range.shown = shown.off * shown.off;
    range.launched = shown.launched;
    range.once = once * once;
    return range;
}

// A time that moves to the wrong side, because of rounding or of another path through the graph,
// counts as no difference.
static double square_of(const struct range *r, enum cost_end end, int64_t moved_ns, double share)
{
    if (end == COSTS_FAST ? moved_ns >= r->ns : moved_ns <= r->ns) return 0;
    double factor = share * log((double)moved_ns / (double)r->ns);
    return factor * factor;
}

void range_add(struct range *r, enum cost_group group, enum cost_end end, int64_t moved_ns)
{
    double part = group == COSTS_OF_LAUNCHES ? r->host : 1;
    r->squares[group][end] = square_of(r, end, moved_ns, of_interval * part);
}

void range_add_case(struct range *r, enum cost_end end, int64_t moved_ns)
{
    r->cases[end] += square_of(r, end, moved_ns, 1);
}

void range_add_joint_case(struct range *r, int64_t moved_ns)
{
    for (int end = 0; end < COST_ENDS; end++) {
        double square = square_of(r, (enum cost_end)end, moved_ns, 1);
        r->joint[end] = fmax(r->joint[end], square);
    }
}

static double kernels_square(const struct range *r, enum cost_end end)
{
    return r->squares[COSTS_OF_PRODUCTS][end] + r->squares[COSTS_OF_ATTENTION][end] +
           r->squares[COSTS_OF_MEMORY][end];
}

// What is wrong with the kernels counts, and not the trainer's factor.
static bool kernels_count(const struct range *r, enum cost_end end)
{
    return !r->fitted && kernels_square(r, end) > r->squares[COSTS_OF_TRAINER][end];
}

static double costs_square(const struct range *r, enum cost_end end)
{
    const double(*s)[COST_ENDS] = r->squares;
    double links = r->own + s[COSTS_OF_NODE][end] + s[COSTS_OF_NETWORK][end] +
                   s[COSTS_OF_FABRIC][end] + s[COSTS_OF_OVERLAP][end];
    return links + (kernels_count(r, end) ? kernels_square(r, end) : s[COSTS_OF_TRAINER][end]) +
           (r->launched ? s[COSTS_OF_LAUNCHES][end] : 0);
}

bool range_needs(const struct range *r, enum cost_group group, enum cost_end end)
{
    return group == COSTS_OF_LAUNCHES || r->shown <= 0 || costs_square(r, end) < r->shown;
}

int64_t range_end_ns(const struct range *r, enum cost_end end)
{
    double costs = costs_square(r, end);
    if (r->shown > 0) costs = fmin(costs, r->shown);
    if (end == COSTS_SLOW) costs += r->once;
    if (!r->launched) costs += r->squares[COSTS_OF_LAUNCHES][end];
    double factor = exp(sqrt(costs + fmax(r->cases[end], r->joint[end])));
    return llround(end == COSTS_SLOW ? (double)r->ns * factor : (double)r->ns / factor);
}

const char *range_widest(const struct range *r, int64_t *ns)
{
    const double *cases = r->cases, *joint = r->joint;
    double open = fmax(cases[COSTS_SLOW], joint[COSTS_SLOW]), most = r->own;
    const char *name = "what formulas leave open";
    bool kernels = kernels_count(r, COSTS_SLOW),
         shown = r->shown > 0 && costs_square(r, COSTS_SLOW) >= r->shown;
    if (shown) most = r->shown, name = "what published runs of the program show";
    for (int g = 0; g < COST_GROUPS; g++) {
        bool counts = g == COSTS_OF_LAUNCHES  ? !shown || !r->launched
                      : g == COSTS_OF_TRAINER ? !shown && !kernels
                      : g <= COSTS_OF_MEMORY  ? !shown && kernels
                                              : !shown;
        double square = r->squares[g][COSTS_SLOW];
        if (counts && square > most) most = square, name = cost_group_names[g];
    }
    if (open > most) most = open, name = "what is not stated";
    *ns = llround((double)r->ns * exp(sqrt(most)));
    return name;
}

// 0: it cannot be priced.
static int64_t time_with(const struct costs *costs, const struct plan *plan,
                         const struct schedule *schedule, struct graph *graph,
                         const struct problem *problem, struct arena *arena)
{
    struct problem moved = *problem;
    struct priced priced;
    struct error unfit = {OK, ""};
    moved.costs = *costs;
    if (price_problem(&priced, &moved, arena, &unfit) != OK) return 0;
    return objective_iteration_ns(plan, &priced, schedule, graph, arena);
}

enum status range_times(int64_t *ns, const struct moved_costs_list *moved, const struct plan *plan,
                        const struct problem *problem, struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct graph *graph;
    struct schedule_request request = plan_request(plan);
    TRY(schedule_build(&schedule, &request, arena, err));
    TRY(graph_compile(&graph, &schedule, arena, err));
    for (int i = 0; i < moved->count; i++)
        ns[i] = time_with(&moved->items[i].costs, plan, &schedule, graph, problem, arena);
    return OK;
}

enum status range_of_plan(struct plan *plan, const struct problem *problem, struct arena *arena,
                          struct error *err)
{
    int64_t ns[COST_GROUPS * COST_ENDS];
    struct moved_costs_list *moved = TAKE(arena, 1, struct moved_costs_list);
    struct range range = range_begin(plan->iteration_ns, problem, (struct shown_runs){0});
    if (!plan->stage_count || plan->placement || plan->widths) return OK;
    range_move_costs(moved, &problem->costs, arena);
    TRY(range_times(ns, moved, plan, problem, arena, err));
    for (int i = 0; i < moved->count; i++) {
        if (!ns[i]) return OK;
        range_add(&range, moved->items[i].group, moved->items[i].end, ns[i]);
    }
    plan->iteration_low_ns = range_end_ns(&range, COSTS_FAST);
    plan->iteration_high_ns = range_end_ns(&range, COSTS_SLOW);
    plan->runner_up_inside = plan->runner_up_ns > 0 &&
                             plan->runner_up_ns >= plan->iteration_low_ns &&
                             plan->runner_up_ns <= plan->iteration_high_ns;
    return OK;
}
