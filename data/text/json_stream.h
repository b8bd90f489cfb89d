// JSON token by token, from a text or from a file of any size, in memory that does not grow with
// it: one buffer, one text, one bit of state per open bracket. For foreign files of gigabytes, and
// for the text of a document before data/text/json.h reads it.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "data/base/status.h"

enum stream_token {
    STREAM_END,
    STREAM_OBJECT,
    STREAM_OBJECT_END,
    STREAM_ARRAY,
    STREAM_ARRAY_END,
    STREAM_KEY,
    STREAM_TEXT,
    STREAM_NUMBER,
    STREAM_WORD
};

enum { STREAM_BUFFER = 65536, STREAM_TEXT_MAX = 1024, STREAM_DEPTH_MAX = 64 };

struct json_stream {
    const char *name; // for messages
    FILE *file;       // NULL: a text
    const unsigned char *bytes;
    long long line;
    bool python; // NaN, Infinity and -Infinity, which Python writes, are read as null
    int expected, depth;
    char open[STREAM_DEPTH_MAX]; // '{' or '['
    char text[STREAM_TEXT_MAX];  // the last key, text, number or word; longer ones are cut
    size_t length, at, size;
    unsigned char buffer[STREAM_BUFFER];
};

void stream_begin(struct json_stream *s, const char *name, FILE *file);
void stream_begin_text(struct json_stream *s, const char *name, const char *text, size_t size);

// The next token. Grammar, UTF-8 and escapes are checked; keys may be duplicated. BAD_INPUT names
// the line.
enum status stream_next(struct json_stream *s, enum stream_token *token, struct error *err);

// A copy of the token's text, cut to the room.
void stream_copy(char *to, size_t room, const struct json_stream *s);

// Skips the rest of the value that started with `token`.
enum status stream_skip(struct json_stream *s, enum stream_token token, struct error *err);

// NaN, Infinity, -Infinity: what Python's json writes for numbers that JSON has no form of.
bool json_is_python_word(const char *word);

enum status stream_refuse(const struct json_stream *s, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
