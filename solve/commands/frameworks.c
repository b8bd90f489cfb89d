// What each framework reaches: a plan for each, in a process and a folder of its own, and one
// table.

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "data/text/table.h"
#include "solve/commands/internal.h"
#include "solve/commands/verbs.h"

static const enum framework compared[] = {FRAMEWORK_MEGATRON, FRAMEWORK_TORCHTITAN,
                                          FRAMEWORK_DEEPSPEED, FRAMEWORK_NEMO};

// A line of the table. why: it has no plan; NULL: it has.
struct reached {
    const char *name, *folder, *why;
    enum framework framework;
    int exit_code;
    bool refused;
    struct plan plan;
};

enum { REFUSAL_BYTES = sizeof(struct error) };
static const double end_grace_s = 3 * SUPERVISE_GRACE_S; // searching, judging, writing

// ---- one of them

// In a process of its own: what it prints goes to plan.txt, an error to the pipe.
static _Noreturn void plan_in_child(const struct plan_options *r, int pipe_end, struct arena *arena)
{
    struct error err = {OK, ""};
    int exit_code = 0;
    if (file_make_folder(r->folder, &err) == OK &&
        !freopen(arena_print(arena, "%s/plan.txt", r->folder), "w", stdout))
        refuse(&err, "%s/plan.txt: cannot be written", r->folder);
    if (err.status == OK) plan_one(r, &exit_code, arena, &err);
    if (err.status == OK && !command_flushed())
        refuse(&err, "%s/plan.txt: cannot be written", r->folder);
    if (err.status == OK) _exit(exit_code);
    if (write(pipe_end, &err, sizeof err) < 0) _exit(1);
    _exit(err.status == BAD_INPUT || err.status == UNAVAILABLE ? 2 : 1);
}

static const char *why_not(const struct reached *x, const struct supervised *left,
                           struct arena *arena)
{
    if (left->as == SUPERVISED_LOST) return "was ended by a signal";
    return plan_outcome_words(&x->plan, arena);
}

static enum status read_reached(struct reached *x, const struct supervised *left,
                                const struct error *said, struct arena *arena, struct error *err)
{
    bool answered =
        left->as == SUPERVISED_ENDED &&
        (!left->exit_code || (left->exit_code >= EXIT_OPEN && left->exit_code <= EXIT_NO_PLAN));
    x->exit_code = left->as == SUPERVISED_ENDED ? left->exit_code : EXIT_NO_PLAN;
    if (said->status != OK && said->status != BAD_INPUT)
        return fail(err, said->status, "%s: %s", x->name, said->text);
    if (said->status == BAD_INPUT) {
        x->refused = true;
        const char *file = strstr(said->text, ".json: "); // of the model: the same for all
        x->why = arena_copy_text(arena, file ? file + strlen(".json: ") : said->text);
        return OK;
    }
    if (answered)
        TRY(plan_load(&x->plan, arena_print(arena, "%s/plan.json", x->folder), arena, err));
    if (!x->plan.stage_count) x->why = why_not(x, left, arena);
    if (!x->plan.stage_count && x->plan.reason)
        x->why = arena_print(arena, "%s: %s", x->why, x->plan.reason);
    return OK;
}

static enum status reach(struct reached *x, const struct plan_options *of_all, struct arena *arena,
                         struct error *err)
{
    const struct supervise_settings how = {arena_print(arena, "the plan for %s", x->name), 0,
                                           end_grace_s};
    struct plan_options r = *of_all;
    struct supervised left;
    struct error said = {OK, ""};
    int ends[2];
    r.framework = (int)x->framework, r.folder = x->folder, r.known.count = 0;
    if (pipe(ends)) return fail(err, SYSTEM, "no pipe to the process of %s", x->name);
    TRY(supervise(&left, &how, arena, err));
    if (left.as == SUPERVISED_CHILD) plan_in_child(&r, ends[1], arena);
    close(ends[1]);
    if (read(ends[0], &said, sizeof said) != (ssize_t)sizeof said) said = (struct error){OK, ""};
    close(ends[0]);
    return read_reached(x, &left, &said, arena, err);
}

// ---- the table

static const char *time_text(const struct reached *x, struct arena *arena)
{
    const struct plan *p = &x->plan;
    if (x->why) return "-";
    const char *time = arena_print(arena, "%.3f", (double)p->iteration_ns / 1e9);
    if (!p->iteration_high_ns) return time;
    return arena_print(arena, "%s (%.4g to %.4g)", time, (double)p->iteration_low_ns / 1e9,
                       (double)p->iteration_high_ns / 1e9);
}

static void print_table(const struct reached *items, int count, const struct reached *best,
                        struct arena *arena)
{
    struct report_table t;
    struct text out;
    const char *const headings[] = {"framework", "time, s", "at least, s", "gap",
                                    "layout, or why none"};
    text_begin(&out, arena);
    report_table_begin(&t, headings, "lrrrl", arena);
    for (int i = 0; i < count; i++) {
        const struct reached *x = &items[i];
        bool bounded = x->plan.bound_ns > 0;
        report_cell(&t, x == best ? arena_print(arena, "%s *", x->name) : x->name);
        report_cell(&t, time_text(x, arena));
        report_cell(&t, bounded ? arena_print(arena, "%.3f", (double)x->plan.bound_ns / 1e9) : "-");
        report_cell(&t, x->why ? "-" : arena_print(arena, "%.2f %%", 100 * plan_gap(&x->plan)));
        report_cell(&t, x->why ? x->why : report_layout_words(&x->plan.layout, arena));
    }
    report_table_print(&out, &t);
    fwrite(out.text, 1, out.length, stdout);
}

static enum status write_table(const struct plan_options *r, const struct reached *items, int count,
                               struct arena *arena, struct error *err)
{
    const char *text =
        "framework,iteration_ns,iteration_low_ns,iteration_high_ns,bound_ns,exit_code,layout,why\n";
    for (int i = 0; i < count; i++) {
        const struct reached *x = &items[i];
        const struct plan *p = &x->plan;
        text = arena_print(arena, "%s%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,%s,%s\n",
                           text, x->name, p->iteration_ns, p->iteration_low_ns,
                           p->iteration_high_ns, p->bound_ns, x->exit_code,
                           x->why ? "" : csv_cell(report_layout_words(&p->layout, arena), arena),
                           x->why ? csv_cell(x->why, arena) : "");
    }
    return file_write(arena_print(arena, "%s/frameworks.csv", r->folder), text, strlen(text), err);
}

// ---- all of them

static const struct reached *best_of(const struct reached *items, int count)
{
    const struct reached *best = NULL;
    for (int i = 0; i < count; i++)
        if (!items[i].why && (!best || items[i].plan.iteration_ns < best->plan.iteration_ns))
            best = &items[i];
    return best;
}

static int exit_code_of(const struct reached *items, int count)
{
    bool found = false, open = false;
    for (int i = 0; i < count; i++) {
        if (items[i].exit_code == EXIT_LOST && !items[i].refused) return EXIT_LOST;
        found |= !items[i].why;
        open |= items[i].exit_code == EXIT_OPEN || items[i].exit_code == EXIT_NO_PLAN;
    }
    return found ? open ? EXIT_OPEN : 0 : open ? EXIT_NO_PLAN : EXIT_INFEASIBLE;
}

static enum status check_refusals(const struct reached *items, int count, struct error *err)
{
    for (int i = 0; i < count; i++)
        if (!items[i].refused) return OK;
    return refuse(err, "%s", items[0].why);
}

static enum status reach_all(struct reached *items, const struct plan_options *r,
                             const volatile int *stop, struct arena *arena, struct error *err)
{
    int count = (int)ARRAY_LENGTH(compared);
    for (int i = 0; i < count; i++) {
        enum framework framework = compared[i];
        items[i] = (struct reached){.name = framework_names[framework], .framework = framework};
        items[i].folder = arena_print(arena, "%s/%s", r->folder, items[i].name);
        items[i].why = "not begun: stopped by a signal", items[i].exit_code = EXIT_NO_PLAN;
        if (*stop) continue;
        items[i].why = NULL;
        fprintf(stderr, "%s (%d of %d)\n", items[i].name, i + 1, count);
        TRY(reach(&items[i], r, arena, err));
    }
    return check_refusals(items, count, err);
}

// Where the search cannot begin with a plan (on named nodes), that plan may be the better one.
static enum status compare_with(const struct reached *best, const struct plan_options *r,
                                int *exit_code, struct arena *arena, struct error *err)
{
    struct plan any;
    TRY(plan_load(&any, arena_print(arena, "%s/plan.json", r->folder), arena, err));
    if (any.iteration_ns <= best->plan.iteration_ns) return OK;
    printf("\n%s's plan is faster: %s/plan.json\n", best->name, best->folder);
    return *exit_code = EXIT_OPEN, OK;
}

// Every layout, with the prices of the fastest one's trainer: its plan is one of them.
static enum status plan_any(const struct plan_options *of_all, const struct reached *items,
                            int count, int *exit_code, struct arena *arena, struct error *err)
{
    struct plan_options r = *of_all;
    struct problem problem = {.cluster.places.node_count = 0};
    const struct reached *best = best_of(items, count);
    if (best) {
        const char *path = arena_print(arena, "%s/problem.json", best->folder);
        TRY(problem_load(&problem, path, arena, err));
    }
    bool named = problem.cluster.places.node_count; // a search of placements has no start
    r.known.items = TAKE(arena, of_all->known.count + count, const char *);
    for (int i = 0; i < of_all->known.count; i++) r.known.items[i] = of_all->known.items[i];
    for (int i = 0; i < count && !named; i++)
        if (!items[i].why)
            r.known.items[r.known.count++] = arena_print(arena, "%s/plan.json", items[i].folder);
    if (best) r.trainer = (int)framework_trainer(best->framework);
    if (best)
        printf("\nAny layout, with the prices of %s's trainer, from these plans on:\n", best->name);
    TRY(plan_one(&r, exit_code, arena, err));
    if (best && !*exit_code) TRY(compare_with(best, &r, exit_code, arena, err));
    return OK;
}

enum status plan_all(const struct plan_options *r, int *exit_code, struct arena *arena,
                     struct error *err)
{
    enum { COUNT = ARRAY_LENGTH(compared) };
    struct reached items[COUNT];
    const volatile int *stop;
    TRY(supervision_stop(&stop, err));
    TRY(file_make_folder(r->folder, err));
    TRY(reach_all(items, r, stop, arena, err));
    const struct reached *best = best_of(items, COUNT);
    print_table(items, COUNT, best, arena);
    TRY(write_table(r, items, COUNT, arena, err));
    *exit_code = exit_code_of(items, COUNT);
    if (best)
        printf("* fastest: %s/plan.json; bounds are %s; the answers are in %s/*/plan.txt\n",
               best->folder, bound_claim_names[best->plan.claim], r->folder);
    if (r->framework == FRAMEWORK_ANY && !*stop)
        return plan_any(r, items, COUNT, exit_code, arena, err);
    return OK;
}
