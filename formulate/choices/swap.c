// A stage whose first layers wait in a tier: what that adds to its passes, and the room that it
// needs on the device (docs/FORMULAS.md 8, Swapping).
#include "data/base/least.h"
#include "formulate/choices/choice.h"

// One pass over the layers in order: a clock of the computation, one of the link, and the swapped
// layers whose room has not been requested yet, the earliest first.
struct swap_pass {
    int64_t computed_ns, link_ns;
    int64_t held_bytes, room_bytes;
    int64_t *gone_ns, *bytes; // [swapped layer]
    int first, count;
};

static void pass_layer(struct swap_pass *w, int64_t pass_ns, int64_t swap_ns, int64_t bytes,
                       bool swapped)
{
    w->held_bytes += bytes;
    while (w->held_bytes > w->room_bytes && w->first < w->count) {
        w->computed_ns = larger(w->computed_ns, w->gone_ns[w->first]);
        w->held_bytes -= w->bytes[w->first++];
    }
    w->computed_ns += pass_ns;
    if (!swapped) return;
    w->link_ns = larger(w->link_ns, w->computed_ns) + swap_ns;
    w->gone_ns[w->count] = w->link_ns;
    w->bytes[w->count++] = bytes;
}

static int64_t piece_bytes(const struct swap_piece *piece)
{
    return piece->run->stash_bytes[piece->mode];
}

static void pass_pieces(struct swap_pass *w, const struct swap_piece *pieces, int count,
                        const struct choice *x, bool backward)
{
    int group = x->group, option = x->gradient_option;
    for (int i = 0; i < count; i++) {
        const struct priced_run *run = pieces[i].run;
        int64_t again = pieces[i].mode == RECOMPUTE_FULL ? run->again_ns[RECOMPUTE_FULL][group] : 0,
                pass = backward ? priced_backward_ns(run, option)[group] + again
                                : priced_forward_ns(run, option)[group],
                way = backward ? run->tiered[option].back_ns[group]
                               : run->tiered[option].away_ns[group];
        for (int layer = 0; layer < pieces[i].count; layer++)
            pass_layer(w, pass, way, piece_bytes(&pieces[i]), pieces[i].swapped);
    }
}

void choice_add_swaps(struct choice *x, bool across_passes, int64_t *forward_ns,
                      int64_t *backward_ns, const struct swap_piece *pieces, int count,
                      struct arena *scratch)
{
    struct arena_mark mark = arena_set_mark(scratch);
    int64_t *gone = TAKE(scratch, x->swapped_layers, int64_t),
            *bytes = TAKE(scratch, x->swapped_layers, int64_t), longest = 0, kept = 0, swapped = 0;
    for (int i = 0; i < count; i++) {
        if (pieces[i].run->recomputable)
            longest = larger(longest, pieces[i].run->stash_bytes[RECOMPUTE_NONE]);
        *(pieces[i].swapped ? &swapped : &kept) += pieces[i].count * piece_bytes(&pieces[i]);
    }
    int64_t buffer = across_passes ? swapped : longest;
    for (int backward = 0; backward < 2; backward++) {
        struct swap_pass w = {.gone_ns = gone, .bytes = bytes, .room_bytes = kept + 2 * buffer};
        pass_pieces(&w, pieces, count, x, backward);
        int64_t whole = larger(w.computed_ns, w.link_ns);
        *(backward ? backward_ns : forward_ns) = across_passes ? w.computed_ns : whole;
        if (across_passes) *(backward ? &x->back_ns : &x->away_ns) = whole - w.computed_ns;
    }
    x->memory.working_bytes += 2 * buffer;
    arena_reset(scratch, mark);
}

bool choice_may_swap(const struct choices *c, int stage, const struct choice *x)
{
    const struct priced *p = c->priced;
    int all = span_recomputable(p, choice_first_layer(c, stage, x), x->layer_count),
        left = all - x->swapped_layers;
    if (x->recompute != RECOMPUTE_SWAP) return true;
    if (!priced_swaps_on(p, x->group, x->gradient_option) || x->swapped_layers < 1 || left < 0)
        return false;
    if (x->recomputed_layers == 0) return true;
    if (p->recompute[RECOMPUTE_FIRST_LAYERS]) return x->recomputed_layers <= left;
    return p->recompute[RECOMPUTE_FULL] && x->recomputed_layers == left;
}
