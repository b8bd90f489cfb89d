// The device's clocks, temperature and power by NVML, which comes with the driver and is loaded at
// run time.
#pragma once

#include "data/base/arena.h"
#include "data/numbers/samples.h"

struct nvml;

// NULL if the library or the device is not found: conditions are then unknown. bus:
// "0000:3b:00.0". slice: "MIG-...", whose memory counts; clocks and power are those of the GPU;
// NULL: the whole GPU.
struct nvml *nvml_open(const char *bus, const char *slice, struct arena *arena);
const char *nvml_driver(struct nvml *nvml, struct arena *arena); // "580.65.06", or NULL
bool nvml_condition(struct nvml *nvml, struct condition *now);   // all but `first`
int64_t nvml_used_bytes(struct nvml *nvml); // of the device, by all programs; 0: unknown
