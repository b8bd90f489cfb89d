// What the planner reads of a priced document the checker reads, too, and what one of them refuses
// the other refuses: else a plan could be made whose certificate is refused, or a proof accepted of
// what is no problem. Changed are options and what they have in tiers, with a sense of what they
// mean; and then whatever the document states.
//
//   test_refused_alike [DOCUMENTS] [SEED]      make test runs 3000
#include <unistd.h>

#include <cjson/cJSON.h>

#include "data/base/file.h"
#include "solve/checker/read/problem.h"
#include "tests/support/check.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/check_trials.h"

static int document_count = 3000;
static uint64_t first_seed;

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

static void change_option(struct compression_option *x, uint64_t *state)
{
    static const char *const names[] = {NULL, "near", "other"}, *const tiers[] = {NULL, "host"};
    switch (below(state, 6)) {
    case 0: x->forgets = !x->forgets; break;
    case 1: x->activations = tiers[below(state, 2)]; break;
    case 2: x->tier_option = names[below(state, 3)]; break;
    case 3: x->across_passes = !x->across_passes; break;
    case 4: x->quality_cost = below(state, 3); break;
    default:
        x->form.method = (enum compression_method)below(state, COMPRESSION_METHOD_COUNT);
        x->form.amount = x->form.method == COMPRESS_LOW_RANK ? below(state, 2) : 1;
        break;
    }
}

static void change_boundary(struct compression_option *x, uint64_t *state)
{
    change_option(x, state);
    x->activations = x->tier_option = NULL, x->across_passes = false;
    if (!below(state, 4)) x->epilogue_only = !x->epilogue_only;
}

static void change_number(int64_t *number, uint64_t *state)
{
    if (number) *number += 2 * below(state, 2) - 1;
}

// Of a run with an option, on a group and in a pass; where there is one, also on excluded groups.
static void change_entry(struct priced *p, uint64_t *state)
{
    struct priced_run *r = &p->runs[below(state, p->run_count)];
    int passes = p->slice_count * p->group_count, g = below(state, p->group_count);
    if (!r->tiered_count) return;
    struct priced_tiered *t = &r->tiered[below(state, r->tiered_count)];
    int64_t **of_passes[] = {&t->forward_ns, &t->backward_ns},
            **of_groups[] = {&t->optimizer_ns, &t->away_ns,  &t->back_ns,
                             &t->energy_uj,    &t->again_uj, &t->swap_uj};
    int what = below(state, 11), pass = below(state, passes);
    if (what == 0) change_number(&t->weight_bytes, state);
    if (what == 1) change_number(&t->buffer_bytes, state);
    if (what == 2) change_number(&t->optimizer_bytes, state);
    if (what == 3 || what == 4)
        if (*of_passes[what - 3]) change_number(&(*of_passes[what - 3])[pass], state);
    if (what > 4 && *of_groups[what - 5]) change_number(&(*of_groups[what - 5])[g], state);
}

static void exclude_some(struct priced *p, uint64_t *state)
{
    int g = below(state, p->group_count);
    if (p->group_count > 1 && !below(state, 3)) p->groups[g].excluded = "for this test";
}

// Without the flush of file_write, which takes most of the test's time.
static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

// Whether both read the document; changed NULL: as it is saved.
static bool both_read(const struct priced *p, const char *changed, long document,
                      struct arena *arena)
{
    struct check_problem *checked = TAKE(arena, 1, struct check_problem);
    struct priced loaded;
    struct error of_planner = {OK, ""}, of_checker = {OK, ""};
    struct check_text text = {"priced.json", NULL, 0};
    const char *path = arena_print(arena, "build/refused.%ld.json", (long)getpid());
    if (changed) write_text(path, changed);
    else MUST(priced_save(p, path, arena, &own_err));
    MUST(file_read(path, &text.text, &text.size, arena, &own_err));
    enum status planner = priced_load(&loaded, path, arena, &of_planner),
                checker = check_read_problem(checked, &text, arena, &of_checker);
    unlink(path);
    if (planner != checker)
        fail_msg("document %ld: the planner: %s; the checker: %s\n%s", document,
                 planner == OK ? "read" : of_planner.text, checker == OK ? "read" : of_checker.text,
                 changed ? changed : "");
    return planner == OK;
}

TEST(options_and_tiers_are_refused_alike)
{
    int refused = 0, read = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < document_count; arena_reset(arena, mark)) {
        struct check_trial t;
        struct priced p;
        uint64_t state = 0x9e3779b97f4a7c15u * (first_seed + (uint64_t)i) + 5;
        if (!check_trial_draw(&t, first_seed + (uint64_t)i++, arena)) continue;
        p = t.priced;
        if (below(&state, 3)) priced_draw_tiers(&p, &state, arena);
        exclude_some(&p, &state);
        for (int changes = below(&state, 3); changes >= 0; changes--) {
            int what = below(&state, 3);
            if (what == 0)
                change_option(&p.gradient_options[below(&state, p.gradient_option_count)], &state);
            if (what == 1)
                change_boundary(&p.boundary_options[below(&state, p.boundary_option_count)],
                                &state);
            if (what == 2) change_entry(&p, &state);
        }
        both_read(&p, NULL, i - 1, arena) ? read++ : refused++;
    }
    print_message("%d read by both, %d refused by both\n", read, refused);
    assert_true(read > document_count / 10 && refused > document_count / 10);
}

// ---- anything

enum { KEYS_MOST = 4000, OF_A_KEY_MOST = 6, PATH_BYTES = 200 };

// Keys of the documents so far, where they stand (without places in lists), and some of their
// values.
static struct {
    struct known_key {
        char object[PATH_BYTES], key[PATH_BYTES];
        cJSON *value;
    } items[KEYS_MOST];
    int count;
} keys;

static void note_key(const char *object, const cJSON *v)
{
    int of_it = 0;
    for (const struct known_key *k = keys.items; k < keys.items + keys.count; k++) {
        bool same = !strcmp(k->object, object) && !strcmp(k->key, v->string);
        if (same && cJSON_Compare(k->value, v, true)) return;
        of_it += same;
    }
    if (of_it == OF_A_KEY_MOST || keys.count == KEYS_MOST) return;
    struct known_key *k = &keys.items[keys.count++];
    snprintf(k->object, sizeof k->object, "%s", object);
    snprintf(k->key, sizeof k->key, "%s", v->string);
    k->value = cJSON_Duplicate(v, true);
}

// Every value of the document in turn, with the one that it belongs to; `each` may change it and
// returns whether that is enough.
typedef bool value_use(cJSON *parent, cJSON *v, const char *object, int number, uint64_t *state);

static bool go_through(cJSON *parent, const char *object, int *number, value_use *each,
                       uint64_t *state)
{
    for (cJSON *v = parent->child, *next; v; v = next) {
        char inner[PATH_BYTES];
        next = v->next;
        snprintf(inner, sizeof inner, "%s.%s", object, v->string ? v->string : "");
        if (each(parent, v, object, (*number)++, state) ||
            go_through(v, inner, number, each, state))
            return true;
    }
    return false;
}

static bool note(cJSON *parent, cJSON *v, const char *object, int number, uint64_t *state)
{
    (void)parent, (void)number, (void)state;
    if (v->string) note_key(object, v);
    return false;
}

static int changed_place, added_key;

static bool add(cJSON *parent, cJSON *v, const char *object, int number, uint64_t *state)
{
    const struct known_key *k = &keys.items[added_key];
    (void)v, (void)number;
    if (!cJSON_IsObject(parent) || strcmp(object, k->object) || below(state, 3)) return false;
    cJSON_DeleteItemFromObjectCaseSensitive(parent, k->key);
    return cJSON_AddItemToObject(parent, k->key, cJSON_Duplicate(k->value, true));
}

static bool change(cJSON *parent, cJSON *v, const char *object, int number, uint64_t *state)
{
    (void)object;
    if (number != changed_place) return false;
    if (v->string && !below(state, 4)) {
        cJSON_Delete(cJSON_DetachItemViaPointer(parent, v));
    } else if (cJSON_IsNumber(v)) {
        double was = v->valuedouble, to[] = {was + 1, was - 1, 2 * was, 0, -1};
        cJSON_SetNumberValue(v, to[below(state, 5)]);
    } else if (cJSON_IsBool(v)) {
        v->type = cJSON_IsTrue(v) ? cJSON_False : cJSON_True;
    } else if (cJSON_IsString(v)) {
        cJSON_SetValuestring(v, "");
    } else if (cJSON_IsArray(v) && v->child) {
        if (below(state, 2)) cJSON_DeleteItemFromArray(v, cJSON_GetArraySize(v) - 1);
        else cJSON_AddItemToArray(v, cJSON_Duplicate(v->child->prev, true));
    }
    return true;
}

// The hash of sources is no number of the problem.
static char *change_something(const char *text, uint64_t *state)
{
    cJSON *root = cJSON_Parse(text);
    int values = 0, again = 0;
    cJSON_DeleteItemFromObject(root, "made_from");
    go_through(root, "", &values, note, state);
    changed_place = below(state, values), added_key = below(state, keys.count);
    if (below(state, 2)) go_through(root, "", &again, change, state);
    else go_through(root, "", &again, add, state);
    char *changed = cJSON_Print(root);
    cJSON_Delete(root);
    return changed;
}

TEST(all_keys_are_refused_alike)
{
    int refused = 0, read = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < document_count; arena_reset(arena, mark)) {
        struct check_trial t;
        uint64_t state = 0x9e3779b97f4a7c15u * (first_seed + (uint64_t)i) + 7;
        if (!check_trial_draw(&t, first_seed + (uint64_t)i++, arena)) continue;
        struct priced p = t.priced;
        int kind = below(&state, 6);
        if (kind < 2) priced_draw_tiers(&p, &state, arena);
        if (kind == 2) priced_draw_sharded(&p, &state, arena);
        if (kind == 3) priced_draw_widths(&p, state, arena);
        struct check_text text = {"priced.json", NULL, 0};
        const char *path = arena_print(arena, "build/refused.%ld.json", (long)getpid());
        MUST(priced_save(&p, path, arena, &own_err));
        MUST(file_read(path, &text.text, &text.size, arena, &own_err));
        char *changed = change_something(text.text, &state);
        both_read(&p, changed, i - 1, arena) ? read++ : refused++;
        cJSON_free(changed);
    }
    for (int i = 0; i < keys.count; i++) cJSON_Delete(keys.items[i].value);
    print_message("%d read by both, %d refused by both; %d keys\n", read, refused, keys.count);
    assert_true(read > document_count / 10 && refused > document_count / 10);
}

ARGUMENT(document_count)
ARGUMENT(first_seed)
