// Ownership in one sentence: whatever a function creates is in the arena it was given, and nobody
// frees single objects. Foreign handles (GLPK problems, FILEs) are deferred to the arena, which
// releases them in reverse order. On exhaustion, a call does not return: it jumps to the arena's
// exit (a jmp_buf set once, by the front door), so no caller tests for NULL and there is no
// untested branch.
#pragma once

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include "data/base/status.h"

struct arena_block;
struct arena_deferred;
struct file_held;

struct arena {
    struct arena_block *block; // newest first
    struct arena_block *spare; // of the usual size, of a reset, to be handed out again
    int spare_count;
    struct arena_deferred *deferred; // newest first
    jmp_buf *exit;    // target of the jump on exhaustion, with value 1; NULL: abort()
    bool holds_files; // file_read (data/base/file.h) reads each file once
    struct file_held *files;
};

struct arena_mark {
    struct arena_block *block;
    size_t used;
    struct arena_deferred *deferred;
    struct file_held *files;
};

// What file_read keeps of a file in an arena that holds files, under its absolute path. What is
// parsed from it by a caller that needs it more than once is in a separate arena.
struct file_held {
    struct file_held *older;
    const char *path, *text;
    size_t size;
    struct arena *own;
    void *parsed;
};

void arena_open(struct arena *arena, jmp_buf *exit);
void arena_close(struct arena *arena);

// A separate arena within the owner, closed with it at the latest.
struct arena *arena_open_within(struct arena *owner);

// count x size zeroed bytes, aligned for any type. Never NULL, even for zero bytes.
void *arena_take(struct arena *arena, size_t count, size_t size);

// A copy of old[0..old_count) with room for new_count elements, the rest zeroed. The old array
// stays valid.
void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t new_count,
                 size_t size);

char *arena_copy_text(struct arena *arena, const char *text);
char *arena_print(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// release(object) runs when the arena is closed, or reset past this point (or at once, if even this
// cannot be recorded).
void arena_defer(struct arena *arena, void (*release)(void *object), void *object);

// Leaves through the arena's exit, as any taking that fails.
_Noreturn void arena_exhaust(struct arena *arena);

// Counts what a foreign library is about to take for an object that is deferred next, until that is
// released. SYSTEM, with the file that needs it: the limit of memory does not allow it.
enum status arena_hold(struct arena *arena, size_t bytes, const char *file, struct error *err);

// Scratch: arena_reset releases everything taken since the mark.
struct arena_mark arena_set_mark(struct arena *arena);
void arena_reset(struct arena *arena, struct arena_mark mark);

#define TAKE(arena, count, type) ((type *)arena_take((arena), (size_t)(count), sizeof(type)))
// A copy of items[0..count).
#define TAKE_COPY(arena, items, count)                                                             \
    arena_grow((arena), (items), (size_t)(count), (size_t)(count), sizeof *(items))

// For tests: the n-th allocation (from 1) after the call fails, and all after it; 0: none fails.
void memory_fail_at(long n);
long memory_taken(void); // allocations since the last memory_fail_at()

// A limit for programs that audit untrusted files, on everything that the thread allocates beyond
// what it holds now; 0: none. Beyond the limit, memory counts as exhausted. While there is a limit,
// file_read raises it by a fixed amount for each byte that it reads.
enum { MEMORY_BASE_MIB = 48, MEMORY_FOR_A_BYTE = 24 };
void memory_limit(size_t bytes);
void memory_allow(size_t bytes); // raises the limit, if there is one
size_t memory_limit_now(void);
bool memory_limit_is_met(void); // something was refused since it was set
// Counts memory that a foreign library takes: false if the limit does not allow it.
bool memory_hold(size_t bytes);
void memory_release(size_t bytes);
