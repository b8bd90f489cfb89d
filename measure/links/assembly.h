// Shared by links and collectives as commands: options, the run over all ranks, the document, the
// last line of the log.
#pragma once

#include "data/numbers/samples.h"
#include "measure/links/ranks.h"
#include "data/base/command.h"

// The participants in a measurement of several processes: the endpoints by name, and which of them
// share a clock.

struct roster {
    struct endpoint *endpoints; // [count], one for each rank: its host's name, with ":k" where a
                                // host has several
    int count;
    const char *gpu, *library; // of the sender, if that is not the host itself; NULL: it is
    int64_t process_bytes;     // of this process, before it took memory for what it measures
    bool is_crowded;           // some machine has more processes than processors
    bool is_busy;              // some machine did other work before
};

enum wait { WAIT_AUTO, WAIT_BUSY, WAIT_ASLEEP };
extern const char *const wait_names[]; // "auto", "busy", "asleep"

// All ranks. Sets the ranks' patience: "auto" turns it on if crowded.
void roster_gather(struct roster *roster, struct ranks *ranks, enum wait wait, struct arena *arena);

// Whether times read from the clocks of both can be compared.
bool roster_same_clock(const struct roster *roster, int a, int b);

// The machine and the endpoints of a samples document; `name` NULL: the processor's.
void roster_describe(struct samples *samples, const struct roster *roster, const char *name,
                     struct arena *arena);

// Sampling with several ranks: the rules of rounds.h, where rank 0 decides and all others follow.
// Cells that run at the same time form a step, steps between the same ranks a turn. Each round
// takes every open turn, in the same shuffled order everywhere; all ranks synchronise before a
// turn, but not between its steps. After a round rank 0 gets the times and decides which steps
// continue. A step continues while any of its cells is not known well enough, so that the cells
// running together stay the same.

struct joint_cell {
    struct sample sample; // seconds and what follows from them: at rank 0 only
    int capacity;
    bool done;
};

struct step {
    int first, count;
}; // of the cells; count >= 1
struct turn {
    int first, count;
}; // of the steps

struct joint {
    struct joint_cell *cells;
    int cell_count;
    struct step *steps; // cover the cells in order
    int step_count;
    struct turn *turns; // cover the steps in order
    int turn_count;
};

// One repetition of a cell by this rank. *seconds: the cell's time if this rank knows it,
// otherwise negative (the largest over all ranks counts). `number` differs for every repetition of
// every cell and is the same on all ranks.
typedef enum status joint_function(void *context, const struct sample *sample, uint64_t number,
                                   double *seconds, struct error *err);

enum progress { PROGRESS_NONE, PROGRESS_LINES, PROGRESS_TERMINAL };

struct joint_settings {
    double budget_s, width; // as in struct rounds_settings
    int repetitions_min, repetitions_max, warm_ups;
    uint64_t seed;
    enum progress progress; // at rank 0, on stderr
};

struct joint_result {
    int rounds, repetitions, done, outliers;
    bool interrupted; // by a signal: whole rounds are kept, no more are taken
    double elapsed_s;
};

enum status joint_run(struct joint_result *result, struct ranks *ranks, struct joint *joint,
                      const struct joint_settings *settings, joint_function *repeat, void *context,
                      struct arena *arena, struct error *err);

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

// Groups of ranks, from words of a command line.

struct member_list {
    int *members; // [count] ascending
    int count;
};

struct groups {
    struct member_list *lists;
    int count;
};

// A word is "all", "hosts" (the ranks of each host), "across" (the first ranks of all hosts, the
// second ones ...), or ranks: "0,1,4-7". "hosts" and "across" leave out groups of one; a repeated
// group is kept once.
enum status groups_read(struct groups *groups, const char *const *words, int word_count,
                        const struct endpoint *endpoints, int endpoint_count, struct arena *arena,
                        struct error *err);

bool groups_are_disjoint(const struct groups *groups, int endpoint_count, struct arena *arena);
bool group_has(const struct member_list *list, int rank);

// Who talks to whom, and when: every ordered pair once, in turns in which nobody takes part twice;
// the lengths of messages; and their contents, by which a wrong byte is detected.

struct pair {
    int from, to;
};

// Turns 0 .. pairs_turns(count) - 1, each with at most count / 2 pairs (source: the circle method
// for tournaments; every turn of it is held twice, once in each direction).
int pairs_turns(int count);
int pairs_of_turn(int count, int turn, struct pair *pairs);

// smallest, smallest x factor ... largest; the last step may be shorter. Returns how many; at most
// ladder_max.
enum { LADDER_MAX = 64 };
int ladder_sizes(int64_t smallest, int64_t largest, int64_t factor, int64_t *sizes);

// Bytes that follow from the message's number; those of another message differ nearly everywhere.
void pattern_fill(void *data, int64_t bytes, uint64_t number);
int64_t pattern_first_wrong(const void *data, int64_t bytes, uint64_t number); // -1: none

// A summary for people of the links just measured; for costs, the samples go to plumbline
// calibrate.

// A matrix of rates and one of delays (up to 16 endpoints); then by name: links that differ in
// their two directions, links slower than most, links that slow down when others are busy.
void links_report(FILE *to, const struct samples *samples, struct arena *arena);
