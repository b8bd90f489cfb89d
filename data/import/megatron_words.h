// The flags of a Megatron-LM argument list or launch script: words as a shell sees them, as far as
// such scripts go.
#ifndef PLUMBLINE_DATA_IMPORT_MEGATRON_WORDS_H
#define PLUMBLINE_DATA_IMPORT_MEGATRON_WORDS_H

#include "data/base/arena.h"
#include "data/base/status.h"

enum { FLAG_VALUES_MAX = 64 };

struct megatron_flag {
    const char *name; // without the dashes before it, '-' for '_'
    const char *values[FLAG_VALUES_MAX];
    int value_count;
    bool read; // set by who reads it
};

struct megatron_words {
    struct megatron_flag *flags; // in their order
    int count;
    struct variable *variables;
    int variable_count;
    struct arena *arena;
};

// NAME=value is remembered and put where $NAME or ${NAME} stands, in single quotes nowhere; a value
// that holds flags is read as flags itself. Comments, ends of lines, brackets and what $( ) would
// run are passed over. BAD_INPUT: too many flags.
enum status megatron_words_read(struct megatron_words *w, const char *text, struct arena *arena,
                                struct error *err);

#endif
