// Shared by all test programs: the C library's usual headers, cmocka's, and tests that declare
// themselves. The program runs them in the order in which they stand:
//
//     TEST(name) { ... }             `arena` and `err` are its own
//     ARGUMENT(variable)             what the program's next argument sets
//     AROUND_EACH(set_up, tear_down) what runs before and behind each test; NULL: nothing
//     AROUND_ALL(set_up, tear_down)  ... the first and the last
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/arena.h"
#include "data/base/status.h"

#include <cmocka.h> // after them: its macro `fail` hides data/base/status.h's

// Fails the test with the error's text.
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        if ((call) != OK) fail_msg("%s: %s", #call, err.text);                                     \
    } while (0)
// ... with own_err, for functions that tests call.
#define MUST(call)                                                                                 \
    do {                                                                                           \
        if ((call) != OK) fail_msg("%s: %s", #call, own_err.text);                                 \
    } while (0)
// The call refuses bad input, and its error says so in these words.
#define CHECK_REFUSED(call, words) REFUSED_INTO(err, call, words)
#define MUST_REFUSE(call, words) REFUSED_INTO(own_err, call, words)
#define REFUSED_INTO(found, call, words)                                                           \
    do {                                                                                           \
        (found) = (struct error){OK, ""};                                                          \
        assert_int_equal(call, BAD_INPUT);                                                         \
        if (!strstr((found).text, words))                                                          \
            fail_msg("%s: \"%s\" does not say %s", #call, (found).text, words);                    \
    } while (0)

#define TEST(name)                                                                                 \
    static void name(struct arena *arena, struct error err);                                       \
    __attribute__((constructor)) static void name##_is_a_test(void) { tests_add(#name, name); }    \
    static void name(struct arena *arena __attribute__((unused)),                                  \
                     struct error err __attribute__((unused)))
#define ARGUMENT(variable)                                                                         \
    __attribute__((constructor)) static void variable##_is_an_argument(void)                       \
    {                                                                                              \
        tests_add_argument(&(variable), ARGUMENT_KIND(&(variable)));                               \
    }
#define ARGUMENT_KIND(to) _Generic((to), int * : 'd', uint64_t * : 'u', const char ** : 's')
#define AROUND_EACH(set_up, tear_down)                                                             \
    __attribute__((constructor)) static void are_around_each(void)                                 \
    {                                                                                              \
        tests_around_each(set_up, tear_down);                                                      \
    }
#define AROUND_ALL(set_up, tear_down)                                                              \
    __attribute__((constructor)) static void are_around_all(void)                                  \
    {                                                                                              \
        tests_around_all(set_up, tear_down);                                                       \
    }

// A test's own, for functions that all tests of a program call. The arena calls abort() when memory
// is exhausted.
extern struct arena own_arena;
extern struct error own_err;

// Only the tests whose name it matches; NULL: all.
extern const char *tests_only;

typedef void test_function(struct arena *arena, struct error err);
void tests_add(const char *name, test_function *test);
void tests_add_argument(void *variable, char kind);
void tests_around_each(CMFixtureFunction set_up, CMFixtureFunction tear_down);
void tests_around_all(CMFixtureFunction set_up, CMFixtureFunction tear_down);

// The number of tests that failed. main() unless a program has one of its own.
int tests_run(int count, char **arguments);
