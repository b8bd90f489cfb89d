// A command's rows as text: help, a section of a manual page, words that complete a command line.
#pragma once

#include "data/base/command.h"

// Its rows, from 0, the shared ones last; NULL after the last.
const struct option_row *command_row(const struct command *c, int i);
// The row of that name, or NULL.
const struct option_row *command_find(const struct command *c, const char *name, size_t length);

// Words that replace --help and request another text. The first two come right after the command's
// name. The last comes after the words of a line, and the word before it is to be completed.
#define HELP_PAGE "--help=page"         // with the description
#define HELP_SECTION "--help=section"   // the same, within a page of several commands
#define HELP_COMPLETE "--help=complete" // a word per line, tab, then its meaning; COMPLETE_FILES

#define COMPLETE_FILES ":files" // a line of its own: file names as well

// Whether argv[at] is --help, -h or one of the first two; if so, prints the text on standard
// output.
bool command_helped(const struct command *c, char **argv, int at);
// Whether the line ends with the last one; if so, prints the words on standard output.
bool command_completed(const struct command *c, int argc, char **argv);

// Prints a word that completes `begun`, if it starts with it.
void print_completion(const char *begun, const char *word, const char *text);

// Text of a manual page in the man(7) macros: lines below 80 columns, with escapes for what roff
// would interpret.
void man_text(const char *text);
// SYNOPSIS and, unless NULL, DESCRIPTION.
void man_opening(const char *usage, const char *description, bool section);
void man_item(const char *name, const char *value, const char *text);
