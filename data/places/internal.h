// Shared by cluster.c and places.c, and internal to them: reading, checking and writing of one
// link, names of groups.
#pragma once

#include "data/places/cluster.h"
#include "data/text/members.h"

#define LINK_RATE_MAX 1e18 // bytes per second
#define LINK_SECONDS_MAX 1e6

static inline const char *cluster_file(const struct cluster *c)
{
    return document_name(&c->document, "cluster");
}

static inline size_t pair_of(const struct places *p, int from, int to)
{
    return (size_t)from * (size_t)p->node_count + (size_t)to;
}
static inline struct link *measured_link(const struct places *p, int from, int to)
{
    return &p->measured[pair_of(p, from, to)];
}

extern const struct members link_members;
// where: the text before the key, "groups[0].intra.".
enum status link_check(const char *where, const struct link *link, struct error *err);

enum status cluster_find_group(const struct cluster *c, const struct json *at, const char *key,
                               const char *name, int *group, struct error *err);

extern const struct members places_members; // context: a cluster whose groups are already read
enum status places_check(const struct cluster *c, struct error *err);
// The pair of nodes with these names, which must not have been seen before.
enum status places_pair_get(const struct json *element, const struct places *p,
                            const char *const names[2], bool *seen, size_t *pair,
                            struct error *err);
// For struct places with its nodes already read.
member_get places_degraded_get;
member_put places_degraded_put;
