// Casts to 8 bits with scales of runs of values, in both orders, and the scales in the layouts that
// cuBLASLt reads (its documentation on narrow data types): of runs of 128, a float each, rows
// innermost and padded to 4; of runs of 32, an exponent each, tiles of 128 rows x 4 runs.
#pragma once

#include "measure/cuda/kernels/device_code.cuh"

enum { CAST_TILE = 128, MX_RUN = 32, CAST_RUNS = CAST_TILE / MX_RUN };

static __device__ inline int64_t padded(int64_t x, int64_t to) { return (x + to - 1) / to * to; }

// Where the scale of a row's run is among those of all rows and runs.
static __device__ inline int64_t scale_place(int64_t row, int64_t run, int64_t rows, int64_t runs,
                                             bool mx)
{
    if (!mx) return run * padded(rows, 4) + row;
    const int64_t tile = row / 128 * (padded(runs, 4) / 4) + run / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + run % 4;
}

// Stores the scale by which the byte is multiplied; returns the one by which the value is.
static __device__ inline float keep_scale(float largest, bool e5m2, bool mx, void *scales,
                                          int64_t at)
{
    if (!mx) {
        const float scale = largest > 0 ? largest / (e5m2 ? 57344.0f : 448.0f) : 1.0f;
        ((float *)scales)[at] = scale;
        return 1 / scale;
    }
    const int power = (int)(__float_as_uint(largest) >> 23) - (e5m2 ? 15 : 8);
    const int exponent = power < 1 ? 1 : power;
    ((uint8_t *)scales)[at] = (uint8_t)exponent;
    return __uint_as_float((uint32_t)(254 - exponent) << 23);
}

// out: bytes, their transpose, scales of runs of rows, of columns. size: rows, columns, E5M2, run.
// Rows and columns are multiples of the run.
static __global__ void kernel_cast_runs(arguments a)
{
    __shared__ __nv_bfloat16 tile[CAST_TILE][CAST_TILE + 2];
    __shared__ float inverse[2][CAST_RUNS][CAST_TILE]; // of a row's runs, of a column's
    const int64_t rows = a.size[0], columns = a.size[1],
                  across = padded(columns, CAST_TILE) / CAST_TILE;
    const int64_t tiles = across * (padded(rows, CAST_TILE) / CAST_TILE);
    const int run = (int)a.size[3], runs = CAST_TILE / run;
    const bool e5m2 = a.size[2] != 0, mx = run == MX_RUN;
    for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int64_t top = t / across * CAST_TILE, left = t % across * CAST_TILE;
        const int x = threadIdx.x % CAST_TILE, first = threadIdx.x / CAST_TILE;
        for (int y = first; y < CAST_TILE; y += THREADS / CAST_TILE)
            if (top + y < rows && left + x < columns)
                tile[y][x] = ((const __nv_bfloat16 *)a.in[0])[(top + y) * columns + left + x];
            else set_value(tile[y][x], 0.0f);
        __syncthreads();
        // Items: the runs of the tile's rows, then those of its columns.
        for (int i = threadIdx.x; i < 2 * CAST_TILE * runs; i += THREADS) {
            const int line = i % CAST_TILE, part = i / CAST_TILE % runs;
            const bool down = i >= CAST_TILE * runs;
            const int64_t outer = (down ? left : top) + line,
                          along = (down ? top : left) / run + part;
            const int64_t count = down ? columns : rows, length = (down ? rows : columns) / run;
            float largest = 0;
            for (int k = part * run; k < (part + 1) * run; k++)
                largest = fmaxf(largest, fabsf(to_float(down ? tile[k][line] : tile[line][k])));
            if (outer < count && along < length)
                inverse[down][part][line] =
                    keep_scale(largest, e5m2, mx, a.out[2 + down],
                               scale_place(outer, along, count, length, mx));
        }
        __syncthreads();
        for (int y = first; y < CAST_TILE; y += THREADS / CAST_TILE) {
            if (top + y < rows && left + x < columns)
                ((uint8_t *)a.out[0])[(top + y) * columns + left + x] =
                    to_byte(to_float(tile[y][x]) * inverse[0][x / run][y], e5m2);
            if (top + x < rows && left + y < columns)
                ((uint8_t *)a.out[1])[(left + y) * rows + top + x] =
                    to_byte(to_float(tile[x][y]) * inverse[1][x / run][y], e5m2);
        }
        __syncthreads();
    }
}
