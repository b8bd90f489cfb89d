// The entry point: a table of commands, from which help, manual pages and completion are
// generated. Each command reads files, calls one verb and writes one file. Errors are reported in
// one line by command_run, and nowhere else.
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
#include "solve/process/supervise.h"

static command_function command_completion;

static const struct command commands[] = {
    {"plan", command_plan, "model and cluster names -> problem, plan, report, launch files",
     "Makes the five documents of a problem from shipped names (listed by plumbline models, "
     "clusters and costs) or files, searches all layouts, verifies the plan, and writes a report "
     "and launch files next to it. It only runs other commands in sequence, and prints them. The "
     "exit status is that of solve."},
    {"offers", command_offers, "machines for hire -> the cheapest or fastest one and its plan",
     "Searches all layouts on each offered machine for the cheapest way to train on a number of "
     "tokens within a time, or the fastest within a budget, with a proven bound over all machines. "
     "Each machine is searched only for plans that beat those of the machines before it."},
    {"models", command_models, "list shipped or given models: parameters, layers, widths",
     "Prints one line per model. A name that is not that of a shipped model is taken as a file."},
    {"clusters", command_clusters, "list shipped or given clusters: nodes, memory, links",
     "Prints one line per group of nodes. A name that is not that of a shipped cluster is taken as "
     "a file."},
    {"costs", command_costs, "list shipped or given costs: GPUs, rates, sources",
     "Prints one line per GPU and precision. A name that is not that of shipped costs is taken as "
     "a file."},
    {"example", command_example,
     "write a ready-made problem: chain, gpt, mixed, four, clusters, pipette",
     "Writes model, cluster, costs, job and problem.json to a folder, ready for solve. Existing "
     "files whose content differs are overwritten only with --force."},
    {"import", command_import, "convert files of other programs to documents",
     "Reads a file of another program and writes the document that plumbline reads."},
    {"measure", command_measure, "measure this machine -> samples (runs plumbline-measure)",
     "Times kernels, copies and messages on this machine and writes samples, from which calibrate "
     "makes costs. Runs plumbline-measure, which is next to plumbline or in PATH."},
    {"calibrate", command_calibrate, "samples -> costs",
     "Fits a time for each kind of kernel, copy and message to samples from measure or import. "
     "With --iterations it fits to measured iterations, with --products to a table of matrix "
     "products; follow either with --help for its options."},
    {"price", command_price, "problem -> priced document (integer ns and bytes)",
     "Writes the cost of each layer, transfer and synchronisation in whole nanoseconds and bytes: "
     "the numbers that solve uses."},
    {"predict", command_predict,
     "time and memory of one given configuration, or a table of thousands",
     "Predicts a training run of each configuration, without a search. The operands are a CSV "
     "file, or name=value words for one configuration."},
    {"validate", command_validate, "predictions against measured runs: error tables by source",
     "Predicts each row of tables of measured runs and reports the prediction errors."},
    {"formulate", command_formulate,
     "problem -> MILP as MPS or LP, with the meaning of each column",
     "Writes the program for another solver, or for inspection."},
    {"solve", command_solve, "problem -> plan with a proven bound",
     "Searches the job's layout, or all layouts of its space, until the plan is proven optimal or "
     "within --gap, or until --time-limit-s expires. The judge of verify audits the plan before it "
     "is written. With --without and --degrade it reports what is lost, and what moves, if nodes "
     "are lost or links degrade."},
    {"batch", command_batch, "many problems -> all solved and checked, tables, plots",
     "Solves, verifies and checks each problem of a manifest in its own process, resumes after an "
     "interruption, and makes tables and plots of the results."},
    {"verify", command_verify, "judge a plan with independent code",
     "Reads the plan and the documents that it was made from, and checks prices, memory, schedule "
     "and time with independent code; with --certificate also the bound."},
    {"check", command_check, "check that a certificate proves its claim",
     "Audits a certificate of solve --certificate against a priced document or a problem, with "
     "independent code."},
    {"vipr", command_vipr, "certificate -> VIPR: the same proof in rows of the integer program",
     "Writes the proof for a third-party checker."},
    {"report", command_report, "plan -> text, page, trace, launcher flags; plans -> tables",
     "Writes a plan for people (text, html), a trace viewer (trace) or a launcher (megatron, "
     "sbatch, hostfile, rankfile), or several plans and verdicts as a table (latex, csv)."},
    {"compare", command_compare, "compare plans side by side, and with the uniform split",
     "Compares time, memory, where the time goes and what is placed elsewhere with the first plan; "
     "on request also with its layout under equal or given stages, or with its nodes in a "
     "framework's order."},
    {"completion", command_completion, "print a shell completion script for these commands",
     "In ~/.bashrc: eval \"$(plumbline completion bash)\". In ~/.zshrc, after compinit: eval "
     "\"$(plumbline completion zsh)\". For fish: plumbline completion fish > "
     "~/.config/fish/completions/plumbline.fish. make install puts them where shells look."},
};

static const struct exit_meaning exits[] = {
    {"0", "success"},
    {"2", "bad input or usage, or a file or standard output that cannot be written"},
    {"1", "any other failure; check: not proven"},
    {"10", "solve, plan, offers: a plan was found, but its gap is open; or stopped"},
    {"11", "solve, plan: proven infeasible"},
    {"12", "solve, plan: no plan within the limit"},
    {"20", "verify: rejected"},
};

static const struct program program = {
    {"plumbline", "command", "COMMAND [ARGUMENT ...]", commands, ARRAY_LENGTH(commands)},
    "plumbline",
    "plans the training of large models on many GPUs, with a proven distance from optimal",
    "From documents that describe a model, a cluster, its costs and a job, plumbline makes a plan: "
    "how the model is cut into stages, where the stages are placed, how they are scheduled, and "
    "how long an iteration takes, with a lower bound for all plans. The plan is judged, and the "
    "bound's proof is checked, by code that shares nothing with the search. Documents are JSON "
    "files; shipped models, clusters and costs are referred to by name.",
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

// Completions of the last of these words of a command line.
static enum status put_words(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    char **line = TAKE(arena, argc + 2, char *);
    if (argc < 2)
        return fail(err, BAD_INPUT, "expected the words of a command line after its program");
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
        {"bash", put_bash, .text = "bash 4 and later"},
        {"zsh", put_zsh, .text = "zsh"},
        {"fish", put_fish, .text = "fish 3 and later"},
        {"words", put_words,
         .text = "WORD ...: print completions of the last word (used by the scripts)"},
    };
    static const struct command_table table = {"plumbline completion", "shell", "SHELL", shells,
                                               ARRAY_LENGTH(shells)};
    return commands_run(&table, argc, argv, exit_code, arena, err);
}

// Commands that search end in their own way on SIGINT and SIGTERM, from their first instruction on:
// the C library runs this before the constructors of libraries, which take longer than a short
// search. Where it does not, main does.
static void listen_first(int argc, char **argv, char **environment)
{
    static const char *const searching[] = {"solve", "plan", "offers"};
    (void)environment;
    for (size_t i = 0; i < ARRAY_LENGTH(searching) && argc > 1; i++)
        if (!strcmp(argv[1], searching[i])) supervision_listen();
}

#ifndef __SANITIZE_ADDRESS__
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **,
                                                                            char **) = listen_first;
#endif

int main(int argc, char **argv)
{
    listen_first(argc, argv, NULL);
    return program_main(&program, run, argc, argv);
}
