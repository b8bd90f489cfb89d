// All ranks of a layout against a time T: if they cannot hold all layers in less than T, no plan
// takes less (docs/PROOFS.md 8, all ranks).
#include "data/base/least.h"
#include "solve/checker/space/arguments.h"

// ---- main layers alone

// Whether the rank may hold k in a plan that takes less than t.
static bool may_hold(const struct check_sketch *s, int group, int rank, struct check_share before,
                     struct check_share k, int64_t t)
{
    int64_t least = check_rank_takes(s, group, rank, before, k);
    return least >= 0 && least < t;
}

// The most main layers on the rank, with so many before it; -1: not even what it must hold.
static int64_t most_held(const struct check_sketch *s, int group, int rank, int64_t main_before,
                         int64_t t)
{
    const struct check_share before = {main_before, 0};
    int64_t low = 0, high = s->main_count - main_before,
            share = 2 * (s->main_count / s->p->ranks) + 2;
    int64_t anyway = check_rank_takes_anyway(s, group, rank);
    if (anyway < 0 || anyway >= t) return -1;
    if (share < high && !may_hold(s, group, rank, before, (struct check_share){share, 0}, t))
        high = share - 1;
    while (low < high) {
        int64_t k = low + (high - low + 1) / 2;
        if (may_hold(s, group, rank, before, (struct check_share){k, 0}, t)) low = k;
        else high = k - 1;
    }
    return low;
}

// With several groups, a rank may be on any of them, in any order.
static bool all_held_somewhere(const struct check_sketch *s, int64_t t)
{
    int64_t most[MOST_GROUPS];
    bool stands[MOST_STAGES] = {false};
    for (int g = 0; g < s->group_count; g++) {
        most[g] = -1;
        for (int rank = 0; rank < s->p->ranks; rank++) {
            int64_t k = most_held(s, g, rank, 0, t);
            stands[rank] = stands[rank] || k >= 0;
            most[g] = larger(most[g], k);
        }
    }
    for (int rank = 0; rank < s->p->ranks; rank++)
        if (!stands[rank]) return false;
    return check_held_together(s, most) >= s->main_count;
}

// ---- with others, one stage a rank: intervals of the model

// Whether each layer is a main one, except for the model's ends.
static int read_middle(const struct check_sketch *s, bool *is_main)
{
    const struct check_problem *p = s->p;
    int count = 0, layer = 0;
    for (int r = 0; r < p->run_count; r++) {
        bool main = check_is_main(s, r);
        for (int i = 0; i < p->runs[r].count; i++, layer++)
            if (!(layer == 0 && s->has_first) && !(layer == p->layers - 1 && s->has_last))
                is_main[count++] = main;
    }
    return count;
}

// Each rank in turn takes the next layers.
static bool intervals_held(const struct check_sketch *s, int64_t t)
{
    bool is_main[2 * MOST_SHARES];
    int count = read_middle(s, is_main), at = 0;
    struct check_share before = {0, 0};
    for (int rank = 0; rank < s->p->ranks; rank++) {
        struct check_share k = {0, 0};
        for (; at < count; at++) {
            struct check_share more = {k.main + is_main[at], k.other + !is_main[at]};
            if (!may_hold(s, 0, rank, before, more, t)) break;
            k = more;
        }
        before.main += k.main, before.other += k.other;
    }
    return at == count;
}

// ---- with others, several stages: numbers of each

// The most others beside `main` main layers on the rank, up to `other`; -1: not even none.
static int most_beside(const struct check_sketch *s, int rank, int main, int other, int64_t t)
{
    const struct check_share none = {0, 0};
    while (other >= 0 && !may_hold(s, 0, rank, none, (struct check_share){main, other}, t)) other--;
    return other;
}

static bool both_held(const struct check_sketch *s, int64_t t)
{
    int sum[MOST_SHARES], all = s->main_count;
    for (int main = 0; main <= all; main++) sum[main] = main ? -1 : 0;
    for (int rank = 0; rank < s->p->ranks; rank++) {
        int beside[MOST_SHARES], most = s->others;
        for (int main = 0; main <= all; main++)
            beside[main] = most = most_beside(s, rank, main, most, t);
        // In descending order, so that entries read are still those of the ranks before.
        for (int main = all; main >= 0; main--) {
            int best = -1;
            for (int here = 0; here <= main; here++)
                if (beside[here] >= 0 && sum[main - here] >= 0 &&
                    beside[here] + sum[main - here] > best)
                    best = beside[here] + sum[main - here];
            sum[main] = best;
        }
    }
    return sum[all] >= s->others;
}

bool check_filling_reaches(const struct check_sketch *s, int64_t t)
{
    int64_t before = 0;
    if (s->others) return !(s->p->turns == 1 ? intervals_held(s, t) : both_held(s, t));
    if (s->group_count != 1) return !all_held_somewhere(s, t);
    for (int rank = 0; rank < s->p->ranks && before < s->main_count; rank++) {
        int64_t k = most_held(s, 0, rank, before, t);
        if (k < 0) return true;
        before += k;
    }
    return before < s->main_count;
}
