// Priced documents against the judge's own prices of their problems, as plumbline check CERTIFICATE
// PROBLEM compares them: honest ones agree in every number, and a change of any number, word or
// name of a document is found.
#include "formulate/price/price.h"
#include "solve/checker/proof.h"
#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/draws/sharding.h"
#include "tests/support/draws/tiers.h"
#include "tests/support/draws/stage_widths.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/trials/trial.h"
#include "tests/support/check.h"

struct pricing_trial {
    struct problem problem;
    struct check_text text;    // of the planner's priced document
    struct check_problem *own; // by the judge
    struct arena *arena;
};

static bool pricing_trial_open(struct pricing_trial *t, int flavour, struct random *rng,
                               struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct priced priced;
    limits.plans_max = 0;
    limits.flavour = flavour;
    t->arena = arena;
    random_problem(&t->problem, rng, &limits, arena);
    if (random_chance(rng, 60)) vary_layout(&t->problem, rng);
    if (rng->state % 4 == 0) random_tiers(&t->problem, rng->state, arena);
    if (rng->state % 4 == 1 && !random_sharding(&t->problem, rng->state, arena))
        return pricing_trial_open(t, flavour, rng, arena);
    MUST(price_problem(&priced, &t->problem, arena, &own_err));
    t->text = check_trial_save(&priced, "priced.json", arena);
    MUST(space_one_prices(&t->own, &t->problem, arena, &own_err));
    for (int g = 0; g < priced.group_count; g++)
        if (priced.groups[g].excluded) return false;
    return true;
}

// Stages with widths of their own, in half of the problems with replicas in turn. false: none fit.
static bool seated_trial_open(struct pricing_trial *t, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct priced priced;
    limits.flavour = FLAVOUR_SHAPE;
    t->arena = arena;
    random_problem(&t->problem, rng, &limits, arena);
    if (!random_stage_widths(&t->problem, rng, arena)) return false;
    if (random_chance(rng, 50))
        random_turns(&t->problem, random_chance(rng, 50), rng->state, arena);
    if (problem_check(&t->problem, &(struct error){0}) != OK ||
        price_problem(&priced, &t->problem, arena, &(struct error){0}) != OK)
        return false;
    t->text = check_trial_save(&priced, "priced.json", arena);
    MUST(space_one_prices(&t->own, &t->problem, arena, &own_err));
    return true;
}

// The result for a document with this text.
static enum status compare(const struct pricing_trial *t, const char *text, size_t size,
                           struct error *err)
{
    struct check_problem *read = TAKE(t->arena, 1, struct check_problem);
    const struct check_text priced = {"priced.json", text, size};
    int64_t compared;
    TRY(check_read_problem(read, &priced, t->arena, err));
    TRY(check_same_prices(read, t->own, &compared, err));
    assert_true(compared > 50);
    return OK;
}

TEST(honest_documents_agree)
{
    struct random rng = {40};
    int compared = 0, sharded = 0, spread = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 600; i++, arena_reset(arena, mark)) {
        struct pricing_trial t;
        pricing_trial_open(&t, i % FLAVOUR_COUNT, &rng, arena);
        if (compare(&t, t.text.text, t.text.size, &err) != OK)
            fail_msg("problem %d: %s", i, err.text);
        compared++;
        sharded += t.own->runs->sharded != NULL, spread += t.own->degree_count > 0;
    }
    print_message("%d documents, %d with sharded layers, %d with degrees of the vocabulary\n",
                  compared, sharded, spread);
    assert_true(sharded && spread);
}

// ---- forgeries

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void put(char *to, const char *text, size_t from, size_t length, const char *instead)
{
    sprintf(to, "%.*s%s%s", (int)from, text, instead, text + from + length);
}

// The next token after `at` that is a number, a word (true, false) or a text that is no key;
// returns its length. 0: none.
static size_t next_token(const char *text, size_t *at)
{
    for (size_t i = *at; text[i]; i++) {
        size_t length = 1;
        if (text[i] == '"') {
            while (text[i + length] != '"') length++;
            length++;
            if (text[i + length] == ':') {
                i += length;
                continue;
            }
        } else if (is_digit(text[i]) || text[i] == '-') {
            while (is_digit(text[i + length])) length++;
        } else if (!strncmp(text + i, "true", 4) || !strncmp(text + i, "false", 5)) {
            length = text[i] == 't' ? 4 : 5;
        } else {
            continue;
        }
        *at = i;
        return length;
    }
    return 0;
}

// One more; the other word; a name with another letter.
static const char *forged_token(const char *token, size_t length, int off, struct arena *arena)
{
    char *text = arena_print(arena, "%.*s", (int)length, token);
    if (*text == 't' || *text == 'f') return *text == 't' ? "false" : "true";
    if (*text == '"') return length > 2 ? (text[1] = text[1] == 'x' ? 'y' : 'x', text) : "\"x\"";
    return arena_print(arena, "%lld", atoll(text) + off);
}

// Where the body begins; before it are the document's kind and origin.
static size_t body_of(const char *text) { return (size_t)(strstr(text, "\"name\"") - text); }

static int forge_all(const struct pricing_trial *t, int off)
{
    char *forged = TAKE(t->arena, t->text.size + 100, char);
    int count = 0;
    size_t length;
    for (size_t at = body_of(t->text.text); (length = next_token(t->text.text, &at));
         at += length, count++) {
        struct arena_mark mark = arena_set_mark(t->arena);
        struct error err = {OK, ""};
        put(forged, t->text.text, at, length,
            forged_token(t->text.text + at, length, off, t->arena));
        enum status status = compare(t, forged, strlen(forged), &err);
        if (status == OK)
            fail_msg("accepted: %.*s -> %.*s", 60, t->text.text + (at > 30 ? at - 30 : 0), 60,
                     forged + (at > 30 ? at - 30 : 0));
        if (status == (enum status)NOT_PROVEN && !strstr(err.text, "by the problem it is"))
            fail_msg("%s", err.text);
        arena_reset(t->arena, mark);
    }
    return count;
}

TEST(whatever_is_changed_is_found)
{
    struct random rng = {41};
    int documents = 0, forgeries = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; documents < 12; i++, arena_reset(arena, mark)) {
        struct pricing_trial t;
        if (pricing_trial_open(&t, i % FLAVOUR_COUNT, &rng, arena)) {
            forgeries += forge_all(&t, i % 2 ? 1 : -1);
            documents++;
        }
    }
    print_message("%d forgeries of %d documents\n", forgeries, documents);
    assert_true(forgeries > 3000);
}

TEST(widths_agree)
{
    struct random rng = {42};
    int compared = 0, turned = 0, entered = 0, forged = 0, forgeries = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 600; i++, arena_reset(arena, mark)) {
        struct pricing_trial t;
        if (!seated_trial_open(&t, &rng, arena)) continue;
        if (compare(&t, t.text.text, t.text.size, &err) != OK)
            fail_msg("problem %d: %s", i, err.text);
        compared++, turned += t.own->in_turn;
        bool entry = false, whole = true;
        for (int r = 0; r < t.own->run_count; r++) entry = entry || t.own->runs[r].entry;
        for (int g = 0; g < t.own->group_count; g++) whole = whole && !t.own->groups[g].excluded;
        entered += entry;
        if (!whole || t.text.size > 12000 || (forged >= 6 && !(entry && forged < 10))) continue;
        forgeries += forge_all(&t, i % 2 ? 1 : -1), forged++;
    }
    print_message(
        "%d documents, %d in turn, %d with stated entries; %d forgeries of %d documents\n",
        compared, turned, entered, forgeries, forged);
    assert_true(compared > turned && turned && entered && forgeries > 1000);
}
