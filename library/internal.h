// Shared by the files of this folder: the objects, and how a call runs.
#pragma once

#include <stdatomic.h>

#include "library/plumbline.h"
#include "solve/commands/verbs.h"

struct plumbline_problem {
    struct arena arena;
    struct problem problem;
    bool composed; // no file contains it
    atomic_int users;
};

struct plumbline_plan {
    struct arena arena;
    struct plan plan;
    plumbline_problem *problem; // for which it was solved; NULL: it was read from a file
    const struct layouts *layouts;
};

// ---- one call: with an arena of its own, in the "C" locale, in which documents are written

struct call {
    struct arena *arena;  // of the new object; NULL: only scratch
    struct arena scratch; // closed at the end of the call
    struct error err;
};

typedef enum status call_body(struct call *c, void *arguments);

plumbline_status call_run(call_body *body, struct arena *arena, void *arguments,
                          plumbline_error *error);

// BAD_INPUT: it is NULL.
enum status call_expect(const void *given, const char *what, struct error *err);
// A copy for plumbline_free; length: where not NULL.
enum status call_give(char **to, size_t *length, const char *text, size_t size, struct error *err);
// The command line of a command and its words, which end with NULL; NULL: there are none.
char **call_words(struct call *c, const char *name, const char *const *words, int *argc);
