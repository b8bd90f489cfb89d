// See samples.h.
#include "tests/support/draws/samples.h"

struct sample *sample_add(struct samples *samples, enum precision precision, enum sample_kind kind,
                          const char *operation, double seconds, struct arena *arena)
{
    struct sample *s = &samples->samples[samples->sample_count++];
    *s = (struct sample){.kind = kind,
                         .operation = operation,
                         .precision = precision,
                         .from = -1,
                         .to = -1,
                         .repetitions = SAMPLE_REPETITIONS,
                         .stopped_by = "count",
                         .dimensions = {1},
                         .dimension_count = 1,
                         .seconds = TAKE(arena, SAMPLE_REPETITIONS, double)};
    for (int i = 0; i < SAMPLE_REPETITIONS; i++)
        s->seconds[i] = seconds * (1 + 0.001 * ((i * 5) % 9 - 4));
    return s;
}
