// A simulated machine: times from a model whose truth is known, with noise of a chosen kind, on
// its own clock. The whole chain from measuring to costs is tested on it, and anyone without the
// hardware can run it. The same seed gives the same samples.
#pragma once

#include "measure/sampling/backend.h"

// Every kind multiplies the truth by a number whose median is exactly 1.
enum noise {
    NOISE_NONE,
    NOISE_LOGNORMAL,
    NOISE_STUDENT, // t with 3 degrees of freedom; below the median as 1 / (1 + |t|)
    NOISE_PARETO,  // half normal, and above the median a fifth of the repetitions with a tail
                   // without a variance
    NOISE_BIMODAL, // two narrow modes, and between them, where the median is, three in ten
                   // repetitions
    NOISE_TICKS,   // lognormal, read off a clock that ticks every quarter of `spread`: many values
                   // are equal
    NOISE_COUNT
};
extern const char
    *const noise_names[]; // "none", "lognormal", "student", "pareto", "bimodal", "ticks", NULL

struct simulated {
    double flop_per_s, bytes_per_s, link_bytes_per_s;
    double call_s, block_s, latency_s; // of a repetition, of an empty block, of a message
    int noise;
    double spread; // about the relative standard deviation of the noise's core
    double launch; // relative standard deviation of a launch's common factor
    double throttle,
        slowdown; // share of the time that the clock is held down, and how much longer all takes
    double memory_bytes;
    bool states_link; // a link's rate or latency was named
};

// "gemm=2e12,noise=pareto,...": changes what is named; NULL changes nothing. BAD_INPUT names the
// word.
enum status simulated_read(struct simulated *to, const char *text, struct arena *arena,
                           struct error *err);
struct simulated simulated_default(void);

double simulated_truth(const struct simulated *m,
                       const struct sample *s); // seconds of a repetition, without noise
double simulated_noise(enum noise noise, double spread, uint64_t *seed);

// Help on the options.
extern const char simulated_help[];
