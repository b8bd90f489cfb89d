// A batch: many problems, each solved, certified, verified and checked in a folder of its own.
//
//     FOLDER/instances.jsonl   what the manifest came to, a line an instance
//     FOLDER/journal           what happened, a line an event
//     FOLDER/lock              held by whoever works with this list of instances
//     FOLDER/ID/               model, cluster, costs, job and problem; never changed
//     FOLDER/ID/lock           held by whoever solves it, and by what that has started
//     FOLDER/ID/attempt/       being made
//     FOLDER/ID/result/        attempt, renamed when all of it was on the disk; never changed
//     FOLDER/ID/failure/       likewise, where there is no result; replaced by the next attempt
//     FOLDER/ID/saved/         likewise, of an attempt that was told to stop
#ifndef PLUMBLINE_SOLVE_BATCH_BATCH_H
#define PLUMBLINE_SOLVE_BATCH_BATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "data/base/arena.h"
#include "data/base/status.h"

enum { ID_SIZE = 17 }; // 16 hexadecimal digits and the end
enum { INSTANCES_MAX = 20000 };

// What the manifest says of an instance: a key of a sweep or an option, and its value.
struct batch_key {
    const char *key, *text;
};

struct instance {
    char id[ID_SIZE];    // of its documents, options and this version
    const char *problem; // its name: times are compared with those of the same one
    struct batch_key *keys;
    int key_count;
    const char **words; // options of plumbline solve
    int word_count;
    int parts; // in which its space is searched; 0: whole
    int part;  // 1 to parts: this one of the instance `whole`, which is put together when none of
               // them is left to do, and stands before them in the list; 0: not a part
    char whole[ID_SIZE];
    bool certified; // its bound is asked for with a proof
    int threads;
    double estimate; // of its effort, in units of its own
};

struct batch {
    const char *folder;
    struct instance *items;
    int count, capacity;
};

// ---- manifest.c: what is to be solved

// Reads the manifest and expands it; puts the documents of what is new into the folder. What does
// not fit of a sweep is told on stderr and left out. BAD_INPUT: a line that is none, or of which
// nothing fits.
enum status batch_read(struct batch *b, const char *manifest, struct arena *arena,
                       struct error *err);

// ---- list.c

enum status batch_load(struct batch *b, const char *folder, struct arena *arena, struct error *err);
// Keeps what stands there if it is the same. The folder's lock is held until the process ends.
// BAD_INPUT: another batch works there with another list.
enum status batch_save(const struct batch *b, struct arena *arena, struct error *err);
// All keys, in the order in which they appear.
const char *const *batch_keys(const struct batch *b, int *count, struct arena *arena);
// Those whose value is not the same everywhere, ended by NULL; and what tells an instance apart:
// its values of those.
const char *const *batch_varying(const struct batch *b, struct arena *arena);
const char *instance_label(const struct instance *i, const char *const *varying,
                           struct arena *arena);
const struct instance *batch_find(const struct batch *b, const char *id); // NULL: none
const char *instance_key(const struct instance *i, const char *key);      // NULL: not said

// ---- folder.c: what lies where

enum state { STATE_WAITING, STATE_RUNNING, STATE_DONE, STATE_FAILED };

const char *batch_path(const struct batch *b, const char *id, const char *name,
                       struct arena *arena);
bool batch_has(const struct batch *b, const char *id, const char *name, struct arena *arena);
// holder: who has its lock, in words; NULL where nobody has.
enum state batch_state(const struct batch *b, const char *id, const char **holder,
                       struct arena *arena);
enum status folder_make(const char *path, struct error *err); // as many as are missing
void folder_remove_files(const char *path); // and the folder, which holds no others
void folder_flush(const char *path);        // what was renamed in it is on the disk
// *file -1: somebody else has it. What is started meanwhile holds it too.
enum status lock_take(int *file, const char *path, bool shared, struct error *err);
enum status lock_share(int file, const char *path, struct error *err); // a lock that was not
// One line behind the others, whoever writes them.
void batch_note(const struct batch *b, const char *event, const char *id, double seconds);

// ---- child.c: programs that are started

extern volatile sig_atomic_t stop_count; // signals to end that have come
void signals_listen(void);               // from now on they are counted, and SIGCHLD wakes
void signals_sleep(double seconds);      // until then, or until one comes

struct child_request {
    const char *const *words; // ended by NULL; this program's, without its name
    const char *folder;       // NULL: where it is
    const char *output, *log; // of standard output and standard error, which is added to; NULL:
                              // ours
    bool apart; // in a group of processes of its own: the terminal's signals do not reach it
    const char *program; // NULL: this one
};
enum status child_start(pid_t *id, const struct child_request *request, struct error *err);
bool child_ended(pid_t id, int *code); // 128 and the signal, where one ended it
// Passes signals to end on, and the death of who started us. *stopped: there was one.
// enough: a file whose being there ends a child that has been told; NULL: none.
int child_wait(pid_t id, bool *stopped, const char *enough);

// ---- one.c, run.c: one instance; all of them, by processes of the former

// Exit codes of `batch one` and `batch run` beside 0 and 2.
enum { BATCH_FAILED = 1, BATCH_STOPPED = 30, BATCH_BUSY = 31 };
// resume: begins from the plan that an attempt left when it was told to stop, where solve can.
enum status batch_solve_one(int *exit_code, const struct batch *b, const struct instance *i,
                            bool resume, struct arena *arena, struct error *err);
// In processes of `batch one`, at most so many threads at a time, the longest first.
enum status batch_solve_all(int *exit_code, const struct batch *b, int jobs, bool resume,
                            bool quiet, struct arena *arena, struct error *err);

#endif
