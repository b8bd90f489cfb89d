// plumbline-measure links: times of messages between every two ranks, in each direction (wire.h).
#include "measure/links/links.h"

#include <stdlib.h>
#include <string.h>

#include "measure/links/devices.h"
#include "measure/links/wire.h"
#include "data/base/random.h"

struct options {
    struct assembly_settings common;
    int64_t alone;
    const char *also;
};

static enum status repeat(void *context, const struct sample *s, uint64_t number, double *seconds,
                          struct error *err)
{
    struct wire *w = context;
    int self = ranks_self(w->ranks), bytes = (int)s->dimensions[0];
    if (self != s->from && self != s->to) return OK;
    if (self == s->from) {
        pattern_fill(w->out, bytes, number);
        return wire_send(w, bytes, s->to, seconds, err);
    }
    TRY(wire_receive(w, bytes, s->from, seconds, err));
    int64_t wrong = pattern_first_wrong(w->in, bytes, number);
    if (wrong < 0) return OK;
    return fail(err, SYSTEM, "data sent from %s to %s arrived changed: byte %lld of %d",
                w->roster->endpoints[s->from].name, w->roster->endpoints[s->to].name,
                (long long)wrong, bytes);
}

// ---- which cells

static void add_turn(struct joint *j, const struct pair *pairs, int pair_count,
                     const int64_t *sizes, int size_count)
{
    j->turns[j->turn_count++] = (struct turn){j->step_count, size_count};
    for (int i = 0; i < size_count; i++) {
        j->steps[j->step_count++] = (struct step){j->cell_count, pair_count};
        for (int p = 0; p < pair_count; p++)
            j->cells[j->cell_count++].sample = (struct sample){
                .kind = SAMPLE_LINK,
                .operation = "send",
                .dimensions = {sizes[i]},
                .dimension_count = 1,
                .precision = FP32,
                .bytes = (double)sizes[i],
                .from = pairs[p].from,
                .to = pairs[p].to,
                .alone = pair_count == 1,
            };
    }
}

// Some of the ordered pairs, all equally likely.
static void add_alone(struct joint *j, int count, int wanted, uint64_t seed, const int64_t *sizes,
                      int size_count, struct arena *arena)
{
    int all = count * (count - 1);
    struct pair *pairs = TAKE(arena, all, struct pair);
    for (int i = 0; i < all; i++) {
        int to = i % (count - 1);
        pairs[i] = (struct pair){i / (count - 1), to + (to >= i / (count - 1))};
    }
    for (int i = 0; i < wanted; i++) {
        int chosen = i + random_below(&seed, all - i);
        struct pair kept = pairs[i];
        pairs[i] = pairs[chosen];
        pairs[chosen] = kept;
        add_turn(j, &pairs[i], 1, sizes, size_count);
    }
}

// Puts further lengths among those of the ladder.
static enum status add_lengths(int64_t *sizes, int *count, const struct options *s,
                               struct arena *arena, struct error *err)
{
    char *rest = arena_copy_text(arena, s->also ? s->also : ""), *word;
    while ((word = strtok_r(rest, ",", &rest))) {
        char *end;
        long long value = strtoll(word, &end, 10);
        int at = *count;
        if (*end || end == word || value < 1 || value > s->common.largest || at == LADDER_MAX)
            return refuse(
                err,
                "--also: expected lengths from 1 to %lld (--largest) with commas between, "
                "%d with the others, found '%s'",
                (long long)s->common.largest, LADDER_MAX, s->also);
        bool there = false;
        for (int i = 0; i < *count; i++) there |= sizes[i] == value;
        if (there) continue;
        for (; at > 0 && sizes[at - 1] > value; at--) sizes[at] = sizes[at - 1];
        sizes[at] = value;
        ++*count;
    }
    return OK;
}

static enum status choose_cells(struct joint *j, const struct options *s, int count,
                                struct arena *arena, struct error *err)
{
    int64_t sizes[LADDER_MAX];
    int size_count = ladder_sizes(s->common.smallest, s->common.largest, s->common.factor, sizes);
    TRY(add_lengths(sizes, &size_count, s, arena, err));
    int all = count * (count - 1), alone = s->alone < all ? (int)s->alone : all;
    if (count < 4) alone = 0; // no two pairs are without a common end, so each is already alone
    int turns = pairs_turns(count) + alone;
    *j = (struct joint){
        .cells = TAKE(arena, (all + alone) * size_count, struct joint_cell),
        .steps = TAKE(arena, turns * size_count, struct step),
        .turns = TAKE(arena, turns, struct turn),
    };
    struct pair *pairs = TAKE(arena, count, struct pair);
    for (int t = 0; t < pairs_turns(count); t++)
        add_turn(j, pairs, pairs_of_turn(count, t, pairs), sizes, size_count);
    add_alone(j, count, alone, (uint64_t)s->common.seed, sizes, size_count, arena);
    return OK;
}

// ---- the command

static enum status run(void *settings, struct ranks *ranks, int *exit_code, struct arena *arena,
                       struct error *err)
{
    const struct options *s = settings;
    struct roster roster;
    roster_gather(&roster, ranks, s->common.wait, arena);
    struct wire wire = {ranks, &roster, TAKE(arena, s->common.largest, unsigned char),
                        TAKE(arena, s->common.largest, unsigned char), NULL};
    const struct devices_manner manner = {s->common.cold, (int)s->common.in_a_row};
    if (s->common.nccl)
        TRY(devices_open(&wire.devices, ranks, &roster, s->common.largest, &manner, arena, err));
    struct joint joint;
    TRY(choose_cells(&joint, s, roster.count, arena, err));
    struct samples samples;
    TRY(assembly_take(&samples, &s->common, ranks, &roster, &joint, repeat, &wire, exit_code, arena,
                      err));
    if (samples.sample_count && !s->common.quiet) links_report(stderr, &samples, arena);
    return OK;
}

static const struct option_row rows[] = {
    {"--smallest", OPTION_INT, OPT(common.smallest), "bytes of the shortest message (default: 1)",
     1, MESSAGE_BYTES_MAX},
    {"--also", OPTION_TEXT, OPT(also),
     "further lengths in bytes, such as those of a plan's messages, with commas between"},
    {"--alone", OPTION_INT, OPT(alone),
     "number of pairs, drawn by the seed, to measure again with no other traffic (default: 4)", 0,
     1e6},
};

COMMAND_RUN(run_all)
{
    const struct options *s = options;
    return assembly_run(&s->common, run, options, exit_code, arena, err);
}

const struct command measure_links = {
    .name = "links",
    .text = LINKS_TEXT,
    .usage = "mpirun -n RANKS plumbline-measure links [OPTION ...]",
    READS(struct options, rows, {.common = {ASSEMBLY_DEFAULTS, .smallest = 1}, .alone = 4}),
    SHARES(assembly_options, struct options, common),
    .line = OPT(common.line),
    .run = run_all,
};
