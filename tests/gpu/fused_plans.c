// Whether cuDNN recognises the graphs of measure/cuda/fused_cudnn.c: plans for the described device
// are made, down to the compiled kernel. Without a driver the last step, loading the kernel, fails;
// that counts as recognised. usage: fused_plans DEVICE.json [STUB_OF_LIBCUDA]
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "measure/cuda/fused.h"

int main(int argc, char **argv)
{
    static const struct attention attentions[] = {
        {1, 16, 16, 1024, 64, 0, ELEMENT_BFLOAT, false},
        {2, 32, 8, 4096, 128, 0, ELEMENT_BFLOAT, false},
        {4, 25, 25, 1024, 64, 0, ELEMENT_HALF, false},
        {1, 32, 32, 1024, 128, 1024, ELEMENT_BFLOAT, false}, // a step of a ring
        {1, 32, 32, 512, 128, 2048, ELEMENT_BFLOAT, false},
    };
    static char device[1 << 14];
    struct arena arena;
    struct error err = {OK, ""};
    struct fused *fused;
    int bad = 0;
    if (argc < 2) return fprintf(stderr, "usage: fused_plans DEVICE.json [STUB_OF_LIBCUDA]\n"), 2;
    FILE *file = fopen(argv[1], "rb");
    if (!file || !fread(device, 1, sizeof device - 1, file))
        return fprintf(stderr, "fused_plans: %s cannot be read\n", argv[1]), 2;
    fclose(file);
    if (argc > 2) dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
    arena_open(&arena, NULL);
    if (fused_open_described(&fused, device, &arena, &err) != OK)
        return fprintf(stderr, "%s\n", err.text), 2;
    for (size_t i = 0; i < 2 * ARRAY_LENGTH(attentions); i++) {
        struct attention a = attentions[i / 2];
        struct error why = {OK, ""};
        int plan;
        a.backward = i % 2;
        bool good = fused_plan(fused, &a, &plan, &why) == OK ||
                    strstr(why.text, "cuLibraryLoadData");
        printf("%lld heads (%lld of keys) x %lld x %lld, %lld keys, %s: %s\n", (long long)a.heads,
               (long long)a.kv_heads, (long long)a.sequence, (long long)a.width,
               (long long)attention_keys(&a), a.backward ? "backward" : "forward",
               good ? "recognised" : why.text);
        bad += !good;
    }
    arena_close(&arena);
    return bad ? 1 : 0;
}
