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
    char reason[ERROR_TEXT_MAX];
    if (status == OK) return OK;
    memcpy(reason, err->text, sizeof reason);
    va_list arguments;
    va_start(arguments, format);
    size_t length = (size_t)vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    if (length < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - length, "%s", reason);
    plain_make(err->text);
    return status;
}
