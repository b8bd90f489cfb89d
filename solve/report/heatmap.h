// Shared by the files of the heat map; the map itself is declared in report.h.
#pragma once

#include "data/inputs/places_use.h"
#include "data/results/plan.h"
#include "data/text/svg.h"

// The links that a placed plan uses, one by one: who sends what to whom, the link's rate (as used
// in pricing, by data/inputs/places_use.h), the time, and the best link that two nodes of these
// groups have.

enum link_use { USE_FORWARD, USE_BACKWARD, USE_RING, USE_EMBEDDING, LINK_USE_COUNT };
extern const char *const link_use_names[]; // "forward", "backward", "ring", "embedding"

struct report_link {
    enum link_use use;
    int stage;               // forward, backward: boundary after it; ring: its stage; embedding: 0
    int replica, to_replica; // the sender's, the receiver's
    int from, to;            // nodes of the cluster
    struct place_link link;
    int64_t ns; // of one message; of the stage's whole sync where this is its slowest link; -1:
                // unknown
    int64_t critical_ns; // on the iteration's critical path, in the replica that it waits for
    bool bottleneck;     // slowest of its ring
    const struct report_best *best;
};

// The fastest link for messages, or for rings, from nodes of one group to nodes of another;
// inside: between device groups of a node.
struct report_best {
    double bytes_per_s;
    int from, to;
};

struct report_links {
    struct problem problem; // with the plan's layout
    const struct plan *plan;
    int *node;                 // [replica * rank_count + rank]
    int *leaving;              // [node of the cluster] rings that leave it
    struct report_link *items; // by use, stage, replica or place in the ring
    int count;
    struct report_best
        *best; // [(ring * 2 + inside) * group_count * group_count + from * group_count + to]
    double best_ring_bytes_per_s; // no ring of so many device groups has a faster slowest link; 0:
                                  // one replica
};

// BAD_INPUT: a node of the plan is not in the cluster, or two that communicate are not joined.
enum status report_links_find(struct report_links *l, const struct plan *plan,
                              const struct problem *problem, struct arena *arena,
                              struct error *err);

static inline double report_share(const struct report_link *x)
{
    return x->best->bytes_per_s > 0 ? x->link.link.bytes_per_s / x->best->bytes_per_s : 1;
}
// The slowest link of a stage's ring; NULL: it has none.
const struct report_link *report_bottleneck(const struct report_links *l, int stage);
// The slowest link of the stage's ring in this order of replicas. false: two neighbours are not
// joined.
bool report_bottleneck_in_order(const struct report_links *l, int stage, const int *replicas,
                                struct report_link *bottleneck, struct arena *arena);
// How much longer a ring with this slowest link takes than the stage's own; 1 if no longer. An
// estimate from bandwidth and latency.
double report_ring_excess(const struct report_links *l, const struct report_link *bottleneck);
// By `use`, the slowest first: those with the greatest time, then the least bandwidth. Returns how
// many.
int report_links_sorted(const struct report_links *l, enum link_use first, enum link_use last,
                        const struct report_link **sorted);

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
