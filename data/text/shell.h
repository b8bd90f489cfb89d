// Command lines that are shown so that they can be pasted into a shell.
#pragma once

#include "data/base/arena.h"

const char *shell_word(const char *word, struct arena *arena); // quoted if necessary
