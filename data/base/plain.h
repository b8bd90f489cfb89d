// What a text must not contain to be printed among others' words: names of documents, foreign files
// and command lines are refused where they are read if they have any of it, so that no report,
// script or table gets a line that its writer did not write.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "data/base/status.h"

enum { PLAIN_FOUND_MAX = 40 };

// Whether the text is UTF-8 without control characters (C0, DEL, C1), without line and paragraph
// separators (U+2028, U+2029), and without marks that change the order in which what follows is
// shown (U+202A to U+202E, U+2066 to U+2069). Letters that are written from right to left are
// plain. If it is not, found is what an error says: "control character U+000A".
bool text_is_plain(const char *text, size_t length, char found[PLAIN_FOUND_MAX]);

// Blanks instead of the characters that are not plain, ? instead of bytes that are not UTF-8.
void plain_make(char *text);

// BAD_INPUT unless the text is plain: "WHERE: expected text without control characters, found ...".
enum status plain_check(const char *text, const char *where, struct error *err);
