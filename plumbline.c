// The entry point: the commands, from which help, manual pages and completion are generated. Each
// command reads files, calls one verb and writes one file. Errors are reported in one line by
// command_run, and nowhere else.
#include <string.h>

#include "calibrate/commands.h"
#include "data/base/command_text.h"
#include "data/base/commands.h"
#include "formulate/commands.h"
#include "measure/commands.h"
#include "solve/batch/commands.h"
#include "solve/commands/commands.h"
#include "solve/process/supervise.h"

static const struct command program;

// ---- completion

// Scripts that let a shell complete command lines (packaging/completion.*): each asks the program
// itself, by `plumbline completion words`, so that they hold for every version.
extern const char completion_bash[], completion_zsh[], completion_fish[];

struct shell {
    const char *script;
};

static enum status put_script(void *shell, int *exit_code, struct arena *arena, struct error *err)
{
    (void)exit_code, (void)arena, (void)err;
    return fputs(((const struct shell *)shell)->script, stdout), OK;
}

// Completions of the last of these words of a command line.
static enum status put_words(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    char **line = TAKE(arena, argc + 2, char *);
    if (argc < 2) return refuse(err, "expected the words of a command line after its program");
    if (!strcmp(argv[1], HELP_SECTION)) {
        man_text("plumbline completion words WORD ...");
        return OK;
    }
    for (int i = 0; i < argc; i++) line[i] = argv[i];
    line[argc] = arena_copy_text(arena, HELP_COMPLETE);
    return command_call(&program, argc + 1, line, exit_code, arena, err);
}

#define SHELL(called, versions)                                                                    \
    {                                                                                              \
        .name = #called, .text = versions, .usage = "plumbline completion " #called,               \
        .size = sizeof(struct shell), .defaults = &(const struct shell){completion_##called},      \
        .run = put_script                                                                          \
    }
static const struct command
    bash = SHELL(bash, "bash 4 and later"),
    zsh = SHELL(zsh, "zsh"), fish = SHELL(fish, "fish 3 and later"),
    words = {.name = "words",
             .text = "WORD ...: print completions of the last word (used by the scripts)",
             .words = put_words};
static const struct command *const shells[] = {&bash, &zsh, &fish, &words};

static const struct command command_completion = {
    .name = "completion",
    .text = "print a shell completion script for these commands",
    .about = "In ~/.bashrc: eval \"$(plumbline completion bash)\". In ~/.zshrc, after compinit: "
             "eval \"$(plumbline completion zsh)\". For fish: plumbline completion fish > "
             "~/.config/fish/completions/plumbline.fish. make install puts them where shells look.",
    .program = "plumbline completion",
    .what = "shell",
    .usage = "plumbline completion SHELL",
    COMMAND_KINDS(shells),
};

// ---- the program

static const struct command *const commands[] = {
    &command_plan,    &command_offers,   &command_models,    &command_clusters,  &command_costs,
    &command_example, &command_import,   &command_measure,   &command_calibrate, &command_price,
    &command_predict, &command_validate, &command_formulate, &command_solve,     &command_batch,
    &command_verify,  &command_check,    &command_vipr,      &command_carry,     &command_report,
    &command_compare, &command_explain,  &command_completion};

static const struct exit_meaning exits[] = {
    {"0", "success"},
    {"2", "bad input or usage, or a file or standard output that cannot be written"},
    {"1", "any other failure; check: not proven"},
    {"10",
     "solve, plan, offers: a plan was found, but its gap is open; or stopped; run: interrupted"},
    {"11", "solve, plan: proven infeasible"},
    {"12", "solve, plan: no plan within the limit"},
    {"20", "verify: rejected"},
};

static const struct command program = {
    .program = "plumbline",
    .executable = "plumbline",
    .text = "plans the training of large models on many GPUs, with a bound on the distance from "
            "optimal",
    .about =
        "From documents that describe a model, a cluster, its costs and a job, plumbline makes a "
        "plan: how the model is cut into stages, where the stages are placed, how they are "
        "scheduled, and how long an iteration takes, with a lower bound for all plans. The plan is "
        "judged, and the bound's proof is checked, by code that shares nothing with the search. "
        "Documents are JSON files; shipped models, clusters and costs are referred to by name.",
    .what = "command",
    .usage = "plumbline COMMAND [ARGUMENT ...]",
    COMMAND_KINDS(commands),
    .exits = exits,
    .exit_count = ARRAY_LENGTH(exits),
};

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
    return program_main(&program, argc, argv);
}
