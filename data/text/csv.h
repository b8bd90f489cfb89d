// Cells of comma-separated values (RFC 4180), as every writer of tables writes them.
#ifndef PLUMBLINE_DATA_TEXT_CSV_H
#define PLUMBLINE_DATA_TEXT_CSV_H

#include "data/base/arena.h"

// The text as a cell: in quotes, with quotes doubled, where it has a comma, a quote, a line end or
// a blank at either end. Spreadsheets compute a text that begins with = + - @ or a tab, so it gets
// an apostrophe in front of it, as does one that begins with an apostrophe: whoever takes one
// leading apostrophe away has the text back. Numbers, also with a unit ("-0.5 %"), and dashes are
// as they are. May return the text itself.
const char *csv_cell(const char *text, struct arena *arena);

#endif
