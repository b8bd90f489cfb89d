// heldback SAMPLES...: of each shape of each document, how well the costs of its other shapes
// predict it.
#include <stdio.h>

#include "calibrate/fit/fit.h"
#include "tests/heldback/predict.h"

static enum status show_document(const char *path, struct heldback_point **all, int *all_count,
                                 struct arena *arena, struct error *err)
{
    struct samples *samples = TAKE(arena, 1, struct samples);
    struct heldback_shapes shapes;
    TRY(samples_load(samples, path, arena, err));
    rounds_even(samples, arena);
    TRY(heldback_shapes(&shapes, samples, arena, err));
    for (int held = 0; held < shapes.count; held++) {
        struct heldback_point *points;
        int count;
        TRY(heldback_predict(&points, &count, samples, &shapes, held, arena, err));
        printf("\n%s: hidden %lld, ffn %lld, %lld heads, predicted from the other %d shapes\n",
               path, (long long)shapes.shapes[held].hidden, (long long)shapes.shapes[held].ffn,
               (long long)shapes.shapes[held].heads, shapes.count - 1);
        heldback_show(points, count, stdout);
        struct heldback_errors e = heldback_errors(points, count, arena);
        printf("median error: whole layers %.1f %% of %d, kernels %.1f %% of %d\n", 100 * e.layers,
               e.layer_count, 100 * e.kernels, e.kernel_count);
        *all =
            arena_grow(arena, *all, (size_t)*all_count, (size_t)(*all_count + count), sizeof **all);
        for (int k = 0; k < count; k++) (*all)[(*all_count)++] = points[k];
    }
    return OK;
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct error err = {OK, ""};
    struct heldback_point *all = NULL;
    int all_count = 0;
    enum status status = OK;
    arena_open(&arena, NULL);
    for (int i = 1; i < argc && status == OK; i++)
        status = show_document(argv[i], &all, &all_count, &arena, &err);
    struct heldback_errors e = heldback_errors(all, all_count, &arena);
    if (status == OK) printf("\nmedian errors of all shapes, with their sign\n");
    for (const char *const *pass = heldback_passes; *pass && status == OK; pass++)
        printf("%-42s %+6.1f%%\n", *pass, 100 * heldback_bias(all, all_count, *pass, &arena));
    if (status == OK)
        printf("\nall shapes: median error of whole layers %.1f %% (%d), of kernels %.1f %% (%d), "
               "of all %.1f %%\n",
               100 * e.layers, e.layer_count, 100 * e.kernels, e.kernel_count, 100 * e.all);
    else fprintf(stderr, "heldback: %s\n", err.text);
    arena_close(&arena);
    return status == OK ? 0 : 2;
}
