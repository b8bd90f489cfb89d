// A small house style for drawings: rectangles, lines, circles and words in scalable vector graphics, each drawing with a title and a
// viewBox, without scripts, styles from elsewhere or anything that a viewer has to load. Colours are the ones below.
#ifndef PLUMBLINE_DATA_SVG_H
#define PLUMBLINE_DATA_SVG_H

#include <stddef.h>

#include "data/arena.h"
#include "data/status.h"

enum svg_colour { SVG_INK, SVG_FAINT, SVG_PAPER, SVG_FIRST, SVG_SECOND, SVG_THIRD, SVG_ALARM, SVG_COLOUR_COUNT };
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };

struct svg {
    struct arena *arena;
    char *text;
    size_t length, capacity;
};

// Pixels of a screen at its natural size; the title is what a viewer says of the drawing.
void svg_begin(struct svg *s, double width, double height, const char *title, struct arena *arena);
// One thing with a name of its own: what is drawn until svg_close shows it when pointed at.
void svg_open(struct svg *s, const char *title);
void svg_close(struct svg *s);
void svg_rectangle(struct svg *s, double x, double y, double width, double height, enum svg_colour fill);
// Filled from SVG_PAPER (share 0) to SVG_FIRST (1), for maps.
void svg_cell(struct svg *s, double x, double y, double width, double height, double share);
void svg_line(struct svg *s, double x1, double y1, double x2, double y2, enum svg_colour colour, double width);
void svg_circle(struct svg *s, double x, double y, double radius, enum svg_colour fill);
void svg_text(struct svg *s, double x, double y, enum svg_anchor anchor, double size, enum svg_colour colour, const char *text);
enum status svg_write(struct svg *s, const char *path, struct error *err);          // closes the drawing

#endif
