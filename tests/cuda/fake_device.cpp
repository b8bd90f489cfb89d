// Runs a kernel on the CPU: blocks one after the other, the threads of a block as fibers, round and
// round, each until its next barrier. A barrier that not all threads reach is a bug of the kernel
// and ends the test.
#include <setjmp.h>
#include <ucontext.h>

#include <cassert>
#include <memory>
#include <vector>

#include "measure/cuda/kernels/kernels.h"
#include "tests/cuda/fake_device.h"

fake_place threadIdx, blockIdx, blockDim, gridDim;

namespace {

enum { STACK_BYTES = 64 * 1024 };
enum state { RUNNING, EXCHANGING, WAITING, DONE };

typedef void kernel_function(struct kernel_arguments);

// A context begins a fiber; from then on jumps change between them, which need no system call.
struct fiber {
    ucontext_t context;
    jmp_buf place;
    bool begun;
    state now;
    float value;
    std::unique_ptr<char[]> stack;
};

std::vector<fiber> fibers;
ucontext_t scheduler_context;
jmp_buf scheduler;
kernel_function *function;
struct kernel_arguments arguments_now;
unsigned current;

void enter(void)
{
    function(arguments_now);
    fibers[current].now = DONE;
    _longjmp(scheduler, 1);
}

void leave(fiber &f)
{
    if (!_setjmp(f.place)) _longjmp(scheduler, 1);
}

void resume(fiber &f)
{
    if (_setjmp(scheduler)) return;
    if (f.begun) _longjmp(f.place, 1);
    f.begun = true;
    swapcontext(&scheduler_context, &f.context);
}

void run_block(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        fiber &f = fibers[i];
        f.now = RUNNING;
        f.begun = false;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.get();
        f.context.uc_stack.ss_size = STACK_BYTES;
        f.context.uc_link = &scheduler_context;
        makecontext(&f.context, enter, 0);
    }
    for (unsigned left = threads; left;) {
        unsigned waiting = 0;
        for (current = 0; current < threads; current++) waiting += fibers[current].now == WAITING;
        const bool release = waiting == left;
        assert(!release || left == threads || !"a barrier that only some threads of a block reach");
        for (current = 0; current < threads; current++) {
            fiber &f = fibers[current];
            if (f.now == DONE || (f.now == WAITING && !release)) continue;
            threadIdx = {current, 0, 0};
            f.now = RUNNING;
            resume(f);
            left -= f.now == DONE;
        }
    }
}

} // namespace

void fake_barrier(void)
{
    fibers[current].now = WAITING;
    leave(fibers[current]);
}

float fake_exchange(float x, int mask)
{
    fiber &self = fibers[current];
    const fiber &other = fibers[current ^ (unsigned)mask];
    self.value = x;
    self.now = EXCHANGING;
    leave(self);
    x = other.value;
    self.now = EXCHANGING;
    leave(self);
    return x;
}

extern "C" void fake_run_kernel(const void *kernel, dim3 grid, dim3 block,
                                const struct kernel_arguments *arguments)
{
    function = (kernel_function *)kernel;
    arguments_now = *arguments;
    blockDim = {block.x, block.y, block.z};
    gridDim = {grid.x, grid.y, grid.z};
    while (fibers.size() < block.x) {
        fibers.emplace_back();
        fibers.back().stack.reset(new char[STACK_BYTES]);
    }
    for (unsigned y = 0; y < grid.y; y++)
        for (unsigned x = 0; x < grid.x; x++) {
            blockIdx = {x, y, 0};
            run_block(block.x);
        }
}
