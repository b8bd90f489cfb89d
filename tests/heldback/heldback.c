// heldback COSTS SAMPLES...: how well costs predict samples that they were not made from, each with its error.
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/heldback.h"

static enum status show(int argc, char **argv, struct arena *arena, struct error *err)
{
    struct costs costs;
    struct heldback_point *all = NULL;
    int all_count = 0;
    TRY(costs_load(&costs, argv[1], arena, err));
    for (int i = 2; i < argc; i++) {
        struct samples *samples = TAKE(arena, 1, struct samples);
        struct heldback_point *points;
        int count;
        TRY(samples_load(samples, argv[i], arena, err));
        TRY(heldback_predict(&points, &count, &costs, samples, arena, err));
        printf("\n%s\n", argv[i]);
        heldback_show(points, count, stdout);
        struct heldback_errors e = heldback_errors(points, count, arena);
        printf("median error: whole layers %.1f %% of %d, kernels %.1f %% of %d\n", 100 * e.layers, e.layer_count, 100 * e.kernels, e.kernel_count);
        all = arena_grow(arena, all, (size_t)all_count, (size_t)(all_count + count), sizeof *all);
        for (int k = 0; k < count; k++) all[all_count + k] = points[k];
        all_count += count;
    }
    struct heldback_errors e = heldback_errors(all, all_count, arena);
    printf("\nall held back: median error of whole layers %.1f %% (%d), of kernels %.1f %% (%d), of all %.1f %%\n", 100 * e.layers,
           e.layer_count, 100 * e.kernels, e.kernel_count, 100 * e.all);
    return OK;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct error err = {OK, ""};
    if (argc < 3) {
        fprintf(stderr, "usage: heldback COSTS SAMPLES...\n");
        return 2;
    }
    arena_open(&arena, NULL);
    enum status status = show(argc, argv, &arena, &err);
    if (status != OK) fprintf(stderr, "heldback: %s\n", err.text);
    arena_close(&arena);
    return status == OK ? 0 : 2;
}
