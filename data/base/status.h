// What every function that can fail returns, and how it gives the reason. There is one struct error
// per command, owned by the front door and passed last. The first failure writes the text; callers
// on the way out must not replace it. Nothing below the front door prints an error or ends the
// program.
#pragma once

#define PLUMBLINE_VERSION "0.1.0"   // here, so that every folder can see it
#define PLUMBLINE_DATE "2026-11-23" // of that version

enum status {
    OK = 0,
    BAD_INPUT,   // the user's fault: a document, an option, a path that cannot be read or written.
                 // Exit code 2
    UNAVAILABLE, // the machine lacks something that was requested. Exit code 2
    SYSTEM,      // memory, processes, the operating system. Exit code 1
    SOLVER,      // GLPK failed beyond recovery. Exit code 1
};

enum { ERROR_TEXT_MAX = 1024 };

struct error {
    enum status status;
    char text[ERROR_TEXT_MAX]; // one line; names the file and the path inside it if there is one
};

// Writes the reason unless there is one already; returns `status`, for `return fail(...)`.
enum status fail(struct error *err, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same status; a reason that it has is given the place in front: "FILE: ", "runs[2].".
enum status fail_within(struct error *err, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// What the user gave is not accepted.
#define refuse(err, ...) fail(err, BAD_INPUT, __VA_ARGS__)

// Returns from the calling function if `call` fails, with its failure. This is safe everywhere,
// because everything created belongs to an arena.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        enum status try_status = (call);                                                           \
        if (try_status != OK) return try_status;                                                   \
    } while (0)

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof *(a))
