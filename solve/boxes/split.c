// Where an open box is split. The mixture of least plans is a relaxation that averages over which
// stage, or which rank, carries the extra layer; splitting at the highest load that it holds in
// part is what raises the bound. By ranks it is the number of layers on a rank, so that a half says
// something about all of the rank's stages together.
#include <assert.h>
#include <string.h>

#include "solve/boxes/box_internal.h"

static const double share_least = 0.02; // of a plan in the mixture, to be counted

static const struct choice *choice_of(const struct box_closer *b, int plan, int stage)
{
    return &b->c->stages[stage].items[b->plans[plan * b->stages + stage]];
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

// The highest load that the mixture holds at a stage in part.
static void split_by_mixture(const struct box_closer *b, bool *const *allowed, struct box_answer *a)
{
    for (int s = 0; s < b->stages; s++) {
        int64_t least = INT64_MAX, most = -1;
        for (int x = 0; x < game_plan_count(b->game); x++) {
            int i = b->plans[x * b->stages + s];
            if (i < 0) continue;
            int64_t load = b->c->stages[s].items[i].load_ns;
            if (game_plan_share(b->game, x) < share_least || !allowed[s][i]) continue;
            least = load < least ? load : least;
            most = load > most ? load : most;
        }
        if (most > least && (a->branch_stage < 0 || most > a->branch_load_ns)) {
            a->branch_stage = s;
            a->branch_load_ns = most;
        }
    }
}

// The rank with the highest load whose number of layers the mixture leaves open: as many as that
// load has, or fewer.
static void split_rank_by_mixture(const struct box_closer *b, const struct choice_box *box,
                                  struct box_answer *a)
{
    int64_t highest = -1;
    for (int r = 0; r < b->c->rank_count; r++) {
        int64_t rank_highest = -1;
        int least = INT32_MAX, most = -1;
        for (int x = 0; x < game_plan_count(b->game); x++) {
            int64_t load = 0;
            int layers = 0;
            if (b->plans[x * b->stages] < 0) continue;
            for (int t = 0; t < b->c->virtual_stages; t++) {
                const struct choice *c = choice_of(b, x, choices_stage_of(b->c, r, t));
                load += c->load_ns;
                layers += c->layer_count;
            }
            if (game_plan_share(b->game, x) < share_least) continue;
            least = layers < least ? layers : least;
            most = layers > most ? layers : most;
            rank_highest = load > rank_highest ? load : rank_highest;
        }
        if (most <= least || rank_highest <= highest || most > box->spans[r].most ||
            most <= box->spans[r].least)
            continue;
        highest = rank_highest;
        a->branch_rank = r;
        a->branch_layers = most;
    }
}

// A rank on which the least plan has two groups: the group of its first stage against the others.
static void split_by_group(const struct box_closer *b, bool *const *allowed, struct box_answer *a)
{
    for (int r = 0; r < b->c->rank_count && a->branch_stage < 0; r++) {
        int first = choices_stage_of(b->c, r, 0),
            group = b->c->stages[first].items[b->chosen[first]].group;
        bool differs = false, in = false, out = false;
        for (int t = 1; t < b->c->virtual_stages; t++) {
            int s = choices_stage_of(b->c, r, t);
            differs = differs || b->c->stages[s].items[b->chosen[s]].group != group;
        }
        for (int i = 0; i < b->c->stages[first].count && differs; i++) {
            in = in || (allowed[first][i] && b->c->stages[first].items[i].group == group);
            out = out || (allowed[first][i] && b->c->stages[first].items[i].group != group);
        }
        if (in && out) {
            a->branch_stage = first;
            a->branch_group = group;
        }
    }
}

// The highest load of a stage that has several, else the least plan's choice at the stage with most
// choices.
static int split_without_mixture(const struct box_closer *b, bool *const *allowed, bool decided,
                                 struct box_answer *a)
{
    int several = -1, count_most = 1;
    for (int s = 0; s < b->stages; s++) {
        int64_t least, most;
        int count;
        widest_loads(b, allowed, s, &least, &most, &count);
        if (count > count_most) several = s, count_most = count;
        if (!decided && most > least && (a->branch_stage < 0 || most > a->branch_load_ns)) {
            a->branch_stage = s;
            a->branch_load_ns = most;
        }
    }
    if (!decided && a->branch_stage < 0 && several >= 0) {
        a->branch_stage = several;
        a->branch_choice = b->chosen[several];
        for (int i = 0; !allowed[several][a->branch_choice]; i++) a->branch_choice = i;
    }
    return count_most;
}

// A split leaves both halves a choice.
static bool has_halves(const struct box_closer *b, bool *const *allowed, const struct box_answer *a)
{
    bool halves[2] = {false, false};
    const struct stage_choices *stage = &b->c->stages[a->branch_stage];
    for (int i = 0; i < stage->count; i++) {
        const struct choice *c = &stage->items[i];
        bool first = a->branch_choice >= 0  ? i == a->branch_choice
                     : a->branch_group >= 0 ? c->group == a->branch_group
                                            : c->load_ns >= a->branch_load_ns;
        halves[first] = halves[first] || allowed[a->branch_stage][i];
    }
    return halves[0] && halves[1];
}

int box_choose_split(struct box_closer *b, const struct choice_box *box, struct box_answer *a)
{
    a->branch_stage = a->branch_choice = a->branch_group = a->branch_rank = -1;
    if (box->spans) split_rank_by_mixture(b, box, a);
    else if (b->c->virtual_stages > 1) split_by_group(b, box->allowed, a);
    if (a->branch_rank < 0 && a->branch_stage < 0) split_by_mixture(b, box->allowed, a);
    int count_most =
        split_without_mixture(b, box->allowed, a->branch_rank >= 0 || a->branch_stage >= 0, a);
    assert(a->branch_rank < 0 || a->branch_stage < 0);
    assert(a->branch_stage < 0 || has_halves(b, box->allowed, a));
    assert(count_most < 2 || a->branch_rank >= 0 || a->branch_stage >= 0);
    return count_most > 1 ? count_most : 0;
}
