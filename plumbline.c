// The front door: a table of commands. Each reads files, calls one verb, writes one file; what goes
// wrong is said in one line by command_run, and nowhere else.
#include <stdio.h>
#include <string.h>

#include "calibrate/commands.h"
#include "data/base/names.h"
#include "data/text/document.h"
#include "formulate/commands.h"
#include "measure/commands.h"
#include "solve/batch/commands.h"
#include "solve/commands/commands.h"

static const struct {
    const char *name;
    command_function *run;
    const char *text;
} commands[] = {
    {"measure", command_measure, "samples out of this machine (runs plumbline-measure)"},
    {"calibrate", command_calibrate, "costs out of samples"},
    {"import", command_import, "documents out of foreign formats"},
    {"example", command_example, "a ready problem: chain, gpt, mixed, four, clusters, pipette"},
    {"models", command_models, "the shipped models, or given ones: parameters, layers, widths"},
    {"clusters", command_clusters, "the shipped clusters, or given ones: nodes, memory, links"},
    {"costs", command_costs, "the shipped costs, or given ones: GPUs, rates, their sources"},
    {"price", command_price, "problem -> priced document (integer ns and bytes)"},
    {"predict", command_predict,
     "time and memory of given configurations: one, or a table of thousands"},
    {"validate", command_validate, "predictions against measured runs: error tables by source"},
    {"formulate", command_formulate,
     "problem -> MILP as MPS or LP, with the meaning of each column"},
    {"plan", command_plan, "model and cluster by name -> problem, plan, report, launch files"},
    {"solve", command_solve, "problem -> plan with a proven bound"},
    {"batch", command_batch, "many problems: all of them solved and checked, tables, plots"},
    {"verify", command_verify, "the independent judge of a plan"},
    {"check", command_check, "proofs: does a certificate prove what it says?"},
    {"vipr", command_vipr, "certificate -> VIPR: the same proof by rows of the integer program"},
    {"report", command_report, "plan -> text, trace, launcher flags; plans and verdicts -> tables"},
};

static int usage(FILE *to, int exit_code)
{
    fprintf(
        to,
        "plumbline %s: plans the training of large models on many GPUs, with a proven distance "
        "from optimal\n\n"
        "usage: plumbline COMMAND [ARGUMENT ...]; plumbline COMMAND --help tells its options\n\n",
        PLUMBLINE_VERSION);
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].text);
    fprintf(to, "\nexit codes: 0 done; 2 bad input or usage; 1 anything else that failed; solve: "
                "10 plan found, gap open,\n"
                "11 proven infeasible, 12 no plan within the limit; verify: 20 rejected;\ncheck: 1 "
                "not proven\n");
    return command_flushed() ? exit_code : 2;
}

static int find(const char *name)
{
    for (int i = 0; i < (int)ARRAY_LENGTH(commands); i++)
        if (!strcmp(name, commands[i].name)) return i;
    return -1;
}

static int unknown(const char *name)
{
    const char *names[ARRAY_LENGTH(commands)];
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++) names[i] = commands[i].name;
    int meant = name_meant(name, names, (int)ARRAY_LENGTH(commands));
    fprintf(stderr, "plumbline: unknown command '%s'%s%s%s; plumbline --help lists them\n", name,
            meant < 0 ? "" : ", did you mean ", meant < 0 ? "" : names[meant],
            meant < 0 ? "" : "?");
    return 2;
}

static int version(bool json)
{
    const char *form = json ? "{\"name\": \"plumbline\", \"version\": \"%s\"}\n" : "plumbline %s\n";
    return printf(form, PLUMBLINE_VERSION) < 0 || !command_flushed() ? 2 : 0;
}

int main(int argc, char **argv)
{
    const char *name = argc < 2 ? "" : argv[1];
    bool help = !strcmp(name, "help") && argc > 2;
    if (argc < 2) return usage(stderr, 2);
    if (!help && (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")))
        return usage(stdout, 0);
    if (!strcmp(name, "--version")) return version(argc > 2 && !strcmp(argv[2], "--json"));
    int command = find(help ? argv[2] : name);
    if (command < 0) return unknown(help ? argv[2] : name);
    char *asked[] = {argv[help ? 2 : 1], "--help", NULL};
    return command_run("plumbline", commands[command].name, commands[command].run,
                       help ? 2 : argc - 1, help ? asked : argv + 1);
}
