// All ranks together: the least time in which all layers of a layout have room (docs/PROOFS.md 8,
// all ranks). Main layers alone are given to the ranks in order. If there are others besides: with
// one stage per rank both are given in the order of the model, else as many of each as go together.
#include <assert.h>
#include <string.h>

#include "data/base/least.h"
#include "data/inputs/model/model.h"
#include "solve/layouts/bound.h"

// ---- main layers alone

static bool within(const struct layout_sketch *s, int group, int rank, struct layer_share before,
                   struct layer_share k, int64_t limit_ns)
{
    int64_t ns = layout_rank_bound(s, group, rank, before, k);
    return ns >= 0 && ns <= limit_ns;
}

// The most of the remaining main layers that the rank may hold within the limit; looked for around
// `near`, which becomes it: from one limit to the next, little changes.
static int64_t most_within(const struct layout_sketch *s, int group, int rank, int64_t main_before,
                           int64_t limit_ns, int64_t *near)
{
    int64_t low = 0, high = s->main_count - main_before; // low is not known to be within the limit
    const struct layer_share before = {main_before, 0};
    if (high < 0) return 0;
    for (int64_t k = larger(1, smaller(*near, high)), step = 1; low < high; step *= 2) {
        bool fits = within(s, group, rank, before, (struct layer_share){k, 0}, limit_ns);
        bool turned = fits ? high < s->main_count - main_before : low > 0;
        if (fits) low = k;
        else high = k - 1;
        k = turned ? low + (high - low + 1) / 2
            : fits ? smaller(low + step, high)
                   : larger(high - step + 1, low + 1);
    }
    return *near = low;
}

static bool main_within(const struct layout_sketch *s, int64_t limit_ns, int64_t *near)
{
    int64_t before = 0;
    if (s->group_count == 1) {
        for (int i = 0; i < s->ranks && before < s->main_count; i++)
            before += most_within(s, 0, i, before, limit_ns, &near[i]);
        return before >= s->main_count;
    }
    int64_t most[BOUND_GROUPS_MAX];
    for (int g = 0; g < s->group_count; g++) {
        most[g] = 0;
        for (int i = 0; i < s->ranks; i++)
            most[g] = larger(most[g], most_within(s, g, i, 0, limit_ns, &near[i]));
    }
    return sketch_together(s, most) >= s->main_count;
}

// ---- one stage per rank, different layers: an interval of the model each

struct middle {
    int count;                 // layers without the ends
    int mains[LAYERS_MAX + 1]; // among the first n of them
};

static struct layer_share share_of(const struct middle *m, int first, int end)
{
    int64_t main = m->mains[end] - m->mains[first];
    return (struct layer_share){main, end - first - main};
}

// Gives the model's layers to the ranks in order, to each as many as the time allows.
static bool intervals_within(const struct layout_sketch *s, const struct middle *m,
                             int64_t limit_ns)
{
    int at = 0;
    for (int rank = 0; rank < s->ranks && at < m->count; rank++) {
        struct layer_share before = share_of(m, 0, at);
        int low = 0, high = m->count - at;
        while (low < high) {
            int n = low + (high - low + 1) / 2;
            if (within(s, 0, rank, before, share_of(m, at, at + n), limit_ns)) low = n;
            else high = n - 1;
        }
        at += low;
    }
    return at >= m->count;
}

// The model's layers without those ends that are no main ones.
static void find_middle(struct middle *m, const struct layout_sketch *s)
{
    const struct priced *p = s->priced;
    int layer = 0, end = p->layer_count - s->has_last;
    m->count = m->mains[0] = 0;
    for (int r = 0; r < p->run_count; r++) {
        bool is_main = sketch_is_main(s, r);
        for (int i = 0; i < p->runs[r].count; i++, layer++) {
            if (layer < s->has_first || layer >= end) continue;
            m->mains[m->count + 1] = m->mains[m->count] + is_main;
            m->count++;
        }
    }
    assert(m->mains[m->count] == s->main_count && m->count == s->main_count + s->others);
}

// ---- several stages per rank, different layers: numbers of main ones and of others, from anywhere

// most[k]: the most others besides k main layers on the rank; -1: not even the k.
static void find_most(const struct layout_sketch *s, int rank, int64_t limit_ns, int *most)
{
    const struct layer_share none = {0, 0};
    int other = s->others;
    for (int k = 0; k <= s->main_count; k++) {
        while (other >= 0 && !within(s, 0, rank, none, (struct layer_share){k, other}, limit_ns))
            other--;
        most[k] = other;
    }
}

// Ranks one after the other; sum[k]: the most others if the ranks so far hold k main layers.
static bool counts_within(const struct layout_sketch *s, int64_t limit_ns)
{
    int sum[BOUND_SHARES_MAX], next[BOUND_SHARES_MAX], most[BOUND_SHARES_MAX];
    for (int k = 0; k <= s->main_count; k++) sum[k] = k ? -1 : 0;
    for (int rank = 0; rank < s->ranks; rank++) {
        find_most(s, rank, limit_ns, most);
        for (int k = 0; k <= s->main_count; k++) next[k] = -1;
        for (int before = 0; before <= s->main_count; before++)
            for (int k = 0; sum[before] >= 0 && k <= s->main_count - before && most[k] >= 0; k++)
                next[before + k] = larger_int(next[before + k], sum[before] + most[k]);
        memcpy(sum, next, sizeof sum);
    }
    return sum[s->main_count] >= s->others;
}

// ---- the least time

struct filling {
    struct middle middle;     // where there are other layers
    int64_t near[STAGES_MAX]; // of each rank: its main layers within the last limit
};

static bool all_within(const struct layout_sketch *s, struct filling *f, int64_t limit_ns)
{
    if (!s->others) return main_within(s, limit_ns, f->near);
    return s->turns == 1 ? intervals_within(s, &f->middle, limit_ns) : counts_within(s, limit_ns);
}

// To a hundred-thousandth; from enough_ns on to a hundredth.
int64_t layout_filling_bound(const struct layout_sketch *s, int64_t enough_ns)
{
    int64_t average = layout_average_bound(s), low = average, high = average;
    struct filling f;
    for (int i = 0; i < s->ranks; i++) f.near[i] = s->main_count / s->ranks;
    assert(average >= 0);
    if (s->others) find_middle(&f.middle, s);
    layout_forget_loads(s);
    bool enough = average >= enough_ns;
    if (!enough && enough_ns < INT64_MAX && !all_within(s, &f, enough_ns - 1))
        low = high = enough_ns - 1, enough = true;
    if (enough && s->others) return larger(average, enough_ns);
    if (low == average && all_within(s, &f, low)) return low;
    if (!all_within(s, &f, (int64_t)1 << 60)) return INT64_MAX;
    while (!all_within(s, &f, high)) low = high, high += high / 8 + (high - average) + 1;
    while (high - low > average / (enough ? 100 : 100000) + 1) {
        int64_t middle = low + (high - low) / 2;
        if (all_within(s, &f, middle)) high = middle;
        else low = middle;
    }
    assert(low >= average && low < high);
    return low + 1;
}
