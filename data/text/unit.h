// Numbers with a unit, "400 Gb/s", "80 GB", "3.4 us", for keys whose names state a unit.
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

// From a document's path: by the ending of its last key, or of the key before if the last is value,
// low or high.
enum key_unit unit_of_path(const char *path);
const char *unit_example(enum key_unit kind);
// A decimal number, blanks, a unit of this kind: *value in bytes, bytes/s, FLOP/s or seconds, the
// double nearest to the written number, except for the rounding of a division of bits by 8 or by a
// power of 2. false: the text has another form.
bool unit_read(const char *text, enum key_unit kind, double *value);

#endif
