// Rotary positions and dropout, whose random numbers follow from their places.
#include "measure/cpu/internal.h"

static void run_rotary(const void *argument, struct share own)
{
    const struct rotary *r = argument;
    int64_t half = r->width / 2;
    for (int64_t i = own.begin; i < own.end; i++) {
        const float *cosine = r->angle + i / r->heads * r->width, *sine = cosine + half,
                    *a = r->x + i * r->width, *b = a + half;
        float *y = r->y + i * r->width;
        for (int64_t j = 0; j < half; j++) y[j] = a[j] * cosine[j] - b[j] * sine[j];
        for (int64_t j = 0; j < half; j++) y[half + j] = b[j] * cosine[j] + a[j] * sine[j];
    }
}

void rotary_run(struct team *team, const struct rotary *r)
{
    team_run(team, r->tokens * r->heads, run_rotary, r);
}

void random_words(uint32_t words[4], uint64_t counter, uint64_t key)
{
    uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    words[0] = (uint32_t)counter, words[1] = (uint32_t)(counter >> 32), words[2] = words[3] = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xd2511f53u * words[0], b = (uint64_t)0xcd9e8d57u * words[2];
        words[0] = (uint32_t)(b >> 32) ^ words[1] ^ k[0];
        words[2] = (uint32_t)(a >> 32) ^ words[3] ^ k[1];
        words[1] = (uint32_t)b, words[3] = (uint32_t)a;
        k[0] += 0x9e3779b9u, k[1] += 0xbb67ae85u;
    }
}

static void run_dropout(const void *argument, struct share own)
{
    const struct dropout *d = argument;
    const uint32_t least = (uint32_t)((double)d->share * 0x1p32);
    const float scale = 1 / (1 - d->share);
    uint32_t words[4];
    for (int64_t i = own.begin; i < own.end; i++) {
        if (d->x && (i % 4 == 0 || i == own.begin)) random_words(words, (uint64_t)i / 4, d->seed);
        if (d->x) d->kept[i] = words[i % 4] >= least;
        d->y[i] = d->kept[i] ? (d->x ? d->x : d->dy)[i] * scale : 0;
    }
}

void dropout_run(struct team *team, const struct dropout *d)
{
    team_run(team, d->count, run_dropout, d);
}
