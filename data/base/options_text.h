// A table of options as text: help, a section of a manual page, words that complete a command line.
#ifndef PLUMBLINE_DATA_BASE_OPTIONS_TEXT_H
#define PLUMBLINE_DATA_BASE_OPTIONS_TEXT_H

#include "data/base/options.h"

struct options_table {
    const char *usage; // lines, the first without "usage: "
    const struct option *options;
    size_t count;
};

// The option of that name, or NULL.
const struct option *options_find(const struct options_table *t, const char *word, size_t length);

// Words that replace --help and request another text. The first two come right after the command's
// name. The last comes after the words of a line, and the word before it is to be completed.
#define HELP_PAGE "--help=page"         // with the description
#define HELP_SECTION "--help=section"   // the same, within a page of several commands
#define HELP_COMPLETE "--help=complete" // a word per line, tab, then its meaning; COMPLETE_FILES

#define COMPLETE_FILES ":files" // a line of its own: file names as well

// Whether argv[at] is --help, -h or one of the first two; if so, prints the text on standard
// output.
bool options_told(const struct options_table *table, int argc, char **argv, int at);
// Whether the line ends with the last one; if so, prints the words on standard output.
bool options_completed(const struct options_table *table, int argc, char **argv);

// Prints a word that completes `begun`, if it starts with it.
void print_completion(const char *begun, const char *word, const char *text);

// Text of a manual page in the man(7) macros: lines below 80 columns, with escapes for what roff
// would interpret.
void man_text(const char *text);
// SYNOPSIS and, unless NULL, DESCRIPTION.
void man_opening(const char *usage, const char *description, bool section);
void man_item(const char *name, const char *value, const char *text);

#endif
