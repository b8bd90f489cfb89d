// What ranks do at the ends of messages, out of passes that are written down by hand: two ranks of
// one stage, then of two, with a rank that waits, and what costs make of it.
#include <math.h>

#include "calibrate/message_ends.h"
#include "tests/support/check.h"

static struct run_event event(enum run_event_kind kind, int rank, int stage, int micro_batch,
                              int64_t start_ns, int64_t end_ns)
{
    return (struct run_event){.kind = kind,
                              .rank = rank,
                              .stage = stage,
                              .micro_batch = micro_batch,
                              .start_ns = start_ns,
                              .end_ns = end_ns};
}

static struct message_ends ends_of(struct run_event *events, int count, struct arena *arena)
{
    struct message_ends ends = {0, 0};
    struct plan_run run = {.events = events, .event_count = count};
    message_ends_add(&ends, &run, arena);
    return ends;
}

// Rank 0 sends after each of its forward passes, 300 ns each; rank 1 receives before each, 200.
TEST(one_stage_a_rank)
{
    struct run_event events[] = {
        event(EVENT_FORWARD, 1, 1, 1, 5200, 9200),
        event(EVENT_FORWARD, 0, 0, 0, 0, 1000),
        event(EVENT_FORWARD, 0, 0, 1, 1300, 2300),
        event(EVENT_FORWARD, 0, 0, 2, 2600, 3600),
        event(EVENT_FORWARD, 1, 1, 0, 1050, 5000),
        event(EVENT_SEND_FORWARD, 1, 0, 0, 1000, 1050),
        event(EVENT_FORWARD, 1, 1, 2, 9400, 13000),
        event(EVENT_SEND_FORWARD, 1, 0, 1, 2300, 2350),
        event(EVENT_SEND_FORWARD, 1, 0, 2, 3600, 3650),
    };
    struct message_ends ends = ends_of(events, ARRAY_LENGTH(events), arena);
    assert_true(ends.ns == 300 + 300 + 200 + 200 && ends.count == 4);
}

// A pass whose operands come after the pass before says nothing of what is between them; a message
// within a rank has no ends, but what passes then is a part of the others.
TEST(waits_and_own_stages)
{
    struct run_event events[] = {
        event(EVENT_BACKWARD, 0, 0, 0, 0, 1000),
        event(EVENT_BACKWARD, 0, 0, 1, 4000, 5000),      // waited for its gradient
        event(EVENT_SEND_BACKWARD, 0, 0, 1, 3900, 3990), // boundary after stage 0
        event(EVENT_FORWARD, 0, 0, 2, 5100, 6000),       // 100, at no message's end
        event(EVENT_FORWARD, 0, 1, 2, 6040, 7000),       // 40: stage 1 is this rank's, too
        event(EVENT_FORWARD, 0, 1, 3, 7500, 8000),       // 500: sends the one before
        event(EVENT_SEND_FORWARD, 1, 1, 2, 7000, 7100),
    };
    struct message_ends ends = ends_of(events, ARRAY_LENGTH(events), arena);
    assert_true(ends.ns == 100 + 40 + 500 && ends.count == 1);
}

TEST(passes_of_others_are_apart)
{
    struct run_event events[] = {
        event(EVENT_FORWARD, 0, 0, 0, 0, 1000),
        event(EVENT_FORWARD, 0, 0, 1, 1300, 2300),
        event(EVENT_SEND_FORWARD, 1, 0, 0, 1000, 1100),
    };
    struct run_event both[2 * ARRAY_LENGTH(events)];
    for (size_t i = 0; i < ARRAY_LENGTH(events); i++) {
        both[2 * i] = both[2 * i + 1] = events[i];
        both[2 * i + 1].replica = 1;
    }
    struct message_ends one = ends_of(events, ARRAY_LENGTH(events), arena),
                        two = ends_of(both, ARRAY_LENGTH(both), arena);
    assert_true(one.ns == 300 && one.count == 1 && two.ns == 600 && two.count == 2);
    assert_true(message_ends_s(&one) == message_ends_s(&two));
}

// A message of the bytes takes its time and two ends; half of the rest stays delay, half link.
TEST(costs)
{
    struct segment line = {.seconds = {.value = 100e-6, .low = 90e-6, .high = 110e-6},
                           .bytes_per_s = {.value = 1e9, .low = 1e9, .high = 1e9}};
    struct collective_times times[] = {
        {.gpu = "core", .send = true, .ranks = 2, .segment_count = 1, .segments = &line}};
    struct costs costs = {.collectives = times,
                          .collective_count = 1,
                          .transfer_share = {[PART_LINK] = 0.5, [PART_DELAY] = 0.5}};
    struct message_ends ends = {600000, 4}; // 150 us each
    message_ends_to_costs(&ends, &costs, "core", 1, 100000);
    const double *shares = costs.transfer_share;
    double whole_s = line.seconds.value + 1e-4;
    assert_true(fabs(whole_s - (200e-6 + 300e-6)) < 1e-12);
    assert_true(fabs(shares[PART_OVERHEAD] * whole_s - 150e-6) < 1e-12);
    assert_true(fabs(shares[PART_LINK] * whole_s - 100e-6) < 1e-12);
    assert_true(shares[PART_LINK] == shares[PART_DELAY] && shares[PART_BLOCKING] == 0);
    assert_true(fabs(line.seconds.high - 410e-6) < 1e-12);
}

TEST(costs_stay_where_no_message_was_seen)
{
    struct costs costs = {.transfer_share = {[PART_DELAY] = 0.4, [PART_OVERHEAD] = 0.3},
                          .schedule_share_stated = {true}};
    struct message_ends none = {0, 0};
    message_ends_to_costs(&none, &costs, "core", 0, 100000);
    assert_true(costs.transfer_share[PART_DELAY] == 0.4);
    assert_true(costs.transfer_share[PART_OVERHEAD] == 0.3 && costs.schedule_share_stated[0]);
}

// A link that the run did not measure keeps its time, if the costs before had its ends in it.
TEST(kept_links_have_their_ends)
{
    for (int had = 0; had < 2; had++) {
        struct segment lines[2];
        struct collective_times times[2];
        for (int i = 0; i < 2; i++) {
            lines[i] = (struct segment){.seconds = {.value = 100e-6, .low = 90e-6, .high = 110e-6},
                                        .bytes_per_s = {.value = 1e9, .low = 1e9, .high = 1e9}};
            times[i] = (struct collective_times){
                .gpu = "core", .send = true, .ranks = 2, .segment_count = 1, .segments = &lines[i]};
        }
        times[1].between_nodes = true;
        struct costs costs = {
            .collectives = times,
            .collective_count = 2,
            .transfer_share = {[PART_LINK] = had ? 0.4 : 1, [PART_OVERHEAD] = had ? 0.3 : 0}};
        struct message_ends ends = {600000, 4}; // 150 us each
        message_ends_to_costs(&ends, &costs, "core", 1, 100000);
        assert_true(fabs(lines[0].seconds.value - 400e-6) < 1e-12);
        assert_true(fabs(lines[1].seconds.value - (had ? 100e-6 : 400e-6)) < 1e-12);
    }
}
