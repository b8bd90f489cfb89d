// The commands of this folder; each is in its own file.
#ifndef PLUMBLINE_FORMULATE_COMMANDS_H
#define PLUMBLINE_FORMULATE_COMMANDS_H

#include "data/base/options.h"

command_function command_import;
command_function command_example;
command_function command_price;
command_function command_formulate;
command_function command_predict;
command_function command_models;
command_function command_clusters;
command_function command_costs;

struct problem;
// The problem of the command line of `plumbline example gpt`; argv[0] is its name, and -o is
// ignored.
enum status example_gpt(struct problem *problem, int argc, char **argv, struct arena *arena,
                        struct error *err);

#endif
