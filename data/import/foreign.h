// What programs print of machines that a reader does not take, so that it can say what it was
// given.
#pragma once

#include "data/base/status.h"

// BAD_INPUT, in one line, if the text is what a known program prints: what it is and what serves
// instead. `door`: the command that asks, whose own texts are let pass. OK: it is none.
enum status foreign_refuse(const char *path, const char *text, const char *door, struct error *err);
