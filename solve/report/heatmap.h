// Shared by the files of the heat map; the map itself is declared in report.h.
#ifndef PLUMBLINE_SOLVE_REPORT_HEATMAP_H
#define PLUMBLINE_SOLVE_REPORT_HEATMAP_H

#include "data/text/svg.h"
#include "solve/report/places_links.h"

struct heatmap {
    struct text svg;
    const struct report_links *links;
    struct arena *arena;
    int count;         // nodes
    int *order;        // [place on the axes]: node
    int *place;        // [node]
    int *breaks;       // [place]: level of the line before it, 0: none
    double *at;        // [place]: of a cell's edge, from the plot's edge
    double cell, side; // of a cell, of the plot
    double left, top;  // of the plot
    double width, height;
    bool by_plan;
    struct place_link *link; // [from * count + to], by nodes; bytes_per_s 0: no link; inside the
                             // node on the diagonal
    double least, most;      // bytes per second between two nodes
    bool logarithmic;
};

// Where a rate lies on the scale, from 0 to 1.
double heatmap_share(const struct heatmap *m, double bytes_per_s);
const char *heatmap_link_text(const struct heatmap *m, int from, int to,
                              const struct place_link *link);

// heatmap_axes.c: names of nodes, their groups, and their order
void heatmap_order(struct heatmap *m, bool by_plan);
double heatmap_label_width(const struct heatmap *m);
void heatmap_axes(struct heatmap *m);

// heatmap_marks.c: the plan on the map, and the legend
void heatmap_marks(struct heatmap *m);
void heatmap_legend(struct heatmap *m, double x, double y);

#endif
