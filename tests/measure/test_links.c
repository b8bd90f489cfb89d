// The parts of link and collective measurement, without any MPI: who meets whom and when, the
// lengths, the messages' content, groups, the report, and the rounds over ranks of which this test
// is one (its ranks_...() replace mpi.c).
#include "measure/sampling/backend.h"
#include "measure/links/assembly.h"
#include "measure/sampling/host.h"
#include "tests/support/check.h"

enum { COUNT_MAX = 33 };

// ---- turns

TEST(test_every_pair_once)
{
    for (int count = 2; count <= COUNT_MAX; count++) {
        int met[COUNT_MAX][COUNT_MAX] = {{0}}, turns = pairs_turns(count);
        assert_int_equal(turns, 2 * (count % 2 ? count : count - 1));
        for (int t = 0; t < turns; t++) {
            struct pair pairs[COUNT_MAX];
            bool busy[COUNT_MAX] = {false};
            int found = pairs_of_turn(count, t, pairs);
            assert_int_equal(found, count / 2);
            for (int p = 0; p < found; p++) {
                assert_true(pairs[p].from >= 0 && pairs[p].from < count && pairs[p].to >= 0 &&
                            pairs[p].to < count);
                assert_false(busy[pairs[p].from] || busy[pairs[p].to] ||
                             pairs[p].from == pairs[p].to);
                busy[pairs[p].from] = busy[pairs[p].to] = true;
                met[pairs[p].from][pairs[p].to]++;
            }
        }
        for (int a = 0; a < count; a++)
            for (int b = 0; b < count; b++) assert_int_equal(met[a][b], a != b);
    }
    assert_int_equal(pairs_turns(1), 0);
}

TEST(test_ladder)
{
    int64_t sizes[LADDER_MAX];
    assert_int_equal(ladder_sizes(1, 1 << 24, 4, sizes), 13);
    for (int i = 0; i < 13; i++) assert_true(sizes[i] == (int64_t)1 << 2 * i);
    assert_int_equal(ladder_sizes(3, 100, 10, sizes), 3);
    assert_true(sizes[0] == 3 && sizes[1] == 30 && sizes[2] == 100);
    assert_int_equal(ladder_sizes(7, 7, 2, sizes), 1);
    assert_true(sizes[0] == 7);
}

// Each single byte that changes is found, and another message's content is wrong from the start.
TEST(test_pattern)
{
    unsigned char data[100];
    for (int bytes = 0; bytes <= 100; bytes++) {
        pattern_fill(data, bytes, 12345);
        assert_int_equal(pattern_first_wrong(data, bytes, 12345), -1);
        for (int i = 0; i < bytes; i++) {
            data[i] ^= 0x10;
            assert_int_equal(pattern_first_wrong(data, bytes, 12345), i);
            data[i] ^= 0x10;
        }
        if (bytes >= 8) assert_in_range(pattern_first_wrong(data, bytes, 12346), 0, 7);
    }
}

// ---- groups

static const struct endpoint six[] = {
    {"a:0", "a", -1, 0}, {"a:1", "a", -1, 0}, {"b:0", "b", -1, 1},
    {"b:1", "b", -1, 1}, {"b:2", "b", -1, 1}, {"c", "c", -1, 2},
};

// The groups as text: "0,1 2,3,4".
static const char *read_groups(const char *words, struct arena *arena, struct error *err)
{
    const char *list[8];
    int count = 0;
    char *rest = arena_copy_text(arena, words), *word;
    while ((word = strtok_r(rest, " ", &rest))) list[count++] = word;
    struct groups groups;
    *err = (struct error){OK, ""};
    if (groups_read(&groups, list, count, six, 6, arena, err) != OK) return "";
    const char *text = "";
    for (int g = 0; g < groups.count; g++)
        for (int i = 0; i < groups.lists[g].count; i++)
            text = arena_print(arena, "%s%s%d", text,
                               i   ? ","
                               : g ? " "
                                   : "",
                               groups.lists[g].members[i]);
    return arena_print(arena, "%s%s", text,
                       groups_are_disjoint(&groups, 6, arena) ? "" : " overlapping");
}

TEST(test_groups)
{
    static const struct {
        const char *words, *groups;
    } good[] = {
        {"all", "0,1,2,3,4,5"}, {"hosts", "0,1 2,3,4"},         {"across", "0,2,5 1,3"},
        {"5,0,2-3", "0,2,3,5"}, {"0,1 1,0 hosts", "0,1 2,3,4"}, {"0-1 1-2", "0,1 1,2 overlapping"},
    };
    static const char *const bad[] = {"0",    "0,6", "0,0", "1-0",  "0,,1", "0,1,",
                                      "-1,0", "0-",  "x",   "0,+1", "0, 1"};
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++)
        assert_string_equal(read_groups(good[i].words, arena, &err), good[i].groups);
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        assert_string_equal(read_groups(bad[i], arena, &err), "");
        assert_int_equal(err.status, BAD_INPUT);
    }
}

// ---- rounds: this process is rank 0 of one; other ranks' times would come from ranks_maximum

static int meetings, signal_at_round, rounds_seen;

int ranks_self(const struct ranks *ranks) { return (void)ranks, 0; }
void ranks_meet(struct ranks *ranks) { (void)ranks, meetings++; }
void ranks_share(struct ranks *ranks, void *data, int bytes)
{
    (void)ranks, (void)data, (void)bytes;
}
void ranks_maximum(struct ranks *ranks, double *values, int count)
{
    (void)ranks;
    values[count - 1] = signal_at_round &&
                        ++rounds_seen == signal_at_round; // another rank's signal
}
bool interrupts_came(void) { return false; }
double clock_s(void) { return 0; }

struct script {
    int calls;
    uint64_t last;
    int64_t order[4096]; // dimensions[0] of the calls
};

// Cell 2 is noisy, the others are not.
static enum status play(void *context, const struct sample *s, uint64_t number, double *seconds,
                        struct error *err)
{
    (void)err;
    struct script *script = context;
    assert_true(number > script->last);
    script->last = number;
    *seconds = s->dimensions[0] == 2 ? 1 + script->calls % 7 : (double)s->dimensions[0] + 1;
    script->order[script->calls++ % 4096] = s->dimensions[0];
    return OK;
}

static struct joint four_cells(struct arena *arena)
{
    struct joint j = {TAKE(arena, 4, struct joint_cell), 4, TAKE(arena, 3, struct step), 3,
                      TAKE(arena, 2, struct turn),       2};
    for (int i = 0; i < 4; i++) j.cells[i].sample.dimensions[0] = i;
    j.steps[0] = (struct step){0, 1}; // turn 0: cell 0, cell 1
    j.steps[1] = (struct step){1, 1};
    j.steps[2] = (struct step){2, 2}; // turn 1: cells 2 and 3 at once
    j.turns[0] = (struct turn){0, 2};
    j.turns[1] = (struct turn){2, 1};
    return j;
}

TEST(test_rounds_together)
{
    struct joint j = four_cells(arena);
    struct joint_settings settings = {.budget_s = 100,
                                      .width = 0.01,
                                      .repetitions_min = 8,
                                      .repetitions_max = 60,
                                      .warm_ups = 2,
                                      .seed = 3};
    struct joint_result result;
    struct script script = {0};
    meetings = 0;
    CHECK_OK(joint_run(&result, NULL, &j, &settings, play, &script, arena, &err));
    for (int i = 0; i < 4; i++) {
        const struct sample *s = &j.cells[i].sample;
        assert_int_equal(s->warm_ups, 2);
        // cells measured together with the noisy one continue with it
        assert_int_equal(s->repetitions, i < 2 ? 8 : 60);
        assert_string_equal(s->stopped_by, i == 2 ? "budget" : "width");
        if (i != 2)
            for (int k = 0; k < s->repetitions; k++) assert_true(s->seconds[k] == i + 1);
    }
    assert_int_equal(result.repetitions, 8 + 8 + 60 + 60);
    assert_int_equal(result.done, 3);
    assert_int_equal(result.rounds, 60);
    assert_int_equal(meetings, 2 * 10 + 52); // each open turn of each round, warm-ups too
    // both orders of turn 0, and both of the turns, occur
    bool swapped[2] = {false};
    for (int i = 0; i + 1 < 40; i++) {
        swapped[0] = swapped[0] || (script.order[i] == 1 && script.order[i + 1] == 0);
        swapped[1] = swapped[1] || (script.order[i] == 0 && script.order[i + 1] == 1);
    }
    assert_true(swapped[0] && swapped[1]);
}

// Nothing is left of the budget: one round is taken and no more.
TEST(test_least_repetitions)
{
    struct joint j = four_cells(arena);
    struct joint_settings settings = {
        .budget_s = 0, .width = 1e-9, .repetitions_min = 8, .repetitions_max = 60, .seed = 1};
    struct joint_result result;
    struct script script = {0};
    CHECK_OK(joint_run(&result, NULL, &j, &settings, play, &script, arena, &err));
    for (int i = 0; i < 4; i++) assert_int_equal(j.cells[i].sample.repetitions, 1);
}

// A signal at any rank ends it after the round; the samples taken are kept.
TEST(test_signal)
{
    struct joint j = four_cells(arena);
    struct joint_settings settings = {.budget_s = 100,
                                      .width = 0.01,
                                      .repetitions_min = 8,
                                      .repetitions_max = 60,
                                      .warm_ups = 1,
                                      .seed = 1};
    struct joint_result result;
    struct script script = {0};
    signal_at_round = 4;
    rounds_seen = 0;
    CHECK_OK(joint_run(&result, NULL, &j, &settings, play, &script, arena, &err));
    signal_at_round = 0;
    assert_true(result.interrupted);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(j.cells[i].sample.repetitions, 3);
        assert_string_equal(j.cells[i].sample.stopped_by, "interrupted");
    }
}

// ---- the report

static const struct endpoint four[] = {
    {"p", "p", -1, 0}, {"q", "q", -1, 0}, {"r", "r", -1, 0}, {"s", "s", -1, 0}};

// Three lengths of one link: delay + overhead of a long message + bytes / rate, with a little
// noise.
static void add_link(struct samples *all, int from, int to, double delay_s, double bytes_per_s,
                     bool alone, struct arena *arena)
{
    static const int64_t bytes[] = {1000000, 1, 250000};
    for (int i = 0; i < 3; i++) {
        struct sample *s = &all->samples[all->sample_count++];
        *s = (struct sample){.kind = SAMPLE_LINK,
                             .operation = "send",
                             .dimensions = {bytes[i]},
                             .dimension_count = 1,
                             .from = from,
                             .to = to,
                             .alone = alone,
                             .repetitions = 8,
                             .stopped_by = "width",
                             .seconds = TAKE(arena, 8, double)};
        for (int k = 0; k < 8; k++)
            s->seconds[k] = (delay_s + (bytes[i] > 1 ? 0.01 : 0) + (double)bytes[i] / bytes_per_s) *
                            (1 + 0.0001 * (k - 3.5));
    }
}

static const char *report(struct samples *all, struct arena *arena)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);
    assert_non_null(to);
    links_report(to, all, arena);
    fclose(to);
    const char *kept = arena_copy_text(arena, text);
    free(text);
    return kept;
}

TEST(test_report)
{
    struct samples all = {.endpoints = TAKE_COPY(arena, four, 4),
                          .endpoint_count = 4,
                          .samples = TAKE(arena, 64, struct sample)};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            if (a != b)
                add_link(&all, a, b, a == 2 && b == 3 ? 2e-3 : 1e-3, a == 1 && b == 0 ? 5e7 : 1e8,
                         false, arena);
    add_link(&all, 0, 3, 1e-3, 1e8, true, arena);
    add_link(&all, 3, 0, 1e-3, 2e8, true, arena);
    const char *text = report(&all, arena);
    assert_non_null(strstr(text, "asymmetric: p -> q 0.1 GB/s, back 0.05 GB/s"));
    assert_non_null(strstr(text, "asymmetric: r -> s 2000 us, back 1000 us"));
    assert_non_null(strstr(text, "slow: q -> p 0.05 GB/s, the median link 0.1 GB/s"));
    assert_non_null(strstr(text, "contended: s -> p 0.1 GB/s with others busy, alone 0.2 GB/s"));
    assert_non_null(strstr(text, "2 asymmetric, 1 slow, 1 of 2 tested slower with others busy"));
    assert_null(strstr(text, "half the round trip"));
    all.endpoints[2].clock = 1;
    assert_non_null(strstr(report(&all, arena), "half the round trip"));
}
