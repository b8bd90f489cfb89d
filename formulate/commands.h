// The commands of this folder; each is in its own file.
#pragma once

#include <stdio.h>

#include "data/base/command.h"

extern const struct command command_import, command_example, command_price, command_formulate,
    command_predict, command_models, command_clusters, command_costs;

struct problem;
// The problem of one layout: of a plan (--plan), or the job's; alike: then not where the space's
// framework has one setting of recomputation, which the layout does not state. Of a space it says
// on stderr which layout is meant. BAD_INPUT: it has no such layout.
enum status one_layout(struct problem *one, const struct problem *problem, const char *plan,
                       bool alike, struct arena *arena, struct error *err);
#define OPTION_OF_PLAN                                                                             \
    {                                                                                              \
        "--plan", OPTION_PATH, OPT(plan), "plan of the problem, whose layout is meant"             \
    }
// The problem of the command line of `plumbline example gpt`; argv[0] is its name, and -o is
// ignored.
enum status example_gpt(struct problem *problem, int argc, char **argv, struct arena *arena,
                        struct error *err);

// What `plumbline predict` prints for a command line, and notes on stderr; argv[0] is its name.
// `table`: the text of its file, which is then only a name; NULL: it is read.
enum status predict_words(FILE *to, FILE *notes, const char *table, int argc, char **argv,
                          struct arena *arena, struct error *err);

// What differs between two documents of costs, and what drifted over many; printed.

// words: "diff", A, B.
enum status costs_diff(const struct option_texts *words, struct arena *arena, struct error *err);
// words: "history", and a folder, or documents in their order.
enum status costs_history(const struct option_texts *words, struct arena *arena, struct error *err);
