// Where an open box is split. The mixture of least plans is a relaxation that averages over which
// stage, or which rank, has the extra layer; the bound rises by splitting at the highest load that
// the mixture has only in part. By ranks the split is at the number of layers on a rank, so that
// each half constrains all of the rank's stages together.

#include "solve/boxes/box_internal.h"

static const double share_least = 0.02; // least share of a plan in the mixture that counts

static const struct choice *choice_of(const struct box_closer *b, int plan, int stage)
{
    return &b->c->stages[stage].items[b->work.plans[plan * b->stages + stage]];
}

static void widest_loads(const struct box_closer *b, bool *const *allowed, int s, int64_t *least,
                         int64_t *most, int *count)
{
    *least = INT64_MAX, *most = -1, *count = 0;
    for (int i = 0; i < b->c->stages[s].count; i++) {
        int64_t load = b->c->stages[s].items[i].load_ns;
        if (!allowed[s][i]) continue;
        ++*count;
        *least = load < *least ? load : *least;
        *most = load > *most ? load : *most;
    }
}

// The highest load that the mixture has only in part at a stage.
static void split_by_mixture(const struct box_closer *b, bool *const *allowed, struct box_split *x)
{
    for (int s = 0; s < b->stages; s++) {
        int64_t least = INT64_MAX, most = -1;
        for (int plan = 0; plan < game_plan_count(b->game); plan++) {
            int i = b->work.plans[plan * b->stages + s];
            if (i < 0) continue;
            int64_t load = b->c->stages[s].items[i].load_ns;
            if (game_plan_share(b->game, plan) < share_least || !allowed[s][i]) continue;
            least = load < least ? load : least;
            most = load > most ? load : most;
        }
        if (most > least && (!x->by || most > x->value))
            *x = (struct box_split){SPLIT_LOAD, s, most};
    }
}

static double weighed(const struct box_closer *b, int kind, int stage, int64_t ns)
{
    return (double)b->work.coefficients[symbol_index(b->stages, kind, stage)] * (double)ns;
}

// A stage's load as the mixture of paths counts it, in 2^-40 ns.
static double weighed_load(const struct box_closer *b, int stage, const struct choice *c)
{
    double sum = 0;
    for (int slice = 0; slice < b->c->priced->slice_count; slice++)
        sum += weighed(b, symbol_of_slice(slice, SYMBOL_FORWARD), stage, c->forward_ns[slice]) +
               weighed(b, symbol_of_slice(slice, SYMBOL_BACKWARD), stage, c->backward_ns[slice]);
    return sum + weighed(b, SYMBOL_WEIGHT, stage, c->weight_ns);
}

// The means of the mixture's plans, by stage: layers, load in ns, weighed load.
struct mean {
    double layers[STAGES_MAX], load[STAGES_MAX], weighed[STAGES_MAX];
};

// false: the mixture has no plan.
static bool take_means(const struct box_closer *b, struct mean *m)
{
    double all = 0;
    *m = (struct mean){{0}, {0}, {0}};
    for (int x = 0; x < game_plan_count(b->game); x++) {
        double share = game_plan_share(b->game, x);
        if (b->work.plans[x * b->stages] < 0) continue;
        all += share;
        for (int s = 0; s < b->stages; s++) {
            const struct choice *c = choice_of(b, x, s);
            m->layers[s] += share * c->layer_count;
            m->load[s] += share * (double)c->load_ns;
            m->weighed[s] += share * weighed_load(b, s, c);
        }
    }
    for (int s = 0; s < b->stages && all > 0; s++)
        m->layers[s] /= all, m->load[s] /= all, m->weighed[s] /= all;
    return all > 0;
}

// Distance from a whole number.
static double open_share(double value)
{
    double above = value - (double)(int64_t)value;
    return above < 0.5 ? above : 1 - above;
}

// The rank whose mean number of layers is farthest from a whole number, weighted by what one of its
// layers counts: split into the next whole number or more, and fewer.
static void split_rank_by_mean(const struct box_closer *b, const struct choice_box *box,
                               const struct mean *m, struct box_split *x)
{
    double best = 0;
    for (int r = 0; r < b->c->rank_count; r++) {
        double layers = 0, weighed = 0;
        for (int t = 0; t < b->c->virtual_stages; t++) {
            layers += m->layers[choices_stage_of(b->c, r, t)];
            weighed += m->weighed[choices_stage_of(b->c, r, t)];
        }
        int at = (int)layers + 1;
        double won = open_share(layers) * weighed / layers;
        if (open_share(layers) < share_least || won <= best || at > box->spans[r].most ||
            at <= box->spans[r].least)
            continue;
        best = won;
        *x = (struct box_split){SPLIT_LAYERS, r, at};
    }
}

// The layers of a stage's choice, of kinds only those that are counted.
static int layers_of(const struct box_closer *b, int s, int choice)
{
    const struct box_kinds *k = b->kinds;
    int sum = k ? 0 : b->c->stages[s].items[choice].layer_count;
    for (int i = 0; k && i < k->count; i++) sum += k->held[s][choice * k->count + i];
    return sum;
}

// The least load of a stage's choices with this many layers, or of those above a load.
static bool least_load_from(const struct box_closer *b, bool *const *allowed, int s, int layers,
                            double above_ns, int64_t *least)
{
    int64_t all_least = INT64_MAX;
    *least = INT64_MAX;
    for (int i = 0; i < b->c->stages[s].count; i++) {
        const struct choice *c = &b->c->stages[s].items[i];
        if (!allowed[s][i]) continue;
        all_least = c->load_ns < all_least ? c->load_ns : all_least;
        if (layers_of(b, s, i) >= layers && (double)c->load_ns > above_ns && c->load_ns < *least)
            *least = c->load_ns;
    }
    return *least<INT64_MAX && * least> all_least;
}

// The stage whose mean number of layers is farthest from a whole number, likewise: split at the
// least load of the next whole number or more. If the layers are whole: at the next load above the
// mean.
static void split_stage_by_mean(const struct box_closer *b, const struct choice_box *box,
                                const struct mean *m, struct box_split *x)
{
    double best = 0;
    for (int s = 0; s < b->stages; s++) {
        double won = open_share(m->layers[s]) * m->weighed[s] / m->layers[s];
        int64_t load;
        if (open_share(m->layers[s]) < share_least || won <= best) continue;
        if (!least_load_from(b, box->allowed, s, (int)m->layers[s] + 1, -1, &load)) continue;
        best = won;
        *x = (struct box_split){SPLIT_LOAD, s, load};
    }
}

// The rank whose fraction of a layer is closest to one half, as above; of kinds, the one that takes
// most time.
static void split_rank_by_shares(const struct box_closer *b, const struct choice_box *box,
                                 struct box_split *x)
{
    double best = 0;
    for (int i = 0; i < box_closer_span_count(b); i++) {
        double layers = 0;
        int r = i % b->c->rank_count, kind = i / b->c->rank_count;
        for (int t = 0; t < b->c->virtual_stages; t++)
            layers += box_share_of(b, choices_stage_of(b->c, r, t), kind);
        int at = (int)layers + 1;
        double open = open_share(layers) * box_share_worth(b, kind);
        if (open_share(layers) <= share_least || open <= best || at > box->spans[i].most ||
            at <= box->spans[i].least)
            continue;
        best = open;
        *x = (struct box_split){SPLIT_LAYERS, r, at, b->kinds ? b->kinds->runs[kind] + 1 : 0};
    }
}

// The stage whose fraction of a layer is closest to one half, likewise; of kinds, weighted by what
// the mixture of paths counts of the stage.
static void split_by_shares(const struct box_closer *b, const struct choice_box *box,
                            struct box_split *x)
{
    double best = b->kinds ? 0 : share_least;
    for (int s = 0; s < b->stages; s++) {
        double layers = 0, worth = 1;
        int64_t load;
        for (int k = 0; k < (b->kinds ? b->kinds->count : 1); k++) layers += box_share_of(b, s, k);
        if (b->kinds) worth = box_share_weight(b, s);
        if (open_share(layers) <= share_least || open_share(layers) * worth <= best) continue;
        if (!least_load_from(b, box->allowed, s, (int)layers + 1, -1, &load)) continue;
        best = open_share(layers) * worth;
        *x = (struct box_split){SPLIT_LOAD, s, load};
    }
}

static void split_by_mean(const struct box_closer *b, const struct choice_box *box,
                          struct box_split *x)
{
    struct mean m;
    if (!take_means(b, &m)) return;
    split_rank_by_mean(b, box, &m, x);
    if (!x->by) split_stage_by_mean(b, box, &m, x);
}

// A path's share of one stage's time beyond what the mixture has of it, for this choice.
static double missing_of(const struct box_closer *b, const int *path, int stage,
                         const struct choice *x)
{
    double sum = 0, unit = (double)((int64_t)1 << WEIGHT_BITS) / path_laps(path, b->symbols);
    for (int slice = 0; slice < b->c->priced->slice_count; slice++)
        for (int back = 0; back < 2; back++) {
            int at = symbol_index(
                b->stages, symbol_of_slice(slice, back ? SYMBOL_BACKWARD : SYMBOL_FORWARD), stage);
            sum += (path[at] * unit - (double)b->work.coefficients[at]) *
                   (double)(back ? x->backward_ns : x->forward_ns)[slice];
        }
    return sum;
}

// By labels the mixture has few plans. The most likely of them takes longer than the mixture's
// bound on a path that counts some stage more: split half way between this stage's load and the
// least it can have, so that the bound rises in one part and the plan is gone from the other.
static void split_by_plan(struct box_closer *b, bool *const *allowed, struct box_split *x)
{
    int at = -1;
    double most = 0;
    for (int plan = 0; plan < game_plan_count(b->game); plan++) {
        bool inside = true;
        for (int s = 0; s < b->stages && inside; s++)
            inside = allowed[s][b->work.plans[plan * b->stages + s]];
        if (inside && (at < 0 || game_plan_share(b->game, plan) > game_plan_share(b->game, at)))
            at = plan;
    }
    if (at < 0 || !choices_durations(b->c, b->work.plans + at * b->stages, b->work.durations))
        return;
    graph_longest(b->g, b->work.durations, b->work.counts);
    for (int s = 0; s < b->stages; s++) {
        const struct choice *own = choice_of(b, at, s);
        int64_t least, load;
        double missing = missing_of(b, b->work.counts, s, own);
        if (missing <= most) continue;
        widest_loads(b, allowed, s, &least, &load, &(int){0});
        if (!least_load_from(b, allowed, s, 0, (double)least + (double)(own->load_ns - least) / 2,
                             &load))
            continue;
        most = missing;
        *x = (struct box_split){SPLIT_LOAD, s, load};
    }
}

// A rank on which the least plan has two groups: split into the group of its first stage and the
// others.
static void split_by_group(const struct box_closer *b, bool *const *allowed, struct box_split *x)
{
    for (int r = 0; r < b->c->rank_count && !x->by; r++) {
        int first = choices_stage_of(b->c, r, 0),
            group = b->c->stages[first].items[b->work.chosen[first]].group;
        bool differs = false, in = false, out = false;
        for (int t = 1; t < b->c->virtual_stages; t++) {
            int s = choices_stage_of(b->c, r, t);
            differs = differs || b->c->stages[s].items[b->work.chosen[s]].group != group;
        }
        for (int i = 0; i < b->c->stages[first].count && differs; i++) {
            in = in || (allowed[first][i] && b->c->stages[first].items[i].group == group);
            out = out || (allowed[first][i] && b->c->stages[first].items[i].group != group);
        }
        if (in && out) *x = (struct box_split){SPLIT_GROUP, first, group};
    }
}

// The first stage that may start at several layers, some of them stated: split into the first of
// these and the others.
static void split_by_place(const struct box_closer *b, bool *const *allowed, struct box_split *x)
{
    for (int s = 1; s < b->stages && !x->by; s++) {
        int least = b->c->free_from, most = 0;
        for (int i = 0; i < b->c->stages[s].count; i++) {
            int place = place_least(b->c->stages[s].items[i].first_layer);
            if (!allowed[s][i]) continue;
            least = place < least ? place : least;
            most = place > most ? place : most;
        }
        if (least < most) *x = (struct box_split){SPLIT_PLACE, s, least};
    }
}

// The highest load of a stage that has several loads, else the least plan's choice at the stage
// with most choices.
// Returns how many choices that stage has.
static int split_without_mixture(const struct box_closer *b, bool *const *allowed,
                                 struct box_split *x)
{
    int several = -1, count_most = 1;
    bool decided = x->by;
    for (int s = 0; s < b->stages; s++) {
        int64_t least, most;
        int count;
        widest_loads(b, allowed, s, &least, &most, &count);
        if (count > count_most) several = s, count_most = count;
        if (!decided && most > least && (!x->by || most > x->value))
            *x = (struct box_split){SPLIT_LOAD, s, most};
    }
    if (!x->by && several >= 0) {
        int choice = b->work.chosen[several];
        for (int i = 0; !allowed[several][choice]; i++) choice = i;
        *x = (struct box_split){SPLIT_CHOICE, several, choice};
    }
    return count_most;
}

// Whether a split leaves a choice in both halves.
static bool has_halves(const struct box_closer *b, bool *const *allowed, const struct box_split *x)
{
    bool halves[2] = {false, false};
    const struct stage_choices *stage = &b->c->stages[x->at];
    for (int i = 0; i < stage->count; i++) {
        bool first = box_split_has(x, &stage->items[i], i);
        halves[first] = halves[first] || allowed[x->at][i];
    }
    return halves[0] && halves[1];
}

struct box_split box_choose_split(struct box_closer *b, const struct choice_box *box)
{
    struct box_split x = {0};
    bool by_ranks = box_closer_is_by_ranks(b);
    if (by_ranks) split_by_place(b, box->allowed, &x);
    if (!x.by && b->current.in_shares) split_rank_by_shares(b, box, &x);
    if (!x.by && b->current.in_shares) split_by_shares(b, box, &x);
    if (!x.by && by_ranks) split_by_mean(b, box, &x);
    else if (!x.by && b->c->virtual_stages > 1) split_by_group(b, box->allowed, &x);
    if (!x.by && b->labels) split_by_plan(b, box->allowed, &x);
    if (!x.by) split_by_mixture(b, box->allowed, &x);
    if (split_without_mixture(b, box->allowed, &x) < 2) return (struct box_split){0};
    assert(x.by == SPLIT_LAYERS || (x.by && has_halves(b, box->allowed, &x)));
    return x;
}
