// Forged trees over placements: parts that are left out, duplicated, or proven by the proof of
// another; each wrong word is refused with its reason.
//
//   test_check_tree_forgeries [SEED]
#include "tests/support/check.h"
#include "tests/support/trials/place_trials.h"

enum { PARTS_MOST = 400, TREES = 6 };

static uint64_t first_seed = 1;
static struct {
    int dropped, moved, kept, halved;
} seen;

static bool is_accepted(const struct place_trial *t, const char *text, const char **why)
{
    struct check_result audited;
    bool accepted = place_trial_audit(&audited, t, text, strlen(text), why) == OK &&
                    audited.accepted;
    if (accepted && (audited.infeasible ? t->best_ns < INT64_MAX : audited.bound_ns > t->best_ns))
        fail_msg("problem %llu: %lld ns is accepted, a plan takes %lld", t->seed,
                 (long long)audited.bound_ns, (long long)t->best_ns);
    return accepted;
}

struct honest {
    struct place_trial t;
    struct certificate_places_result made;
    const char *begin[PARTS_MOST], *end[PARTS_MOST]; // of the parts
    int count;
};

// The positions of the array's elements.
static void find_parts(struct honest *h)
{
    const char *at = strchr(strstr(h->made.text, "\"parts\""), '[') + 1;
    h->count = 0;
    for (int depth = 0; depth || *at != ']'; at++) {
        if (*at == '{' && !depth++) h->begin[h->count] = at;
        if (*at == '}' && !--depth) h->end[h->count++] = at + 1;
        assert_true(*at && h->count < PARTS_MOST);
    }
}

static bool try_honest(struct honest *h, uint64_t seed, struct arena *arena)
{
    bool found = place_trial_open(&h->t, seed, false, arena) && h->t.places.replicas > 1 &&
                 h->t.best_ns > 0 && h->t.best_ns < INT64_MAX / 4;
    if (found) place_trial_write_tree(&h->made, &h->t, h->t.best_ns);
    if (!found || !h->made.text || !strstr(h->made.text, "\"branch\"")) return false;
    find_parts(h);
    return h->count >= 3 && h->count < 60;
}

// One rank, so that its stage holds all layers.
static bool find_one_rank(struct honest *h, uint64_t seed, struct arena *arena)
{
    bool found = place_trial_open(&h->t, seed, false, arena) && h->t.places.problem->stages == 1 &&
                 h->t.best_ns > 1 && h->t.best_ns < INT64_MAX / 4;
    if (found) place_trial_write_tree(&h->made, &h->t, h->t.best_ns / 2);
    if (!found || !h->made.text) return false;
    find_parts(h);
    return true;
}

// The certificate with these parts.
static const char *with_parts(const struct honest *h, const char *parts)
{
    const char *text = h->made.text;
    return arena_print(h->t.arena, "%.*s%s%s", (int)(h->begin[0] - text), text, parts,
                       h->end[h->count - 1]);
}

static const char *all_parts(const struct honest *h)
{
    const char *begin = h->begin[0], *end = h->end[h->count - 1];
    return arena_print(h->t.arena, "%.*s", (int)(end - begin), begin);
}

// The parts with one of them as another text; "": without it.
static const char *with_part(const struct honest *h, int part, const char *as)
{
    const char *to = "";
    for (int i = 0; i < h->count; i++) {
        const char *own =
            arena_print(h->t.arena, "%.*s", (int)(h->end[i] - h->begin[i]), h->begin[i]);
        const char *text = i == part ? as : own;
        to = arena_print(h->t.arena, "%s%s%s", to, *to && *text ? ", " : "", text);
    }
    return with_parts(h, to);
}

static const char *part_text(const struct honest *h, int i)
{
    return arena_print(h->t.arena, "%.*s", (int)(h->end[i] - h->begin[i]), h->begin[i]);
}

// A leaf in two halves by what a stage holds, each with the proof of the whole.
static void forge_halves(const struct honest *h, int i)
{
    const char *why, *own = part_text(h, i);
    if (!strstr(own, "\"replica\"")) return;
    for (int below = 1; below < 4; below++) {
        const char *split = arena_print(h->t.arena, "{\"stage\": 0, \"layers_below\": %d}", below);
        const char *half = arena_print(h->t.arena, "%s, %s", split, own);
        if (is_accepted(&h->t, with_part(h, i, half), &why)) fail_msg("a half is not missed");
        half = arena_print(h->t.arena, "%s, %s", half, own);
        seen.halved += is_accepted(&h->t, with_part(h, i, half), &why);
    }
}

// A part left out, doubled, or proven by what proves another.
static void forge_parts(const struct honest *h)
{
    struct arena_mark mark = arena_set_mark(h->t.arena);
    const char *why;
    for (int i = 0; i < h->count; i++) {
        if (is_accepted(&h->t, with_part(h, i, ""), &why)) fail_msg("part %d is not missed", i);
        const char *twice = arena_print(h->t.arena, "%s, %s", part_text(h, i), part_text(h, i));
        if (is_accepted(&h->t, with_part(h, i, twice), &why))
            fail_msg("part %d is audited twice", i);
        seen.dropped += 2;
        forge_halves(h, i);
        arena_reset(h->t.arena, mark);
    }
    for (int i = 0; i < h->count * h->count; i++) {
        const char *own = part_text(h, i / h->count), *other = part_text(h, i % h->count);
        if (!strcmp(own, other)) continue;
        bool accepted = is_accepted(&h->t, with_part(h, i / h->count, other), &why);
        seen.moved += !accepted;
        seen.kept += accepted;
        arena_reset(h->t.arena, mark);
    }
}

TEST(test_parts)
{
    int found = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = first_seed; found < TREES; seed++, arena_reset(arena, mark)) {
        struct honest h;
        if (try_honest(&h, seed, arena)) {
            found++;
            forge_parts(&h);
        }
    }
    printf("%d trees with a part less or more; %d with a part as another refused, %d true; %d with "
           "a part in halves\n",
           seen.dropped, seen.moved, seen.kept, seen.halved);
    assert_true(seen.moved > seen.kept && seen.halved > 0);
}

static void must_refuse(const struct honest *h, const char *text, const char *what)
{
    const char *why;
    if (is_accepted(&h->t, text, &why)) fail_msg("accepted, expected \"%s\"", what);
    if (!strstr(why, what)) fail_msg("\"%s\" is not in: %s", what, why);
}

static const char *repeat(struct arena *arena, const char *part, int times)
{
    const char *to = part;
    for (int i = 1; i < times; i++) to = arena_print(arena, "%s, %s", to, part);
    return to;
}

static const char *edit(const struct honest *h, const char *from, const char *to)
{
    const char *at = strstr(h->made.text, from);
    assert_non_null(at);
    return arena_print(h->t.arena, "%.*s%s%s", (int)(at - h->made.text), h->made.text, to,
                       at + strlen(from));
}

TEST(test_words)
{
    struct honest h;
    uint64_t seed = first_seed;
    while (!try_honest(&h, seed, arena)) seed++;
    const char *bound = arena_print(arena, "\"bound_ns\": %lld", (long long)h.made.bound_ns);
    int places = h.t.places.replicas * h.t.places.problem->ranks;
    must_refuse(&h, with_parts(&h, ""), "a part is missing");
    must_refuse(&h, with_parts(&h, repeat(arena, "{\"branch\": true}", places + 1)),
                "all places have a node");
    must_refuse(&h, with_parts(&h, repeat(arena, "{\"stage\": 0, \"layers_below\": 1}", 65)),
                "more than 64 ranges");
    must_refuse(&h, with_parts(&h, "{\"branch\": false}"), "expected branch, or stage");
    must_refuse(&h, with_parts(&h, "{\"branch\": true, \"replica\": 0}"), "expected branch, or");
    must_refuse(&h, with_parts(&h, "{\"stage\": 0}"), "expected branch, or stage");
    must_refuse(&h, with_parts(&h, "{\"stage\": 99, \"layers_below\": 1}"), "stage");
    must_refuse(&h, with_parts(&h, "{\"stage\": 0, \"layers_below\": 0}"), "layers_below");
    must_refuse(&h, with_parts(&h, "{\"replica\": 99, \"proof\": {}}"), "replica");
    must_refuse(&h, with_parts(&h, "{\"replica\": 0, \"proof\": 1}"), "proof");
    must_refuse(&h, edit(&h, bound, "\"infeasible\": true"), "not that there is no plan");
    must_refuse(&h, edit(&h, bound, "\"infeasible\": false"), "either infeasible or bound_ns");
    must_refuse(
        &h,
        edit(&h, bound, arena_print(arena, "\"bound_ns\": %lld", (long long)h.made.bound_ns + 1)),
        "less than bound_ns");
    must_refuse(&h, edit(&h, "\"parts\":", "\"proof\":"), "parts");
    must_refuse(&h, edit(&h, "\"by\": \"tree\"", "\"by\": \"nodes\""), "\"proof\" is missing");
    h.t.places.together = h.t.places.micro_batches * h.t.places.replicas;
    must_refuse(&h, h.made.text, "same number of micro-batches");
}

// With these parts, as proof that there is no plan.
static const char *with_none(const struct honest *h, const char *bound, const char *parts)
{
    struct honest other = *h;
    other.made.text = edit(h, bound, "\"infeasible\": true");
    find_parts(&other);
    return with_parts(&other, parts);
}

// "It has no layers" proves the half that has fewer than there are, and the one that has more, but
// no other.
TEST(test_halves)
{
    const char *none = "{\"replica\": 0, \"proof\": {\"infeasible\": true, \"paths\": [], "
                       "\"boxes\": [{\"rounds\": [], \"closed\": true}]}}",
               *why;
    struct honest h;
    uint64_t seed = first_seed;
    while (!find_one_rank(&h, seed, arena)) seed++;
    int layers = h.t.places.problem->layers;
    const char *bound = arena_print(arena, "\"bound_ns\": %lld", (long long)h.made.bound_ns);
    for (int below = 1; below <= layers + 1; below++) {
        const char *halves = arena_print(arena, "{\"stage\": 0, \"layers_below\": %d}", below);
        const char *empty = arena_print(arena, "%s, %s, %s", halves, none, none);
        assert_false(is_accepted(&h.t, with_none(&h, bound, empty), &why));
        const char *own = all_parts(&h);
        const char *first = arena_print(arena, "%s, %s, %s", halves, own, none);
        const char *last = arena_print(arena, "%s, %s, %s", halves, none, own);
        assert_int_equal(is_accepted(&h.t, with_parts(&h, first), &why), below > layers);
        bool accepted = is_accepted(&h.t, with_parts(&h, last), &why);
        assert_true(accepted || below > layers);
    }
}

TEST(test_work)
{
    struct honest h;
    struct check_result audited;
    uint64_t seed = first_seed;
    while (!try_honest(&h, seed, arena)) seed++;
    const struct check_text file = {"certificate.json", h.made.text, h.made.size};
    CHECK_OK(check_places_certificate(&audited, &file, h.t.sources, PLACE_SOURCES, &h.t.places,
                                      CHECK_WORK_DEFAULT, arena, &err));
    uint64_t whole = audited.work;
    for (uint64_t left = whole; left; left /= 2) {
        CHECK_OK(check_places_certificate(&audited, &file, h.t.sources, PLACE_SOURCES, &h.t.places,
                                          left - 1, arena, &err));
        assert_false(audited.accepted);
        assert_non_null(strstr(audited.reason, "work limit"));
    }
}

ARGUMENT(first_seed)
