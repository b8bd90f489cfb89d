// Random damage to bytes and numbers of certificates of spaces: whatever is still accepted must be
// true. And work is limited.
//
//   test_check_space_mutations [MUTATIONS]       make test runs 400
#include "tests/support/random_priced.h"
#include "tests/support/trials/space_trials.h"
#include "tests/support/check.h"

enum { DEFAULT_MUTATIONS = 400 };

static int mutation_count = DEFAULT_MUTATIONS;

TEST(work_is_limited)
{
    struct space_trial t;
    struct check_space_result audited;
    space_trial_open(&t, 1, 0, arena);
    for (uint64_t limit = 1; limit < 100000; limit = 3 * limit + 1) {
        CHECK_OK(check_space_certificate(&audited, &t.certificate, t.sources, SPACE_SOURCES,
                                         &t.space, t.pricers, limit, arena, &err));
        assert_true(audited.proof.accepted ||
                    !strcmp(audited.proof.reason, "the work limit is reached") ||
                    strstr(audited.proof.reason, ": the work limit is reached"));
        assert_true(audited.proof.work <= limit);
    }
}

// ---- random damage

static struct check_text flip_bytes(const struct check_text *text, uint64_t *state,
                                    struct arena *arena)
{
    static const char likely[] = "0123456789-\"[]{},:* rmbdp";
    char *bytes = arena_grow(arena, text->text, text->size, text->size + 1, 1);
    for (int64_t n = 1 + random_less(state, 3); n > 0; n--) {
        char *at = bytes + random_less(state, (int64_t)text->size);
        if (random_less(state, 2)) *at = likely[random_less(state, (int64_t)sizeof likely - 1)];
        else *at = (char)(*at ^ 1 << random_less(state, 8));
    }
    return (struct check_text){"mutated.json", bytes, text->size};
}

static struct check_text change_number(const struct check_text *text, uint64_t *state,
                                       struct arena *arena)
{
    const char *at = strstr(text->text, "\"space\"");
    char *end;
    for (int64_t skip = random_less(state, 200); skip > 0 && *at; skip--) {
        while (*at >= '0' && *at <= '9') at++;
        while (*at && (*at < '0' || *at > '9')) at++;
        if (!*at) at = strstr(text->text, "\"space\""), at += strcspn(at, "0123456789");
    }
    at += strcspn(at, "0123456789");
    long long old = strtoll(at, &end, 10), new = old;
    switch (random_less(state, 5)) {
    case 0: new = old + 1; break;
    case 1: new = old ? old - 1 : 1; break;
    case 2: new = old * 2; break;
    case 3: new = 0; break;
    default: new = old + random_less(state, 1000); break;
    }
    const char *changed =
        arena_print(arena, "%.*s%lld%s", (int)(at - text->text), text->text, new, end);
    return (struct check_text){"mutated.json", changed, strlen(changed)};
}

TEST(random_damage_proves_nothing_false)
{
    uint64_t random = 99;
    int unaudited = 0, refused = 0, accepted = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 100; seed < 120; seed++, arena_reset(arena, mark)) {
        struct space_trial t;
        space_trial_open(&t, seed, 0, arena);
        int64_t best_ns = t.alone.best_ns;
        for (int i = 0; i < mutation_count / 20; i++) {
            struct check_space_result audited;
            const char *why;
            struct check_text text = random_less(&random, 2)
                                         ? flip_bytes(&t.certificate, &random, arena)
                                         : change_number(&t.certificate, &random, arena);
            if (!space_trial_audit(&t, &text, &audited, &why, arena)) unaudited++;
            else if (!audited.proof.accepted) refused++;
            else {
                accepted++;
                // A price at a rounding half may move a plan by that much.
                assert_true(!audited.proof.infeasible || best_ns == INT64_MAX);
                assert_true(audited.proof.bound_ns <=
                            (best_ns == INT64_MAX ? best_ns : best_ns + 100));
                assert_true(audited.proof.iteration_ns < 0 ||
                            audited.proof.iteration_ns >= best_ns - 100);
            }
        }
    }
    print_message("%d damages: %d unaudited, %d not proven, %d still true\n",
                  unaudited + refused + accepted, unaudited, refused, accepted);
    assert_true(unaudited > 0 && refused > 0);
}

ARGUMENT(mutation_count)
