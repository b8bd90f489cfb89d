// Forged certificates of spaces: every kind of damage that follows is planted in the certificates
// of many random problems, and each must be refused with a reason. Then random damage, bytes and
// numbers: whatever is accepted after it must still be true.
//
//   test_check_space_forgeries [MUTATIONS]       make test runs 400
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/inputs/cost_keys.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/space_trials.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> // last: it has a macro fail()

enum { TRIALS = 24, DEFAULT_MUTATIONS = 400 };

static int mutation_count = DEFAULT_MUTATIONS;

struct forgery {
    struct space_trial *t; // a copy: what is laid before the checker beside the certificate
    cJSON *root, *space, *proofs, *dominated, *from;
    const char *fates; // a letter for each layout
    struct arena *arena;
};

// ---- fates, one letter a layout

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

static void set(cJSON *object, const char *key, cJSON *value)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    cJSON_AddItemToObject(object, key, value);
}

static void set_number(cJSON *object, const char *key, double value)
{
    set(object, key, cJSON_CreateNumber(value));
}
static double number(const cJSON *object, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(object, key));
}
static cJSON *get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}
static void drop(cJSON *object, const char *key)
{
    cJSON_DeleteItemFromObjectCaseSensitive(object, key);
}

static void put_fates(struct forgery *f, const char *letters)
{
    char *text = TAKE(f->arena, 12 * strlen(letters) + 1, char), *to = text;
    for (size_t i = 0, n; letters[i]; i += n) {
        for (n = 1; letters[i + n] == letters[i];) n++;
        to += sprintf(to, "%s%c%zu", i ? " " : "", letters[i], n);
    }
    set(f->space, "fates", cJSON_CreateString(text));
}

static bool refate(struct forgery *f, char from, char to,
                   bool (*suits)(const struct forgery *, int64_t))
{
    char *letters = arena_copy_text(f->arena, f->fates);
    for (int64_t i = 0; letters[i]; i++) {
        if (letters[i] != from || (suits && !suits(f, i))) continue;
        letters[i] = to;
        put_fates(f, letters);
        return true;
    }
    return false;
}

static bool has_plan(const struct forgery *f) { return get(f->space, "chosen") != NULL; }
static int count_of(const cJSON *array) { return cJSON_GetArraySize(array); }
static bool is_feasible(const struct forgery *f, int64_t i)
{
    return f->t->alone.optimum_ns[i] > 0;
}
static bool is_below(const struct forgery *f, int64_t i)
{
    int64_t least_ns = f->t->alone.optimum_ns[i];
    return least_ns > 0 && least_ns < (int64_t)number(f->space, "bound_ns");
}

static bool claim(struct forgery *f, const char *key, double value)
{
    return set_number(f->space, key, value), true;
}

static void drop_plan(struct forgery *f)
{
    int64_t chosen = (int64_t)number(f->space, "chosen");
    drop(f->space, "chosen"), drop(f->space, "iteration_ns");
    cJSON *one;
    cJSON_ArrayForEach(one, f->proofs) if ((int64_t)number(one, "layout") == chosen)
        drop(get(one, "proof"), "incumbent"),
        drop(get(one, "proof"), "iteration_ns");
}

// ---- claims

// Of the space and of every proof in it, so that each stands for itself.
static bool bound_too_high(struct forgery *f)
{
    cJSON *one;
    if (!has_plan(f)) return false;
    drop_plan(f);
    cJSON_ArrayForEach(one, f->proofs) if (get(get(one, "proof"), "bound_ns"))
        set_number(get(one, "proof"), "bound_ns", (double)f->t->alone.best_ns + 1);
    return claim(f, "bound_ns", (double)f->t->alone.best_ns + 1);
}
static bool bound_above_proofs(struct forgery *f)
{
    if (!has_plan(f) || number(f->space, "bound_ns") >= number(f->space, "iteration_ns"))
        return false;
    return claim(f, "bound_ns", number(f->space, "bound_ns") + 1);
}
static bool bound_above_plan(struct forgery *f)
{
    return has_plan(f) && claim(f, "bound_ns", number(f->space, "iteration_ns") + 1);
}
static bool time_too_long(struct forgery *f)
{
    return has_plan(f) && claim(f, "iteration_ns", number(f->space, "iteration_ns") + 1);
}
static bool time_too_short(struct forgery *f)
{
    cJSON *one;
    if (!has_plan(f) || number(f->space, "bound_ns") < number(f->space, "iteration_ns"))
        return false;
    double less = number(f->space, "iteration_ns") - 1, chosen = number(f->space, "chosen");
    cJSON_ArrayForEach(one, f->proofs)
    {
        set_number(get(one, "proof"), "bound_ns", less);
        if (number(one, "layout") <= chosen && number(one, "layout") >= chosen)
            set_number(get(one, "proof"), "iteration_ns", less);
    }
    return claim(f, "iteration_ns", less) && claim(f, "bound_ns", less);
}
static bool says_infeasible(struct forgery *f)
{
    cJSON *one;
    if (!has_plan(f)) return false;
    drop_plan(f);
    drop(f->space, "bound_ns");
    cJSON_ArrayForEach(one, f->proofs) drop(get(one, "proof"), "bound_ns"),
        set(get(one, "proof"), "infeasible", cJSON_CreateTrue());
    set(f->space, "infeasible", cJSON_CreateTrue());
    return true;
}
static bool both_claims(struct forgery *f)
{
    return has_plan(f) ? set(f->space, "infeasible", cJSON_CreateTrue()), true : false;
}
static bool no_claim(struct forgery *f)
{
    return has_plan(f) ? drop(f->space, "bound_ns"), true : false;
}
static bool plan_without_time(struct forgery *f)
{
    return has_plan(f) ? drop(f->space, "iteration_ns"), true : false;
}

// ---- which layout is what

static bool layout_more(struct forgery *f)
{
    return claim(f, "layouts", number(f->space, "layouts") + 1);
}
static bool layout_less(struct forgery *f)
{
    return claim(f, "layouts", number(f->space, "layouts") - 1);
}
static bool last_layout_dropped(struct forgery *f)
{
    char *letters = arena_copy_text(f->arena, f->fates);
    letters[strlen(letters) - 1] = '\0';
    put_fates(f, letters);
    return *letters;
}
static bool last_layout_dropped_and_counted(struct forgery *f)
{
    return last_layout_dropped(f) && layout_less(f);
}
static bool first_layout_dropped(struct forgery *f)
{
    return f->fates[0] != f->fates[strlen(f->fates) - 1] ? put_fates(f, f->fates + 1),
           layout_less(f)                                : false;
}
static bool layout_added(struct forgery *f)
{
    return put_fates(f, arena_print(f->arena, "%sr", f->fates)), true;
}
static bool neighbours_exchanged(struct forgery *f)
{
    char *letters = arena_copy_text(f->arena, f->fates);
    for (size_t i = 0; letters[i] && letters[i + 1]; i++) {
        if (letters[i] == letters[i + 1] || (letters[i] != 'r' && letters[i + 1] != 'r')) continue;
        char letter = letters[i];
        letters[i] = letters[i + 1], letters[i + 1] = letter;
        put_fates(f, letters);
        return true;
    }
    return false;
}
static bool bounded_refused(struct forgery *f) { return refate(f, 'b', 'r', NULL); }
static bool without_room_refused(struct forgery *f) { return refate(f, 'm', 'r', NULL); }
static bool proven_refused(struct forgery *f) { return refate(f, 'p', 'r', NULL); }
static bool bounded_without_room(struct forgery *f) { return refate(f, 'b', 'm', is_feasible); }
static bool refused_bounded(struct forgery *f) { return refate(f, 'r', 'b', NULL); }
static bool refused_without_room(struct forgery *f) { return refate(f, 'r', 'm', NULL); }
static bool dominated_without_room(struct forgery *f) { return refate(f, 'd', 'm', is_feasible); }
static bool proven_without_room(struct forgery *f) { return refate(f, 'p', 'm', is_feasible); }
static bool bounded_dominated(struct forgery *f) { return refate(f, 'b', 'd', NULL); }
static bool refused_proven(struct forgery *f) { return refate(f, 'r', 'p', NULL); }
static bool dominated_proven(struct forgery *f) { return refate(f, 'd', 'p', NULL); }
static bool unknown_fate(struct forgery *f)
{
    return put_fates(f, arena_print(f->arena, "x%s", f->fates + 1)), true;
}
static bool fates_text(struct forgery *f, const char *text)
{
    return set(f->space, "fates", cJSON_CreateString(text)), true;
}
static bool fate_of_none(struct forgery *f)
{
    return fates_text(f, arena_print(f->arena, "r0 %s", get(f->space, "fates")->valuestring));
}
static bool fate_of_too_many(struct forgery *f) { return fates_text(f, "r999999999999"); }
static bool fates_end_with_blank(struct forgery *f)
{
    return fates_text(f, arena_print(f->arena, "%s ", get(f->space, "fates")->valuestring));
}
static bool fates_empty(struct forgery *f) { return fates_text(f, ""); }
static bool fates_are_numbers(struct forgery *f) { return set_number(f->space, "fates", 3), true; }

// The bound of a layout with a better plan: nothing but its own argument could say so.
static bool better_layout_bounded(struct forgery *f)
{
    if (!has_plan(f)) return false;
    drop_plan(f);
    set_number(f->space, "bound_ns", (double)f->t->alone.best_ns + 1);
    return refate(f, 'p', 'b', is_below);
}

// ---- dominated layouts

static bool set_dominator(struct forgery *f, int64_t by)
{
    if (!count_of(f->dominated)) return false;
    cJSON_ReplaceItemInArray(f->dominated, 1, cJSON_CreateNumber((double)by));
    return true;
}
static int64_t first_dominated(const struct forgery *f)
{
    return count_of(f->dominated)
               ? (int64_t)cJSON_GetNumberValue(cJSON_GetArrayItem(f->dominated, 0))
               : -1;
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
static struct check_layout layout_at(const struct forgery *f, int64_t at)
{
    struct check_layout layout = {0};
    struct finding x = {at, &layout};
    check_space_walk(&f->t->space, find_layout, &x);
    return layout;
}
static bool dominated_by_another_graph(struct forgery *f)
{
    int64_t d = first_dominated(f);
    if (d < 0) return false;
    struct check_layout own = layout_at(f, d);
    for (int64_t i = 0; f->fates[i]; i++) {
        struct check_layout other = layout_at(f, i);
        bool unlike = other.value[KEY_PIPELINE] != own.value[KEY_PIPELINE] ||
                      other.value[KEY_SCHEDULE] != own.value[KEY_SCHEDULE];
        if (strchr("mbp", f->fates[i]) && unlike) return set_dominator(f, i);
    }
    return false;
}
static bool dominated_by_itself(struct forgery *f) { return set_dominator(f, first_dominated(f)); }
static bool dominated_in_a_circle(struct forgery *f)
{
    if (count_of(f->dominated) < 4) return false;
    double one = cJSON_GetNumberValue(cJSON_GetArrayItem(f->dominated, 0)),
           two = cJSON_GetNumberValue(cJSON_GetArrayItem(f->dominated, 2));
    cJSON_ReplaceItemInArray(f->dominated, 1, cJSON_CreateNumber(two));
    cJSON_ReplaceItemInArray(f->dominated, 3, cJSON_CreateNumber(one));
    return true;
}
static bool dominated_by_a_refused(struct forgery *f)
{
    const char *refused = strchr(f->fates, 'r');
    return refused && set_dominator(f, refused - f->fates);
}
static bool dominated_by_none(struct forgery *f)
{
    return set_dominator(f, (int64_t)number(f->space, "layouts"));
}
static bool domination_turned_round(struct forgery *f)
{
    if (count_of(f->dominated) != 2) return false;
    cJSON *first = cJSON_DetachItemFromArray(f->dominated, 0);
    cJSON_AddItemToArray(f->dominated, first);
    return true;
}
static bool domination_missing(struct forgery *f)
{
    if (!count_of(f->dominated)) return false;
    cJSON_DeleteItemFromArray(f->dominated, 0);
    cJSON_DeleteItemFromArray(f->dominated, 0);
    return true;
}
static bool half_a_domination(struct forgery *f)
{
    return count_of(f->dominated) ? cJSON_DeleteItemFromArray(f->dominated, 0), true : false;
}
static bool domination_too_much(struct forgery *f)
{
    if (count_of(f->dominated)) return false;
    cJSON_AddItemToArray(f->dominated, cJSON_CreateNumber(0));
    cJSON_AddItemToArray(f->dominated, cJSON_CreateNumber(1));
    return true;
}

// ---- proofs

static cJSON *proof_at(const struct forgery *f, int i) { return cJSON_GetArrayItem(f->proofs, i); }
static bool proof_missing(struct forgery *f)
{
    return count_of(f->proofs) ? cJSON_DeleteItemFromArray(f->proofs, 0), true : false;
}
static bool proof_of_another(struct forgery *f)
{
    if (!count_of(f->proofs)) return false;
    set_number(proof_at(f, 0), "layout", number(proof_at(f, 0), "layout") + 1);
    return true;
}
// The proofs of two layouts with unlike numbers of stages.
static bool proofs_exchanged(struct forgery *f)
{
    for (int i = 0; i < count_of(f->proofs); i++)
        for (int k = 0; k < i; k++) {
            cJSON *one = proof_at(f, i), *two = proof_at(f, k);
            struct check_layout a = layout_at(f, (int64_t)number(one, "layout")),
                                b = layout_at(f, (int64_t)number(two, "layout"));
            bool alike = a.value[KEY_PIPELINE] * a.value[KEY_TURNS] ==
                         b.value[KEY_PIPELINE] * b.value[KEY_TURNS];
            if (alike ||
                (!get(get(one, "proof"), "incumbent") && !get(get(two, "proof"), "incumbent")))
                continue;
            cJSON *body = cJSON_DetachItemFromObjectCaseSensitive(one, "proof");
            cJSON_AddItemToObject(one, "proof",
                                  cJSON_DetachItemFromObjectCaseSensitive(two, "proof"));
            cJSON_AddItemToObject(two, "proof", body);
            return true;
        }
    return false;
}
static bool proofs_out_of_order(struct forgery *f)
{
    if (count_of(f->proofs) < 2) return false;
    cJSON_AddItemToArray(f->proofs, cJSON_DetachItemFromArray(f->proofs, 0));
    return true;
}
static bool proof_twice(struct forgery *f)
{
    return count_of(f->proofs)
           ? cJSON_InsertItemInArray(f->proofs, 0, cJSON_Duplicate(proof_at(f, 0), true)),
           true : false;
}
static bool proof_of_less(struct forgery *f)
{
    cJSON *one;
    cJSON_ArrayForEach(one,
                       f->proofs) if (get(get(one, "proof"), "bound_ns") &&
                                      number(f->space, "bound_ns") >
                                          0) return set_number(get(one, "proof"), "bound_ns",
                                                               number(f->space, "bound_ns") - 1),
        true;
    return false;
}
// Nothing of it is closed any more: no mixture is used.
static bool proof_without_rounds(struct forgery *f)
{
    if (!has_plan(f)) return false;
    cJSON *one, *box;
    cJSON_ArrayForEach(one, f->proofs)
    {
        if ((int64_t)number(one, "layout") != (int64_t)number(f->space, "chosen")) continue;
        bool closed = false;
        cJSON_ArrayForEach(box, get(get(one, "proof"), "boxes"))
        {
            closed = closed || (get(box, "closed") && count_of(get(box, "rounds")));
            set(box, "rounds", cJSON_CreateArray());
        }
        return closed;
    }
    return false;
}
static bool box_missing(struct forgery *f)
{
    cJSON *boxes = count_of(f->proofs) ? get(get(proof_at(f, 0), "proof"), "boxes") : NULL;
    if (!boxes) return false;
    cJSON_DeleteItemFromArray(boxes, count_of(boxes) - 1);
    return true;
}
static bool plan_of_another(struct forgery *f)
{
    cJSON *one;
    if (!has_plan(f)) return false;
    cJSON_ArrayForEach(
        one,
        f->proofs) if ((int64_t)number(one, "layout") !=
                       (int64_t)number(f->space, "chosen")) return claim(f, "chosen",
                                                                         number(one, "layout"));
    return false;
}
static bool chosen_without_proof(struct forgery *f)
{
    const char *bounded = strchr(f->fates, 'b');
    return has_plan(f) && bounded && claim(f, "chosen", (double)(bounded - f->fates));
}
static bool chosen_refused(struct forgery *f)
{
    const char *refused = strchr(f->fates, 'r');
    return has_plan(f) && refused && claim(f, "chosen", (double)(refused - f->fates));
}
static bool plan_dropped(struct forgery *f)
{
    return has_plan(f) ? drop(f->space, "chosen"), drop(f->space, "iteration_ns"), true : false;
}

// ---- what the certificate is about

static bool another_source(struct forgery *f, int which)
{
    f->t->sources[which].text.text = arena_print(f->arena, "%s!", f->t->sources[which].text.text);
    f->t->sources[which].text.size++;
    return true;
}
static bool another_job(struct forgery *f) { return another_source(f, 4); }
static bool another_model(struct forgery *f) { return another_source(f, 1); }
static bool source_missing(struct forgery *f)
{
    return cJSON_DeleteItemFromArray(f->from, 2), true;
}
static bool source_twice(struct forgery *f)
{
    return cJSON_AddItemToArray(f->from, cJSON_Duplicate(cJSON_GetArrayItem(f->from, 1), true)),
           true;
}

// The documents change under their hashes.
static bool change_problem(struct forgery *f, void (*change)(struct problem *, struct arena *))
{
    struct error err = {OK, ""};
    struct problem *p = TAKE(f->arena, 1, struct problem);
    *p = f->t->problem;
    if (!has_plan(f)) return false;
    change(p, f->arena);
    space_read(&f->t->space, p, f->arena);
    assert_int_equal(space_pricers_open(f->t->pricers, p, f->arena, &err), OK);
    return true;
}
static void halve_times(struct problem *p, struct arena *arena)
{
    p->costs = costs_copy(&p->costs, arena);
    for (int i = 0; i < p->costs.layer_time_count; i++) {
        struct layer_time *t = &p->costs.layer_times[i];
        t->forward_s /= 2, t->backward_s /= 2, t->weight_s /= 2, t->selective_s /= 2,
            t->full_s /= 2, t->optimizer_s /= 2;
    }
    for (int i = 0; i < p->costs.gpu_count; i++)
        for (int k = 0; k < p->costs.gpus[i].precision_count; k++)
            p->costs.gpus[i].precisions[k].gemm_flop_per_s.value *= 2;
}
static void double_batch(struct problem *p, struct arena *arena)
{
    (void)arena, p->job.global_batch *= 2;
}
static void add_device(struct problem *p, struct arena *arena)
{
    struct node_group *groups = TAKE(arena, p->cluster.group_count, struct node_group);
    memcpy(groups, p->cluster.groups, (size_t)p->cluster.group_count * sizeof *groups);
    groups[0].nodes++;
    p->cluster.groups = groups;
    p->job.space.fewer_devices = !p->job.space.fewer_devices;
    for (int key = 0; key <= SPACE_DATA; key++) p->job.space.axes[key].kind = AXIS_ALL;
}
static bool cheaper_prices(struct forgery *f) { return change_problem(f, halve_times); }
static bool more_micro_batches(struct forgery *f) { return change_problem(f, double_batch); }
static bool larger_cluster(struct forgery *f)
{
    int64_t layouts = (int64_t)number(f->space, "layouts");
    struct problem p = f->t->problem;
    add_device(&p, f->arena);
    return spaces_count(&p) != layouts && change_problem(f, add_device);
}

// ---- form

static bool unknown_key(struct forgery *f)
{
    return set(f->space, "trust", cJSON_CreateTrue()), true;
}
static bool proof_beside_space(struct forgery *f)
{
    return set(f->root, "proof", cJSON_CreateObject()), true;
}
static bool no_space(struct forgery *f) { return drop(f->root, "space"), true; }
static bool layouts_missing(struct forgery *f) { return drop(f->space, "layouts"), true; }
static bool too_many_layouts(struct forgery *f) { return claim(f, "layouts", 1e12); }
static bool layouts_below_zero(struct forgery *f) { return claim(f, "layouts", -1); }
static bool dominated_no_list(struct forgery *f)
{
    return set_number(f->space, "dominated", 1), true;
}
static bool fraction(struct forgery *f)
{
    return claim(f, "layouts", number(f->space, "layouts") + 0.5);
}

#define KIND(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }
static const struct {
    const char *name;
    bool (*plant)(struct forgery *);
} kinds[] = {
    KIND(bound_too_high),
    KIND(bound_above_proofs),
    KIND(bound_above_plan),
    KIND(time_too_long),
    KIND(time_too_short),
    KIND(says_infeasible),
    KIND(both_claims),
    KIND(no_claim),
    KIND(plan_without_time),
    KIND(layout_more),
    KIND(layout_less),
    KIND(last_layout_dropped),
    KIND(last_layout_dropped_and_counted),
    KIND(first_layout_dropped),
    KIND(layout_added),
    KIND(neighbours_exchanged),
    KIND(bounded_refused),
    KIND(without_room_refused),
    KIND(proven_refused),
    KIND(bounded_without_room),
    KIND(refused_bounded),
    KIND(refused_without_room),
    KIND(dominated_without_room),
    KIND(proven_without_room),
    KIND(bounded_dominated),
    KIND(refused_proven),
    KIND(dominated_proven),
    KIND(unknown_fate),
    KIND(fate_of_none),
    KIND(fate_of_too_many),
    KIND(fates_end_with_blank),
    KIND(fates_empty),
    KIND(fates_are_numbers),
    KIND(better_layout_bounded),
    KIND(dominated_by_another_graph),
    KIND(dominated_by_itself),
    KIND(dominated_in_a_circle),
    KIND(dominated_by_a_refused),
    KIND(dominated_by_none),
    KIND(domination_turned_round),
    KIND(domination_missing),
    KIND(half_a_domination),
    KIND(domination_too_much),
    KIND(proof_missing),
    KIND(proof_of_another),
    KIND(proofs_exchanged),
    KIND(proofs_out_of_order),
    KIND(proof_twice),
    KIND(proof_of_less),
    KIND(proof_without_rounds),
    KIND(box_missing),
    KIND(plan_of_another),
    KIND(chosen_without_proof),
    KIND(chosen_refused),
    KIND(plan_dropped),
    KIND(another_job),
    KIND(another_model),
    KIND(source_missing),
    KIND(source_twice),
    KIND(cheaper_prices),
    KIND(more_micro_batches),
    KIND(larger_cluster),
    KIND(unknown_key),
    KIND(proof_beside_space),
    KIND(no_space),
    KIND(layouts_missing),
    KIND(too_many_layouts),
    KIND(layouts_below_zero),
    KIND(dominated_no_list),
    KIND(fraction),
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

static int planted[KIND_COUNT];

static void try_forgery(const struct space_trial *trial, int kind, struct arena *arena)
{
    struct space_trial copy = *trial;
    struct check_space_result heard;
    const char *why = "";
    struct forgery f = {
        .t = &copy,
        .arena = arena,
        .root = cJSON_ParseWithLength(trial->certificate.text, trial->certificate.size)};
    assert_non_null(f.root);
    f.space = get(f.root, "space"), f.proofs = get(f.space, "proofs"),
    f.dominated = get(f.space, "dominated"), f.from = get(f.root, "made_from");
    f.fates = spread_fates(get(f.space, "fates")->valuestring, arena);
    if (kinds[kind].plant(&f)) {
        char *text = cJSON_PrintUnformatted(f.root);
        struct check_text forged = {"forged.json", text, strlen(text)};
        bool accepted = space_trial_hear(&copy, &forged, &heard, &why, arena) &&
                        heard.proof.accepted;
        if (accepted) fail_msg("%s: is accepted", kinds[kind].name);
        if (!*why) fail_msg("%s: is refused without a reason", kinds[kind].name);
        if (!planted[kind]++) print_message("%-32s %s\n", kinds[kind].name, why);
        cJSON_free(text);
    }
    cJSON_Delete(f.root);
}

static void forgeries_are_refused(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct arena arena;
        struct space_trial t;
        arena_open(&arena, NULL);
        space_trial_open(&t, seed, seed % 3 ? 0 : 0.05, &arena);
        for (int kind = 0; kind < KIND_COUNT; kind++) try_forgery(&t, kind, &arena);
        arena_close(&arena);
    }
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (!planted[kind]) fail_msg("%s: never planted", kinds[kind].name);
    print_message("%d kinds of forgery\n", KIND_COUNT);
}

static void work_is_limited(void **state)
{
    (void)state;
    struct arena arena;
    struct error err = {OK, ""};
    struct space_trial t;
    struct check_space_result heard;
    arena_open(&arena, NULL);
    space_trial_open(&t, 1, 0, &arena);
    for (uint64_t limit = 1; limit < 100000; limit = 3 * limit + 1) {
        assert_int_equal(check_space_certificate(&heard, &t.certificate, t.sources, SPACE_SOURCES,
                                                 &t.space, t.pricers, limit, &arena, &err),
                         OK);
        assert_true(heard.proof.accepted ||
                    !strcmp(heard.proof.reason, "the work limit is reached") ||
                    strstr(heard.proof.reason, ": the work limit is reached"));
        assert_true(heard.proof.work <= limit);
    }
    arena_close(&arena);
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

static void random_damage_proves_nothing_false(void **state)
{
    (void)state;
    uint64_t random = 99;
    int unheard = 0, refused = 0, accepted = 0;
    for (uint64_t seed = 100; seed < 120; seed++) {
        struct arena arena;
        struct space_trial t;
        arena_open(&arena, NULL);
        space_trial_open(&t, seed, 0, &arena);
        int64_t best_ns = t.alone.best_ns;
        for (int i = 0; i < mutation_count / 20; i++) {
            struct check_space_result heard;
            const char *why;
            struct check_text text = random_less(&random, 2)
                                         ? flip_bytes(&t.certificate, &random, &arena)
                                         : change_number(&t.certificate, &random, &arena);
            if (!space_trial_hear(&t, &text, &heard, &why, &arena)) unheard++;
            else if (!heard.proof.accepted) refused++;
            else {
                accepted++;
                // A price that lies at a half may move a plan by as much.
                assert_true(!heard.proof.infeasible || best_ns == INT64_MAX);
                assert_true(heard.proof.bound_ns <=
                            (best_ns == INT64_MAX ? best_ns : best_ns + 100));
                assert_true(heard.proof.iteration_ns < 0 ||
                            heard.proof.iteration_ns >= best_ns - 100);
            }
        }
        arena_close(&arena);
    }
    print_message("%d damages: %d unheard, %d not proven, %d still true\n",
                  unheard + refused + accepted, unheard, refused, accepted);
    assert_true(unheard > 0 && refused > 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) mutation_count = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forgeries_are_refused),
        cmocka_unit_test(work_is_limited),
        cmocka_unit_test(random_damage_proves_nothing_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
