// A file in Python, of which values are read and nothing is run: for settings_python.c.
#pragma once

#include "data/import/jobs/settings.h"

enum { CALLS_MOST = 16 }; // within each other

struct variable {
    const char *name, *at; // its expression
    int line;
};

struct python {
    struct settings_source source;
    const char *root; // the variable that is the configuration
    bool module;      // assignments of the file itself are settings, which later ones name
    struct variable *variables;
    int variable_count, variable_capacity, depth;
};

struct settings *python_settings(struct python *p);
bool python_at(const struct python *p, const char *text);
void python_skip_line(struct python *p);
void python_skip_string(struct python *p); // over "a", 'a' or """a"""
// To the comma, the bracket or the line end that ends an expression.
void python_skip_expression(struct python *p, bool in_brackets);
const char *python_name(struct python *p); // a.b.c; "": none
// The same with what stands in brackets behind it: adam["beta"] is adam.beta.
const char *python_key(struct python *p);
// The value here under the key; what is not known is left out. in_brackets: it may go over lines.
enum status python_value(struct python *p, const char *key, bool in_brackets, struct error *err);
// Arguments up to the bracket that closes them, each under its name or its index.
enum status python_arguments(struct python *p, const char *key, char close, struct error *err);
// The number that an expression here makes; false, and nothing is read: none. Its text.
bool python_number(struct python *p, double *number);
const char *python_number_text(const struct python *p, double number);
