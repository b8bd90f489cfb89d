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

// Words that stand in place of --help and ask for another text. The first two come right behind the
// command's name, the last one behind the words of a line, of which the one before it is completed.
#define HELP_PAGE "--help=page"         // then the description
#define HELP_SECTION "--help=section"   // the same, within the page of several commands
#define HELP_COMPLETE "--help=complete" // a word a line, then a tab and what it is; COMPLETE_FILES

#define COMPLETE_FILES ":files" // a line by itself: names of files, too

// Whether --help, -h or one of the first two stands at argv[at]; then the text is on standard
// output.
bool options_told(const struct options_table *table, int argc, char **argv, int at);
// Whether the line ends with the last one; then the words are on standard output.
bool options_completed(const struct options_table *table, int argc, char **argv);

// A word that completes `begun`, where it begins so.
void print_completion(const char *begun, const char *word, const char *text);

// Text of a manual page in the man(7) macros: lines below 80 columns, what roff would read escaped.
void man_text(const char *text);
// SYNOPSIS and, unless NULL, DESCRIPTION.
void man_opening(const char *usage, const char *description, bool section);
void man_item(const char *name, const char *value, const char *text);

#endif
