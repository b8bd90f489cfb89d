// Random damage to certificates: changed bytes and numbers, parts removed, duplicated and
// exchanged, in proofs of true claims and of false ones. Whatever is still accepted must be true by
// enumeration.
//
//   test_check_mutations [MUTATIONS] [SEED]       make test runs 2,000, make test-mutations 20,000
#include <cjson/cJSON.h>

#include "data/base/file.h"
#include "tests/support/trials/other_trials.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"

enum { DEFAULT_MUTATIONS = 2000, PER_TRIAL = 40 };

static int mutation_count = DEFAULT_MUTATIONS;
static uint64_t first_seed = 1;

static struct {
    int unaudited, not_proven, accepted;
} seen;

// ---- bytes and numbers of the text

static struct check_text flip_bytes(const struct check_text *text, uint64_t *state,
                                    struct arena *arena)
{
    struct check_text out = {.file = "mutated.json", .size = text->size};
    char *bytes = arena_grow(arena, text->text, text->size, text->size + 1, 1);
    for (int64_t n = 1 + random_less(state, 3); n > 0; n--) {
        static const char likely[] = "0123456789-\"[]{},:* truefalsn";
        char *at = bytes + random_less(state, (int64_t)text->size);
        if (random_less(state, 2)) *at = likely[random_less(state, (int64_t)sizeof likely - 1)];
        else *at = (char)(*at ^ 1 << random_less(state, 8));
    }
    out.text = bytes;
    return out;
}

static const char *nth_number(const char *text, int64_t n)
{
    const char *at = text;
    for (;;) {
        while (*at && (*at < '0' || *at > '9')) at++;
        if (!*at || n-- == 0) return at;
        while (*at >= '0' && *at <= '9') at++;
    }
}

static int64_t count_numbers(const char *text)
{
    int64_t count = 0;
    for (const char *at = text; *at; at++)
        count += *at >= '0' && *at <= '9' && !(at[1] >= '0' && at[1] <= '9');
    return count;
}

// One number becomes another: a neighbour, a multiple, zero, a large one, or one from elsewhere.
static struct check_text change_number(const struct check_text *text, uint64_t *state,
                                       struct arena *arena)
{
    int64_t count = count_numbers(text->text);
    const char *at = nth_number(text->text, random_less(state, count)),
               *other = nth_number(text->text, random_less(state, count));
    char *end;
    long long number = strtoll(at, &end, 10), changed = number;
    switch (random_less(state, 8)) {
    case 0: changed = number + 1; break;
    case 1: changed = number - 1; break;
    case 2: changed = number * 2; break;
    case 3: changed = number / 2; break;
    case 4: changed = 0; break;
    case 5: changed = number + random_less(state, 1000) - 500; break;
    case 6: changed = (int64_t)1 << random_less(state, 60); break;
    default: changed = strtoll(other, NULL, 10); break;
    }
    struct check_text out = {.file = "mutated.json"};
    out.text = arena_print(arena, "%.*s%lld%s", (int)(at - text->text), text->text, changed, end);
    out.size = strlen(out.text);
    return out;
}

// ---- parts of the document

static cJSON *random_array(cJSON *node, uint64_t *state)
{
    cJSON *found = NULL, *child;
    int64_t seen_arrays = 0;
    // Reservoir over a walk: each non-empty array with the same chance.
    cJSON *stack[4000];
    int depth = 0;
    stack[depth++] = node;
    while (depth) {
        cJSON *at = stack[--depth];
        if (cJSON_IsArray(at) && at->child && random_less(state, ++seen_arrays) == 0) found = at;
        cJSON_ArrayForEach(child, at) if (child->child && depth < 4000) stack[depth++] = child;
    }
    return found;
}

static void put_at(cJSON *array, int place, cJSON *item)
{
    if (!cJSON_InsertItemInArray(array, place, item)) cJSON_Delete(item);
}

static struct check_text change_parts(const struct check_text *text, uint64_t *state,
                                      struct arena *arena)
{
    cJSON *root = cJSON_Parse(text->text), *array = random_array(root, state);
    assert_non_null(array);
    int count = cJSON_GetArraySize(array), i = (int)random_less(state, count),
        k = (int)random_less(state, count);
    switch (random_less(state, 3)) {
    case 0: cJSON_DeleteItemFromArray(array, i); break;
    case 1: put_at(array, k, cJSON_Duplicate(cJSON_GetArrayItem(array, i), true)); break;
    default:
        if (i == k) break;
        int low = i < k ? i : k, high = i < k ? k : i;
        cJSON *second = cJSON_DetachItemFromArray(array, high),
              *first = cJSON_DetachItemFromArray(array, low);
        put_at(array, low, second);
        put_at(array, high, first);
    }
    char *printed = cJSON_PrintUnformatted(root);
    struct check_text out = {
        .file = "mutated.json", .text = arena_copy_text(arena, printed), .size = strlen(printed)};
    cJSON_free(printed);
    cJSON_Delete(root);
    return out;
}

// ---- the law

static void audit(const struct check_trial *t, const struct check_text *certificate,
                  struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_result r;
    enum status status =
        check_certificate(&r, certificate, &t->text, (uint64_t)1 << 32, arena, &err);
    if (status != OK) {
        assert_int_equal(status, BAD_INPUT);
        assert_true(*err.text && !strchr(err.text, '\n'));
        seen.unaudited++;
        return;
    }
    if (!r.accepted) {
        assert_true(*r.reason);
        seen.not_proven++;
        return;
    }
    seen.accepted++;
    bool feasible = t->best_ns != INT64_MAX;
    bool is_true = r.infeasible
                       ? !feasible
                       : r.bound_ns <= t->best_ns &&
                             (r.iteration_ns < 0 || (feasible && r.iteration_ns >= t->best_ns));
    if (!is_true)
        fail_msg("seed %llu: a false claim was accepted:\n%s", (unsigned long long)t->seed,
                 certificate->text);
}

static void mutate(const struct check_trial *t, const struct check_text *from, uint64_t *state,
                   struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    struct check_text text = *from;
    for (int64_t n = 1 + random_less(state, 3) / 2; n > 0; n--) {
        int64_t kind = random_less(state, 10);
        text = kind < 1   ? flip_bytes(&text, state, arena)
               : kind < 7 ? change_number(&text, state, arena)
                          : change_parts(&text, state, arena);
        if (kind < 1) break; // it may be no JSON any more
    }
    audit(t, &text, arena);
    arena_reset(arena, mark);
}

// Mutations of one trial's certificates, the true one and false ones; returns how many.
static int attack(const struct check_trial *t, uint64_t *state, struct arena *arena)
{
    bool feasible = t->best_ns != INT64_MAX;
    int done = 0;
    struct check_text from[3] = {t->certificate, {0}, {0}};
    if (feasible) from[1] = check_trial_claim(t, false, -1, t->best_ns + 1, arena);
    if (feasible) from[2] = check_trial_claim(t, true, -1, 0, arena);
    for (int i = 1; i < 3; i++)
        if (from[i].text) audit(t, &from[i], arena);
    for (int i = 0; i < PER_TRIAL; i++) {
        const struct check_text *text = &from[random_less(state, 4) % 3];
        if (!text->text || (!feasible && i > PER_TRIAL / 8)) continue;
        mutate(t, text, state, arena);
        done++;
    }
    return done;
}

// The document is changed instead, and the certificate is about the changed one: what is accepted
// is true of that.
static int attack_document(const struct check_trial *t, uint64_t *state, struct arena *arena)
{
    int done = 0;
    char before[SHA256_TEXT], after[SHA256_TEXT];
    sha256_text(t->text.text, t->text.size, before);
    const char *at = strstr(t->certificate.text, before);
    assert_non_null(at);
    for (int i = 0; i < PER_TRIAL / 4; i++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct error err = {OK, ""};
        struct check_trial other = *t;
        const char *path = own_path("changed.json");
        other.text = change_number(&t->text, state, arena);
        other.text.file = t->text.file;
        if (file_write(path, other.text.text, other.text.size, &err) == OK &&
            priced_load(&other.priced, path, arena, &err) == OK &&
            other.priced.objective == OBJECTIVE_ITERATION_TIME &&
            other_trial_answer(&other, arena)) {
            sha256_text(other.text.text, other.text.size, after);
            struct check_text text = t->certificate;
            text.text = arena_print(arena, "%.*s%s%s", (int)(at - text.text), text.text, after,
                                    at + strlen(before));
            audit(&other, &text, arena);
            done++;
        }
        arena_reset(arena, mark);
    }
    return done;
}

TEST(test_mutations_of_other_kinds)
{
    for (int kind = 0; kind < OTHER_KINDS; kind++) {
        int done = 0, documents = 0;
        uint64_t random = first_seed + (uint64_t)kind;
        memset(&seen, 0, sizeof seen);
        for (uint64_t seed = first_seed; done < mutation_count / 4; seed++) {
            struct arena_mark mark = arena_set_mark(arena);
            struct check_trial t;
            if (other_trial_open(&t, (enum other_kind)kind, seed, arena)) {
                done += attack(&t, &random, arena);
                documents += attack_document(&t, &random, arena);
            }
            arena_reset(arena, mark);
        }
        print_message("%s: %d mutations, %d of documents: %d no certificate, %d not proven, %d "
                      "accepted and true\n",
                      other_names[kind], done, documents, seen.unaudited, seen.not_proven,
                      seen.accepted);
        assert_true(seen.not_proven > done / 20 && seen.accepted > done / 50);
    }
    memset(&seen, 0, sizeof seen);
}

TEST(test_mutations)
{
    int done = 0;
    uint64_t random = first_seed;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = first_seed; done < mutation_count; seed++, arena_reset(arena, mark)) {
        struct check_trial t;
        if (check_trial_open(&t, seed, arena)) {
            bool feasible = t.best_ns != INT64_MAX;
            struct check_text from[3] = {t.certificate, {0}, {0}};
            if (feasible) from[1] = check_trial_claim(&t, false, -1, t.best_ns + 1, arena);
            if (feasible) from[2] = check_trial_claim(&t, true, -1, 0, arena);
            for (int i = 0; i < PER_TRIAL && done < mutation_count; i++) {
                const struct check_text *text = &from[random_less(&random, 4) % 3];
                if (!text->text || (!feasible && i > PER_TRIAL / 8)) continue;
                mutate(&t, text, &random, arena);
                done++;
            }
        }
    }
    print_message("%d mutations: %d no certificate, %d not proven, %d accepted and true\n", done,
                  seen.unaudited, seen.not_proven, seen.accepted);
    assert_true(seen.not_proven > done / 20 && seen.accepted > done / 50);
}

ARGUMENT(mutation_count)
ARGUMENT(first_seed)

AROUND_ALL(folder_open, folder_close)
