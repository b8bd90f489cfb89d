// What the bounds need from a layout's tables: equal layers combined, and the least over whatever
// a plan may choose (groups, options, slices).
#include "data/base/least.h"
#include "solve/checker/space/arguments.h"

bool check_is_usable(const struct check_problem *p, int g)
{
    return !p->groups[g].excluded && p->groups[g].slots > 0;
}

bool check_has_slots(const struct check_problem *p)
{
    int64_t slots = 0;
    for (int g = 0; g < p->group_count; g++)
        slots += check_is_usable(p, g) ? p->groups[g].slots : 0;
    return slots >= p->ranks;
}

// Whether layers may keep a part of their activations in the mode.
static bool is_part(const struct check_problem *p, const struct check_run *r, int mode)
{
    return check_set_mode(p) < 0 && check_keeps_part(mode) && check_may_choose(p, mode) &&
           r->again[mode] && r->recomputable;
}

// What layers of the run are in before anything is chosen: the mode set for all, else none.
static int mode_of(const struct check_problem *p, const struct check_run *r)
{
    return r->recomputable && check_set_mode(p) >= 0 ? check_set_mode(p) : MODE_NONE;
}

static struct check_room room_of(const struct check_problem *p, const struct check_run *r)
{
    int64_t states = INT64_MAX;
    for (int o = 0; o < p->gradient_count; o++)
        states = smaller(states, check_weights(r, o) + r->optimizer_bytes[o]);
    struct check_room room = {.fixed = r->gradient_bytes + states};
    bool full = r->recomputable && check_set_mode(p) < 0 &&
                (check_may_choose(p, MODE_FULL) || check_may_choose(p, MODE_FIRST_LAYERS)),
         any = false;
    for (int mode = 0; mode < 3; mode++) {
        int real = mode == MODE_FULL && full ? mode : mode_of(p, r);
        room.stash[mode] = r->stash[real];
        room.working[mode] = r->working[real];
    }
    for (int mode = 0; mode < MODES; mode++) {
        if (!is_part(p, r, mode)) continue;
        int64_t *stash = &room.stash[MODE_SELECTIVE], *working = &room.working[MODE_SELECTIVE];
        *stash = any ? smaller(*stash, r->stash[mode]) : r->stash[mode];
        *working = any ? smaller(*working, r->working[mode]) : r->working[mode];
        any = true;
    }
    if (r->recomputable && check_may_choose(p, MODE_SWAP)) {
        room.stash[MODE_FULL] = 0; // swapped layers may keep nothing
        room.working[MODE_FULL] = smaller(room.working[MODE_NONE], room.working[MODE_FULL]);
    }
    return room;
}

static bool same_bytes(const struct check_problem *p, int a, int b)
{
    if (p->runs[a].recomputable != p->runs[b].recomputable) return false;
    struct check_room x = room_of(p, &p->runs[a]), y = room_of(p, &p->runs[b]);
    for (int mode = 0; mode < 3; mode++)
        if (x.stash[mode] != y.stash[mode] || x.working[mode] != y.working[mode]) return false;
    return x.fixed == y.fixed;
}

// Of one slice of a layer.
static int64_t backward_of(const struct check_problem *p, const struct check_run *r, int slice,
                           int g)
{
    int at = slice * p->group_count + g, mode = mode_of(p, r);
    return r->backward[at] + (mode == MODE_NONE ? 0 : r->again[mode][at]);
}

static int64_t fastest_backward(const struct check_problem *p, int run, int g)
{
    int64_t least = INT64_MAX;
    for (int slice = 0; slice < p->slices; slice++)
        least = smaller(least, backward_of(p, &p->runs[run], slice, g));
    return least;
}

static int64_t of_slices(const struct check_problem *p, const int64_t *prices, int g)
{
    int64_t sum = 0;
    for (int slice = 0; slice < p->slices; slice++) sum += prices[slice * p->group_count + g];
    return sum;
}

static int64_t of_fastest_slice(const struct check_problem *p, const int64_t *prices, int g)
{
    int64_t least = INT64_MAX;
    for (int slice = 0; slice < p->slices; slice++)
        least = smaller(least, prices[slice * p->group_count + g]);
    return least;
}

struct check_terms check_terms_of(const struct check_problem *p, int run, int g)
{
    const struct check_run *r = &p->runs[run];
    struct check_terms t = {.forward = of_slices(p, r->forward, g),
                            .weight = r->weight[g],
                            .optimizer = INT64_MAX,
                            .sync = INT64_MAX};
    for (int slice = 0; slice < p->slices; slice++) t.backward += backward_of(p, r, slice, g);
    if (r->recomputable && check_set_mode(p) < 0)
        t.full = t.most_again = of_slices(p, r->again[MODE_FULL], g);
    bool any = false;
    for (int mode = 0; mode < MODES; mode++) {
        if (!is_part(p, r, mode)) continue;
        int64_t ns = of_slices(p, r->again[mode], g);
        t.selective = any ? smaller(t.selective, ns) : ns;
        t.most_again = larger(t.most_again, ns);
        any = true;
    }
    for (int o = 0; o < p->gradient_count; o++) {
        t.sync = smaller(t.sync, r->sync[o][g]);
        t.optimizer = smaller(t.optimizer, r->optimizer[o][g]);
        int64_t read = of_slices(p, check_backward(r, o), g) - of_slices(p, r->backward, g);
        t.most_read = larger(t.most_read, read);
    }
    return t;
}

static bool same_times(const struct check_problem *p, int a, int b)
{
    for (int g = 0; g < p->group_count; g++) {
        struct check_terms x = check_terms_of(p, a, g), y = check_terms_of(p, b, g);
        if (!check_is_usable(p, g)) continue;
        if (x.forward != y.forward || x.backward != y.backward || x.weight != y.weight ||
            x.selective != y.selective || x.full != y.full || x.most_again != y.most_again ||
            x.most_read != y.most_read || x.optimizer != y.optimizer || x.sync != y.sync)
            return false;
    }
    return true;
}

// The first run of the layers, alike in their bytes, that have the most permanent bytes.
static int main_run(const struct check_problem *p)
{
    int best = -1;
    int64_t most = -1;
    for (int r = 0; r < p->run_count; r++) {
        int64_t layers = 0, fixed = room_of(p, &p->runs[r]).fixed + 1;
        if (p->layers * fixed <= most || (best >= 0 && same_bytes(p, r, best))) continue;
        for (int like = 0; like < p->run_count; like++)
            if (same_bytes(p, r, like)) layers += p->runs[like].count;
        if (layers * fixed > most) most = layers * fixed, best = r;
    }
    return best;
}

bool check_is_main(const struct check_sketch *s, int run)
{
    return same_bytes(s->p, run, s->main_run) && same_times(s->p, run, s->main_run);
}

static void find_main(struct check_sketch *s, bool times)
{
    const struct check_problem *p = s->p;
    int last = p->run_count - 1, apart = 0, run = s->main_run;
    bool like[3] = {false};
    s->main_count = 0;
    for (int r = 0; r <= last; r++) {
        bool is_main = same_bytes(p, r, run) && (!times || same_times(p, r, run));
        if (is_main) s->main_count += p->runs[r].count;
        else apart += p->runs[r].count;
        if (r == 0) like[0] = is_main;
        if (r == last) like[1] = is_main;
    }
    s->has_first = !like[0];
    s->has_last = !like[1];
    s->others = s->strays = apart - s->has_first - s->has_last;
    s->only_ends = s->others == 0 && p->layers > 1;
    s->main = room_of(p, &p->runs[run]);
    s->first = room_of(p, &p->runs[0]);
    s->last = room_of(p, &p->runs[last]);
    bool recomputable = p->runs[run].recomputable;
    s->selective = false;
    for (int mode = 0; mode < MODES; mode++)
        s->selective = s->selective || is_part(p, &p->runs[run], mode);
    recomputable = recomputable && check_set_mode(p) < 0;
    s->full = recomputable && check_may_choose(p, MODE_FULL);
    s->swaps = recomputable && check_may_choose(p, MODE_SWAP);
    s->partly = s->swaps || (recomputable && check_may_choose(p, MODE_FIRST_LAYERS));
}

void check_sketch_bytes(struct check_sketch *s, const struct check_problem *p,
                        const struct check_held *held)
{
    *s = (struct check_sketch){.p = p, .held = held, .message = INT64_MAX};
    s->main_run = main_run(p);
    find_main(s, false);
    for (int g = 0; g < p->group_count; g++)
        if (check_is_usable(p, g))
            s->groups[s->group_count++] = (struct check_group_sketch){
                .slots = p->groups[g].slots,
                .room = p->groups[g].memory_limit - p->groups[g].constant_bytes};
    for (int c = 0; c < p->cut_count; c++)
        s->message = smaller(s->message, p->cuts[c].message_bytes);
}

// ---- times

static void read_group(struct check_sketch *s, struct check_group_sketch *to, int g)
{
    const struct check_problem *p = s->p;
    int run = s->main_run;
    to->main = check_terms_of(p, run, g), to->first = check_terms_of(p, 0, g),
    to->last = check_terms_of(p, p->run_count - 1, g);
    to->sync_constant = INT64_MAX;
    for (int o = 0; o < p->gradient_count; o++)
        to->sync_constant = smaller(to->sync_constant, p->groups[g].sync_constant[o]);
    for (int r = 0; r < p->run_count; r++) {
        s->fill = smaller(s->fill, of_fastest_slice(p, p->runs[r].forward, g));
        s->drain = smaller(s->drain, fastest_backward(p, r, g));
        // Main layers are equal in the sum of their slices.
        if (r != run && (p->slices == 1 || !check_is_main(s, r))) continue;
        s->fill_main = smaller(s->fill_main, of_fastest_slice(p, p->runs[r].forward, g));
        s->drain_main = smaller(s->drain_main, fastest_backward(p, r, g));
    }
    s->fill_first = smaller(s->fill_first, of_fastest_slice(p, p->runs[0].forward, g));
    s->drain_first = smaller(s->drain_first, fastest_backward(p, 0, g));
}

// One micro-batch through all layers, each on its fastest group.
static int64_t all_passes(const struct check_problem *p)
{
    int64_t sum = 0;
    for (int r = 0; r < p->run_count; r++) {
        int64_t least = INT64_MAX;
        for (int g = 0; g < p->group_count; g++) {
            struct check_terms t = check_terms_of(p, r, g);
            if (check_is_usable(p, g)) least = smaller(least, t.forward + t.backward + t.weight);
        }
        sum += p->runs[r].count * least;
    }
    return sum;
}

// The least of a table of transfers: all parts of one slice's message; and the part that occupies
// one end, over all slices.
static void read_transfers(const struct check_problem *p, const int64_t *prices, int64_t *all,
                           int64_t *blocking)
{
    int64_t busy = 0;
    for (int slice = 0; slice < p->slices; slice++) {
        int64_t least = INT64_MAX;
        for (int pair = 0; pair < p->group_count * p->group_count; pair++) {
            const int64_t *parts = prices +
                                   (slice * p->group_count * p->group_count + pair) * PARTS;
            if (!check_is_usable(p, pair / p->group_count) ||
                !check_is_usable(p, pair % p->group_count) || parts[PART_BLOCKS] < 0)
                continue;
            *all = smaller(*all, parts[PART_BLOCKS] + parts[PART_LINKS] + parts[PART_DELAYS] +
                                     2 * parts[PART_WORKS]);
            least = smaller(least, parts[PART_BLOCKS] + parts[PART_WORKS]);
        }
        busy += least == INT64_MAX ? 0 : least;
    }
    *blocking = smaller(*blocking, busy);
}

int check_others_of(const struct check_sketch *s, int run)
{
    int count = s->p->runs[run].count;
    if (check_is_main(s, run)) return 0;
    if (run == 0) count--;
    if (run == s->p->run_count - 1) count--;
    return count;
}

static struct check_terms least_terms(struct check_terms a, struct check_terms b)
{
    return (struct check_terms){.forward = smaller(a.forward, b.forward),
                                .backward = smaller(a.backward, b.backward),
                                .weight = smaller(a.weight, b.weight),
                                .selective = smaller(a.selective, b.selective),
                                .full = smaller(a.full, b.full),
                                .most_again = larger(a.most_again, b.most_again),
                                .most_read = larger(a.most_read, b.most_read),
                                .optimizer = smaller(a.optimizer, b.optimizer),
                                .sync = smaller(a.sync, b.sync)};
}

static struct check_room least_room(struct check_room a, struct check_room b)
{
    a.fixed = smaller(a.fixed, b.fixed);
    for (int mode = 0; mode < 3; mode++) {
        a.stash[mode] = smaller(a.stash[mode], b.stash[mode]);
        a.working[mode] = smaller(a.working[mode], b.working[mode]);
    }
    return a;
}

// Others are counted only on a single group, not where they can be recomputed and main layers
// cannot, and only if they are few; otherwise they count as nothing.
static void find_others(struct check_sketch *s)
{
    const struct check_problem *p = s->p;
    bool main_again = p->runs[s->main_run].recomputable;
    int group = 0, found = 0;
    while (!check_is_usable(p, group)) group++;
    if (s->group_count > 1 || (s->main_count + 1) * (int64_t)(s->others + 1) > MOST_SHARES)
        s->others = 0;
    for (int r = 0; r < p->run_count && s->others; r++) {
        if (check_others_of(s, r) < 1) continue;
        struct check_terms terms = check_terms_of(p, r, group);
        struct check_room room = room_of(p, &p->runs[r]);
        int64_t forward = of_fastest_slice(p, p->runs[r].forward, group),
                backward = fastest_backward(p, r, group);
        if (p->runs[r].recomputable && !main_again) s->others = 0;
        s->groups[0].other = found ? least_terms(s->groups[0].other, terms) : terms;
        s->other = found ? least_room(s->other, room) : room;
        s->fill_other = found ? smaller(s->fill_other, forward) : forward;
        s->drain_other = found ? smaller(s->drain_other, backward) : backward;
        found++;
    }
}

void check_sketch_times(struct check_sketch *s)
{
    const struct check_problem *p = s->p;
    int64_t *const least[] = {&s->fill,          &s->fill_main,     &s->fill_first,
                              &s->drain,         &s->drain_main,    &s->drain_first,
                              &s->send_forward,  &s->send_backward, &s->block_forward,
                              &s->block_backward};
    for (int i = 0; i < 10; i++) *least[i] = INT64_MAX;
    find_main(s, true);
    find_others(s);
    for (int g = 0, at = 0; g < p->group_count; g++)
        if (check_is_usable(p, g)) read_group(s, &s->groups[at++], g);
    s->all = all_passes(p);
    for (int c = 0; c < p->cut_count; c++) {
        read_transfers(p, p->cuts[c].forward, &s->send_forward, &s->block_forward);
        for (int o = 0; o < p->boundary_count; o++)
            read_transfers(p, p->cuts[c].backward[o], &s->send_backward, &s->block_backward);
    }
    for (int i = 0; i < 10; i++)
        if (*least[i] == INT64_MAX) *least[i] = 0;
    if (!s->has_first) s->fill_first = s->drain_first = 0;
    check_find_across(s);
}
