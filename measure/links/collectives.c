// plumbline-measure collectives: all-reduce, reduce-scatter, all-gather, all-to-all and a ring of
// send/receive over groups of ranks. For a repetition the members synchronise, each times its own
// call, and the slowest counts. Each group is measured alone; groups without a common rank also
// all at once, as in a training run.
#include <string.h>

#include "measure/sampling/backend.h"
#include "measure/links/devices.h"
#include "measure/links/links.h"

// Values are whole numbers below VALUE_RANGE plus the rank, whose sums are exact in fp32 for any
// number of ranks here.
enum { WORDS_MAX = 256, VALUE_RANGE = 512, RANKS_MAX = 4096 };

static const char *const collective_names[] = {"all_reduce", "reduce_scatter", "all_gather",
                                               "all_to_all", "send_recv"};

struct options {
    struct assembly_settings common;
    struct option_texts words;
};

struct stage {
    struct ranks *ranks;
    const struct roster *roster;
    const struct groups *groups;
    struct group **handles;  // [groups->count], NULL where this rank is no member
    float *in, *out;         // [floats]
    struct devices *devices; // NULL: between processes; otherwise the groups are of devices
    struct device_group **device_groups;
};

static float value_of(uint64_t number, int64_t place, int member)
{
    return (float)((number + (uint64_t)place) * 7 % VALUE_RANGE) + (float)member;
}

// The expected value of out[place] on `self`, if the array has `count` floats in all.
static float expected(enum collective what, uint64_t number, int64_t place, int self, int members,
                      int64_t count)
{
    int64_t share = count / members;
    float sum_of_members = (float)members * (float)(members - 1) / 2;
    switch (what) {
    case ALL_REDUCE: return (float)members * value_of(number, place, 0) + sum_of_members;
    case REDUCE_SCATTER:
        return (float)members * value_of(number, self * share + place, 0) + sum_of_members;
    case ALL_GATHER: return value_of(number, place % share, (int)(place / share));
    case ALL_TO_ALL: return value_of(number, self * share + place % share, (int)(place / share));
    default: return value_of(number, place, (self + members - 1) % members);
    }
}

static enum status check(const struct stage *s, enum collective what, uint64_t number, int self,
                         int members, int64_t count, struct error *err)
{
    int64_t results = what == REDUCE_SCATTER ? count / members : count;
    for (int64_t i = 0; i < results; i++) {
        float right = expected(what, number, i, self, members, count);
        if (s->out[i] == right) continue;
        return fail(err, SYSTEM, "%s at %s: value %lld of %lld is %g, expected %g",
                    collective_names[what], s->roster->endpoints[ranks_self(s->ranks)].name,
                    (long long)i, (long long)results, (double)s->out[i], (double)right);
    }
    return OK;
}

static int list_of(const struct stage *s, const struct sample *sample)
{
    int g = 0;
    while (s->groups->lists[g].members != sample->members) g++;
    return g;
}

static enum status repeat(void *context, const struct sample *sample, uint64_t number,
                          double *seconds, struct error *err)
{
    struct stage *s = context;
    int g = list_of(s, sample), members = sample->member_count, self = 0;
    if (!s->handles[g]) return OK;
    struct device_group *devices = s->devices ? s->device_groups[g] : NULL;
    enum collective what = ALL_REDUCE;
    while (strcmp(collective_names[what], sample->operation)) what++;
    while (sample->members[self] != ranks_self(s->ranks)) self++;
    int64_t count = sample->dimensions[0] / (int64_t)sizeof(float);
    for (int64_t i = 0; i < count; i++) s->in[i] = value_of(number, i, self);
    memset(s->out, 0xff, (size_t)sample->dimensions[0]);
    group_meet(s->handles[g]);
    double begin_s = clock_s();
    if (devices) TRY(devices_run(devices, what, s->in, s->out, count, seconds, err));
    else group_run(s->handles[g], what, s->in, s->out, (int)count);
    if (!devices) *seconds = clock_s() - begin_s;
    return check(s, what, number, self, members, count, err);
}

// ---- which cells

static int64_t whole_shares(int64_t bytes, int members)
{
    int64_t unit = (int64_t)sizeof(float) * members;
    return (bytes + unit - 1) / unit * unit;
}

// One turn: every collective at every size, on the groups first .. first + count - 1 at once.
static void add_turn(struct joint *j, const struct groups *groups, int first, int count,
                     const int64_t *sizes, int size_count)
{
    j->turns[j->turn_count++] = (struct turn){j->step_count, size_count * COLLECTIVE_COUNT};
    for (int what = 0; what < COLLECTIVE_COUNT; what++)
        for (int i = 0; i < size_count; i++) {
            j->steps[j->step_count++] = (struct step){j->cell_count, count};
            for (int g = first; g < first + count; g++) {
                const struct member_list *list = &groups->lists[g];
                int64_t bytes = whole_shares(sizes[i], list->count);
                j->cells[j->cell_count++].sample = (struct sample){
                    .kind = SAMPLE_COLLECTIVE,
                    .operation = collective_names[what],
                    .dimensions = {bytes, list->count},
                    .dimension_count = 2,
                    .precision = FP32,
                    .bytes = (double)bytes,
                    .from = -1,
                    .to = -1,
                    .members = list->members,
                    .member_count = list->count,
                    .alone = count == 1,
                };
            }
        }
}

static void choose_cells(struct joint *j, const struct options *s, const struct groups *groups,
                         int endpoint_count, struct arena *arena)
{
    int64_t sizes[LADDER_MAX];
    int size_count = ladder_sizes(s->common.smallest, s->common.largest, s->common.factor, sizes);
    bool at_once = groups->count > 1 && groups_are_disjoint(groups, endpoint_count, arena);
    int turns = groups->count + at_once, steps = turns * size_count * COLLECTIVE_COUNT;
    *j = (struct joint){
        .cells = TAKE(arena, groups->count * (1 + at_once) * size_count * COLLECTIVE_COUNT,
                      struct joint_cell),
        .steps = TAKE(arena, steps, struct step),
        .turns = TAKE(arena, turns, struct turn),
    };
    for (int g = 0; g < groups->count; g++) add_turn(j, groups, g, 1, sizes, size_count);
    if (at_once) add_turn(j, groups, 0, groups->count, sizes, size_count);
}

static void open_groups(struct stage *s, struct arena *arena)
{
    s->handles = TAKE(arena, s->groups->count, struct group *);
    s->device_groups = TAKE(arena, s->groups->count, struct device_group *);
    for (int g = 0; g < s->groups->count; g++) {
        const struct member_list *list = &s->groups->lists[g];
        if (!group_has(list, ranks_self(s->ranks))) continue;
        s->handles[g] = ranks_group(s->ranks, list->members, list->count, arena);
    }
}

// ---- the command

static enum status run(void *settings, struct ranks *ranks, int *exit_code, struct arena *arena,
                       struct error *err)
{
    const struct options *s = settings;
    if (ranks_count(ranks) > RANKS_MAX)
        return refuse(err, "collectives of more than %d ranks", RANKS_MAX);
    struct roster roster;
    struct groups groups;
    static const char *const everybody[] = {"all"};
    roster_gather(&roster, ranks, s->common.wait, arena);
    TRY(groups_read(&groups, s->words.count ? s->words.items : everybody,
                    s->words.count ? s->words.count : 1, roster.endpoints, roster.count, arena,
                    err));
    size_t bytes = 0;
    for (int g = 0; g < groups.count; g++) {
        size_t whole = (size_t)whole_shares(s->common.largest, groups.lists[g].count);
        bytes = whole > bytes ? whole : bytes;
    }
    struct stage stage = {.ranks = ranks, .roster = &roster, .groups = &groups};
    stage.in = arena_take(arena, bytes, 1);
    stage.out = arena_take(arena, bytes, 1);
    const struct devices_manner manner = {s->common.cold, (int)s->common.in_a_row};
    if (s->common.nccl)
        TRY(devices_open(&stage.devices, ranks, &roster, (int64_t)bytes, &manner, arena, err));
    open_groups(&stage, arena);
    if (stage.devices) TRY(devices_groups(stage.device_groups, stage.devices, &groups, arena, err));
    struct joint joint;
    choose_cells(&joint, s, &groups, roster.count, arena);
    struct samples samples;
    return assembly_take(&samples, &s->common, ranks, &roster, &joint, repeat, &stage, exit_code,
                         arena, err);
}

static const struct option_row rows[] = {
    {"--smallest", OPTION_INT, OPT(common.smallest),
     "bytes of the shortest whole array, rounded up to one float per member (default: 4)", 1,
     MESSAGE_BYTES_MAX},
    {"GROUP", OPTION_TEXT, OPT(words), .many = WORDS_MAX},
};

COMMAND_RUN(run_all)
{
    const struct options *s = options;
    return assembly_run(&s->common, run, options, exit_code, arena, err);
}

const struct command measure_collectives = {
    .name = "collectives",
    .text = COLLECTIVES_TEXT,
    .usage =
        "mpirun -n RANKS plumbline-measure collectives [all|hosts|across|0,1,4-7 ...] [OPTION ...]",
    READS(struct options, rows, {.common = {ASSEMBLY_DEFAULTS, .smallest = sizeof(float)}}),
    SHARES(assembly_options, struct options, common),
    .line = OPT(common.line),
    .run = run_all,
};
