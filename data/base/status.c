// The text of the first failure.
#include "data/base/status.h"

#include "data/base/plain.h"

#include <stdarg.h>
#include <stdio.h>

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
