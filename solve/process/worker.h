// Worker processes: forked, and connected through sockets. A worker's abort, crash, hang or
// exhausted memory ends only that process; the pool reports it and starts another. What a worker
// computes is a function of the message it gets and of the memory it was forked with.
#pragma once

#include <stdint.h>

#include "data/base/arena.h"

// Bytes between processes of one machine; values are read in the order in which they were written.
// A message that ends too early sets `broken` and yields zeros; a length from the other side is
// never trusted beyond what is there.

struct message {
    char *bytes;
    size_t used, capacity, read;
    bool broken;
    struct arena *arena;
};

void message_begin(struct message *m, struct arena *arena);
void message_put(struct message *m, const void *bytes, size_t size);
void message_put_count(struct message *m, int64_t value);
void message_get(struct message *m, void *bytes, size_t size);
int64_t message_get_count(struct message *m);
// An array's length, at most what the rest of the message can contain.
int message_get_length(struct message *m, size_t element_size);
// Reads `count` elements into the arena; none if the rest of the message cannot contain them.
void *message_get_array(struct message *m, int64_t count, size_t element_size, struct arena *arena);
// An array that a struct points to, after the struct itself: put or, with an arena, read into it.
// pointer: that of the array's pointer; NULL stays NULL.
void message_pass_array(struct message *m, void *pointer, int64_t count, size_t element_size,
                        struct arena *arena);
void message_put_text(struct message *m, const char *text); // NULL: as ""
const char *message_get_text(struct message *m, struct arena *arena);

// Runs in the worker for each message; arena is emptied after it. out is NULL for messages of
// worker_pool_tell.
typedef void worker_function(void *context, struct message *in, struct message *out,
                             struct arena *arena);

struct worker_pool;
struct worker_settings {
    int count; // 0: none; the caller's thread does all the work, and is not safe from hangs
    int64_t memory_limit_bytes; // of one worker, address space; 0: none
    double silence_limit_s;     // a worker that does not answer for this long is ended; 0: none
    worker_function *run;
    void *context;
};
enum status worker_pool_open(struct worker_pool **pool, const struct worker_settings *settings,
                             struct arena *arena, struct error *err);
void worker_pool_close(struct worker_pool *pool); // ends all processes

// Sent to every worker before its next request. A worker started later gets it by the fork: the
// caller must itself have taken it in by then. The bytes must stay.
void worker_pool_tell(struct worker_pool *pool, const struct message *message);

// Gets the answers to requests[0..count); answers[i].broken if the worker died on request i (*why
// says how). Which worker gets which request is unspecified. stop_asked is called about every 20
// ms; if true, the wait and all workers are ended and false is returned.
bool worker_pool_run(struct worker_pool *pool, struct message *requests, int count,
                     struct message *answers, bool (*stop_asked)(void *), void *argument,
                     const char **why, struct arena *arena);
