// Memory that several stages of one rank share (docs/FORMULAS.md 8 and 13): the constant once, the
// sum of what is always resident, the largest working memory and, for activations, the peak moment
// of the schedule. A single choice can be judged only by what it needs in addition to the minimum
// that the rank's other stages need.

#include "data/base/least.h"
#include "formulate/choices/choice.h"

int choices_rank_of(const struct choices *c, int stage)
{
    return schedule_rank_of(&c->schedule->request, stage);
}

int choices_stage_of(const struct choices *c, int rank, int turn)
{
    return schedule_stage_of(&c->schedule->request, rank, turn);
}

// ---- the minimum of every stage

// The smallest messages before and after the stage that its layers can have, in both directions.
static int64_t least_buffers(const struct choices *c, int stage)
{
    const struct priced *p = c->priced;
    const struct schedule_request *r = &c->schedule->request;
    int64_t before = INT64_MAX, behind = INT64_MAX;
    bool receives = stage > 0 && !schedule_is_inner(r, stage - 1),
         sends = stage < p->stage_count - 1 && !schedule_is_inner(r, stage);
    for (int i = 0; i < p->run_count; i++) {
        before = smaller(before, p->cuts[p->runs[i].cut].message_bytes);
        behind = smaller(behind, p->cuts[p->runs[i].cut].message_bytes);
    }
    return (receives ? 2 * before : 0) + (sends ? 2 * behind : 0);
}

// The stage holds at least one layer; the first stage holds the model's first layer, the last its
// last.
static struct stage_least least_of_stage(const struct choices *c, int stage)
{
    const struct priced *p = c->priced;
    const struct schedule_request *r = &c->schedule->request;
    int last = p->stage_count - 1, first_run = stage == last ? p->run_count - 1 : 0,
        end_run = stage == 0 ? 1 : p->run_count;
    struct stage_least least = {INT64_MAX, INT64_MAX, INT64_MAX};
    for (int i = first_run; i < end_run; i++) {
        const struct priced_run *run = &p->runs[i];
        least.resident_bytes = smaller(least.resident_bytes, priced_least_resident(p, run));
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
            if (mode != RECOMPUTE_NONE && (!run->recomputable || !run->again_ns[mode])) continue;
            bool away = run->recomputable && p->recompute[RECOMPUTE_SWAP];
            least.stash_bytes = smaller(least.stash_bytes, away ? 0 : run->stash_bytes[mode]);
            least.working_bytes =
                smaller(least.working_bytes, run->working_bytes[mode] + run->unsharded_bytes);
        }
    }
    least.resident_bytes += least_buffers(c, stage);
    if (stage < last && schedule_is_local(r, stage)) least.resident_bytes += p->local_bytes;
    return least;
}

static void index_peaks(struct choices *c)
{
    const struct schedule *s = c->schedule;
    c->peaks = TAKE(c->arena, c->rank_count, struct rank_peaks);
    for (int i = 0; i < s->peak_count; i++) c->peaks[s->peaks[i].rank].count++;
    for (int rank = 0; rank < c->rank_count; rank++) {
        struct rank_peaks *peaks = &c->peaks[rank];
        assert(peaks->count > 0);
        peaks->in_flight = TAKE(c->arena, peaks->count, const int *);
        peaks->count = 0;
    }
    for (int i = 0; i < s->peak_count; i++) {
        struct rank_peaks *peaks = &c->peaks[s->peaks[i].rank];
        peaks->in_flight[peaks->count++] = s->peaks[i].in_flight;
    }
}

void choices_prepare_ranks(struct choices *c)
{
    if (c->virtual_stages == 1) return;
    index_peaks(c);
    c->least = TAKE(c->arena, c->priced->stage_count, struct stage_least);
    for (int s = 0; s < c->priced->stage_count && c->priced->layer_count >= c->priced->stage_count;
         s++)
        c->least[s] = least_of_stage(c, s);
}

// ---- one choice with the minimum of the others

static int64_t least_activations(const struct choices *c, int rank, int stage, int64_t stash_bytes)
{
    const struct rank_peaks *peaks = &c->peaks[rank];
    int64_t most = 0;
    for (int i = 0; i < peaks->count; i++) {
        int64_t sum = 0;
        for (int turn = 0; turn < c->virtual_stages; turn++) {
            int other = choices_stage_of(c, rank, turn);
            sum += peaks->in_flight[i][turn] *
                   (other == stage ? stash_bytes : c->least[other].stash_bytes);
        }
        most = larger(most, sum);
    }
    return most;
}

int64_t choice_resident_excess_bytes(const struct choices *c, int stage, const struct choice *x)
{
    const struct priced_group *group = &c->priced->groups[x->group];
    if (c->virtual_stages == 1)
        return memory_total(&x->memory) - x->memory.working_bytes - group->memory_limit_bytes;
    int rank = choices_rank_of(c, stage);
    int64_t sum = group->constant_bytes + resident_bytes(&x->memory);
    for (int turn = 0; turn < c->virtual_stages; turn++) {
        int other = choices_stage_of(c, rank, turn);
        if (other != stage) sum += c->least[other].resident_bytes;
    }
    return sum + least_activations(c, rank, stage, x->stash_bytes) - group->memory_limit_bytes;
}

int64_t choice_excess_bytes(const struct choices *c, int stage, const struct choice *x)
{
    int64_t working = x->memory.working_bytes;
    for (int turn = 0; turn < c->virtual_stages && c->virtual_stages > 1; turn++) {
        int other = choices_stage_of(c, choices_rank_of(c, stage), turn);
        if (other != stage) working = larger(working, c->least[other].working_bytes);
    }
    return choice_resident_excess_bytes(c, stage, x) + working;
}

// ---- a rank

static const struct choice *choice_at(const struct choices *c, const int *chosen, int rank,
                                      int turn)
{
    int stage = choices_stage_of(c, rank, turn);
    return &c->stages[stage].items[chosen[stage]];
}

static void add_parts(struct memory_parts *sum, const struct memory_parts *m)
{
    sum->weight_bytes += m->weight_bytes;
    sum->gradient_bytes += m->gradient_bytes;
    sum->optimizer_bytes += m->optimizer_bytes;
    sum->buffer_bytes += m->buffer_bytes;
    sum->feedback_bytes += m->feedback_bytes;
    sum->constant_bytes += m->constant_bytes; // only of the rank's first stage
    sum->working_bytes = larger(sum->working_bytes, m->working_bytes);
}

void choices_rank_memory(const struct choices *c, const int *chosen, int rank,
                         struct memory_parts *memory)
{
    if (c->virtual_stages == 1) {
        *memory = choice_at(c, chosen, rank, 0)->memory;
        return;
    }
    *memory = (struct memory_parts){0};
    for (int turn = 0; turn < c->virtual_stages; turn++)
        add_parts(memory, &choice_at(c, chosen, rank, turn)->memory);
    for (int i = 0; i < c->peaks[rank].count; i++) {
        int64_t sum = 0;
        for (int turn = 0; turn < c->virtual_stages; turn++)
            sum += c->peaks[rank].in_flight[i][turn] *
                   choice_at(c, chosen, rank, turn)->stash_bytes;
        memory->activation_bytes = larger(memory->activation_bytes, sum);
    }
}

bool choices_rank_fits(const struct choices *c, const int *chosen, int rank)
{
    int group = choice_at(c, chosen, rank, 0)->group;
    struct memory_parts memory;
    if (c->virtual_stages == 1) return true; // the filter was exact
    for (int turn = 1; turn < c->virtual_stages; turn++)
        if (choice_at(c, chosen, rank, turn)->group != group) return false;
    choices_rank_memory(c, chosen, rank, &memory);
    return memory_total(&memory) <= c->priced->groups[group].memory_limit_bytes;
}
