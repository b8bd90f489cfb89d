// What the files of the heat map share; the map itself is declared in report.h.
#ifndef PLUMBLINE_SOLVE_REPORT_HEATMAP_H
#define PLUMBLINE_SOLVE_REPORT_HEATMAP_H

#include "data/text/svg.h"
#include "solve/report/places_links.h"

struct heatmap {
    struct svg svg;
    const struct report_links *links;
    struct arena *arena;
    int count;         // nodes
    int *order;        // [place on the axes]: node
    int *place;        // [node]
    int *breaks;       // [place]: how deep the line before it is, 0: none
    double *at;        // [place]: of a cell's edge, from the plot's
    double cell, side; // of a cell, of the plot
    double left, top;  // of the plot
    double width, height;
    bool by_plan;
    struct place_link *link; // [from * count + to], by nodes; bytes_per_s 0: nothing joins them,
                             // and on the diagonal
    double least, most;      // bytes per second between two nodes
    bool logarithmic;
};

// The share of the scale that a rate is at.
double heatmap_share(const struct heatmap *m, double bytes_per_s);
const char *heatmap_link_text(const struct heatmap *m, int from, int to,
                              const struct place_link *link);

// heatmap_axes.c: names of nodes, what they belong to, and the order they stand in
void heatmap_order(struct heatmap *m, bool by_plan);
double heatmap_label_width(const struct heatmap *m);
void heatmap_axes(struct heatmap *m);

// heatmap_marks.c: the plan on the map; the legend beside it
void heatmap_marks(struct heatmap *m);
void heatmap_legend(struct heatmap *m, double x, double y);

#endif
