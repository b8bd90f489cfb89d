// Who talks to whom, and when: every ordered pair once, in turns in which nobody takes part twice;
// the lengths of messages; and their contents, by which a wrong byte is detected.
#ifndef PLUMBLINE_MEASURE_LINKS_PAIRS_H
#define PLUMBLINE_MEASURE_LINKS_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

struct pair {
    int from, to;
};

// Turns 0 .. pairs_turns(count) - 1, each with at most count / 2 pairs (source: the circle method
// for tournaments; every turn of it is held twice, once in each direction).
int pairs_turns(int count);
int pairs_of_turn(int count, int turn, struct pair *pairs);

// smallest, smallest x factor ... largest; the last step may be shorter. Returns how many; at most
// ladder_max.
enum { LADDER_MAX = 64 };
int ladder_sizes(int64_t smallest, int64_t largest, int64_t factor, int64_t *sizes);

// Bytes that follow from the message's number; those of another message differ nearly everywhere.
void pattern_fill(void *data, int64_t bytes, uint64_t number);
int64_t pattern_first_wrong(const void *data, int64_t bytes, uint64_t number); // -1: none

#endif
