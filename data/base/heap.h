// A heap in an array, with the first item on top: HEAP(name, type, before) defines name_push and
// name_pop for items of the type, where before(type const *, type const *) says which of two comes
// first. The caller makes room for an item (grow.h).
#pragma once

#include <assert.h>

#define HEAP(name, type, before)                                                                   \
    static void name##_push(type *heap, int *count, type const *item)                              \
    {                                                                                              \
        int at = (*count)++;                                                                       \
        for (; at > 0 && before(item, &heap[(at - 1) / 2]); at = (at - 1) / 2)                     \
            heap[at] = heap[(at - 1) / 2];                                                         \
        heap[at] = *item;                                                                          \
    }                                                                                              \
                                                                                                   \
    static type name##_pop(type *heap, int *count)                                                 \
    {                                                                                              \
        assert(*count > 0);                                                                        \
        type top = heap[0];                                                                        \
        type last = heap[--*count];                                                                \
        int at = 0;                                                                                \
        for (int child; (child = 2 * at + 1) < *count; at = child) {                               \
            if (child + 1 < *count && before(&heap[child + 1], &heap[child])) child++;             \
            if (!before(&heap[child], &last)) break;                                               \
            heap[at] = heap[child];                                                                \
        }                                                                                          \
        heap[at] = last;                                                                           \
        assert(!*count || !before(&heap[0], &top));                                                \
        return top;                                                                                \
    }
