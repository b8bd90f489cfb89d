// A small house style for drawings: rectangles, lines, circles and words in scalable vector
// graphics, each drawing with a title and a viewBox, without scripts, styles from elsewhere or
// anything that a viewer has to load. Colours are the ones below.
#ifndef PLUMBLINE_DATA_TEXT_SVG_H
#define PLUMBLINE_DATA_TEXT_SVG_H

#include <stddef.h>

#include "data/base/arena.h"
#include "data/base/status.h"

enum svg_colour {
    SVG_INK,
    SVG_MUTED,
    SVG_FAINT,
    SVG_PAPER,
    SVG_FIRST,
    SVG_SECOND,
    SVG_THIRD,
    SVG_ALARM,
    SVG_RING,
    SVG_COLOUR_COUNT
};
enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END };
enum svg_shape { SVG_DISC, SVG_DIAMOND, SVG_TRIANGLE };
struct svg_rgb {
    unsigned red, green, blue;
};

struct svg {
    struct arena *arena;
    char *text;
    size_t length, capacity;
};

// Pixels of a screen at its natural size; the title is what a viewer says of the drawing.
void svg_begin(struct svg *s, double width, double height, const char *title, struct arena *arena);
// One thing with a name of its own: what is drawn until svg_close shows it when pointed at.
void svg_open(struct svg *s, const char *title);
void svg_open_map(struct svg *s,
                  const char *title); // of rectangles that touch: their edges are drawn sharp
void svg_close(struct svg *s);
void svg_rectangle(struct svg *s, double x, double y, double width, double height,
                   enum svg_colour fill);
// For maps that are read off: dark blue (share 0) to yellow (1), even steps to the eye, told apart
// by the colour-blind and in grey.
struct svg_rgb svg_ramp(double share);
// A rectangle of that colour with a name of its own (NULL: none). Short: maps have many.
void svg_shade(struct svg *s, double x, double y, double width, double height, struct svg_rgb fill,
               const char *title);
void svg_frame(struct svg *s, double x, double y, double width, double height,
               enum svg_colour colour, double line);
// Centred, with an edge, so that it shows on any ground.
void svg_mark(struct svg *s, enum svg_shape shape, double x, double y, double radius,
              enum svg_colour fill, enum svg_colour edge, double line);
void svg_line(struct svg *s, double x1, double y1, double x2, double y2, enum svg_colour colour,
              double width);
void svg_circle(struct svg *s, double x, double y, double radius, enum svg_colour fill);
void svg_text(struct svg *s, double x, double y, enum svg_anchor anchor, double size,
              enum svg_colour colour, const char *text);
void svg_text_upwards(struct svg *s, double x, double y, enum svg_anchor anchor, double size,
                      enum svg_colour colour, const char *text);
void svg_end(struct svg *s); // closes the drawing: text and length are it
enum status svg_write(struct svg *s, const char *path, struct error *err); // the same, into a file

#endif
