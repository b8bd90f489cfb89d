// The flags of a Megatron-LM argument list or launch script: words as a shell reads them, as far as
// such scripts need.
#ifndef PLUMBLINE_DATA_IMPORT_MEGATRON_WORDS_H
#define PLUMBLINE_DATA_IMPORT_MEGATRON_WORDS_H

#include "data/base/arena.h"
#include "data/base/status.h"

enum { FLAG_VALUES_MAX = 64 };

struct megatron_flag {
    const char *name; // without the leading dashes, '-' for '_'
    const char *values[FLAG_VALUES_MAX];
    int value_count;
    bool read; // set by the code that reads it
};

struct megatron_words {
    struct megatron_flag *flags; // in their order
    int count;
    struct variable *variables;
    int variable_count;
    struct arena *arena;
};

// NAME=value is stored and inserted for $NAME or ${NAME}, except in single quotes; a value that
// contains flags is read as flags as well. Comments, line ends, brackets and commands in $( ) are
// skipped. BAD_INPUT: too many flags.
enum status megatron_words_read(struct megatron_words *w, const char *text, struct arena *arena,
                                struct error *err);

#endif
