// Shared by links and collectives as commands: options, the run over all ranks, the document, the
// last line of the log.
#ifndef PLUMBLINE_MEASURE_LINKS_ASSEMBLY_H
#define PLUMBLINE_MEASURE_LINKS_ASSEMBLY_H

#include "measure/links/roster.h"
#include "measure/links/together.h"

enum { MESSAGE_BYTES_MAX = 1 << 30 };

struct assembly_settings {
    const char *output, *name;
    int64_t smallest, largest, factor, seed;
    double budget_s, width;
    int wait; // enum wait
    bool quiet;
    int argc;
    char **argv;
};

struct assembly_settings assembly_defaults(int argc, char **argv, int64_t smallest);

#define ASSEMBLY_OPTIONS(s)                                                                        \
    {"--largest",                                                                                  \
     OPTION_INT,                                                                                   \
     &(s)->largest,                                                                                \
     1,                                                                                            \
     MESSAGE_BYTES_MAX,                                                                            \
     NULL,                                                                                         \
     "bytes of the longest (default: 16777216)"},                                                  \
        {"--factor",                                                                               \
         OPTION_INT,                                                                               \
         &(s)->factor,                                                                             \
         2,                                                                                        \
         1024,                                                                                     \
         NULL,                                                                                     \
         "factor from one length to the next (default: 4)"},                                       \
        {"--wait",                                                                                 \
         OPTION_NAME,                                                                              \
         &(s)->wait,                                                                               \
         0,                                                                                        \
         0,                                                                                        \
         wait_names,                                                                               \
         "how to wait; auto: sleep between polls if there are more processes than processors "     \
         "(default: auto)"},                                                                       \
        {"--budget-s",                                                                             \
         OPTION_NUMBER,                                                                            \
         &(s)->budget_s,                                                                           \
         0.01,                                                                                     \
         1e6,                                                                                      \
         NULL,                                                                                     \
         "seconds to spend; every operation is measured at least once (default: 60)"},             \
        {"--width",                                                                                \
         OPTION_NUMBER,                                                                            \
         &(s)->width,                                                                              \
         1e-6,                                                                                     \
         10,                                                                                       \
         NULL,                                                                                     \
         "target width of the 95 % interval, relative to the median (default: 0.05)"},             \
        {"--seed",                                                                                 \
         OPTION_INT,                                                                               \
         &(s)->seed,                                                                               \
         0,                                                                                        \
         1e9,                                                                                      \
         NULL,                                                                                     \
         "seed for the order and the messages' content (default: 1)"},                             \
        {"--name",                                                                                 \
         OPTION_TEXT,                                                                              \
         &(s)->name,                                                                               \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "device name in the costs (default: the processor's name)"},                              \
        {"--quiet", OPTION_FLAG, &(s)->quiet, 0, 0, NULL, "print nothing but errors on stderr"},   \
    {                                                                                              \
        "-o", OPTION_PATH, &(s)->output, 0, 0, NULL,                                               \
            "output file for the samples (default: standard output)"                               \
    }

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
