// The front door: a table of commands, of which help, manual pages and completion are made. Each
// command reads files, calls one verb, writes one file; what goes wrong is said in one line by
// command_run, and nowhere else.
#include <stdio.h>
#include <string.h>

#include "calibrate/commands.h"
#include "data/base/commands.h"
#include "data/base/completion.h"
#include "data/base/options_text.h"
#include "formulate/commands.h"
#include "measure/commands.h"
#include "solve/batch/commands.h"
#include "solve/commands/commands.h"

static command_function command_completion;

static const struct command commands[] = {
    {"plan", command_plan, "model and cluster by name -> problem, plan, report, launch files",
     "Makes the five documents of a problem out of shipped names (plumbline models, clusters and "
     "costs list them) or files, searches all layouts, has the plan verified, and writes report "
     "and launch files beside it. It is nothing but other commands one after the other, which it "
     "prints. The exit status is that of solve."},
    {"offers", command_offers, "machines for hire -> the cheapest or fastest, and its plan",
     "Searches all layouts on each machine that is offered, for so many tokens the cheapest within "
     "a time, or the fastest within a budget, with a proven bound over all of them. A machine is "
     "searched for what beats those before it alone."},
    {"models", command_models, "the shipped models, or given ones: parameters, layers, widths",
     "One line for each. A name that no shipped model has is a file."},
    {"clusters", command_clusters, "the shipped clusters, or given ones: nodes, memory, links",
     "One line for each group of nodes. A name that no shipped cluster has is a file."},
    {"costs", command_costs, "the shipped costs, or given ones: GPUs, rates, their sources",
     "One line for each GPU and precision. A name that no shipped costs have is a file."},
    {"example", command_example, "a ready problem: chain, gpt, mixed, four, clusters, pipette",
     "Writes model, cluster, costs, job and problem.json into a folder, ready for solve. Nothing "
     "of other content is replaced without --force."},
    {"import", command_import, "documents out of foreign formats",
     "Reads what another program wrote and writes the document that plumbline reads."},
    {"measure", command_measure, "samples out of this machine (runs plumbline-measure)",
     "Times kernels, copies and messages on this machine and writes samples, of which calibrate "
     "makes costs. The work is done by plumbline-measure, which stands beside plumbline or in "
     "PATH."},
    {"calibrate", command_calibrate, "costs out of samples",
     "Fits a time for each kind of kernel, copy and message to samples of measure or import. With "
     "--iterations it fits to whole measured iterations, with --products to a table of matrix "
     "products; --help behind them tells their options."},
    {"price", command_price, "problem -> priced document (integer ns and bytes)",
     "Writes what each layer, transfer and synchronisation costs in whole nanoseconds and bytes: "
     "the numbers that solve decides by."},
    {"predict", command_predict,
     "time and memory of given configurations: one, or a table of thousands",
     "No search: what a training run of each configuration would take. The operands are a CSV "
     "file of them, or name=value words for one."},
    {"validate", command_validate, "predictions against measured runs: error tables by source",
     "Predicts each row of tables of measured runs and tells how far off the predictions are."},
    {"formulate", command_formulate,
     "problem -> MILP as MPS or LP, with the meaning of each column",
     "For another solver, or for a look at the rows."},
    {"solve", command_solve, "problem -> plan with a proven bound",
     "Searches the job's layout, or all layouts of its space, until the plan is proven best (or "
     "within --gap, or --time-limit-s is over). The judge of verify audits the plan before it is "
     "written. With --without and --degrade it answers what is lost, and what moves, when nodes "
     "or links are."},
    {"batch", command_batch, "many problems: all of them solved and checked, tables, plots",
     "Solves, verifies and checks each problem of a manifest in a process of its own, goes on "
     "where "
     "it was interrupted, and makes a table of all."},
    {"verify", command_verify, "the independent judge of a plan",
     "Reads the plan and the documents that it was made from, and checks prices, memory, schedule "
     "and time with code of its own; with --certificate the bound, too."},
    {"check", command_check, "proofs: does a certificate prove what it says?",
     "Audits a certificate of solve --certificate against a priced document or a problem, with "
     "code of its own."},
    {"vipr", command_vipr, "certificate -> VIPR: the same proof by rows of the integer program",
     "For the checker of a third party."},
    {"report", command_report, "plan -> text, page, trace, launcher flags; plans -> tables",
     "Shows a plan to people (text, html), to a trace viewer, or to a launcher (megatron, sbatch, "
     "hostfile, rankfile); or several plans and verdicts as the table of a paper (latex, csv)."},
    {"compare", command_compare, "plans side by side, and against the uniform split",
     "Time, memory, where the time goes and what stands elsewhere, all against the first plan; "
     "beside it, if asked for, its layout with equal stages or stages by hand, or its nodes in a "
     "framework's order."},
    {"completion", command_completion, "a script that completes these commands in a shell",
     "In ~/.bashrc: eval \"$(plumbline completion bash)\". In ~/.zshrc, behind compinit: eval "
     "\"$(plumbline completion zsh)\". For fish: plumbline completion fish > "
     "~/.config/fish/completions/plumbline.fish. make install puts them where shells look."},
};

static const struct exit_meaning exits[] = {
    {"0", "done"},
    {"2", "bad input or usage, or a file or standard output that cannot be written"},
    {"1", "anything else that failed; check: not proven"},
    {"10", "solve, plan: a plan was found, its gap is open"},
    {"11", "solve, plan: proven infeasible"},
    {"12", "solve, plan: no plan within the limit"},
    {"20", "verify: rejected"},
};

static const struct program program = {
    {"plumbline", "command", "COMMAND [ARGUMENT ...]", commands, ARRAY_LENGTH(commands)},
    "plumbline",
    "plans the training of large models on many GPUs, with a proven distance from optimal",
    "From documents that describe a model, a cluster, its costs and a job plumbline makes a plan: "
    "how the model is cut into stages, where they stand, how they are scheduled, and what an "
    "iteration takes, with a bound that no plan can be better than. The plan is judged, and the "
    "bound's proof is checked, by code that shares nothing with the search. Documents are JSON "
    "files; shipped models, clusters and costs go by their names.",
    exits,
    ARRAY_LENGTH(exits)};

static enum status run(int argc, char **argv, int *exit_code, struct arena *arena,
                       struct error *err)
{
    return program_run(&program, argc, argv, exit_code, arena, err);
}

// ---- completion

static enum status put_script(const char *shell, const char *script, int argc, char **argv,
                              struct arena *arena, struct error *err)
{
    bool helped;
    const char *usage = arena_print(arena, "plumbline completion %s", shell);
    TRY(options_read(argc, argv, usage, NULL, 0, NULL, 0, 0, NULL, &helped, err));
    if (!helped) fputs(script, stdout);
    return OK;
}

#define SCRIPT(shell)                                                                              \
    static enum status put_##shell(int argc, char **argv, int *exit_code, struct arena *arena,     \
                                   struct error *err)                                              \
    {                                                                                              \
        (void)exit_code;                                                                           \
        return put_script(#shell, completion_##shell, argc, argv, arena, err);                     \
    }
SCRIPT(bash)
SCRIPT(zsh)
SCRIPT(fish)

// What completes the last of these words of a line.
static enum status put_words(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    char **line = TAKE(arena, argc + 2, char *);
    if (argc < 2) return fail(err, BAD_INPUT, "expected the words of a line behind its program");
    if (!strcmp(argv[1], HELP_SECTION)) {
        man_text("plumbline completion words WORD ...");
        return OK;
    }
    for (int i = 0; i < argc; i++) line[i] = argv[i];
    line[argc] = arena_copy_text(arena, HELP_COMPLETE);
    return commands_run(&program.table, argc + 1, line, exit_code, arena, err);
}

static enum status command_completion(int argc, char **argv, int *exit_code, struct arena *arena,
                                      struct error *err)
{
    static const struct command shells[] = {
        {"bash", put_bash, .text = "for bash 4 and later"},
        {"zsh", put_zsh, .text = "for zsh"},
        {"fish", put_fish, .text = "for fish 3 and later"},
        {"words", put_words, .text = "WORD ...: what completes the last of them; the scripts ask"},
    };
    static const struct command_table table = {"plumbline completion", "shell", "SHELL", shells,
                                               ARRAY_LENGTH(shells)};
    return commands_run(&table, argc, argv, exit_code, arena, err);
}

int main(int argc, char **argv) { return program_main(&program, run, argc, argv); }
