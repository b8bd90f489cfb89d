// Elements of an XML file one after the other, with their attributes; text between them, comments
// and declarations are skipped.
#pragma once

#include "data/import/text.h"

enum { XML_ATTRIBUTES_MAX = 64, XML_DEPTH_MAX = 64 };

struct xml {
    const char *path, *at, *end;
    int line;
    const char *open[XML_DEPTH_MAX]; // names of the open elements, this one last
    int depth;
    bool closes;      // the element ended here: </name>, or the end of <name/> (a separate step)
    const char *name; // of the element that begins or ends
    struct xml_attribute {
        const char *name, *value;
    } attributes[XML_ATTRIBUTES_MAX];
    int attribute_count;
    bool alone; // <name/>: its end is the next step
    struct arena *arena;
};

void xml_open(struct xml *x, const char *path, const char *text, size_t size, struct arena *arena);
// The next beginning or end of an element; *more false at the file's end. BAD_INPUT with the line:
// not XML, or cut short.
enum status xml_next(struct xml *x, bool *more, struct error *err);
const char *xml_attribute(const struct xml *x, const char *name); // "": there is none
#define xml_refuse(x, err, ...) line_refuse((x)->path, (x)->line, err, __VA_ARGS__)
