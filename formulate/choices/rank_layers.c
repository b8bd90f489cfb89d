// An upper bound of the layers of a rank with several stages. At each of its peak moments the bytes
// of its stages add up, so a table over the number of layers, stage by stage, gives the minimum
// that they need. Every moment alone is a necessary condition; the few with the most bytes are
// checked.
#include "data/base/least.h"
#include "formulate/choices/choice.h"

enum { MOMENTS_MAX = 4 };
static const int64_t no_bytes = INT64_MAX / 4; // not available

// Fills least[n] for the stage's choices with n layers on the group: everything but working memory.
// Returns the minimum working memory of any of them.
static int64_t fill_least(int64_t *least, const struct choices *c, int stage, int group,
                          int in_flight)
{
    int64_t working = no_bytes;
    for (int n = 0; n <= c->priced->layer_count; n++) least[n] = no_bytes;
    for (int i = 0; i < c->stages[stage].count; i++) {
        const struct choice *x = &c->stages[stage].items[i];
        if (x->group != group) continue;
        int64_t bytes = memory_total(&x->memory) - x->memory.activation_bytes -
                        x->memory.working_bytes + in_flight * x->stash_bytes;
        if (bytes < least[x->layer_count]) least[x->layer_count] = bytes;
        if (x->memory.working_bytes < working) working = x->memory.working_bytes;
    }
    return working;
}

// The most layers of the rank on the group at one moment; -1: it does not fit there at all.
static int most_at_moment(const struct choices *c, int rank, int group, const int *in_flight,
                          struct arena *scratch)
{
    struct arena_mark mark = arena_set_mark(scratch);
    int layers = c->priced->layer_count, most = -1, reached = 0;
    int64_t *sum = TAKE(scratch, layers + 1, int64_t), *least = TAKE(scratch, layers + 1, int64_t),
            working = 0;
    int64_t *next = TAKE(scratch, layers + 1, int64_t);
    for (int turn = 0; turn < c->virtual_stages; turn++, reached = layers) {
        working = larger(
            working, fill_least(least, c, choices_stage_of(c, rank, turn), group, in_flight[turn]));
        for (int n = 0; n <= layers; n++) next[n] = no_bytes;
        for (int n = 1; n <= layers; n++)
            for (int before = 0; least[n] < no_bytes && before <= reached && before + n <= layers;
                 before++)
                if (sum[before] < no_bytes && sum[before] + least[n] < next[before + n])
                    next[before + n] = sum[before] + least[n];
        int64_t *swapped = sum;
        sum = next;
        next = swapped;
    }
    for (int n = 0; n <= layers; n++)
        if (sum[n] < no_bytes && sum[n] + working <= c->priced->groups[group].memory_limit_bytes)
            most = n;
    arena_reset(scratch, mark);
    return most;
}

static int in_flight_of(const int *in_flight, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) sum += in_flight[i];
    return sum;
}

// The moments with the most bytes of the rank; returns their number.
static int pick_moments(const int **moments, const struct choices *c, int rank)
{
    const struct rank_peaks *peaks = &c->peaks[rank];
    int picked = 0, v = c->virtual_stages;
    for (int i = 0; i < peaks->count; i++) {
        int at = picked < MOMENTS_MAX ? picked++ : MOMENTS_MAX;
        for (; at > 0 && in_flight_of(peaks->in_flight[i], v) > in_flight_of(moments[at - 1], v);
             at--)
            if (at < MOMENTS_MAX) moments[at] = moments[at - 1];
        if (at < MOMENTS_MAX) moments[at] = peaks->in_flight[i];
    }
    return picked;
}

int choices_rank_most_layers(const struct choices *c, int rank, struct arena *scratch)
{
    const int *moments[MOMENTS_MAX];
    int count = pick_moments(moments, c, rank), most = -1;
    for (int g = 0; g < c->priced->group_count; g++) {
        int on_group = c->priced->layer_count;
        for (int i = 0; i < count && on_group > most; i++) {
            int at_moment = most_at_moment(c, rank, g, moments[i], scratch);
            if (at_moment < on_group) on_group = at_moment;
        }
        if (on_group > most) most = on_group;
    }
    return most;
}
