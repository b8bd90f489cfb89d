// What the trainer does in a plan's layout because the job's space lists it. The planner's table is
// data/inputs/framework.c, whose result is not used.
#include "solve/judge/internal.h"

// Only ranks with several stages have work of another stage while a message is under way.
static bool messages_hidden(const struct job *j, const struct layout *l)
{
    switch (j->space.framework) {
    case FRAMEWORK_NEMO:
    case FRAMEWORK_MEGATRON: return l->virtual_stages > 1;
    case FRAMEWORK_AXONN:
    case FRAMEWORK_DEEPSPEED: return false;
    default: return true;
    }
}

// Those of a grid run under its products, whatever the tokens; else chunks of scattered ones.
static bool sums_hidden(const struct job *j, const struct layout *l, bool compiled)
{
    bool scattered = l->sequence_parallel && l->tensor > 1;
    if (!scattered && !layout_has_grid(l)) return false;
    switch (j->space.framework) {
    case FRAMEWORK_TORCHTITAN:
    case FRAMEWORK_TORCHTITAN_0_2: return compiled;
    case FRAMEWORK_DEEPSPEED: return false;
    default: return true;
    }
}

struct problem judged_problem(const struct problem *p, const struct layout *layout)
{
    struct problem one = problem_with_layout(p, layout);
    const struct job *j = &p->job;
    const bool *listed = j->space.switches, own = j->trainer == TRAINER_OTHER,
               titan = j->trainer == TRAINER_TORCHTITAN;
    enum framework framework = j->space.framework;
    bool from_torch = framework == FRAMEWORK_ANY || framework == FRAMEWORK_TORCHTITAN ||
                      framework == FRAMEWORK_TORCHTITAN_0_2,
         sends_parts = framework == FRAMEWORK_ANY || framework == FRAMEWORK_DEEPSPEED;
    struct job *to = &one.job;
    to->compiled = j->compiled || (listed[SWITCH_COMPILED] && from_torch && titan);
    to->fused_loss = j->fused_loss || (listed[SWITCH_FUSED_LOSS] && from_torch && (titan || own));
    to->scattered_messages = j->scattered_messages ||
                             (listed[SWITCH_SCATTERED_MESSAGES] && sends_parts);
    to->overlapped_messages = j->overlapped_messages ||
                              (listed[SWITCH_OVERLAPPED_MESSAGES] && messages_hidden(j, layout));
    bool compiles = j->compiled || listed[SWITCH_COMPILED];
    to->overlapped_tensor = j->overlapped_tensor ||
                            (listed[SWITCH_OVERLAPPED_TENSOR] && sums_hidden(j, layout, compiles));
    to->overlapped_dispatch = j->overlapped_dispatch || layout->overlapped_dispatch;
    to->context_kind = layout->context_kind ? (enum context_kind)(layout->context_kind - 1)
                                            : j->context_kind;
    return one;
}
