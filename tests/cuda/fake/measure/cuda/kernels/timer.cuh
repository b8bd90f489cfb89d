// In the place of the device's clock: the fake's, which goes on whenever it is read.
#ifndef PLUMBLINE_MEASURE_CUDA_TIMER_CUH
#define PLUMBLINE_MEASURE_CUDA_TIMER_CUH

extern "C" unsigned long long fake_clock_ns(void);
static inline unsigned long long timer_ns(void) { return fake_clock_ns(); }

#endif
