// The prediction of a row, with what no column says.
#include <string.h>

#include "solve/explain/internal.h"

// How often its pipeline is empty in an iteration: torchtitan runs one batch of a replica after the
// other where gradients of several are summed.
static int64_t pipeline_batches(const struct explained *x, const struct run_row *row)
{
    int64_t each = x->log.replica_batch,
            ranks = row->pp * (row->tp > 1 ? row->tp : 1) * (row->cp > 1 ? row->cp : 1),
            all = each > 0 && ranks > 1 ? row->num_gpus / ranks * each : 0;
    return row->pp > 1 && all > 0 && row->global_batch % all == 0 ? row->global_batch / all : 1;
}

static void predict_whole(struct explained *x, const struct run_row *row, bool ranges,
                          struct prediction *to)
{
    struct problem problem;
    struct placement placement;
    predictor_ask_ranges(x->predictor, ranges);
    predict_row(x->predictor, row, to);
    if (*to->reason) return;
    if (!explain_adjusts(x)) {
        explain_hold(x, row, to);
        return;
    }
    struct prediction adjusted;
    x->unadjusted = NULL;
    predictor_problem(x->predictor, &problem, &placement, x->arena);
    explain_adjust(x, &problem, &placement);
    problem.costs = *predictor_costs(x->predictor);
    predict_problem(x->predictor, &problem, &placement, &adjusted);
    if (*adjusted.reason) {
        x->unadjusted = arena_copy_text(x->arena, adjusted.reason);
        predict_row(x->predictor, row, to); // whose problem is the one that is shown
        return;
    }
    memcpy(adjusted.assumptions, to->assumptions, sizeof adjusted.assumptions);
    *to = adjusted;
    explain_hold(x, row, to);
}

void explain_predict_row(struct explained *x, const struct run_row *row, bool ranges,
                         struct prediction *to)
{
    int64_t batches = pipeline_batches(x, row);
    struct prediction each;
    struct run_row one = *row;
    one.global_batch /= batches;
    if (batches > 1) predict_whole(x, &one, ranges, &each);
    predict_whole(x, row, ranges, to);
    if (batches < 2 || *to->reason || *each.reason) return;
    // Two bounds of what it takes: the optimizer as often, and no stage lighter than the heaviest.
    int64_t pieces = to->micro_batches - each.micro_batches, stages = row->vpp > 1 ? row->vpp : 1,
            piece = pieces > 0 ? (to->iteration_ns - each.iteration_ns) / pieces : 0,
            filled = to->iteration_ns + (batches - 1) * (row->pp - 1) * piece / stages,
            whole = batches * each.iteration_ns;
    double ratio = (double)(whole < filled ? whole : filled) / (double)to->iteration_ns;
    int64_t *const times[] = {&to->iteration_ns, &to->low_ns, &to->high_ns, &to->launched_ns};
    for (size_t i = 0; i < ARRAY_LENGTH(times); i++)
        *times[i] = (int64_t)((double)*times[i] * ratio);
}

bool explain_try(struct explained *x, const struct run_row *row, struct prediction *to)
{
    explain_predict_row(x, row, false, to);
    return !*to->reason;
}

void explain_assume_batches(struct explained *x)
{
    int64_t batches = pipeline_batches(x, &x->asked);
    if (batches > 1)
        explain_assume(x, "pipeline_batches", arena_print(x->arena, "%lld", (long long)batches),
                       "gradients of so many are summed, and the pipeline is empty between them");
}
