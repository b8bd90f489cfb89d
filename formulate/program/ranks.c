// Rows that couple the stages of one rank: all on one node group, and together within its memory
// (docs/FORMULAS.md 13). There is one memory row per peak moment of the schedule. Resident bytes
// and the activations of that moment are sums over choices. The working memory is the maximum over
// the stages, represented by a staircase of columns, one per distinct size.
#include <stdlib.h>

#include "data/base/least.h"
#include "formulate/program/formulate.h"

struct rank_rows {
    struct builder *b;
    int rank;
    int64_t base_bytes;   // working memory that every combination reaches
    int64_t *level_bytes; // ascending sizes above it that some choice has
    int level_count;
};

static int stage_of(const struct rank_rows *r, int turn)
{
    return choices_stage_of(r->b->c, r->rank, turn);
}

static void add_same_group(struct rank_rows *r)
{
    struct milp *m = &r->b->f->milp;
    for (int turn = 1; turn < r->b->c->virtual_stages; turn++)
        for (int g = 0; g < r->b->p->group_count; g++) {
            int before = m->entry_count;
            int64_t constant = put_group(r->b, stage_of(r, turn), g, 1);
            constant += put_group(r->b, stage_of(r, 0), g, -1);
            if (m->entry_count > before || constant)
                milp_add_row(m, ROW_RANK, ROW_EQUAL, -constant);
        }
}

// ---- working memory

static void find_levels(struct rank_rows *r)
{
    const struct choices *c = r->b->c;
    int total = 0, kept = 0;
    for (int turn = 0; turn < c->virtual_stages; turn++)
        total += c->stages[stage_of(r, turn)].count;
    int64_t *all = TAKE(r->b->arena, total, int64_t);
    total = 0;
    for (int turn = 0; turn < c->virtual_stages; turn++) {
        const struct stage_choices *stage = &c->stages[stage_of(r, turn)];
        int64_t least = stage->count ? INT64_MAX : 0;
        for (int i = 0; i < stage->count; i++) {
            all[total++] = stage->items[i].memory.working_bytes;
            if (stage->items[i].memory.working_bytes < least)
                least = stage->items[i].memory.working_bytes;
        }
        r->base_bytes = larger(r->base_bytes, least);
    }
    qsort(all, (size_t)total, sizeof *all, int64_ascending);
    for (int i = 0; i < total; i++)
        if (all[i] > (kept ? all[kept - 1] : r->base_bytes)) all[kept++] = all[i];
    r->level_bytes = all;
    r->level_count = kept;
}

// level >= the choices of a stage that reach it, for each stage; returns the first level's column.
static int add_levels(struct rank_rows *r)
{
    const struct choices *c = r->b->c;
    struct milp *m = &r->b->f->milp;
    int first = m->column_count;
    for (int j = 0; j < r->level_count; j++)
        milp_add_column(
            m, (struct milp_column){.role = COLUMN_WORKING, .a = r->rank, .b = j, .upper = 1});
    for (int turn = 0; turn < c->virtual_stages; turn++)
        for (int j = 0; j < r->level_count; j++) {
            int stage = stage_of(r, turn), before = m->entry_count;
            for (int i = 0; i < c->stages[stage].count; i++)
                if (c->stages[stage].items[i].memory.working_bytes >= r->level_bytes[j])
                    milp_add_entry(m, r->b->f->choice_column[stage][i], -1);
            if (m->entry_count == before) continue;
            milp_add_entry(m, first + j, 1);
            milp_add_row(m, ROW_WORKING, ROW_AT_LEAST, 0);
        }
    r->b->f->working_bytes[r->rank] = r->level_bytes;
    return first;
}

// ---- memory

static int64_t bytes_at(const struct choice *x, int in_flight)
{
    const struct memory_parts *m = &x->memory;
    return memory_total(m) - m->activation_bytes - m->working_bytes + in_flight * x->stash_bytes;
}

// Minimum and maximum over the stage's choices on the group; false: there are none.
static bool range_on_group(const struct stage_choices *stage, int group, int in_flight,
                           int64_t *least, int64_t *greatest)
{
    bool found = false;
    for (int i = 0; i < stage->count; i++) {
        if (stage->items[i].group != group) continue;
        int64_t bytes = bytes_at(&stage->items[i], in_flight);
        if (!found || bytes < *least) *least = bytes;
        if (!found || bytes > *greatest) *greatest = bytes;
        found = true;
    }
    return found;
}

// Room left on the group if every stage takes its minimum, as far as it can be used; *binds: some
// combination exceeds it.
static int64_t room_on_group(const struct rank_rows *r, const int *in_flight, int group,
                             bool *binds)
{
    const struct choices *c = r->b->c;
    int64_t room = c->priced->groups[group].memory_limit_bytes - r->base_bytes, spread = 0, least,
            greatest;
    for (int turn = 0; turn < c->virtual_stages; turn++) {
        if (!range_on_group(&c->stages[stage_of(r, turn)], group, in_flight[turn], &least,
                            &greatest))
            return 0;
        room -= least;
        spread += greatest - least;
    }
    if (r->level_count) spread += r->level_bytes[r->level_count - 1] - r->base_bytes;
    *binds = *binds || spread > room;
    return spread < room ? spread : room;
}

// Divides the current row by the common divisor of its entries. Every column is an integer in a
// plan, so the right side may be rounded down; returns it.
static int64_t divide_row(struct milp *m, int before, int64_t right)
{
    int64_t divisor = 0;
    for (int e = before; e < m->entry_count; e++)
        divisor = common_divisor(divisor, m->entry_value[e]);
    if (divisor <= 1) return right;
    for (int e = before; e < m->entry_count; e++) m->entry_value[e] /= divisor;
    return right / divisor - (right % divisor < 0);
}

// One moment: bytes of all stages above the group's minimum + steps of working memory <= room of
// the group.
static void add_moment(struct rank_rows *r, const int *in_flight, int first_level)
{
    const struct choices *c = r->b->c;
    struct milp *m = &r->b->f->milp;
    int before = m->entry_count;
    int64_t constant = 0, unused;
    bool binds = false;
    for (int turn = 0; turn < c->virtual_stages; turn++) {
        int stage = stage_of(r, turn), count = c->stages[stage].count;
        int64_t *least = TAKE(r->b->arena, c->priced->group_count, int64_t);
        for (int g = 0; g < c->priced->group_count; g++)
            range_on_group(&c->stages[stage], g, in_flight[turn], &least[g], &unused);
        for (int i = 0; i < count; i++) {
            const struct choice *x = &c->stages[stage].items[i];
            milp_add_entry(m, r->b->f->choice_column[stage][i],
                           bytes_at(x, in_flight[turn]) - least[x->group]);
        }
    }
    for (int j = 0; j < r->level_count; j++)
        milp_add_entry(m, first_level + j,
                       r->level_bytes[j] - (j ? r->level_bytes[j - 1] : r->base_bytes));
    for (int g = 0; g < c->priced->group_count; g++)
        constant += put_group(r->b, stage_of(r, 0), g, -room_on_group(r, in_flight, g, &binds));
    milp_add_row(m, ROW_MEMORY, ROW_AT_MOST, divide_row(m, before, -constant));
}

static bool moment_binds(const struct rank_rows *r, const int *in_flight)
{
    bool binds = false;
    for (int g = 0; g < r->b->p->group_count; g++) room_on_group(r, in_flight, g, &binds);
    return binds;
}

static void add_memory(struct rank_rows *r)
{
    const struct rank_peaks *peaks = &r->b->c->peaks[r->rank];
    int first_level = -1;
    find_levels(r);
    for (int i = 0; i < peaks->count; i++) {
        if (!moment_binds(r, peaks->in_flight[i])) continue;
        if (first_level < 0) first_level = add_levels(r);
        add_moment(r, peaks->in_flight[i], first_level);
    }
}

void add_rank_rows(struct builder *b)
{
    for (int rank = 0; rank < b->c->rank_count; rank++) {
        struct rank_rows r = {.b = b, .rank = rank};
        add_same_group(&r);
        add_memory(&r);
    }
}
