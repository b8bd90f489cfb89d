// The record of when, where and how samples were taken.
#include "measure/sampling/rounds.h"

#include <time.h>

const char *record_time(struct arena *arena)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return arena_copy_text(arena, text);
}

const char *record_command(int argc, char **argv, struct arena *arena)
{
    const char *text = "plumbline measure";
    for (int i = 0; i < argc; i++) text = arena_print(arena, "%s %s", text, argv[i]);
    return text;
}

void record_launch(struct samples *s, int64_t seed, const char *command, struct arena *arena)
{
    s->launches = TAKE(arena, 1, struct launch);
    s->launch_count = 1;
    s->launches[0] = (struct launch){
        .host = s->machine.host, .taken_at = s->machine.taken_at, .seed = seed, .command = command};
}

void record_cells(struct samples *s, const struct cell *cells, int cell_count, struct arena *arena)
{
    s->samples = arena_grow(arena, s->samples, (size_t)s->sample_count,
                            (size_t)(s->sample_count + cell_count), sizeof *s->samples);
    for (int i = 0; i < cell_count; i++)
        if (cells[i].sample.repetitions) s->samples[s->sample_count++] = cells[i].sample;
}
