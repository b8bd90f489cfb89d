// NVML's interface is declared here rather than included, since its header is not installed
// everywhere its library is. The functions and numbers below have kept their form since driver 450
// (nvmlDeviceGetCurrentClocksEventReasons since 535; before, the same function was called
// ...ThrottleReasons).
#include "measure/cuda/nvml.h"

#include <dlfcn.h>
#include <string.h>

typedef struct nvml_device *device;

enum {
    NVML_SUCCESS = 0,
    NVML_CLOCK_SM = 1,
    NVML_CLOCK_MEMORY = 2,
    NVML_TEMPERATURE_GPU = 0,
    NVML_VERSION_MAX = 80
};

struct nvml_memory {
    unsigned long long total, unused, used;
};

struct nvml {
    void *library;
    device device, slice; // slice: what memory is asked of
    int (*shutdown)(void);
    int (*get_driver)(char *text, unsigned length);
    int (*get_clock)(device device, int type, unsigned *mhz);
    int (*get_temperature)(device device, int sensor, unsigned *celsius);
    int (*get_power)(device device, unsigned *milliwatt);
    int (*get_reasons)(device device, unsigned long long *reasons);
    int (*get_memory)(device device, struct nvml_memory *memory);
};

// A function's address, through memcpy, because C has no cast from an object pointer to a function
// pointer.
static bool find(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, size);
    return address != NULL;
}

#define FIND(library, name, function) find((library), (name), &(function), sizeof(function))

static void nvml_close(void *of_nvml)
{
    struct nvml *n = of_nvml;
    if (n->shutdown) n->shutdown();
    if (n->library) dlclose(n->library);
}

struct nvml *nvml_open(const char *bus, const char *slice, struct arena *arena)
{
    int (*init)(void) = NULL;
    int (*by_bus)(const char *bus, device *device) = NULL;
    int (*by_identity)(const char *identity, device *device) = NULL;
    struct nvml *n = TAKE(arena, 1, struct nvml);
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->library) return NULL;
    arena_defer(arena, nvml_close, n);
    if (!FIND(n->library, "nvmlInit_v2", init) || init() != NVML_SUCCESS) return NULL;
    FIND(n->library, "nvmlShutdown", n->shutdown);
    if (!FIND(n->library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus) ||
        by_bus(bus, &n->device) != NVML_SUCCESS)
        return NULL;
    n->slice = n->device;
    if (slice && FIND(n->library, "nvmlDeviceGetHandleByUUID", by_identity) &&
        by_identity(slice, &n->slice) != NVML_SUCCESS)
        n->slice = NULL;
    FIND(n->library, "nvmlSystemGetDriverVersion", n->get_driver);
    FIND(n->library, "nvmlDeviceGetClockInfo", n->get_clock);
    FIND(n->library, "nvmlDeviceGetTemperature", n->get_temperature);
    FIND(n->library, "nvmlDeviceGetPowerUsage", n->get_power);
    FIND(n->library, "nvmlDeviceGetMemoryInfo", n->get_memory);
    if (!FIND(n->library, "nvmlDeviceGetCurrentClocksEventReasons", n->get_reasons))
        FIND(n->library, "nvmlDeviceGetCurrentClocksThrottleReasons", n->get_reasons);
    return n;
}

const char *nvml_driver(struct nvml *n, struct arena *arena)
{
    char text[NVML_VERSION_MAX] = "";
    if (!n || !n->get_driver || n->get_driver(text, sizeof text) != NVML_SUCCESS) return NULL;
    return arena_copy_text(arena, text);
}

bool nvml_condition(struct nvml *n, struct condition *now)
{
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (!n) return false;
    *now = (struct condition){.first = now->first};
    if (n->get_clock && n->get_clock(n->device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        now->clock_hz = 1e6 * value;
    if (n->get_clock && n->get_clock(n->device, NVML_CLOCK_MEMORY, &value) == NVML_SUCCESS)
        now->memory_clock_hz = 1e6 * value;
    if (n->get_temperature &&
        n->get_temperature(n->device, NVML_TEMPERATURE_GPU, &value) == NVML_SUCCESS)
        now->temperature_c = value;
    if (n->get_power && n->get_power(n->device, &value) == NVML_SUCCESS)
        now->power_w = 1e-3 * value;
    if (n->get_reasons && n->get_reasons(n->device, &reasons) == NVML_SUCCESS)
        now->slowdown = (int64_t)reasons;
    return true;
}

int64_t nvml_used_bytes(struct nvml *n)
{
    struct nvml_memory memory = {0};
    if (!n || !n->get_memory || !n->slice || n->get_memory(n->slice, &memory) != NVML_SUCCESS)
        return 0;
    return (int64_t)memory.used;
}
