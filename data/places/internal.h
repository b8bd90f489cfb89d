// What cluster.c and places.c share, for them alone: reading, checking and writing of one link,
// names of groups.
#ifndef PLUMBLINE_DATA_PLACES_INTERNAL_H
#define PLUMBLINE_DATA_PLACES_INTERNAL_H

#include "data/places/cluster.h"

#define LINK_RATE_MAX 1e18 // bytes per second
#define LINK_SECONDS_MAX 1e6

static inline const char *cluster_file(const struct cluster *c)
{
    return c->document.path ? c->document.path : "cluster";
}

enum status link_read(const struct json *object, struct link *link, struct arena *arena,
                      struct error *err);
enum status link_check(const struct cluster *c, const char *where, const struct link *link,
                       struct error *err);
void link_put(struct json_writer *w, const char *key, const struct link *link);

enum status cluster_find_group(const struct cluster *c, const struct json *at, const char *key,
                               const char *name, int *group, struct error *err);

enum status places_read(struct cluster *c, const struct json *object, struct arena *arena,
                        struct error *err);
enum status places_check(const struct cluster *c, struct error *err);
void places_put(struct json_writer *w, const struct places *p, const struct node_group *groups);
enum status places_degraded_get(struct places *p, const struct json *array, struct arena *arena,
                                struct error *err);
void places_degraded_put(struct json_writer *w, const struct places *p);

#endif
