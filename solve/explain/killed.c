// A process that the system of its host ended (signal 9), as it does where the host's memory is
// full: what the run has there, beside what the text says that there is. The GPU's memory is
// another one.
#include <string.h>

#include "data/base/least.h"
#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

static const double gb = 1e9;

// from_pretrained makes weights on the host, in each process: in 4 bytes unless told a type
// (transformers before 5), in a checkpoint's beside them.
static double weight_bytes(const struct explained *x) { return x->log.typed_weights ? 2 : 4; }

// Adam's states and fp32 weights, and gradients of 4 bytes, of all replicas' shares on a node.
static double offloaded(const struct explained *x, double parameters, double nodes)
{
    static const double bytes = 12 + 4;
    bool optimizer = told_count(&x->log, TOLD_OFFLOAD) > 0,
         weights = told_count(&x->log, TOLD_OFFLOAD_WEIGHTS) > 0;
    return parameters * ((optimizer ? bytes : 0) + (weights ? 2 : 0)) / nodes;
}

const char *explain_killed(struct explained *x)
{
    const struct log_failure *f = &x->log.failure;
    const char *text = f->host_full
                           ? "an allocation in its host's memory failed; that is no lack of GPU "
                             "memory"
                           : "the system of its host ended a process (signal 9), as it does where "
                             "the host's memory is full; that is no lack of GPU memory";
    if (f->host_bytes)
        text = arena_print(x->arena, "%s; a host has %.0f GB", text, (double)f->host_bytes / gb);
    struct model m;
    if (*x->own.reason && explain_try_model(x, NULL, 1024, &m))
        return arena_print(
            x->arena, "%s; each process that reads all weights in %.0f bytes holds %.1f GB", text,
            weight_bytes(x), (double)model_size_of(&m).all * weight_bytes(x) / gb);
    if (*x->own.reason)
        return arena_print(x->arena, "%s; what it holds there is not predicted: %s", text,
                           x->own.reason);
    double all = (double)model_size_of(&x->problem.model).all, gpus = x->own.gpus,
           node = x->problem.cluster.groups[0].gpus_per_node, ranks = gpus < node ? gpus : node,
           nodes = gpus / ranks, read = x->log.has_init ? 0 : ranks * all * weight_bytes(x),
           held = offloaded(x, all, nodes);
    if (held > 0)
        text = arena_print(x->arena, "%s; with what is offloaded a host holds %.0f GB", text,
                           held / gb);
    if (read > 0 && explain_has_trainer(&x->log))
        text = arena_print(
            x->arena,
            "%s; while it loads, %.0f process%s of a host that each read%s all weights in "
            "%.0f bytes hold %.0f GB",
            text, ranks, ranks > 1 ? "es" : "", ranks > 1 ? "" : "s", weight_bytes(x), read / gb);
    double most = held > read ? held : read;
    if (f->host_bytes)
        text = arena_print(x->arena, "%s%s", text,
                           most > 0.9 * (double)f->host_bytes
                               ? ": it does not fit"
                               : ", which would leave room: its data or a checkpoint "
                                 "took the rest, or a limit of its container is lower");
    return arena_print(x->arena, "%s; on the GPU %.1f of %.1f GB are predicted", text,
                       (double)x->own.device_bytes / gb, (double)x->own.capacity_bytes / gb);
}
