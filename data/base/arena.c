// Arenas: memory that is released all at once, and its count against a thread's limit.
#include "data/base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// With the address sanitizer, memory that an arena has not handed out is poisoned: what was
// released, and a gap after each piece.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { GAP_BYTES = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
enum { GAP_BYTES = 0 };
#endif

enum {
    BLOCK_BYTES = 1 << 16,
    SPARE_MAX = 64, // blocks that an arena keeps when it is reset
    SMALL_BLOCK_BYTES = 1 << 11
}; // small where failures are planted, so that more places fail

struct arena_block {
    struct arena_block *older;
    size_t capacity, used;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena_deferred {
    struct arena_deferred *older;
    void (*release)(void *object);
    void *object;
};

// The only mutable globals below the front door, separate for each thread: the planted failure of
// the tests, and the limit.
static _Thread_local long fail_at, taken;
static _Thread_local size_t limit, held; // bytes; limit 0: none
static _Thread_local bool limit_is_met;

void memory_fail_at(long n)
{
    fail_at = n;
    taken = 0;
}

long memory_taken(void) { return taken; }

void memory_limit(size_t bytes)
{
    limit = bytes ? held + bytes : 0;
    limit_is_met = false;
}

void memory_allow(size_t bytes)
{
    if (limit && __builtin_add_overflow(limit, bytes, &limit)) limit = SIZE_MAX;
}

size_t memory_limit_now(void) { return limit; }
bool memory_limit_is_met(void) { return limit_is_met; }

bool memory_hold(size_t bytes)
{
    if (limit && (held > limit || bytes > limit - held)) return limit_is_met = true, false;
    held += bytes;
    return true;
}

void memory_release(size_t bytes)
{
    held -= bytes < held ? bytes : held; // another thread may have allocated them
}

static void *memory_take(size_t bytes)
{
    taken++;
    if ((fail_at && taken >= fail_at) || !memory_hold(bytes)) return NULL;
    void *memory = malloc(bytes);
    if (!memory) memory_release(bytes);
    return memory;
}

static void memory_give(void *memory, size_t bytes)
{
    memory_release(bytes);
    free(memory);
}

void arena_open(struct arena *arena, jmp_buf *exit) { *arena = (struct arena){.exit = exit}; }

_Noreturn void arena_exhaust(struct arena *arena)
{
    if (!arena->exit) abort();
    longjmp(*arena->exit, 1);
}

void arena_reset(struct arena *arena, struct arena_mark mark)
{
    while (arena->deferred != mark.deferred) {
        struct arena_deferred *d = arena->deferred;
        arena->deferred = d->older;
        d->release(d->object);
    }
    while (arena->block != mark.block) {
        struct arena_block *b = arena->block;
        arena->block = b->older;
        ASAN_POISON_MEMORY_REGION(b->bytes, b->capacity);
        if (b->capacity == BLOCK_BYTES && arena->spare_count < SPARE_MAX)
            b->older = arena->spare, arena->spare = b, arena->spare_count++;
        else memory_give(b, sizeof *b + b->capacity);
    }
    if (arena->block) {
        struct arena_block *b = arena->block;
        b->used = mark.used;
        ASAN_POISON_MEMORY_REGION(b->bytes + b->used, b->capacity - b->used);
    }
    arena->files = mark.files;
}

void arena_close(struct arena *arena)
{
    arena_reset(arena, (struct arena_mark){0});
    for (struct arena_block *b; (b = arena->spare); arena->spare_count--) {
        arena->spare = b->older;
        memory_give(b, sizeof *b + b->capacity);
    }
}

struct arena_mark arena_set_mark(struct arena *arena)
{
    return (struct arena_mark){arena->block, arena->block ? arena->block->used : 0, arena->deferred,
                               arena->files};
}

// The C library clears 2 KiB and more by an instruction that repeats byte by byte, and starts
// slowly.
static void clear(unsigned char *to, size_t bytes)
{
    const size_t part = 1024;
    for (; bytes > part && bytes <= BLOCK_BYTES; to += part, bytes -= part) memset(to, 0, part);
    memset(to, 0, bytes);
}

static void *try_take(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2) return NULL;
    size_t lent = bytes;
    bytes = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    bytes += GAP_BYTES;
    struct arena_block *b = arena->block;
    if (!b || b->capacity - b->used < bytes) {
        size_t least = fail_at ? SMALL_BLOCK_BYTES : BLOCK_BYTES,
               capacity = bytes > least ? bytes : least;
        b = capacity == BLOCK_BYTES ? arena->spare : NULL;
        if (b) arena->spare = b->older, arena->spare_count--;
        else b = memory_take(sizeof *b + capacity);
        if (!b) return NULL;
        *b = (struct arena_block){.older = arena->block, .capacity = capacity};
        ASAN_POISON_MEMORY_REGION(b->bytes, capacity);
        arena->block = b;
    }
    void *result = b->bytes + b->used;
    b->used += bytes;
    ASAN_UNPOISON_MEMORY_REGION(result, lent);
    clear(result, lent);
    return result;
}

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    void *result = try_take(arena, count, size);
    if (!result) arena_exhaust(arena);
    return result;
}

void *arena_grow(struct arena *arena, const void *old, size_t old_count, size_t new_count,
                 size_t size)
{
    assert(new_count >= old_count);
    void *result = arena_take(arena, new_count, size);
    if (old_count) memcpy(result, old, old_count * size);
    return result;
}

char *arena_copy_text(struct arena *arena, const char *text)
{
    size_t length = strlen(text) + 1;
    return memcpy(arena_take(arena, length, 1), text, length);
}

char *arena_print(struct arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert(length >= 0);
    char *text = arena_take(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

static void close_within(void *arena) { arena_close(arena); }

struct arena *arena_open_within(struct arena *owner)
{
    struct arena *arena = arena_take(owner, 1, sizeof *arena);
    arena_open(arena, owner->exit);
    arena_defer(owner, close_within, arena);
    return arena;
}

void arena_defer(struct arena *arena, void (*release)(void *object), void *object)
{
    struct arena_deferred *d = try_take(arena, 1, sizeof *d);
    if (!d) {
        release(object);
        arena_exhaust(arena);
    }
    *d = (struct arena_deferred){arena->deferred, release, object};
    arena->deferred = d;
}

static void release_held(void *bytes) { memory_release(*(size_t *)bytes); }

enum status arena_hold(struct arena *arena, size_t bytes, const char *file, struct error *err)
{
    size_t *counted = TAKE(arena, 1, size_t);
    if (!memory_hold(bytes))
        return fail(err, SYSTEM,
                    "%s: needs more memory than the %zu MiB allowed for these files, %zu MiB for "
                    "its values alone; raise --memory-limit-mib",
                    file, limit >> 20, bytes >> 20);
    *counted = bytes;
    arena_defer(arena, release_held, counted);
    return OK;
}
