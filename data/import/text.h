// Foreign text, line by line, each split at blanks, because columns of printed tables move with
// their contents. Terminal codes (colours, carriage returns) are skipped. An error names the file
// and the line.
#pragma once

#include "data/text/document.h"

enum { TEXT_WORDS_MAX = 1024, TEXT_LINE_MAX = 1 << 16 };

struct text_lines {
    const char *path;
    const char *at, *end;
    int line;   // the current one, from 1
    char *copy; // [TEXT_LINE_MAX + 1] copy of it, cut into words
    const char *words[TEXT_WORDS_MAX];
    int word_count;
    const char *rest_of[TEXT_WORDS_MAX]; // the line from that word on, inside `source`
    const char *source_end;
};

void text_open(struct text_lines *t, const char *path, const char *text, size_t size,
               struct arena *arena);
// Reads the next line into words. BAD_INPUT: it is longer, or has more words, than any such table's
// lines.
enum status text_next(struct text_lines *t, bool *more, struct error *err);
// A copy of a text without the bars of Markdown's tables, which stand where blanks may: each a
// blank.
char *text_without_bars(const char *text, size_t size, struct arena *arena);
// The text from a word to the line's end, without trailing blanks.
const char *text_rest(const struct text_lines *t, int word, struct arena *arena);
// BAD_INPUT at this line: "FILE: line N: " and the given text.
enum status line_refuse(const char *path, int line, struct error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define text_refuse(t, err, ...) line_refuse((t)->path, (t)->line, err, __VA_ARGS__)

// Whether the file ends within the current line's last number, as far as can be told: no line's end
// follows, and it has other digits behind its point than `like`.
bool text_ends_short(const struct text_lines *t, const char *like);

bool word_is_whole(const char *word, int64_t *value); // digits only, at most 2^53
bool word_is_number(const char *word,
                    double *value); // a decimal number and nothing after it; not nan, not infinite

// JSON of other programs: NaN and Infinity, as Python writes them, count as null.
enum status text_json(struct json *root, const char *path, const char *text, size_t size,
                      struct arena *arena, struct error *err);
