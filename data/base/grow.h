// Makes room for one more item in a growable array of an arena. A full array moves to twice its
// size plus `first`; the old one stays in the arena, so all old ones together take at most twice
// the last. `count` and `capacity` may have any integer type.
#pragma once

#include "data/base/arena.h"

#define GROW(arena, items, count, capacity, first)                                                 \
    GROW_ROWS(arena, items, count, capacity, first, sizeof *(items))

// The same for items that are rows of `bytes` bytes.
#define GROW_ROWS(arena, items, count, capacity, first, bytes)                                     \
    ((count) == (capacity)                                                                         \
         ? (void)((items) = arena_grow((arena), (items), (size_t)(count),                          \
                                       (size_t)(2 * (capacity) + (first)), (bytes)),               \
                  (capacity) = 2 * (capacity) + (first))                                           \
         : (void)0)

// The place of one more item, which counts from now on: *GROWN(...) = item, where the item's own
// expression does not have the count in it.
#define GROWN(arena, items, count, capacity, first)                                                \
    (GROW(arena, items, count, capacity, first), &(items)[(count)++])

// Room for `more` bytes after the `used` ones, plus one for the terminating zero of a text.
#define GROW_BYTES(arena, text, used, more, capacity)                                              \
    do {                                                                                           \
        if ((capacity) - (used) <= (more)) {                                                       \
            (capacity) = 2 * (capacity) + (more) + 1024;                                           \
            (text) = arena_grow((arena), (text), (used), (capacity), 1);                           \
        }                                                                                          \
    } while (0)
