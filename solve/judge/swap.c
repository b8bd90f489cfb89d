// Layers of a stage whose activations are swapped to a tier (docs/FORMULAS.md 8, Swapping): both
// passes are laid out in time, layer by layer and transfer by transfer, within the memory of the
// device.
#include "data/kinds/schedules.h"
#include "solve/judge/internal.h"

// A layer of the stage: when it runs and when its transfer runs in one pass. In ns: forward, from
// the start of the first layer; backward, from the end of the last one, so below 0.
struct timed {
    int64_t forward_ns, backward_ns, away_ns, back_ns, bytes, whole; // whole: in mode none
    bool away, may_go;                                               // it is swapped; it could be
    int64_t from, to, sent_from, sent_to;
};

static struct timed *layers_of(const struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    struct timed *layers = TAKE(h->arena, x->layer_count, struct timed);
    struct layer_duration d = {0};
    struct layer_bytes b = {0};
    int64_t out = 0, back = 0;
    struct tier_option where = stage_tiering(h, stage);
    int group = judged_group(h, stage), left = counted_layers(x), priced_run = -1;
    for (int i = 0; i < x->layer_count; i++) {
        int run = judged_run(h, x->first_layer + i);
        enum recompute mode = layer_mode(h, x, i, run, &left);
        if (run != priced_run) {
            d = layer_duration_of(&h->price_audit, run, group, 0, where);
            b = layer_bytes_of(&h->price_audit, run);
            out = swap_ns_of(&h->price_audit, run, group, where, false);
            back = swap_ns_of(&h->price_audit, run, group, where, true);
            priced_run = run;
        }
        bool again = mode == RECOMPUTE_FULL;
        layers[i] =
            (struct timed){.forward_ns = d.forward_ns,
                           .backward_ns = d.backward_ns + (again ? d.again_ns[RECOMPUTE_FULL] : 0),
                           .away_ns = out > 0 ? out : 0,
                           .back_ns = back > 0 ? back : 0,
                           .bytes = b.stash[again ? RECOMPUTE_FULL : RECOMPUTE_NONE],
                           .away = mode == RECOMPUTE_SWAP,
                           .may_go = h->problem->model.runs[run].recomputable,
                           .whole = b.stash[RECOMPUTE_NONE]};
    }
    return layers;
}

// Twice the largest layer that could be swapped; across passes, all that are, on both their ways.
static int64_t buffers_of(const struct timed *layers, int count, bool across)
{
    int64_t most = 0, all = 0;
    for (int i = 0; i < count; i++) {
        if (layers[i].may_go && layers[i].whole > most) most = layers[i].whole;
        if (layers[i].away) all += layers[i].whole;
    }
    return 2 * (across ? all : most);
}

// The last swapped layer that must have left before layer i is there; -1: none.
static int last_gone(const struct timed *layers, int count, int i, int64_t buffers)
{
    int64_t there = 0, room = buffers;
    for (int k = 0; k < count; k++) room += layers[k].away ? 0 : layers[k].bytes;
    for (int k = 0; k <= i; k++) there += layers[k].bytes;
    int last = -1;
    for (int k = 0; k < i && there > room; k++)
        if (layers[k].away) there -= layers[k].bytes, last = k;
    return last;
}

// Returns the total time.
static int64_t run_forward(struct timed *layers, int count, int64_t buffers)
{
    int64_t now = 0, link = 0;
    for (int i = 0; i < count; i++) {
        int gone = last_gone(layers, count, i, buffers);
        if (gone >= 0 && layers[gone].sent_to > now) now = layers[gone].sent_to;
        layers[i].from = now;
        layers[i].to = now += layers[i].forward_ns;
        if (!layers[i].away) continue;
        layers[i].sent_from = link > now ? link : now;
        layers[i].sent_to = link = layers[i].sent_from + layers[i].away_ns;
    }
    return link > now ? link : now;
}

// Laid out from the end: the first layer runs last, and its activations come back last, just in
// time. A layer has run, and its memory is free, before the transfer that needs this memory
// begins.
static int64_t run_backward(struct timed *layers, int count, int64_t buffers)
{
    int64_t now = 0, link = 0;
    for (int i = 0; i < count; i++) {
        int comes = last_gone(layers, count, i, buffers);
        if (comes >= 0 && layers[comes].sent_from < now) now = layers[comes].sent_from;
        layers[i].to = now;
        layers[i].from = now -= layers[i].backward_ns;
        if (!layers[i].away) continue;
        layers[i].sent_to = now < link ? now : link;
        layers[i].sent_from = link = layers[i].sent_to - layers[i].back_ns;
    }
    return link < now ? -link : -now;
}

struct swapping swapping_of(const struct audit *h, int stage)
{
    struct arena_mark mark = arena_set_mark(h->arena);
    int count = h->plan->stages[stage].layer_count;
    struct timed *layers = layers_of(h, stage);
    bool across = stage_tiering(h, stage).parts[TIER_ACTIVATIONS].across_passes;
    struct swapping s = {.buffer_bytes = buffers_of(layers, count, across)};
    s.forward_ns = run_forward(layers, count, s.buffer_bytes);
    // Across passes a pass ends with its last layer, and begins with its first.
    if (across) s.away_ns = s.forward_ns - layers[count - 1].to;
    s.backward_ns = run_backward(layers, count, s.buffer_bytes);
    if (across) s.back_ns = s.backward_ns + layers[count - 1].from;
    s.forward_ns -= s.away_ns, s.backward_ns -= s.back_ns;
    arena_reset(h->arena, mark);
    return s;
}

int64_t swap_work_of(const struct audit *h, int stage)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    int64_t out = 0, back = 0;
    if (x->recompute != RECOMPUTE_SWAP) return 0;
    struct arena_mark mark = arena_set_mark(h->arena);
    const struct timed *layers = layers_of(h, stage);
    for (int i = 0; i < x->layer_count; i++) {
        if (!layers[i].away) continue;
        out = judged_later(out, layers[i].away_ns);
        back = judged_later(back, layers[i].back_ns);
    }
    arena_reset(h->arena, mark);
    return out > back ? out : back;
}

void audit_swap(struct audit *h, int stage, int recomputable)
{
    const struct plan_stage *x = &h->plan->stages[stage];
    const struct job *j = &h->problem->job;
    int left = recomputable - x->swapped_layers;
    if (x->recompute != RECOMPUTE_SWAP) {
        if (x->swapped_layers)
            REJECT(h, "swap", stage, "swapped_layers is %d in mode '%s'", x->swapped_layers,
                   recompute_names[x->recompute]);
        return;
    }
    if (h->problem->cluster.places.node_count)
        REJECT(h, "swap", stage, "nothing is swapped on clusters with places");
    if (schedule_splits_backward(h->request.kind) || h->request.slice_count > 1)
        REJECT(h, "swap", stage, "nothing is swapped with schedules that split passes");
    int way = tiering_of(j, &h->plan->gradient_options[x->gradient_option]);
    bool offered = way < 0 || job_tiering(j, way).parts[TIER_ACTIVATIONS].tier || !job_swaps(j);
    struct tier_option where = stage_tiering(h, stage);
    if (!offered || swap_ns_of(&h->price_audit, 0, judged_group(h, stage), where, false) < 0)
        REJECT(h, "swap", stage, "its option has no tier for activations, or its GPU no way there");
    if (x->swapped_layers < 1 || left < 0)
        REJECT(h, "swap", stage, "swapped_layers is %d, the stage has %d that can be",
               x->swapped_layers, recomputable);
    bool any = j->recompute[RECOMPUTE_FIRST_LAYERS], all = j->recompute[RECOMPUTE_FULL];
    if (x->recomputed_layers &&
        (x->recomputed_layers > left || !(any || (all && x->recomputed_layers == left))))
        REJECT(h, "swap", stage, "recomputed_layers is %d behind %d that are swapped",
               x->recomputed_layers, x->swapped_layers);
}
