// The prices that a layout's bounds use, extracted from its priced document: equally priced layers
// are grouped, and of what a plan may choose (groups, options, slices) the least is kept.
#include <assert.h>
#include <string.h>

#include "data/base/least.h"
#include "data/inputs/model/model.h"
#include "data/kinds/schedules.h"
#include "solve/layouts/bound.h"

static int64_t of_slices(const int64_t *prices, const struct priced *p, int group)
{
    int64_t sum = 0;
    for (int slice = 0; slice < p->slice_count; slice++)
        sum += prices[slice * p->group_count + group];
    return sum;
}

static int64_t of_one_slice(const int64_t *prices, const struct priced *p, int group)
{
    int64_t least = INT64_MAX;
    for (int slice = 0; slice < p->slice_count; slice++)
        least = smaller(least, prices[slice * p->group_count + group]);
    return least;
}

// With one setting for all stages its mode is that of none: its layers take and keep what they do
// in it, and nothing else is offered (docs/PROOFS.md 8, one setting).
static enum recompute mode_of(const struct priced *p, const struct priced_run *r)
{
    bool set = r->recomputable && priced_sets_mode(p);
    return set ? layout_recompute(&p->layout) : RECOMPUTE_NONE;
}

static int64_t backward_of_slice(const struct priced *p, int run, int group)
{
    const struct priced_run *r = &p->runs[run];
    const int64_t *again = r->again_ns[mode_of(p, r)];
    int64_t least = INT64_MAX;
    if (!again) return of_one_slice(r->backward_ns, p, group);
    for (int slice = 0; slice < p->slice_count; slice++) {
        int at = slice * p->group_count + group;
        least = smaller(least, r->backward_ns[at] + again[at]);
    }
    return least;
}

// The modes that keep a part of which the sketch has the least numbers: those offered, or the
// selective one where none is. A bit each.
static_assert(RECOMPUTE_COUNT <= 64, "bits");
static uint64_t sketched_modes(const struct priced *p)
{
    uint64_t modes = 0;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        if (p->recompute[mode] && recompute_in_part((enum recompute)mode) &&
            priced_may_recompute(p, (enum recompute)mode))
            modes |= (uint64_t)1 << mode;
    return modes ? modes : (uint64_t)1 << RECOMPUTE_SELECTIVE;
}

static void sketch_again(struct layer_terms *t, const struct priced *p, int run, int g)
{
    int64_t *const *again = p->runs[run].again_ns;
    enum recompute of_all = mode_of(p, &p->runs[run]);
    if (priced_sets_mode(p)) {
        if (of_all != RECOMPUTE_NONE) t->backward_ns += of_slices(again[of_all], p, g);
        return;
    }
    uint64_t modes = sketched_modes(p);
    t->selective_ns = INT64_MAX;
    t->full_ns = t->most_again_ns = of_slices(again[RECOMPUTE_FULL], p, g);
    for (int mode = 0; modes >> mode; mode++) {
        if (!(modes >> mode & 1)) continue;
        int64_t ns = of_slices(again[mode], p, g);
        t->selective_ns = smaller(t->selective_ns, ns);
        t->most_again_ns = larger(t->most_again_ns, ns);
    }
}

static struct layer_terms terms_of(const struct priced *p, int run, int g)
{
    const struct priced_run *r = &p->runs[run];
    struct layer_terms t = {.forward_ns = of_slices(r->forward_ns, p, g),
                            .backward_ns = of_slices(r->backward_ns, p, g),
                            .weight_ns = r->weight_ns[g],
                            .optimizer_ns = priced_optimizer_ns(r, 0, g),
                            .sync_ns = INT64_MAX};
    sketch_again(&t, p, run, g);
    for (int option = 0; option < p->gradient_option_count; option++) {
        t.sync_ns = smaller(t.sync_ns, r->sync_ns[option][g]);
        t.optimizer_ns = smaller(t.optimizer_ns, priced_optimizer_ns(r, option, g));
        t.most_read_ns = larger(t.most_read_ns, of_slices(priced_backward_ns(r, option), p, g) -
                                                    of_slices(r->backward_ns, p, g));
    }
    return t;
}

static struct layer_room room_of(const struct priced *p, int run)
{
    const struct priced_run *r = &p->runs[run];
    struct layer_room room = {.fixed_bytes = priced_least_resident(p, r)};
    enum recompute of_all = mode_of(p, r);
    bool one = priced_sets_mode(p);
    for (int mode = 0; mode < 3; mode++) {
        int real = one                            ? (int)of_all
                   : r->recomputable && mode == 2 ? RECOMPUTE_FULL
                                                  : RECOMPUTE_NONE;
        room.stash_bytes[mode] = mode == 1 && !one ? INT64_MAX : r->stash_bytes[real];
        room.working_bytes[mode] = mode == 1 && !one ? INT64_MAX : r->working_bytes[real];
    }
    if (one) return room;
    uint64_t modes = sketched_modes(p);
    for (int mode = 0; modes >> mode; mode++) {
        int real = r->recomputable ? mode : RECOMPUTE_NONE;
        if (!(modes >> mode & 1)) continue;
        room.stash_bytes[1] = smaller(room.stash_bytes[1], r->stash_bytes[real]);
        room.working_bytes[1] = smaller(room.working_bytes[1], r->working_bytes[real]);
    }
    // The entry of mode full is the least of a layer that is recomputed in full or swapped.
    if (r->recomputable && priced_may_recompute(p, RECOMPUTE_SWAP)) {
        room.stash_bytes[2] = 0;
        room.working_bytes[2] = smaller(room.working_bytes[0], room.working_bytes[2]);
    }
    return room;
}

static bool same_numbers(const void *a, const void *b, size_t size) { return !memcmp(a, b, size); }

// Runs of the same layers share their arrays of prices.
static bool runs_are_one(const struct priced_run *a, const struct priced_run *b)
{
    if (a->forward_ns != b->forward_ns) return false;
    struct priced_run own = *a;
    own.name = b->name, own.count = b->count, own.cut = b->cut;
    return !memcmp(&own, b, sizeof own);
}

static bool runs_alike(const struct priced *p, int a, int b)
{
    if (a == b || runs_are_one(&p->runs[a], &p->runs[b])) return true;
    if (p->runs[a].recomputable != p->runs[b].recomputable) return false;
    struct layer_room x = room_of(p, a), y = room_of(p, b);
    if (!same_numbers(&x, &y, sizeof x)) return false;
    for (int g = 0; g < p->group_count; g++) {
        struct layer_terms u = terms_of(p, a, g), v = terms_of(p, b, g);
        if (priced_seats(p, g) && !same_numbers(&u, &v, sizeof u)) return false;
    }
    return true;
}

bool sketch_is_main(const struct layout_sketch *s, int run)
{
    return runs_alike(s->priced, run, s->main_run);
}

static int64_t pass_ns(const struct layer_terms *t)
{
    return t->forward_ns + t->backward_ns + t->weight_ns;
}

// The kind of equally priced layers that together take the most time: its first run. There are few
// kinds, so each run is soon compared with the first of its kind.
static int main_run(const struct priced *p, int g)
{
    enum { KINDS_MAX = 16 };
    int first[KINDS_MAX], kinds = 0, best = 0;
    int64_t time[KINDS_MAX];
    for (int r = 0; r < p->run_count; r++) {
        struct layer_terms t = terms_of(p, r, g);
        int k = 0;
        while (k < kinds && !runs_alike(p, first[k], r)) k++;
        if (k == KINDS_MAX) continue; // not a candidate for the greatest; counted among the others
        if (k == kinds) first[kinds] = r, time[kinds++] = 0;
        time[k] += p->runs[r].count * pass_ns(&t);
    }
    for (int k = 1; k < kinds; k++)
        if (time[k] > time[best]) best = k;
    return first[best];
}

static void gather_layers(struct layout_sketch *s, const struct priced *p, int run)
{
    int last = p->run_count - 1;
    s->main_run = run;
    s->main_count = 0;
    for (int r = 0; r <= last; r++) s->main_count += runs_alike(p, r, run) ? p->runs[r].count : 0;
    s->has_first = !runs_alike(p, 0, run);
    s->has_last = !runs_alike(p, last, run);
    s->others = p->layer_count - s->main_count - s->has_first - s->has_last;
    s->apart = s->others;
    s->only_ends = s->others == 0;
    assert(s->main_count > 0 && s->others >= 0);
    s->main = room_of(p, run), s->first = room_of(p, 0), s->last = room_of(p, last);
    bool chooses = p->runs[run].recomputable && !priced_sets_mode(p);
    for (int mode = 0; mode < RECOMPUTE_COUNT && chooses; mode++)
        s->selective = s->selective || priced_keeps_part(p, &p->runs[run], (enum recompute)mode);
    s->full = chooses && priced_may_recompute(p, RECOMPUTE_FULL);
    s->swaps = chooses && priced_may_recompute(p, RECOMPUTE_SWAP);
    s->partly = s->swaps || (chooses && priced_may_recompute(p, RECOMPUTE_FIRST_LAYERS));
}

// Layers of a run that are neither main ones nor the model's ends.
static int others_in(const struct layout_sketch *s, const struct priced *p, int run, int main)
{
    if (runs_alike(p, run, main)) return 0;
    return p->runs[run].count - (run == 0 && s->has_first) -
           (run == p->run_count - 1 && s->has_last);
}

static void lower_room(struct layer_room *to, const struct layer_room *from)
{
    to->fixed_bytes = smaller(to->fixed_bytes, from->fixed_bytes);
    for (int mode = 0; mode < 3; mode++) {
        to->stash_bytes[mode] = smaller(to->stash_bytes[mode], from->stash_bytes[mode]);
        to->working_bytes[mode] = smaller(to->working_bytes[mode], from->working_bytes[mode]);
    }
}

static void lower_terms(struct layer_terms *to, const struct layer_terms *from)
{
    to->forward_ns = smaller(to->forward_ns, from->forward_ns);
    to->backward_ns = smaller(to->backward_ns, from->backward_ns);
    to->weight_ns = smaller(to->weight_ns, from->weight_ns);
    to->selective_ns = smaller(to->selective_ns, from->selective_ns);
    to->full_ns = smaller(to->full_ns, from->full_ns);
    to->most_again_ns = larger(to->most_again_ns, from->most_again_ns);
    to->most_read_ns = larger(to->most_read_ns, from->most_read_ns);
    to->optimizer_ns = smaller(to->optimizer_ns, from->optimizer_ns);
    to->sync_ns = smaller(to->sync_ns, from->sync_ns);
}

// The least of each number of the layers besides the main ones and the ends. They are not counted
// if there are several groups, nor if they alone could recompute.
static void gather_others(struct layout_sketch *s, const struct priced *p, int main, int g)
{
    bool counted = s->group_count == 1, any = false;
    struct layer_terms *to = &s->groups[0].other;
    for (int r = 0; r < p->run_count; r++) {
        if (!others_in(s, p, r, main)) continue;
        struct layer_room room = room_of(p, r);
        struct layer_terms terms = terms_of(p, r, g);
        counted = counted && (p->runs[main].recomputable || !p->runs[r].recomputable);
        if (!p->runs[r].recomputable) terms.selective_ns = terms.full_ns = terms.most_again_ns = 0;
        if (any) lower_room(&s->other, &room), lower_terms(to, &terms);
        else s->other = room, *to = terms;
        int64_t forward = of_one_slice(p->runs[r].forward_ns, p, g),
                backward = backward_of_slice(p, r, g);
        s->fill_other_ns = any ? smaller(s->fill_other_ns, forward) : forward;
        s->drain_other_ns = any ? smaller(s->drain_other_ns, backward) : backward;
        any = true;
    }
    int64_t shares = (s->main_count + (int64_t)1) * (s->others + (int64_t)1);
    if (!counted || shares > BOUND_SHARES_MAX) s->others = 0;
}

static void gather_group(struct layout_sketch *s, const struct priced *p, int run, int g)
{
    const struct priced_group *from = &p->groups[g];
    assert(s->group_count < BOUND_GROUPS_MAX && priced_seats(p, g) > 0);
    struct group_terms *to = &s->groups[s->group_count++];
    *to = (struct group_terms){.seats = priced_seats(p, g),
                               .limit_bytes = from->memory_limit_bytes,
                               .constant_bytes = from->constant_bytes,
                               .sync_constant_ns = INT64_MAX,
                               .main = terms_of(p, run, g),
                               .first = terms_of(p, 0, g),
                               .last = terms_of(p, p->run_count - 1, g)};
    for (int option = 0; option < p->gradient_option_count; option++)
        to->sync_constant_ns = smaller(to->sync_constant_ns, from->sync_constant_ns[option]);
    for (int r = 0; r < p->run_count; r++) {
        s->fill_ns = smaller(s->fill_ns, of_one_slice(p->runs[r].forward_ns, p, g));
        s->drain_ns = smaller(s->drain_ns, backward_of_slice(p, r, g));
        // Main layers are equal in the sum of their slices.
        if (r != run && (p->slice_count == 1 || !runs_alike(p, r, run))) continue;
        s->fill_main_ns = smaller(s->fill_main_ns, of_one_slice(p->runs[r].forward_ns, p, g));
        s->drain_main_ns = smaller(s->drain_main_ns, backward_of_slice(p, r, g));
    }
    s->fill_first_ns = smaller(s->fill_first_ns, of_one_slice(p->runs[0].forward_ns, p, g));
    s->drain_first_ns = smaller(s->drain_first_ns, backward_of_slice(p, 0, g));
}

static int64_t all_passes_ns(const struct priced *p)
{
    int64_t sum = 0;
    for (int r = 0; r < p->run_count; r++) {
        int64_t least = INT64_MAX;
        for (int g = 0; g < p->group_count; g++) {
            struct layer_terms t = terms_of(p, r, g);
            if (priced_seats(p, g)) least = smaller(least, pass_ns(&t));
        }
        sum += p->runs[r].count * least;
    }
    return sum;
}

// Least values of a table of transfers: all parts of one slice; time that keeps one end busy, for
// all slices.
static void least_transfer(const struct priced *p, const int64_t *prices, int64_t *all_ns,
                           int64_t *blocking_ns)
{
    int64_t blocking = 0;
    for (int slice = 0; slice < p->slice_count; slice++) {
        int64_t least = INT64_MAX;
        for (int from = 0; from < p->group_count; from++)
            for (int to = 0; to < p->group_count; to++) {
                const int64_t *parts =
                    prices +
                    (size_t)((slice * p->group_count + from) * p->group_count + to) * PART_COUNT;
                if (!priced_seats(p, from) || !priced_seats(p, to) || parts[0] == PRICE_NONE)
                    continue;
                *all_ns = smaller(*all_ns, parts[PART_BLOCKING] + parts[PART_LINK] +
                                               parts[PART_DELAY] + 2 * parts[PART_OVERHEAD]);
                least = smaller(least, parts[PART_BLOCKING] + parts[PART_OVERHEAD]);
            }
        blocking += least == INT64_MAX ? 0 : least;
    }
    *blocking_ns = smaller(*blocking_ns, blocking);
}

static void gather_transfers(struct layout_sketch *s, const struct priced *p)
{
    s->send_forward_ns = s->send_backward_ns = s->block_forward_ns = s->block_backward_ns =
        s->message_bytes = INT64_MAX;
    for (int c = 0; c < p->cut_count; c++) {
        least_transfer(p, p->cuts[c].forward_ns, &s->send_forward_ns, &s->block_forward_ns);
        for (int option = 0; option < p->boundary_option_count; option++)
            least_transfer(p, p->cuts[c].backward_ns[option], &s->send_backward_ns,
                           &s->block_backward_ns);
        s->message_bytes = smaller(s->message_bytes, p->cuts[c].message_bytes);
    }
    int64_t *all[] = {&s->send_forward_ns, &s->send_backward_ns, &s->block_forward_ns,
                      &s->block_backward_ns, &s->message_bytes};
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++)
        if (*all[i] == INT64_MAX) *all[i] = 0;
}

static void gather_crossings(struct layout_sketch *s, const struct priced *p, int run)
{
    bool main[LAYERS_MAX], other[LAYERS_MAX];
    for (int r = 0; r < p->run_count; r++) {
        main[r] = runs_alike(p, r, run);
        other[r] = s->others && others_in(s, p, r, run) > 0;
    }
    layout_find_crossings(s, main, other);
}

static void gather_embedding_sync(struct layout_sketch *s, const struct priced *p)
{
    int64_t least = INT64_MAX;
    for (int pair = 0; pair < p->group_count * p->group_count; pair++)
        if (priced_seats(p, pair / p->group_count) && priced_seats(p, pair % p->group_count) &&
            p->embedding_sync_ns[pair] != PRICE_NONE)
            least = smaller(least, p->embedding_sync_ns[pair]);
    s->embedding_sync_ns = least == INT64_MAX ? 0 : least;
}

bool layout_sketch_prices(struct layout_sketch *s, const struct priced *p, const char **why)
{
    int any = -1;
    const char *excluded = NULL; // why the first group that can hold no stage cannot
    *s = (struct layout_sketch){.priced = p,
                                .fill_ns = INT64_MAX,
                                .fill_main_ns = INT64_MAX,
                                .fill_first_ns = INT64_MAX,
                                .drain_ns = INT64_MAX,
                                .drain_main_ns = INT64_MAX,
                                .drain_first_ns = INT64_MAX};
    for (int g = 0; g < p->group_count; g++) {
        if (!priced_seats(p, g)) {
            if (!excluded) excluded = p->groups[g].excluded;
            continue;
        }
        if (any < 0) gather_layers(s, p, any = main_run(p, g));
        gather_group(s, p, any, g);
        gather_others(s, p, any, g);
    }
    if (priced_all_seats(p) < p->rank_count) {
        *why = excluded ? excluded : "the node groups have room for fewer ranks";
        return false;
    }
    if (!s->has_first) s->fill_first_ns = s->drain_first_ns = 0;
    s->all_ns = all_passes_ns(p);
    gather_transfers(s, p);
    if (p->has_embedding_sync) gather_embedding_sync(s, p);
    return true;
}

void layout_sketch_turns(struct layout_sketch *s, const struct priced *p, struct kept_cache *kept)
{
    const struct layout *l = &p->layout;
    s->priced = p;
    s->ranks = p->rank_count, s->stages = p->stage_count, s->turns = l->virtual_stages;
    s->micro_batches = p->micro_batches;
    s->joint = !schedule_splits_backward(l->schedule);
    s->local = l->local_loss_every > 0;
    s->segment = l->stored_inputs ? l->local_loss_every : 0;
    s->barrier = l->barrier;
    s->overlapped = l->gradient_sync == SYNC_OVERLAPPED;
    assert(s->ranks > 0 && s->stages == s->ranks * s->turns && s->group_count > 0);
    s->kept = kept_by_ranks(kept, p);
    int64_t loads = s->ranks * ((int64_t)s->main_count + 1) * (s->others + 1);
    if (loads > kept->load_capacity)
        kept->loads = TAKE(kept->arena, 2 * loads, int64_t), kept->load_capacity = 2 * loads;
    s->loads = kept->loads;
    if (p->slice_count > 1) gather_crossings(s, p, s->main_run);
}

bool layout_sketch(struct layout_sketch *s, const struct priced *p, struct kept_cache *kept,
                   const char **why)
{
    if (!layout_sketch_prices(s, p, why)) return false;
    layout_sketch_turns(s, p, kept);
    return true;
}
