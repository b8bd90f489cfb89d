// Links and collectives: one fit for every ordered pair of endpoints and every group of ranks,
// their classes with the spread within, and which pairs are outliers. docs/FORMULAS.md section 12.
#ifndef PLUMBLINE_CALIBRATE_FIT_LINKS_H
#define PLUMBLINE_CALIBRATE_FIT_LINKS_H

#include "calibrate/fit/inputs.h"
#include "calibrate/fit/segments.h"
#include "data/places/cluster.h"
#include "data/inputs/costs.h"

// One ordered pair, or one group of ranks in one collective.
struct channel {
    const char *operation;
    int from, to;       // endpoints; -1: a collective
    const int *members; // [ranks] of a collective
    int ranks;          // 2 for a pair
    bool between_nodes;
    struct segmented fit;
    // Compared with the median of its class; pairs only.
    bool slow, late; // rate below, latency above what the others' scatter explains
    // Compared with the opposite direction; each pair is named once, by the direction with the
    // lower rate (or higher latency).
    bool asymmetric;
};

// Channels of one operation with so many ranks, within a node or between nodes.
struct channel_class {
    const char *operation;
    int ranks;
    bool pairs, between_nodes;
    int channel_count, *channels;
    struct segmented
        fit; // through the medians over the channels; its intervals are the channels' spread
    double contention;  // median of times with other traffic over those alone; 0: not measured
    const char *source; // samples and hashes
};

struct link_fits {
    const struct endpoint *endpoints;
    int endpoint_count;
    struct channel *channels;
    int channel_count;
    struct channel_class *classes;
    int class_count;
};

// Without links among the samples there are no classes, and no error.
enum status links_fit(struct link_fits *f, const struct inputs *in, struct arena *arena,
                      struct error *err);

// Tables of messages and all-reduces for the costs of `gpu`, one for each class, before those that
// the costs had of other classes. Returns how many are of the fits.
int links_to_costs(struct costs *c, const struct link_fits *f, const char *gpu,
                   struct arena *arena);
// Puts latencies into the cluster's groups with this GPU, measured links between nodes into its
// places, and the share of the nominal bandwidths that a single stream reaches into the costs.
// BAD_INPUT: no group has the GPU.
enum status links_to_cluster(struct cluster *cluster, struct costs *costs,
                             const struct link_fits *f, const char *gpu, struct arena *arena,
                             struct error *err);

const char *channel_name(const struct link_fits *f, const struct channel *c,
                         struct arena *arena); // "a -> b"
const struct channel_class *links_class(const struct link_fits *f, const struct channel *c);

#endif
