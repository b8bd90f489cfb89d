// The table of back ends.
#include <string.h>

#include "measure/sampling/backend.h"

const struct backend *const backends[] = {&backend_cpu, &backend_simulated, &backend_cuda, NULL};

const struct backend *backend_find(const char *name)
{
    for (int i = 0; backends[i]; i++)
        if (!strcmp(backends[i]->name, name)) return backends[i];
    return NULL;
}

const char *backend_names(struct arena *arena)
{
    const char *text = "";
    for (int i = 0; backends[i]; i++)
        text = arena_print(arena, "%s%s%s", text, i ? ", " : "", backends[i]->name);
    return text;
}
