// plumbline-measure run: every process is a rank of the plan, and rank 0 writes the document.
#include "measure/links/links.h"

#include "data/results/origin.h"
#include "measure/run/running.h"
#include "measure/sampling/host.h"
#include "measure/sampling/rounds.h"

struct options {
    const char *plan, *output, *backend, *simulate, *name;
    int64_t iterations, warm_ups, seed, threads;
    int wait;
    bool quiet;
    struct command_line line;
};

static const struct option_row rows[] = {
    {"PLAN", OPTION_PATH, OPT(plan), .low = 1},
    {"--iterations", OPTION_INT, OPT(iterations), "iterations to time (default: 5)", 1, 100000},
    {"--warm-ups", OPTION_INT, OPT(warm_ups), "iterations before them (default: 1)", 0, 1000},
    {"--backend", OPTION_TEXT, OPT(backend),
     "what computes: cpu, cuda or simulated (default: cpu)"},
    {"--simulate", OPTION_TEXT, OPT(simulate), "with --backend simulated: as for measure compute"},
    {"--threads", OPTION_INT, OPT(threads), "threads of each rank (default: 1)", 1, 1024},
    {"--wait", OPTION_NAME, OPT(wait),
     "how to wait; auto: sleep between polls if there are more processes than processors "
     "(default: auto)",
     .names = wait_names},
    {"--seed", OPTION_INT, OPT(seed), "seed for the operands' values (default: 1)", 0, 1e15},
    {"--name", OPTION_TEXT, OPT(name), "device name in the samples (default: the processor's)"},
    {"--quiet", OPTION_FLAG, OPT(quiet), "print nothing but errors on stderr"},
    {"-o", OPTION_PATH, OPT(output), "output file for the run (default: standard output)"},
};

static enum status open_plan(struct running *r, const char *path, struct error *err)
{
    struct plan *plan = TAKE(r->arena, 1, struct plan);
    struct problem *problem = TAKE(r->arena, 1, struct problem);
    TRY(plan_load(plan, path, r->arena, err));
    if (!plan->stage_count)
        return refuse(err, "%s: outcome: expected a plan with stages, found \"%s\"",
                      plan->document.path, outcome_names[plan->outcome]);
    if (!origin_problem(plan, problem, r->arena))
        return refuse(
            err,
            "%s: made_from: its problem is missing or has changed since: its model and job "
            "say what to run",
            plan->document.path);
    r->plan = plan, r->problem = problem;
    struct schedule_request request = plan_request(plan);
    return schedule_build(&r->schedule, &request, r->arena, err);
}

static enum status take_place(struct running *r, struct error *err)
{
    const struct layout *l = &r->plan->layout;
    r->rank_count = r->schedule.request.rank_count;
    r->replicas = l->data * l->context;
    r->tensor_count = l->tensor;
    r->self = ranks_self(r->ranks);
    r->tensor = r->self % l->tensor;
    r->rank = r->self / l->tensor % r->rank_count;
    r->replica = r->self / l->tensor / r->rank_count;
    int wanted = run_process_count(r);
    if (ranks_count(r->ranks) != wanted)
        return refuse(err,
                      "%s: expected %d processes, %d pipeline ranks of %d replicas on %d tensor "
                      "ranks, found %d: start it with plumbline run, or mpirun -n %d",
                      r->plan->document.path, wanted, r->rank_count, r->replicas, r->tensor_count,
                      ranks_count(r->ranks), wanted);
    int stages = r->plan->stage_count;
    r->gradient_ns = TAKE(r->arena, stages, int64_t);
    r->synced_ns = TAKE(r->arena, stages, int64_t);
    r->beside_synced_ns = TAKE(r->arena, stages, int64_t);
    r->members = TAKE(r->arena, larger(2, r->tensor_count) * r->replicas, int);
    r->own = TAKE(r->arena, stages, int);
    for (int s = 0; s < stages; s++)
        if (schedule_rank_of(&r->schedule.request, s) == r->rank) r->own[r->own_count++] = s;
    return OK;
}

static enum status open_backend(struct running *r, const struct options *o, struct error *err)
{
    r->backend = backend_find(o->backend);
    if (!r->backend)
        return refuse(err, "--backend: expected one of %s, found '%s'", backend_names(r->arena),
                      o->backend);
    r->shared = r->backend == &backend_cpu;
    const struct backend_settings settings = {.threads = (int)o->threads,
                                              .seed = (uint64_t)o->seed + (uint64_t)r->self,
                                              .options = o->simulate,
                                              .shared = r->shared};
    r->held.own_bytes = pages_resident_bytes();
    TRY(r->backend->open(&r->session, &settings, r->problem->job.precision, r->arena, err));
    TRY(run_make_work(r, r->arena, err));
    return r->backend->prepare(r->session, r->cells, r->cell_count, r->arena, err);
}

// Ends of an iteration, as every rank tells them.
struct iteration_end {
    int64_t ns, wall_ns, interrupted, yardstick_ns; // yardstick_ns: in the end the mean of all
};

static struct iteration_end meet(struct running *r, int64_t end_ns)
{
    double yardstick_s = r->yardstick < 0 ? 0 : r->times[r->yardstick].lower_s;
    struct iteration_end own = {end_ns, r->wall_end_ns, interrupts_came(),
                                (int64_t)(1e9 * yardstick_s + 0.5)},
                         latest = {0},
                         *all = TAKE(r->arena, ranks_count(r->ranks), struct iteration_end);
    ranks_tell_all(r->ranks, &own, (int)sizeof own, all);
    for (int i = 0; i < ranks_count(r->ranks); i++) {
        latest.ns = larger(latest.ns, all[i].ns);
        latest.wall_ns = larger(latest.wall_ns, all[i].wall_ns);
        latest.interrupted |= all[i].interrupted;
        latest.yardstick_ns += all[i].yardstick_ns;
    }
    latest.yardstick_ns /= ranks_count(r->ranks);
    return latest;
}

static void tell_progress(const struct running *r, const struct options *o,
                          const struct run_iteration *last)
{
    if (r->self || o->quiet) return;
    if (!last) fprintf(stderr, "warming up\n");
    else
        fprintf(stderr, "iteration %d of %lld: %.3f ms, %.3f ms on the wall clock\n",
                r->iteration + 1, (long long)o->iterations, (double)last->ns / 1e6,
                (double)last->wall_ns / 1e6);
}

static enum status carry_out(struct running *r, const struct options *o, int *exit_code,
                             struct error *err)
{
    struct run_iteration *iterations = TAKE(r->arena, o->iterations, struct run_iteration);
    struct iteration_end end = {0};
    int done = 0;
    for (int k = -(int)o->warm_ups; k < (int)o->iterations && !end.interrupted; k++) {
        int64_t before = end.ns, own;
        r->iteration = k < 0 ? -1 : k;
        run_iterate(r, &own);
        if (r->backend->failure) TRY(r->backend->failure(r->session, err));
        end = meet(r, own);
        if (r->schedule.request.barrier) r->now_ns = r->sync_ns = end.ns;
        if (k >= 0)
            iterations[done++] =
                (struct run_iteration){end.ns - before, end.wall_ns, end.yardstick_ns};
        tell_progress(r, o, k >= 0 ? &iterations[done - 1] : NULL);
    }
    if (!done)
        return fail(err, SYSTEM, "interrupted before the first iteration; nothing is written");
    interrupts_ignore();
    if (end.interrupted) *exit_code = EXIT_OPEN;
    const struct run_words words = {o->output, o->name,
                                    record_command(o->line.argc, o->line.argv, r->arena), o->seed,
                                    end.interrupted != 0};
    return run_save(r, iterations, done, &words, err);
}

static enum status run_on(struct running *r, const struct options *o, int *exit_code,
                          struct error *err)
{
    TRY(open_plan(r, o->plan, err));
    TRY(take_place(r, err));
    if (!r->self) TRY(file_check_place(o->output, err));
    roster_gather(&r->roster, r->ranks, (enum wait)o->wait, r->arena);
    r->patient = o->wait == WAIT_ASLEEP || (o->wait == WAIT_AUTO && r->roster.is_crowded);
    TRY(open_backend(r, o, err));
    TRY(run_time_lanes(r, err));
    for (int s = 0; s < r->plan->stage_count; s++)
        if (schedule_rank_of(&r->schedule.request, s) == r->rank) run_hold_stage(r, s);
    return carry_out(r, o, exit_code, err);
}

COMMAND_RUN(run)
{
    const struct options *o = options;
    struct running r = {.arena = arena};
    TRY(ranks_open(&r.ranks, arena, err));
    interrupts_listen();
    enum status status = run_on(&r, o, exit_code, err);
    if (status != OK && ranks_count(r.ranks) > 1) {
        fprintf(stderr, "plumbline measure run: %s\n", err->text);
        fflush(stderr);
        ranks_abort(r.ranks, status == BAD_INPUT || status == UNAVAILABLE ? 2 : 1);
    }
    ranks_close(r.ranks);
    return status;
}

const struct command measure_run = {
    .name = "run",
    .text = RUN_TEXT,
    .usage = "mpirun -n RANKS plumbline-measure run PLAN [OPTION ...]",
    READS(
        struct options, rows,
        {.output = "-", .backend = "cpu", .iterations = 5, .warm_ups = 1, .seed = 1, .threads = 1}),
    .line = OPT(line),
    .run = run,
};
