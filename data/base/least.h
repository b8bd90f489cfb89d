// The larger and the smaller of two, their greatest common divisor; the order of numbers for qsort.
#pragma once

#include <stdint.h>

static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int larger_int(int a, int b) { return a > b ? a : b; }
static inline int smaller_int(int a, int b) { return a < b ? a : b; }
static inline double larger_double(double a, double b) { return a > b ? a : b; }

// Of 0 and a it is the size of a.
static inline int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a < 0 ? -a : a;
}

static inline int int64_ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}
