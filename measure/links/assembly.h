// Shared by links and collectives as commands: options, the run over all ranks, the document, the
// last line of the log.
#ifndef PLUMBLINE_MEASURE_LINKS_ASSEMBLY_H
#define PLUMBLINE_MEASURE_LINKS_ASSEMBLY_H

#include "data/base/command.h"
#include "measure/links/roster.h"
#include "measure/links/together.h"

enum { MESSAGE_BYTES_MAX = 1 << 30 };

struct assembly_settings {
    const char *output, *name;
    int64_t smallest, largest, factor, seed;
    double budget_s, width;
    enum wait wait;
    bool quiet, shared, exclusive;
    bool nccl, cold;  // between devices; without the same operation before
    int64_t in_a_row; // operations that are timed together
    struct command_line line;
};

#define ASSEMBLY_DEFAULTS                                                                          \
    .output = "-", .largest = 1 << 24, .factor = 4, .seed = 1, .budget_s = 60, .width = 0.05,      \
    .in_a_row = 1
extern const struct option_table assembly_options;

// One command: runs `body` on every rank. A rank that fails alone reports why and ends all, since
// the others would wait for it.
typedef enum status assembly_body(void *settings, struct ranks *ranks, int *exit_code,
                                  struct arena *arena, struct error *err);
enum status assembly_run(const struct assembly_settings *s, assembly_body *body, void *settings,
                         int *exit_code, struct arena *arena, struct error *err);

// After everything is chosen: takes the repetitions. Rank 0 then has the document, saves it and
// writes to the log. *samples has no samples on other ranks.
enum status assembly_take(struct samples *samples, const struct assembly_settings *s,
                          struct ranks *ranks, const struct roster *roster, struct joint *joint,
                          joint_function *repeat, void *context, int *exit_code,
                          struct arena *arena, struct error *err);

#endif
