// Command lines that are shown so that they can be pasted into a shell.
#ifndef PLUMBLINE_DATA_TEXT_SHELL_H
#define PLUMBLINE_DATA_TEXT_SHELL_H

#include "data/base/arena.h"

const char *shell_word(const char *word, struct arena *arena); // quoted if necessary

#endif
