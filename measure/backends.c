// The table of back ends.
#include <string.h>

#include "measure/backend.h"

const struct backend *const backends[] = {&backend_cpu, NULL};

const struct backend *backend_find(const char *name)
{
    for (int i = 0; backends[i]; i++)
        if (!strcmp(backends[i]->name, name)) return backends[i];
    return NULL;
}
