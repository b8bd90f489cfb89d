// Numbers with a unit, "400 Gb/s", "80 GB", "3.4 us", for keys that say which unit theirs is.
#ifndef PLUMBLINE_DATA_TEXT_UNIT_H
#define PLUMBLINE_DATA_TEXT_UNIT_H

#include <stdbool.h>

enum key_unit {
    KEY_UNITLESS, // the key has no unit
    KEY_BYTES,
    KEY_BYTES_PER_S,
    KEY_FLOP_PER_S,
    KEY_SECONDS
};

// Of a document's path: by the end of its last key, or of the one before where that is value, low
// or high.
enum key_unit unit_of_path(const char *path);
const char *unit_example(enum key_unit kind);
// A decimal number, blanks, a unit of this kind: *value in bytes, bytes/s, FLOP/s or seconds, the
// double that is nearest to what is written, but for what a division of bits by 8 or a power of 2
// rounds. false: it is none.
bool unit_read(const char *text, enum key_unit kind, double *value);

#endif
