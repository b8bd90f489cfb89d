// The names of symbols.
#include "data/schedule/schedule.h"

#define PARTS_OF(message, slice)                                                                   \
    message ".blocking" slice, message ".link" slice, message ".delay" slice,                      \
        message ".overhead" slice
#define SLICE_NAMES(slice)                                                                         \
    "forward" slice, "backward" slice, "weight" slice, "sync" slice, "optimizer" slice,            \
        PARTS_OF("send_forward", slice), PARTS_OF("send_backward", slice),                         \
        PARTS_OF("send_epilogue", slice), "embedding_sync" slice, "queued_sync" slice,             \
        "away" slice, "back" slice
#define OF_NINE_SLICES(tens)                                                                       \
    SLICE_NAMES(tens "1"), SLICE_NAMES(tens "2"), SLICE_NAMES(tens "3"), SLICE_NAMES(tens "4"),    \
        SLICE_NAMES(tens "5"), SLICE_NAMES(tens "6"), SLICE_NAMES(tens "7"),                       \
        SLICE_NAMES(tens "8"), SLICE_NAMES(tens "9")

const char *symbol_kind_name(int kind)
{
    static const char *const names[] = {
        SLICE_NAMES(""),          OF_NINE_SLICES(".slice "),
        SLICE_NAMES(".slice 10"), OF_NINE_SLICES(".slice 1"),
        SLICE_NAMES(".slice 20"), OF_NINE_SLICES(".slice 2"),
        SLICE_NAMES(".slice 30"), SLICE_NAMES(".slice 31"),
    };
    _Static_assert(ARRAY_LENGTH(names) == SLICES_MAX * SYMBOL_KIND_COUNT, "a name for every kind");
    return kind >= 0 && (size_t)kind < ARRAY_LENGTH(names) ? names[kind] : "unknown";
}
