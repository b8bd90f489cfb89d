// What both forms of nvbandwidth's output are read into.
#pragma once

#include "data/numbers/samples.h"

enum { DEVICES_MAX = 600 };
enum test { TO_DEVICE, TO_HOST, PEER_WRITE, PEER_READ, TEST_COUNT };
extern const char *const nvbandwidth_tests[]; // by test

struct testcase {
    double *gb_per_s; // [columns], between devices [columns * columns]; 0: not measured
    int columns;
    const char *description, *place;
    bool passed, cut; // cut: rows are missing
};

struct bandwidths {
    const char *path;
    struct testcase tests[TEST_COUNT];
    int64_t bytes;
    bool against_arrow;
    int passed_over, failed, unnamed, cut; // unnamed: tables; cut: tests of which rows are missing
    const char *not_taken;                 // the name of the first one
    double asymmetry; // the largest relative difference between a pair's two directions
    struct samples samples;
    struct arena *arena;
};

// Printed text; of tests that are cut off the whole rows are read.
enum status nvbandwidth_read_text(struct bandwidths *b, const char *text, size_t size,
                                  struct error *err);
