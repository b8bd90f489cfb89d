// The table of kernels and their launch. Grids are as large as keeps the device busy; kernels walk
// on from there.
#include "measure/cuda/kernels/kernels.h"

#include "measure/cuda/kernels/block.cuh"
#include "measure/cuda/kernels/casts.cuh"
#include "measure/cuda/kernels/compress.cuh"
#include "measure/cuda/kernels/random.cuh"
#include "measure/cuda/kernels/train.cuh"

enum shape_of_grid {
    GRID_VALUES, // a thread per pack of values
    GRID_ROWS,   // a block per row
    GRID_STRIPS, // a thread per pack of columns, a line of blocks per strip of rows
    GRID_TILES,  // a block per tile
    GRID_GROUPS, // a warp per group of quantised values
    GRID_BLOCK,  // one block
    GRID_THREAD, // one thread
};

struct entry {
    shape_of_grid shape;
    bool in_rows; // packs may not cross rows of size[1]; else it is size[0] that they divide
    int packs[3]; // values of a pack by element type
    const void *wide[3], *narrow[3];
};

#define SAME(f)                                                                                    \
    {                                                                                              \
        (const void *)f, (const void *)f, (const void *)f                                          \
    }
#define TYPED(f)                                                                                   \
    {                                                                                              \
        (const void *)f<float>, (const void *)f<__half>, (const void *)f<__nv_bfloat16>            \
    }
#define ONES(f)                                                                                    \
    {                                                                                              \
        (const void *)f<float, 1>, (const void *)f<__half, 1>, (const void *)f<__nv_bfloat16, 1>   \
    }
#define PACKED(f)                                                                                  \
    {4, 8, 8},                                                                                     \
        {(const void *)f<float, 4>, (const void *)f<__half, 8>,                                    \
         (const void *)f<__nv_bfloat16, 8>},                                                       \
        ONES(f)
#define FOURS(f)                                                                                   \
    {4, 4, 4},                                                                                     \
        {(const void *)f<float, 4>, (const void *)f<__half, 4>,                                    \
         (const void *)f<__nv_bfloat16, 4>},                                                       \
        ONES(f)
#define PLAIN(f) {1, 1, 1}, TYPED(f), TYPED(f)

// In the order of enum kernel.
static const struct entry entries[KERNEL_COUNT] = {
    {GRID_VALUES, false, PLAIN(kernel_fill)},
    {GRID_THREAD, false, {1, 1, 1}, SAME(kernel_gate), SAME(kernel_gate)},
    {GRID_VALUES, false, PACKED(kernel_add)},
    {GRID_ROWS, true, PACKED(kernel_norm)},
    {GRID_ROWS, true, PACKED(kernel_norm_backward)},
    {GRID_STRIPS, true, PACKED(kernel_norm_weights)},
    {GRID_STRIPS, true, PACKED(kernel_column_sum)},
    {GRID_VALUES, true, PACKED(kernel_gelu)},
    {GRID_VALUES, true, PACKED(kernel_gelu_backward)},
    {GRID_VALUES, true, PACKED(kernel_gated)},
    {GRID_VALUES, true, PACKED(kernel_gated_backward)},
    {GRID_VALUES, true, PACKED(kernel_rotary)},
    {GRID_VALUES, false, PACKED(kernel_dropout)},
    {GRID_VALUES, false, PACKED(kernel_dropout_backward)},
    {GRID_ROWS, true, PACKED(kernel_softmax)},
    {GRID_ROWS, true, PACKED(kernel_softmax_backward)},
    {GRID_ROWS, true, PACKED(kernel_loss)},
    {GRID_VALUES, true, PACKED(kernel_loss_backward)},
    {GRID_VALUES, true, PACKED(kernel_embed)},
    {GRID_VALUES, true, PACKED(kernel_embed_backward)},
    {GRID_VALUES, false, FOURS(kernel_adam)},
    {GRID_VALUES, true, PACKED(kernel_cast)},
    {GRID_TILES, true, PLAIN(kernel_cast_transposed)},
    {GRID_TILES, true, {1, 1, 1}, SAME(kernel_cast_runs), SAME(kernel_cast_runs)},
    {GRID_BLOCK, false, PLAIN(kernel_cholesky)},
    {GRID_THREAD, false, {1, 1, 1}, SAME(kernel_radix_open), SAME(kernel_radix_open)},
    {GRID_VALUES, false, PACKED(kernel_radix_count)},
    {GRID_BLOCK, false, {1, 1, 1}, SAME(kernel_radix_pick), SAME(kernel_radix_pick)},
    {GRID_VALUES, false, PACKED(kernel_collect)},
    {GRID_VALUES, false, PLAIN(kernel_scatter)},
    {GRID_GROUPS, false, PLAIN(kernel_quantise)},
    {GRID_GROUPS, false, PLAIN(kernel_dequantise)},
};

static int64_t parts_of(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

static unsigned within(int64_t blocks, int64_t most)
{
    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

int kernel_least_capability(void)
{
    static const int built_for[] = {__CUDA_ARCH_LIST__};
    return built_for[0] / 10;
}

cudaError_t kernel_launch(enum kernel kernel, enum element type,
                          const struct kernel_arguments *arguments, int processors,
                          cudaStream_t stream)
{
    const struct entry *e = &entries[kernel];
    if (type > ELEMENT_BFLOAT) return cudaErrorInvalidValue;
    const int64_t *size = arguments->size;
    const int64_t most = (int64_t)processors * 16, row = e->in_rows ? size[1] : size[0];
    const int64_t pack = row % e->packs[type] ? 1 : e->packs[type];
    const int64_t values = e->in_rows ? size[0] * size[1] : size[0];
    dim3 grid(1, 1, 1), block(THREADS, 1, 1);
    switch (e->shape) {
    case GRID_VALUES: grid.x = within(parts_of(values / pack, THREADS), most); break;
    case GRID_ROWS: grid.x = within(size[0], most); break;
    case GRID_STRIPS:
        grid.x = within(parts_of(size[1] / pack, THREADS), INT32_MAX);
        grid.y = within(parts_of(size[0], ROWS_PER_STRIP), most < UINT16_MAX ? most : UINT16_MAX);
        break;
    case GRID_TILES:
        grid.x = within(parts_of(size[0], TILE) * parts_of(size[1], TILE), most);
        break;
    case GRID_GROUPS:
        grid.x = within(parts_of(size[0], (int64_t)QUANTISE_GROUP * (THREADS / WARP)), most);
        break;
    case GRID_BLOCK: break;
    case GRID_THREAD: block.x = 1; break;
    }
    struct kernel_arguments copy = *arguments;
    void *parameters[] = {&copy};
    return cudaLaunchKernel(pack > 1 ? e->wide[type] : e->narrow[type], grid, block, parameters, 0,
                            stream);
}
