// Forged certificates of spaces: claims, the statement about each layout, which layout is dominated
// by which. Every kind of damage is planted in the certificates of many random problems, and each
// must be refused with a reason. Proofs, sources and form: test_check_space_proof_forgeries.c;
// random damage: test_check_space_mutations.c.
#include "tests/support/forge.h"
#include "tests/support/trials/space_forgery.h"
#include "tests/support/check.h"

// ---- fates, one letter a layout

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

static bool is_feasible(const struct forgery *f, int64_t i)
{
    return f->t->alone.optimum_ns[i] > 0;
}
static bool is_below(const struct forgery *f, int64_t i)
{
    int64_t least_ns = f->t->alone.optimum_ns[i];
    return least_ns > 0 && least_ns < (int64_t)get_number(f->space, "bound_ns");
}

static void drop_plan(struct forgery *f)
{
    int64_t chosen = (int64_t)get_number(f->space, "chosen");
    drop(f->space, "chosen"), drop(f->space, "iteration_ns");
    cJSON *one;
    cJSON_ArrayForEach(one, f->proofs) if ((int64_t)get_number(one, "layout") == chosen)
        drop(get(one, "proof"), "incumbent"),
        drop(get(one, "proof"), "iteration_ns");
}

// ---- claims

// Of the space and of every proof in it, so that each is tested by itself.
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
    if (!has_plan(f) || get_number(f->space, "bound_ns") >= get_number(f->space, "iteration_ns"))
        return false;
    return claim(f, "bound_ns", get_number(f->space, "bound_ns") + 1);
}
static bool bound_above_plan(struct forgery *f)
{
    return has_plan(f) && claim(f, "bound_ns", get_number(f->space, "iteration_ns") + 1);
}
static bool time_too_long(struct forgery *f)
{
    return has_plan(f) && claim(f, "iteration_ns", get_number(f->space, "iteration_ns") + 1);
}
static bool time_too_short(struct forgery *f)
{
    cJSON *one;
    if (!has_plan(f) || get_number(f->space, "bound_ns") < get_number(f->space, "iteration_ns"))
        return false;
    double less = get_number(f->space, "iteration_ns") - 1, chosen = get_number(f->space, "chosen");
    cJSON_ArrayForEach(one, f->proofs)
    {
        set_number(get(one, "proof"), "bound_ns", less);
        if (get_number(one, "layout") <= chosen && get_number(one, "layout") >= chosen)
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
    return claim(f, "layouts", get_number(f->space, "layouts") + 1);
}
static bool layout_less(struct forgery *f)
{
    return claim(f, "layouts", get_number(f->space, "layouts") - 1);
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
        bool group = letters[i] == 'g' || letters[i + 1] == 'g'; // may hold for both
        if (group || letters[i] == letters[i + 1] || (letters[i] != 'r' && letters[i + 1] != 'r'))
            continue;
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
static bool bounded_in_group(struct forgery *f) { return refate(f, 'b', 'g', NULL); }
static bool refused_in_group(struct forgery *f) { return refate(f, 'r', 'g', NULL); }
static bool without_room_in_group(struct forgery *f) { return refate(f, 'm', 'g', NULL); }
static bool proven_in_group(struct forgery *f) { return refate(f, 'p', 'g', NULL); }
static bool dominated_in_group(struct forgery *f) { return refate(f, 'd', 'g', NULL); }
static bool group_refused(struct forgery *f) { return refate(f, 'g', 'r', is_feasible); }
static bool group_without_room(struct forgery *f) { return refate(f, 'g', 'm', is_feasible); }
static bool group_proven(struct forgery *f) { return refate(f, 'g', 'p', NULL); }
static bool group_dominated(struct forgery *f) { return refate(f, 'g', 'd', NULL); }
static bool group_missing(struct forgery *f)
{
    char *letters = arena_copy_text(f->arena, f->fates), *at = strchr(letters, 'g');
    if (!at) return false;
    memmove(at, at + 1, strlen(at));
    return put_fates(f, letters), layout_less(f);
}
static bool group_twice(struct forgery *f)
{
    const char *at = strchr(f->fates, 'g');
    if (!at) return false;
    put_fates(f, arena_print(f->arena, "%.*sg%s", (int)(at - f->fates), f->fates, at));
    return layout_more(f);
}
static bool group_without_plans(struct forgery *f)
{
    return strchr(f->fates, 'g') && says_infeasible(f);
}
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

// The bound of a layout with a better plan: only its own argument could claim that.
static bool better_layout_bounded(struct forgery *f)
{
    if (!has_plan(f)) return false;
    drop_plan(f);
    set_number(f->space, "bound_ns", (double)f->t->alone.best_ns + 1);
    return refate(f, 'p', 'b', is_below);
}

static bool better_layout_in_group(struct forgery *f)
{
    if (!has_plan(f)) return false;
    drop_plan(f);
    set_number(f->space, "bound_ns", (double)f->t->alone.best_ns + 1);
    return refate(f, 'p', 'g', is_below);
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
    return set_dominator(f, (int64_t)get_number(f->space, "layouts"));
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

static const struct space_forgery kinds[] = {
    FORGERY(bound_too_high),
    FORGERY(bound_above_proofs),
    FORGERY(bound_above_plan),
    FORGERY(time_too_long),
    FORGERY(time_too_short),
    FORGERY(says_infeasible),
    FORGERY(both_claims),
    FORGERY(no_claim),
    FORGERY(plan_without_time),
    FORGERY(layout_more),
    FORGERY(layout_less),
    FORGERY(last_layout_dropped),
    FORGERY(last_layout_dropped_and_counted),
    FORGERY(first_layout_dropped),
    FORGERY(layout_added),
    FORGERY(neighbours_exchanged),
    FORGERY(bounded_refused),
    FORGERY(without_room_refused),
    FORGERY(proven_refused),
    FORGERY(bounded_without_room),
    FORGERY(refused_bounded),
    FORGERY(refused_without_room),
    FORGERY(dominated_without_room),
    FORGERY(proven_without_room),
    FORGERY(bounded_dominated),
    FORGERY(refused_proven),
    FORGERY(dominated_proven),
    FORGERY(bounded_in_group),
    FORGERY(refused_in_group),
    FORGERY(without_room_in_group),
    FORGERY(proven_in_group),
    FORGERY(dominated_in_group),
    FORGERY(group_refused),
    FORGERY(group_without_room),
    FORGERY(group_proven),
    FORGERY(group_dominated),
    FORGERY(group_missing),
    FORGERY(group_twice),
    FORGERY(group_without_plans),
    FORGERY(better_layout_in_group),
    FORGERY(unknown_fate),
    FORGERY(fate_of_none),
    FORGERY(fate_of_too_many),
    FORGERY(fates_end_with_blank),
    FORGERY(fates_empty),
    FORGERY(fates_are_numbers),
    FORGERY(better_layout_bounded),
    FORGERY(dominated_by_another_graph),
    FORGERY(dominated_by_itself),
    FORGERY(dominated_in_a_circle),
    FORGERY(dominated_by_a_refused),
    FORGERY(dominated_by_none),
    FORGERY(domination_turned_round),
    FORGERY(domination_missing),
    FORGERY(half_a_domination),
    FORGERY(domination_too_much),
};

TEST(forgeries_are_refused) { space_forgeries_refused(kinds, ARRAY_LENGTH(kinds)); }
