// The names of symbols, and which slice they belong to.
#include <stdio.h>

#include "data/schedule/schedule.h"

int symbol_slice(int kind)
{
    return kind < SYMBOL_KIND_COUNT ? 0 : (kind - SYMBOL_KIND_COUNT) / SLICE_KIND_COUNT + 1;
}

int symbol_base_kind(int kind)
{
    if (kind < SYMBOL_KIND_COUNT) return kind;
    int slice_kind = (kind - SYMBOL_KIND_COUNT) % SLICE_KIND_COUNT;
    if (slice_kind == SLICE_FORWARD) return SYMBOL_FORWARD;
    if (slice_kind == SLICE_BACKWARD) return SYMBOL_BACKWARD;
    return slice_kind < SLICE_SEND_BACKWARD
               ? SYMBOL_SEND_FORWARD + slice_kind - SLICE_SEND_FORWARD
               : SYMBOL_SEND_BACKWARD + slice_kind - SLICE_SEND_BACKWARD;
}

#define SLICE_NAMES(n)                                                                             \
    "forward.slice " n, "backward.slice " n, "send_forward.blocking.slice " n,                     \
        "send_forward.link.slice " n, "send_forward.delay.slice " n,                               \
        "send_forward.overhead.slice " n, "send_backward.blocking.slice " n,                       \
        "send_backward.link.slice " n, "send_backward.delay.slice " n,                             \
        "send_backward.overhead.slice " n
#define OF_NINE_SLICES(tens)                                                                       \
    SLICE_NAMES(tens "1"), SLICE_NAMES(tens "2"), SLICE_NAMES(tens "3"), SLICE_NAMES(tens "4"),    \
        SLICE_NAMES(tens "5"), SLICE_NAMES(tens "6"), SLICE_NAMES(tens "7"),                       \
        SLICE_NAMES(tens "8"), SLICE_NAMES(tens "9")

const char *symbol_kind_name(int kind)
{
    static const char *const names[] = {
        "forward",
        "backward",
        "weight",
        "sync",
        "optimizer",
        "send_forward.blocking",
        "send_forward.link",
        "send_forward.delay",
        "send_forward.overhead",
        "send_backward.blocking",
        "send_backward.link",
        "send_backward.delay",
        "send_backward.overhead",
        "send_epilogue.blocking",
        "send_epilogue.link",
        "send_epilogue.delay",
        "send_epilogue.overhead",
        "embedding_sync",
        OF_NINE_SLICES(""),
        SLICE_NAMES("10"),
        OF_NINE_SLICES("1"),
        SLICE_NAMES("20"),
        OF_NINE_SLICES("2"),
        SLICE_NAMES("30"),
        SLICE_NAMES("31"),
    };
    _Static_assert(ARRAY_LENGTH(names) == SYMBOL_KIND_COUNT + (SLICES_MAX - 1) * SLICE_KIND_COUNT,
                   "a name for every kind");
    return kind >= 0 && (size_t)kind < ARRAY_LENGTH(names) ? names[kind] : "unknown";
}
