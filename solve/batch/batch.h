// A batch: many problems, each solved, certified, verified and checked in a folder of its own.
//
//    FOLDER/instances.jsonl   the expanded manifest, a line for each instance
//    FOLDER/journal           what happened, a line for each event
//    FOLDER/lock              held by anyone working with this list of instances
//    FOLDER/ID/               model, cluster, costs, job and problem; never changed
//    FOLDER/ID/lock           held by the process that solves it, and by what it started
//    FOLDER/ID/attempt/       in progress
//    FOLDER/ID/result/        attempt, renamed once all of it was on disk; never changed
//    FOLDER/ID/failure/       the same, if there is no result; replaced by the next attempt
//    FOLDER/ID/saved/         the same, from an attempt that was stopped
#pragma once

#include <signal.h>

#include "data/text/json.h"
#include "data/base/command.h"

enum { ID_SIZE = 17 }; // 16 hexadecimal digits and the terminator
enum { INSTANCES_MAX = 20000 };

// What the manifest states for an instance: a key of a sweep or an option, and its value.
struct batch_key {
    const char *key, *text;
};

struct instance {
    char id[ID_SIZE];    // from its documents, options and this version
    const char *problem; // its name: times are compared between instances of the same name
    struct batch_key *keys;
    int key_count;
    const char **words; // options of plumbline solve
    int word_count;
    int parts; // into which its space is divided; 0: not divided
    int part;  // 1 to parts: this part of the instance `whole`, which is put together once all
               // parts are done, and precedes them in the list; 0: not a part
    char whole[ID_SIZE];
    bool certified; // a proof of its bound is requested
    int threads;
    double estimate; // of its effort, in arbitrary units
};

struct batch {
    const char *folder;
    struct instance *items;
    int count, capacity;
};

// ---- manifest.c: what is to be solved

// Reads the manifest and expands it; puts the documents of new instances into the folder. Points
// of a sweep that do not fit are reported on stderr and left out. BAD_INPUT: an invalid line, or
// one of which nothing fits.
enum status batch_read(struct batch *b, const char *manifest, struct arena *arena,
                       struct error *err);

// ---- list.c

enum status batch_load(struct batch *b, const char *folder, struct arena *arena, struct error *err);
// Keeps an existing list if it is the same. The folder's lock is held until the process ends.
// BAD_INPUT: another batch works there with another list.
enum status batch_save(const struct batch *b, struct arena *arena, struct error *err);
// All keys, in order of appearance.
const char *const *batch_keys(const struct batch *b, int *count, struct arena *arena);
// Those whose value differs between instances, ended by NULL; and an instance's label: its values
// of those.
const char *const *batch_varying(const struct batch *b, struct arena *arena);
const char *instance_label(const struct instance *i, const char *const *varying,
                           struct arena *arena);
const struct instance *batch_find(const struct batch *b, const char *id); // NULL: none
const char *instance_key(const struct instance *i, const char *key);      // NULL: not stated

// ---- folder.c: contents of the folder

enum state { STATE_WAITING, STATE_RUNNING, STATE_DONE, STATE_FAILED };
extern const char *const batch_state_names[]; // "waiting", "running", "done", "failed"

const char *batch_path(const struct batch *b, const char *id, const char *name,
                       struct arena *arena);
bool batch_has(const struct batch *b, const char *id, const char *name, struct arena *arena);
// holder: who has its lock, in words; NULL if nobody has.
enum state batch_state(const struct batch *b, const char *id, const char **holder,
                       struct arena *arena);
void folder_remove_files(const char *path); // and the folder, which has no subfolders
void folder_flush(const char *path);        // flushes renames in it to disk
// *file -1: another process has it. Processes started meanwhile hold it, too.
enum status lock_take(int *file, const char *path, bool shared, struct error *err);
enum status lock_share(int file, const char *path, struct error *err); // a lock that was not
// Appends one line, safely with several writers.
void batch_note(const struct batch *b, const char *event, const char *id, double seconds);

// ---- child.c: started programs

extern volatile sig_atomic_t stop_count; // termination signals so far
void signals_listen(void);               // from now on they are counted, and SIGCHLD wakes
void signals_sleep(double seconds);      // until then, or until one comes

struct child_request {
    const char *const *words; // arguments of this program, without its name, ended by NULL
    const char *folder;       // NULL: the current one
    const char *output, *log; // files for standard output and standard error, the second appended
                              // to; NULL: ours
    bool apart;               // in its own process group: the terminal's signals do not reach it
    const char *program;      // NULL: this one
};
enum status child_start(pid_t *id, const struct child_request *request, struct error *err);
bool child_ended(pid_t id, int *code); // 128 plus the signal, if one ended it
// Forwards termination signals, and the death of our parent. *stopped: there was one. enough: a
// file whose existence ends a child that was told to stop; NULL: none.
int child_wait(pid_t id, bool *stopped, const char *enough);

// ---- one.c, run.c: one instance; all of them, each in a process that runs `batch one`

// Exit codes of `batch one` and `batch run` besides 0 and 2.
enum { BATCH_FAILED = 1, BATCH_STOPPED = 30, BATCH_BUSY = 31 };
// resume: starts from the plan of an attempt that was stopped, where solve can.
enum status batch_solve_one(int *exit_code, const struct batch *b, const struct instance *i,
                            bool resume, struct arena *arena, struct error *err);
// In processes of `batch one`, at most so many threads at a time, the longest first.
enum status batch_solve_all(int *exit_code, const struct batch *b, int jobs, bool resume,
                            bool quiet, struct arena *arena, struct error *err);

// Lines of a manifest, and their expansion.

// The value of a key of a line, or several in turn.
struct axis {
    const char *key;
    struct json *values;
    int count;
    bool is_option;
};

struct line {
    const char *manifest, *file; // file: with the line, for messages
    const char *name;            // NULL: none given
    struct axis *axes;
    int axis_count;
};

// A value for each axis.
struct point {
    const struct line *line;
    int *at;               // [axis_count]
    struct arena *scratch; // for this point only
};

// NULL: the line has no such key.
const struct json *point_value(const struct point *c, const char *key);
const char *value_text(const struct json *value, struct arena *arena); // as shown in a table

// settings.c: "--key value", without the value for a switch; the caller provides room for two
// words.
void add_words(const char **words, int *count, const char *key, const char *value,
               struct arena *arena);
// The options of plumbline solve in the line.
enum status point_options(struct instance *i, const struct point *c, struct arena *arena,
                          struct error *err);
// Whether solve accepts them for this problem; sets what follows from both.
enum status point_suits(struct instance *i, const struct point *c, const char *problem_path,
                        struct arena *arena, struct error *err);

// documents.c: the instance's folder with its documents; sets its id. BAD_INPUT: it does not fit.
// UNAVAILABLE: it cannot be written.
enum status point_place(const struct batch *b, struct instance *i, const struct point *c,
                        struct error *err);

// A batch as arrays of Slurm.

struct slurm_request {
    struct option_texts sbatch; // words for sbatch
    int jobs;                   // maximum number of running tasks
    int submissions;            // of one instance, at most
    int before_limit_s;         // a task is stopped this long before the job's time limit
    bool resume, quiet;
};

// Submits what has no result and is in no queue, waits for it, and submits again what was killed.
// If stopped, it leaves the jobs, and the next run finds them. UNAVAILABLE: sbatch refuses.
enum status batch_slurm(int *exit_code, const struct batch *b, const struct slurm_request *request,
                        struct arena *arena, struct error *err);

// The outcome of an instance: status.json, in its result's or failure's folder.

struct result {
    const char *id;      // the instance's
    const char *outcome; // as in the plan: optimal, open, infeasible, no_plan; or failed
    const char *reason;  // of a failure, or why a bound has no certificate; NULL: none
    bool verified;       // the judge accepted the plan
    bool certified;      // the checker accepted a certificate of the bound
    int64_t bound_ns;    // certified by it; -1: none
    double solve_s, verify_s, check_s; // wall-clock time
    int64_t certificate_bytes;         // 0: there is none
    const char *certificate_sha256;    // "": none
    int64_t memory_bytes;              // of the largest process
};

extern const struct members result_members; // its keys (data/text/members.h)
enum status result_save(const struct result *r, const struct instance *i, const char *path,
                        struct arena *arena, struct error *err);
enum status result_load(struct result *r, const char *path, struct arena *arena, struct error *err);
