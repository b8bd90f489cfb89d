// Rotary positions and dropout, whose random numbers follow from their places.
#pragma once

#include "measure/cuda/kernels/device_code.cuh"

// A row is a head of a token; N values of its first half and those N of its second half.
template <typename T, int N> __global__ void kernel_rotary(arguments a)
{
    const int64_t rows = a.size[0], half = a.size[1], heads = a.size[2];
    const float *angle = (const float *)a.in[1];
    for (int64_t i = first_item() * N; i < rows * half; i += item_step() * N) {
        const int64_t row = i / half, j = i % half, at = 2 * row * half + j;
        const int64_t turn = 2 * (row / heads) * half + j;
        pack<T, N> x = load<T, N>(a.in[0], at), z = load<T, N>(a.in[0], at + half), u, v;
        for (int k = 0; k < N; k++) {
            const float c = angle[turn + k], s = angle[turn + half + k];
            const float p = to_float(x.value[k]), q = to_float(z.value[k]);
            set_value(u.value[k], p * c - q * s);
            set_value(v.value[k], q * c + p * s);
        }
        store<T, N>(a.out[0], at, u);
        store<T, N>(a.out[0], at + half, v);
    }
}

// Ten rounds of Philox 4x32 (Salmon and others, 2011): four random words of a counter and a key.
static __device__ inline void random_words_of(uint32_t words[4], uint64_t counter, uint64_t key)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    words[0] = (uint32_t)counter, words[1] = (uint32_t)(counter >> 32), words[2] = words[3] = 0;
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xd2511f53u * words[0], b = (uint64_t)0xcd9e8d57u * words[2];
        words[0] = (uint32_t)(b >> 32) ^ words[1] ^ k0;
        words[2] = (uint32_t)(a >> 32) ^ words[3] ^ k1;
        words[1] = (uint32_t)b, words[3] = (uint32_t)a;
        k0 += 0x9e3779b9u, k1 += 0xbb67ae85u;
    }
}

template <typename T, int N> __global__ void kernel_dropout(arguments a)
{
    const uint32_t least = (uint32_t)((double)a.scalar[0] * 4294967296.0);
    const float scale = 1 / (1 - a.scalar[0]);
    for (int64_t i = first_item() * N; i < a.size[0]; i += item_step() * N) {
        pack<T, N> x = load<T, N>(a.in[0], i), y;
        pack<uint8_t, N> kept;
        uint32_t words[4];
        for (int k = 0; k < N; k++) {
            if (k % 4 == 0) random_words_of(words, (uint64_t)(i + k) / 4, (uint64_t)a.size[1]);
            kept.value[k] = words[(i + k) % 4] >= least;
            set_value(y.value[k], kept.value[k] ? to_float(x.value[k]) * scale : 0.0f);
        }
        store<T, N>(a.out[0], i, y);
        store<uint8_t, N>(a.out[1], i, kept);
    }
}

template <typename T, int N> __global__ void kernel_dropout_backward(arguments a)
{
    const float scale = 1 / (1 - a.scalar[0]);
    for (int64_t i = first_item() * N; i < a.size[0]; i += item_step() * N) {
        pack<T, N> dy = load<T, N>(a.in[0], i), dx;
        pack<uint8_t, N> kept = load<uint8_t, N>(a.in[1], i);
        for (int k = 0; k < N; k++)
            set_value(dx.value[k], kept.value[k] ? to_float(dy.value[k]) * scale : 0.0f);
        store<T, N>(a.out[0], i, dx);
    }
}
