// A small house style for drawings: rectangles, lines, circles and words in scalable vector
// graphics. Each drawing has a title and a viewBox, and no scripts, external styles or anything
// else that a viewer has to load. The colours are the ones below.
#pragma once

#include "data/text/pieces.h"

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

// Sizes in screen pixels at natural size; the title is the drawing's text for viewers.
void svg_begin(struct text *s, double width, double height, const char *title, struct arena *arena);
// A named object: everything drawn until svg_close shows this title when pointed at.
void svg_open(struct text *s, const char *title);
void svg_open_map(struct text *s,
                  const char *title); // of rectangles that touch: their edges are drawn sharp
void svg_close(struct text *s);
void svg_rectangle(struct text *s, double x, double y, double width, double height,
                   enum svg_colour fill);
// For maps: dark blue (share 0) to yellow (1), in steps that look even, distinguishable in grey and
// with colour blindness.
struct svg_rgb svg_ramp(double share);
// A rectangle of that colour with its own title (NULL: none). Short, because maps have many.
void svg_shade(struct text *s, double x, double y, double width, double height, struct svg_rgb fill,
               const char *title);
void svg_frame(struct text *s, double x, double y, double width, double height,
               enum svg_colour colour, double line);
// Centred, with an edge, so that it is visible on any background.
void svg_mark(struct text *s, enum svg_shape shape, double x, double y, double radius,
              enum svg_colour fill, enum svg_colour edge, double line);
void svg_line(struct text *s, double x1, double y1, double x2, double y2, enum svg_colour colour,
              double width);
void svg_circle(struct text *s, double x, double y, double radius, enum svg_colour fill);
void svg_text(struct text *s, double x, double y, enum svg_anchor anchor, double size,
              enum svg_colour colour, const char *text);
void svg_text_upwards(struct text *s, double x, double y, enum svg_anchor anchor, double size,
                      enum svg_colour colour, const char *text);
void svg_end(struct text *s); // closes the drawing, which is then text and length
enum status svg_write(struct text *s, const char *path, struct error *err); // the same, into a file
