// Shared by the tests of forged certificates of spaces.
#include "tests/support/trials/space_forgery.h"

#include "tests/support/forge.h"
#include "tests/support/check.h"

enum { TRIALS = 32, WITH_EXPERTS = 24 };

bool has_plan(const struct forgery *f) { return get(f->space, "chosen") != NULL; }
int count_of(const cJSON *array) { return cJSON_GetArraySize(array); }

bool claim(struct forgery *f, const char *key, double value)
{
    return set_number(f->space, key, value), true;
}

struct finding {
    int64_t number;
    struct check_layout *layout;
};
static bool find_layout(void *argument, int64_t at, const struct check_layout *layout)
{
    struct finding *x = argument;
    if (at == x->number) *x->layout = *layout;
    return at < x->number;
}
struct check_layout layout_at(const struct forgery *f, int64_t at)
{
    struct check_layout layout = {0};
    struct finding x = {at, &layout};
    check_space_walk(&f->t->space, find_layout, &x);
    return layout;
}

static const char *spread_fates(const char *text, struct arena *arena)
{
    char *to = TAKE(arena, 1 << 16, char), *at = to;
    while (*text) {
        char *end, letter = *text++;
        for (long count = strtol(text, &end, 10); count > 0; count--) *at++ = letter;
        text = *end ? end + 1 : end;
    }
    return to;
}

static bool try_forgery(const struct space_forgery *kind, const struct space_trial *trial,
                        bool first, struct arena *arena)
{
    struct space_trial copy = *trial;
    struct check_space_result audited;
    const char *why = "";
    struct forgery f = {
        .t = &copy,
        .arena = arena,
        .root = cJSON_ParseWithLength(trial->certificate.text, trial->certificate.size)};
    assert_non_null(f.root);
    f.space = get(f.root, "space"), f.proofs = get(f.space, "proofs"),
    f.dominated = get(f.space, "dominated"), f.from = get(f.root, "made_from");
    f.fates = spread_fates(get(f.space, "fates")->valuestring, arena);
    bool applies = kind->plant(&f);
    if (applies) {
        char *text = cJSON_PrintUnformatted(f.root);
        struct check_text forged = {"forged.json", text, strlen(text)};
        bool accepted = space_trial_audit(&copy, &forged, &audited, &why, arena) &&
                        audited.proof.accepted;
        if (accepted) fail_msg("%s: is accepted", kind->name);
        if (!*why) fail_msg("%s: is refused without a reason", kind->name);
        if (first) print_message("%-32s %s\n", kind->name, why);
        cJSON_free(text);
    }
    cJSON_Delete(f.root);
    return applies;
}

void space_forgeries_refused(const struct space_forgery *kinds, size_t count)
{
    bool *planted = calloc(count, sizeof *planted);
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (uint64_t seed = 1; seed <= TRIALS + WITH_EXPERTS; seed++, arena_reset(&own_arena, mark)) {
        struct space_trial t;
        double gap = seed % 3 ? 0 : 0.05;
        if (seed > TRIALS) space_trial_of_experts(&t, seed, gap, &own_arena);
        else space_trial_open(&t, seed, gap, &own_arena);
        for (size_t i = 0; i < count; i++)
            planted[i] = try_forgery(&kinds[i], &t, !planted[i], &own_arena) || planted[i];
    }
    for (size_t i = 0; i < count; i++)
        if (!planted[i]) fail_msg("%s: never planted", kinds[i].name);
    print_message("%zu kinds of forgery\n", count);
    free(planted);
}
