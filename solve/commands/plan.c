// plumbline plan: from a model's name to plan, report and launch files. It only runs the other
// commands one after the other; each is printed, so that all can be repeated.
#include <string.h>

#include "data/text/shell.h"
#include "formulate/commands.h"
#include "solve/commands/commands.h"
#include "solve/commands/internal.h"
#include "solve/commands/verbs.h"

enum { WORDS_MAX = 200 }; // with every --without that may be given

struct step {
    const struct command *command;
    const char *words[WORDS_MAX]; // the command's name first
    int count;
};

struct steps {
    struct step items[12];
    int count;
};

static struct step *begin_step(struct steps *s, const struct command *command)
{
    struct step *step = &s->items[s->count++];
    *step = (struct step){.command = command, .words = {command->name}, .count = 1};
    return step;
}

static void add(struct step *step, const char *word) { step->words[step->count++] = word; }

static void add_text(struct step *step, const char *option, const char *value)
{
    if (value) add(step, option), add(step, value);
}

static void add_count(struct step *step, const char *option, int64_t value, struct arena *arena)
{
    if (value) add_text(step, option, arena_print(arena, "%lld", (long long)value));
}

static void add_number(struct step *step, const char *option, double value, struct arena *arena)
{
    if (value > 0) add_text(step, option, arena_print(arena, "%.9g", value));
}

static void tell_step(const struct step *step, struct arena *arena)
{
    printf("  plumbline");
    for (int i = 0; i < step->count; i++) printf(" %s", shell_word(step->words[i], arena));
    putchar('\n');
}

static enum status run_step(struct step *step, int *exit_code, struct arena *arena,
                            struct error *err)
{
    char *argv[WORDS_MAX + 1] = {NULL};
    for (int i = 0; i < step->count; i++) argv[i] = arena_copy_text(arena, step->words[i]);
    *exit_code = 0;
    return command_call(step->command, step->count, argv, exit_code, arena, err);
}

// ---- the steps

static const char *file_in(const struct plan_options *r, const char *name, struct arena *arena)
{
    return arena_print(arena, "%s/%s", r->folder, name);
}

static void problem_step(struct steps *s, const struct plan_options *r, struct arena *arena)
{
    struct step *step = begin_step(s, &command_example);
    add(step, "gpt");
    add_text(step, "--model", r->model);
    add_text(step, "--cluster", r->cluster);
    add_text(step, "--gpu", r->gpu);
    add_text(step, "--gpu-like", r->likeness.known);
    add_number(step, "--memory-gb", r->likeness.memory_gb, arena);
    add_number(step, "--intra", r->likeness.intra_gb_per_s, arena);
    add_count(step, "--nodes", r->nodes, arena);
    add_count(step, "--gpus", r->gpus, arena);
    add_number(step, "--gpu-hour-price", r->gpu_hour_price, arena);
    add_text(step, "--costs", r->costs);
    add_count(step, "--sequence", r->sequence, arena);
    add_count(step, "--global-batch", r->global_batch, arena);
    add_text(step, "--precision", precision_names[r->precision]);
    add_count(step, "--gradient-bytes", r->gradient_bytes, arena);
    add_number(step, "--memory-fraction", r->memory_fraction, arena);
    add_text(step, "--framework", framework_names[r->framework]);
    add_text(step, "--layouts", "all");
    if (r->trainer != UNSTATED) add_text(step, "--trainer", trainer_names[r->trainer]);
    static const struct stated_layout nothing = {LAYOUT_UNSTATED};
    step->count = command_words(step->words, step->count, &stated_layout_options, &r->stated,
                                &nothing, arena);
    add_text(step, "-o", r->folder);
    if (r->force) add(step, "--force");
}

static void solve_step(struct steps *s, const struct plan_options *r, struct arena *arena)
{
    struct step *step = begin_step(s, &command_solve);
    add(step, file_in(r, "problem.json", arena));
    add_number(step, "--gap", r->gap, arena);
    add_number(step, "--time-limit-s", r->time_limit_s, arena);
    for (int i = 0; i < r->known.count; i++) add_text(step, "--known", r->known.items[i]);
    add_text(step, "-o", file_in(r, "plan.json", arena));
}

static void report_step(struct steps *s, const struct plan_options *r, const char *format,
                        const char *file, struct arena *arena)
{
    struct step *step = begin_step(s, &command_report);
    add(step, file_in(r, "plan.json", arena));
    add_text(step, "--format", format);
    add_text(step, "-o", file_in(r, file, arena));
}

static void launch_step(struct steps *s, const struct plan_options *r, struct arena *arena)
{
    if (r->framework == FRAMEWORK_ANY) return;
    report_step(s, r, "launch", "launch", arena);
    add_text(&s->items[s->count - 1], "--for", framework_names[r->framework]);
}

static enum status tell_why(const struct plan_options *r, struct arena *arena, struct error *err)
{
    struct layouts l;
    struct text out;
    text_begin(&out, arena);
    TRY(layouts_load(&l, file_in(r, "plan.layouts.json", arena), arena, err));
    report_why(&out, &l);
    fwrite(out.text, 1, out.length, stdout);
    return OK;
}

static enum status answer(const struct plan_options *r, const struct steps *s, struct arena *arena,
                          struct error *err)
{
    struct plan plan;
    struct problem problem;
    struct text out;
    TRY(plan_load(&plan, file_in(r, "plan.json", arena), arena, err));
    TRY(problem_load(&problem, file_in(r, "problem.json", arena), arena, err));
    text_begin(&out, arena);
    TRY(report_brief(&out, &plan, &problem, err));
    fwrite(out.text, 1, out.length, stdout);
    plan_tell_assumed(r, &problem, &plan, arena);
    if (plan.stage_count) TRY(tell_why(r, arena, err));
    printf("\nTo repeat all of it:\n");
    for (int i = 0; i < s->count; i++) tell_step(&s->items[i], arena);
    return OK;
}

// Why no layout has a plan, as far as there is a reason common to all.
static enum status tell_reasons(const struct plan_options *r, struct arena *arena,
                                struct error *err)
{
    struct layouts l;
    TRY(layouts_load(&l, file_in(r, "plan.layouts.json", arena), arena, err));
    if (l.count) printf("\nOf %lld layouts:\n", (long long)l.count);
    for (int i = 0; i < l.reason_count; i++)
        if (l.reasons[i].count)
            printf("  %8lld  %s\n", (long long)l.reasons[i].count, l.reasons[i].text);
    return OK;
}

#define AT(member) offsetof(struct plan_options, member)
static const char *const for_names[] = {
    "any", "megatron", "torchtitan", "deepspeed", "nemo", "torchtitan-0.2", "axonn", "all", NULL};
static_assert(ARRAY_LENGTH(for_names) == PLAN_FOR_ALL + 2, "framework_names, then all");
static const struct option_row rows[] = {
    {"--model", OPTION_MODEL, AT(model), "shipped name or file"},
    {"--gpu", OPTION_GPU, AT(gpu), "GPU model, such as h100-80gb, in the nodes it is sold in",
     .needs = "--nodes|--gpus", .excludes = "--cluster"},
    {"--gpu-like", OPTION_GPU, AT(likeness.known),
     "shipped GPU in whose nodes and with whose costs --gpu is taken, as an assumption",
     .needs = "--gpu"},
    LIKENESS_ROWS(AT(likeness)),
    {"--nodes", OPTION_INT, AT(nodes), "number of nodes", 1, 1 << 20, .excludes = "--gpus"},
    {"--gpus", OPTION_INT, AT(gpus), "or number of GPUs", 1, 1 << 20},
    {"--cluster", OPTION_CLUSTER, AT(cluster), "instead of --gpu: shipped name or file"},
    {"--sequence", OPTION_INT, AT(sequence), "tokens per sequence (default: 2048)", 1, 1 << 30},
    {"--global-batch", OPTION_INT, AT(global_batch), "sequences per iteration (default: 1024)", 1,
     1 << 30},
    {"--precision", OPTION_NAME, AT(precision),
     "precision of weights and activations (default: bf16)", .names = precision_names},
    {"--gradient-bytes", OPTION_INT, AT(gradient_bytes),
     "bytes of an accumulated gradient value: 2 or 4 (default: 4; with DeepSpeed in 16 bits 2)", 2,
     4},
    {"--memory-fraction", OPTION_NUMBER, AT(memory_fraction),
     "share of each GPU's memory that a plan may use (default: 0.9)", 0.01, 1},
    {"--for", OPTION_NAME, AT(framework),
     "target framework (default: megatron); all: each of megatron, torchtitan, deepspeed and nemo, "
     "in a folder of its own, with one table; any: then whichever layout is fastest, from their "
     "plans on",
     .names = for_names},
    {"--costs", OPTION_COSTS, AT(costs),
     "shipped name, or file from plumbline calibrate (default: kernels)"},
    {"--gpu-hour-price", OPTION_NUMBER, AT(gpu_hour_price), "price of one GPU hour", 0, 1e6},
    {"--gap", OPTION_NUMBER, AT(gap), "maximum relative distance from the optimum (default: 0.01)",
     0, 1},
    {"--time-limit-s", OPTION_NUMBER, AT(time_limit_s),
     "time limit of each search in seconds (default: 45; 0: none)", 0, 1e9},
    {"--known", OPTION_PATH, AT(known),
     "plan, or problem with one layout, that the answer must not be worse than; may be repeated",
     .many = OPTION_ANY_NUMBER, .excludes = "--for=all"},
    {"-o", OPTION_PATH, AT(folder), "output folder for all files, created if missing"},
    {"--force", OPTION_FLAG, AT(force), "overwrite documents whose content differs"},
};

// Solves the space of equal stages, and lets *r start from its plan: the answer with other stages
// is not worse. Where the options leave no such layout, or the search has no start, there are no
// steps.
static enum status solve_equal(struct steps *s, struct plan_options *r, struct arena *arena,
                               struct error *err)
{
    struct plan_options equal = *r;
    struct problem problem;
    struct error refused;
    int solved = EXIT_NO_PLAN;
    equal.stated.uneven_stages = false;
    equal.known.count = 0; // theirs may be uneven; they are the next search's
    equal.folder = file_in(r, "equal", arena);
    TRY(file_make_folder(r->folder, err));
    problem_step(s, &equal, arena);
    enum status status = run_step(&s->items[0], &solved, arena, &refused);
    if (status == BAD_INPUT) s->count = 0;
    if (status != OK) return status == BAD_INPUT ? OK : (*err = refused, status);
    TRY(problem_load(&problem, file_in(&equal, "problem.json", arena), arena, err));
    if (problem.cluster.places.node_count) return s->count = 0, OK;
    solve_step(s, &equal, arena);
    TRY(run_step(&s->items[1], &solved, arena, err));
    if (solved && solved != EXIT_OPEN) return OK;
    const char **known = TAKE(arena, r->known.count + 1, const char *);
    memcpy(known, r->known.items, (size_t)r->known.count * sizeof *known);
    known[r->known.count++] = file_in(&equal, "plan.json", arena);
    r->known.items = known;
    return OK;
}

enum status plan_one(const struct plan_options *options, int *exit_code, struct arena *arena,
                     struct error *err)
{
    struct plan_options own = *options, *r = &own;
    struct steps steps = {.count = 0};
    int solved;
    if (r->stated.uneven_stages && framework_evens_stages((enum framework)r->framework))
        TRY(solve_equal(&steps, r, arena, err));
    problem_step(&steps, r, arena);
    TRY(run_step(&steps.items[steps.count - 1], exit_code, arena, err));
    solve_step(&steps, r, arena);
    int rest = steps.count;
    TRY(run_step(&steps.items[rest - 1], &solved, arena, err));
    if (solved == EXIT_LOST) return *exit_code = solved, OK; // the plan is on standard output
    solve_goes_on("the writing of report and launch files", 0, false, solved);
    if (!solved || solved == EXIT_OPEN) {
        struct step *verify = begin_step(&steps, &command_verify);
        add(verify, file_in(r, "plan.json", arena));
        report_step(&steps, r, "html", "report.html", arena);
        launch_step(&steps, r, arena);
    }
    for (int i = rest, code; i < steps.count; i++)
        TRY(run_step(&steps.items[i], &code, arena, err));
    TRY(answer(r, &steps, arena, err));
    if (solved == EXIT_INFEASIBLE) TRY(tell_reasons(r, arena, err));
    if (solved == EXIT_NO_PLAN)
        printf("\nNeither a plan nor a proof that there is none within %.9g s: --time-limit-s "
               "gives the search more (0: as long as it takes)\n",
               r->time_limit_s);
    *exit_code = solved;
    return OK;
}

COMMAND_RUN(run)
{
    const struct plan_options *r = options;
    bool one = r->framework != FRAMEWORK_ANY && r->framework != PLAN_FOR_ALL;
    return (one ? plan_one : plan_all)(r, exit_code, arena, err);
}

const struct command command_plan = {
    .name = "plan",
    .text = "model and cluster names -> problem, plan, report, launch files",
    .about = "Makes the five documents of a problem from shipped names (listed by plumbline "
             "models, clusters and costs) or files, searches a space of layouts, verifies the "
             "plan, and writes a report and launch files next to it. It only runs other commands "
             "in sequence, and prints them. The exit status is that of solve. With --for all it is "
             "0 if every framework has a plan within the gap or has none, 10 if some plan is not "
             "proven that far, 11 if no framework has a plan, 12 if none was found in time.",
    .usage = "plumbline plan --model NAME --gpu NAME --nodes N [OPTION ...] -o FOLDER",
    READS(struct plan_options, rows,
          {.costs = "kernels",
           .global_batch = 1024,
           .precision = BF16,
           .framework = FRAMEWORK_MEGATRON,
           .gap = 0.01,
           .time_limit_s = 45,
           .trainer = UNSTATED,
           .stated = {LAYOUT_UNSTATED}}),
    SHARES(stated_layout_options, struct plan_options, stated),
    .needs = "--model --gpu|--cluster -o",
    .run = run,
};
