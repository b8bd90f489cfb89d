// What-if changes: a cluster changed by a few words, such as without a node or with a slower link,
// as a separate document.
#pragma once

#include "data/places/cluster.h"
#include "data/base/command.h"

struct cluster_change {
    // "NODE"; if the cluster does not name nodes, "GROUP-K", as in a plan's hostfile, "GROUP=N": N
    // nodes fewer, or "GROUP": none of it
    struct option_texts without;
    struct option_texts degrade; // "A:B=X": bandwidth from node A to node B times X; "A=X": of all
                                 // links from A and to A
};
#define CHANGE_FACTOR_LEAST 1e-6
#define CHANGE_FACTOR_MOST 1e6

bool cluster_change_any(const struct cluster_change *x);
const char *cluster_change_text(const struct cluster_change *x,
                                struct arena *arena); // "without n3, n5; n0:n1 x 0.5"

// Whether --without takes the word.
bool cluster_has_nodes(const struct cluster *c, const char *word);

// The node that an unknown word probably means, as --without takes it.
const char *cluster_nearest_node(const struct cluster *c, const char *word, struct arena *arena);

// *to is the changed cluster; it shares memory with `from`, and its document is empty. If several
// factors apply to a link, the smallest is used. BAD_INPUT: a word that names nothing, or the same
// thing twice; nothing would be left.
enum status cluster_make_change(struct cluster *to, const struct cluster *from,
                                const struct cluster_change *x, struct arena *arena,
                                struct error *err);
