// Keys of logs as rows (key_rows.c), which keys.c reads by.
#pragma once

#include "data/import/logs/log.h"

enum how {
    AS_KIND,          // of a setting's row
    COUNT,            // a whole number above 0
    SEVERAL,          // above 1: a launcher's one task starts others
    WHOLE,            // 0 too
    TRUTH,            // true or false, or nothing behind it
    FALSITY,          // the opposite
    TEXT,             // any
    SWITCH_OR_TEXT,   // any; true and false state the switch beside it alone
    NAMES,            // 1 if it is the row's text, else 0
    MANY,             // the row's text, if it is a number above 1
    MEANS,            // the row's text, if it is true
    EITHER,           // the row's two texts, "A|B": A if it is true, else B
    NAMES_DISPATCHER, // of experts, in a framework's words
    NAMES_GRAPHS,     // a kind of CUDA graphs
    NAMES_LORA,       // 1 for LoRA and QLoRA, else 0
    PRESENT,          // 1, whatever it is
    SHARDS,           // FSDP's words for what it shards, and "offload"
    PLACES,           // 1; 0: the place is "none"
    POSITIVE,         // 1 if it is a number above 0; 0 does not undo another key's 1
};

struct key_row {
    const char *key; // in log_key_rows all that mean it, "A|B|C"
    enum told told;
    enum how how;
    const char *text;
    bool of_logs; // of log_key_rows, whatever a framework's row of that key means
};
extern const struct key_row log_key_rows[];
extern const int log_key_row_count;

// What a member of a run is as a value that is told; how: if not by its row's kind.
struct meaning {
    size_t member; // of struct run
    enum told told;
    enum how how;
    const char *text;
};
extern const struct meaning log_meanings[];
extern const int log_meaning_count;
