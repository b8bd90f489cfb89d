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

#endif
