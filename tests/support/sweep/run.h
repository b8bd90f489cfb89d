// Commands as a user runs them, in a folder and a process of their own.
#pragma once

#include "data/base/arena.h"

struct answer {
    int exit_code;
    int signal; // 0: it ended by itself
    const char *out, *err;
};

// line: "verify plan.json", without quotes; the first word is the command. It ends by SIGALRM if it
// takes much too long.
struct answer run_command(const char *folder, const char *line, struct arena *arena);

const char *read_text(const char *folder, const char *name, struct arena *arena);
void write_text(const char *folder, const char *name, const char *text, struct arena *arena);
