// The text of the first failure.
#include "data/base/status.h"

#include "data/base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum status fail(struct error *err, enum status status, const char *format, ...)
{
    if (err->status != OK) return err->status;
    err->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    plain_make(err->text); // one line, whatever is in the document or file name that it quotes
    return status;
}

enum status fail_within(struct error *err, enum status status, const char *format, ...)
{
    char place[ERROR_TEXT_MAX];
    if (status == OK) return OK;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place, sizeof place, format, arguments);
    va_end(arguments);
    size_t length = strlen(place), rest = strlen(err->text), room = sizeof place - 1 - length;
    if (rest > room) rest = room;
    memmove(err->text + length, err->text, rest);
    memcpy(err->text, place, length);
    err->text[length + rest] = '\0';
    plain_make(err->text);
    return status;
}
