// Shared by all test programs: an arena that calls abort() when memory is exhausted, and assertions
// on status.
#ifndef PLUMBLINE_TESTS_SUPPORT_CHECK_H
#define PLUMBLINE_TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "data/base/arena.h"
#include "data/base/status.h"

#include <cmocka.h> // after them: its macro `fail` hides data/base/status.h's

// Fails the test with the error's text.
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        if ((call) != OK) fail_msg("%s: %s", #call, err.text);                                     \
    } while (0)

// A group's set-up and tear-down: *state is the arena.
int check_open_arena(void **state);
int check_close_arena(void **state);

#endif
