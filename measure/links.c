// plumbline-measure links: how long messages take between every two ranks, in each direction.
// What a repetition's seconds are. Where both ends read the same clock: from the call that sends to the end of the
// receive, which was posted before. Where not, one direction's delay cannot be told from the other's by any exchange of
// messages: the sender times its message and an empty answer, and takes off half of the fastest of three empty
// exchanges right before. Delays of the two directions are then taken as equal; rates still belong to one direction.
#include "measure/links.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/file.h"
#include "measure/cells.h"
#include "measure/links_report.h"
#include "measure/pairs.h"
#include "measure/random.h"
#include "measure/roster.h"
#include "measure/rounds.h"
#include "measure/together.h"

enum { EMPTY_EXCHANGES = 3, REPETITIONS_MAX = 2000, BYTES_MAX = 1 << 30 };

struct settings {
    const char *output, *name;
    int64_t smallest, largest, factor, alone, seed;
    double budget_s, width;
    int wait;
    bool quiet;
    int argc;
    char **argv;
};

struct wire {
    struct ranks *ranks;
    const struct roster *roster;
    unsigned char *out, *in;        // [largest]
};

static double send_by_clock(struct wire *w, int bytes, int to)
{
    ranks_receive(w->ranks, NULL, 0, to);
    double begin_s = clock_seconds();
    ranks_send(w->ranks, w->out, bytes, to);
    ranks_send(w->ranks, &begin_s, (int)sizeof begin_s, to);
    return -1;
}

static double receive_by_clock(struct wire *w, int bytes, int from)
{
    double begin_s;
    ranks_receive_begin(w->ranks, w->in, bytes, from);
    ranks_send(w->ranks, NULL, 0, from);
    ranks_receive_end(w->ranks);
    double end_s = clock_seconds();
    ranks_receive(w->ranks, &begin_s, (int)sizeof begin_s, from);
    return end_s - begin_s;
}

static double send_by_answer(struct wire *w, int bytes, int to)
{
    double fastest_s = 1e9;
    for (int i = 0; i < EMPTY_EXCHANGES; i++) {
        double begin_s = clock_seconds();
        ranks_send(w->ranks, NULL, 0, to);
        ranks_receive(w->ranks, NULL, 0, to);
        double elapsed_s = clock_seconds() - begin_s;
        fastest_s = elapsed_s < fastest_s ? elapsed_s : fastest_s;
    }
    double begin_s = clock_seconds();
    ranks_send(w->ranks, w->out, bytes, to);
    ranks_receive(w->ranks, NULL, 0, to);
    double seconds = clock_seconds() - begin_s - fastest_s / 2;
    return seconds > 0 ? seconds : 0;
}

static double receive_by_answer(struct wire *w, int bytes, int from)
{
    for (int i = 0; i < EMPTY_EXCHANGES; i++) {
        ranks_receive(w->ranks, NULL, 0, from);
        if (i == EMPTY_EXCHANGES - 1) ranks_receive_begin(w->ranks, w->in, bytes, from);
        ranks_send(w->ranks, NULL, 0, from);
    }
    ranks_receive_end(w->ranks);
    ranks_send(w->ranks, NULL, 0, from);
    return -1;
}

static enum status repeat(void *context, const struct sample *s, uint64_t number, double *seconds, struct error *err)
{
    struct wire *w = context;
    int self = ranks_self(w->ranks), bytes = (int)s->dimensions[0];
    if (self != s->from && self != s->to) return OK;
    bool by_clock = roster_same_clock(w->roster, s->from, s->to);
    if (self == s->from) {
        pattern_fill(w->out, bytes, number);
        *seconds = by_clock ? send_by_clock(w, bytes, s->to) : send_by_answer(w, bytes, s->to);
        return OK;
    }
    *seconds = by_clock ? receive_by_clock(w, bytes, s->from) : receive_by_answer(w, bytes, s->from);
    int64_t wrong = pattern_first_wrong(w->in, bytes, number);
    if (wrong < 0) return OK;
    return fail(err, SYSTEM, "data sent from %s to %s arrived changed: byte %lld of %d", w->roster->endpoints[s->from].name,
                w->roster->endpoints[s->to].name, (long long)wrong, bytes);
}

// ---- which cells

static void add_turn(struct joint *j, const struct pair *pairs, int pair_count, const int64_t *sizes, int size_count)
{
    j->turns[j->turn_count++] = (struct turn){j->step_count, size_count};
    for (int i = 0; i < size_count; i++) {
        j->steps[j->step_count++] = (struct step){j->cell_count, pair_count};
        for (int p = 0; p < pair_count; p++)
            j->cells[j->cell_count++].sample = (struct sample){
                .kind = SAMPLE_LINK, .operation = "send", .dimensions = {sizes[i]}, .dimension_count = 1,
                .precision = FP32, .bytes = (double)sizes[i], .from = pairs[p].from, .to = pairs[p].to,
                .alone = pair_count == 1,
            };
    }
}

// Some of the ordered pairs, each as likely as another.
static void add_alone(struct joint *j, int count, int wanted, uint64_t seed, const int64_t *sizes, int size_count,
                      struct arena *arena)
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

static void choose_cells(struct joint *j, const struct settings *s, int count, struct arena *arena)
{
    int64_t sizes[LADDER_MAX];
    int size_count = ladder_sizes(s->smallest, s->largest, s->factor, sizes);
    int all = count * (count - 1), alone = s->alone < all ? (int)s->alone : all;
    if (count < 4) alone = 0;           // no two pairs are without a common end: each is alone already
    int turns = pairs_turns(count) + alone;
    *j = (struct joint){
        .cells = TAKE(arena, (all + alone) * size_count, struct joint_cell),
        .steps = TAKE(arena, turns * size_count, struct step),
        .turns = TAKE(arena, turns, struct turn),
    };
    struct pair *pairs = TAKE(arena, count, struct pair);
    for (int t = 0; t < pairs_turns(count); t++)
        add_turn(j, pairs, pairs_of_turn(count, t, pairs), sizes, size_count);
    add_alone(j, count, alone, (uint64_t)s->seed, sizes, size_count, arena);
}

// ---- the command

static enum status run(const struct settings *s, struct ranks *ranks, struct arena *arena, struct error *err)
{
    bool is_first = !ranks_self(ranks);
    if (is_first) TRY(file_check_place(s->output, err));
    if (ranks_count(ranks) < 2)
        return fail(err, BAD_INPUT, "links are between processes, and there is only one: start it by mpirun or srun");
    struct roster roster;
    roster_gather(&roster, ranks, (enum wait)s->wait, arena);
    struct wire wire = {ranks, &roster, TAKE(arena, s->largest, unsigned char), TAKE(arena, s->largest, unsigned char)};
    struct joint joint;
    choose_cells(&joint, s, roster.count, arena);
    struct joint_settings settings = {
        .budget_s = s->budget_s, .width = s->width, .repetitions_min = REPETITIONS_MIN,
        .repetitions_max = REPETITIONS_MAX, .warm_ups = 1, .seed = (uint64_t)s->seed,
        .progress = !s->quiet && isatty(STDERR_FILENO),
    };
    struct joint_result result;
    TRY(joint_run(&result, ranks, &joint, &settings, repeat, &wire, arena, err));
    if (!is_first) return OK;

    struct samples samples = {.samples = TAKE(arena, joint.cell_count, struct sample), .sample_count = joint.cell_count};
    for (int i = 0; i < joint.cell_count; i++) samples.samples[i] = joint.cells[i].sample;
    roster_describe(&samples, &roster, s->name, s->seed, s->argc, s->argv, arena);
    TRY(samples_save(&samples, s->output, arena, err));
    if (s->quiet) return OK;
    links_report(stderr, &samples, arena);
    fprintf(stderr,
            "measured %d links, %d operations: %d repetitions in %.1f s; %d narrower than %g %%, %d stopped by the "
            "budget\n",
            roster.count * (roster.count - 1), joint.cell_count, result.repetitions, result.elapsed_s, result.done,
            100 * s->width, joint.cell_count - result.done);
    return OK;
}

enum status measure_links(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    (void)exit_code;
    struct settings s = {
        .output = "-", .smallest = 1, .largest = 1 << 24, .factor = 4, .alone = 4, .seed = 1, .budget_s = 60,
        .width = 0.05, .argc = argc, .argv = argv,
    };
    const struct option options[] = {
        {"--smallest", OPTION_INT, &s.smallest, 1, BYTES_MAX, NULL, "bytes of the shortest message (1)"},
        {"--largest", OPTION_INT, &s.largest, 1, BYTES_MAX, NULL, "bytes of the longest (16777216)"},
        {"--factor", OPTION_INT, &s.factor, 2, 1024, NULL, "from one length to the next (4)"},
        {"--alone", OPTION_INT, &s.alone, 0, 1e6, NULL,
         "so many pairs, drawn by the seed, are measured again with nobody else sending (4)"},
        {"--wait", OPTION_NAME, &s.wait, 0, 0, wait_names,
         "auto: sleep between looks where there are more processes than processors (auto)"},
        {"--budget-s", OPTION_NUMBER, &s.budget_s, 0.01, 1e6, NULL,
         "seconds to spend; at least 8 repetitions are taken in any case (60)"},
        {"--width", OPTION_NUMBER, &s.width, 1e-6, 10, NULL,
         "an interval this narrow, relative to its median, is enough (0.05)"},
        {"--seed", OPTION_INT, &s.seed, 0, 1e9, NULL, "for the order, the pairs alone and the messages' content (1)"},
        {"--name", OPTION_TEXT, &s.name, 0, 0, NULL, "what the costs call the device (the processor's name)"},
        {"--quiet", OPTION_FLAG, &s.quiet, 0, 0, NULL, "nothing on stderr but errors"},
        {"-o", OPTION_TEXT, &s.output, 0, 0, NULL, "the samples file (standard output)"},
    };
    bool helped;
    TRY(options_read(argc, argv, "mpirun -n RANKS plumbline-measure links [OPTION ...]", options, ARRAY_LENGTH(options),
                     NULL, 0, 0, NULL, &helped, err));
    if (helped) return OK;
    if (s.smallest > s.largest) return fail(err, BAD_INPUT, "--smallest: is larger than --largest");
    struct ranks *ranks;
    TRY(ranks_open(&ranks, arena, err));
    return roster_leave(ranks, argv[0], run(&s, ranks, arena, err), err);
}
