// Shipped clusters by what their nodes have.
#include <math.h>
#include <string.h>

#include "data/base/names.h"
#include "data/base/shipped.h"
#include "data/places/cluster.h"

// What programs print of a GPU's memory differs from what can be used.
static const double memory_differs = 0.08;

enum status cluster_of_gpu(struct cluster *c, const char *gpu, double memory_bytes,
                           const char ***gpus, int *count, struct arena *arena, struct error *err)
{
    const char *const *names, *path;
    TRY(shipped_list(&names, count, "clusters", arena, err));
    *gpus = TAKE(arena, *count, const char *);
    for (int i = 0; i < *count; i++) {
        TRY(shipped_find(&path, "clusters", names[i], arena, err));
        TRY(cluster_load(c, path, arena, err));
        const struct node_group *g = c->groups;
        double differs = fabs(memory_bytes / (double)g->memory_bytes - 1);
        if (c->group_count == 1 && !c->places.node_count && name_is_gpu(gpu, strlen(gpu), g->gpu) &&
            (!(memory_bytes > 0) || differs < memory_differs))
            return OK;
        (*gpus)[i] = g->gpu;
    }
    *c = (struct cluster){0};
    return OK;
}
