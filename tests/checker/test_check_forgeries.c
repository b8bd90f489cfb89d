// Forged certificates: every kind of damage below is planted in the proofs of many random problems,
// and each must be refused with the reason. Damage to the text: test_check_text.c.
#include "tests/support/forge.h"
#include "tests/support/forged_envelope.h"
#include "tests/support/check.h"

enum { TRIALS = 150, TIMES_MOST = 25 };

// ---- finding places

// The first box that has this key and (with_rounds) some rounds.
static cJSON *box_with(const struct forgery *f, const char *key, bool with_rounds)
{
    cJSON *box;
    cJSON_ArrayForEach(
        box, f->boxes) if (get(box, key) &&
                           (!with_rounds || cJSON_GetArraySize(get(box, "rounds")) > 0)) return box;
    return NULL;
}

// The first pair of path and weight that counts, where the boxes have any.
static cJSON *first_weight(const struct forgery *f)
{
    cJSON *box, *round;
    cJSON_ArrayForEach(box, f->boxes) cJSON_ArrayForEach(round, get(box, "rounds")) if (
        cJSON_GetArraySize(get(round, "weights"))) return cJSON_GetArrayItem(get(round, "weights"),
                                                                             0);
    return NULL;
}

static cJSON *first_round(const struct forgery *f)
{
    cJSON *box = box_with(f, "rounds", true);
    return box ? cJSON_GetArrayItem(get(box, "rounds"), 0) : NULL;
}

static cJSON *first_path(const struct forgery *f) { return cJSON_GetArrayItem(f->paths, 0); }
static cJSON *first_stage(const struct forgery *f)
{
    return f->stages ? cJSON_GetArrayItem(f->stages, 0) : NULL;
}

// ---- claims

// A round by ranks may be refused before: less has left where more is claimed.
static bool bound_too_high(struct forgery *f)
{
    if (!has_plan(f) || strstr(f->t->certificate.text, "\"by_ranks\"")) return false;
    drop(f->proof, "incumbent");
    drop(f->proof, "iteration_ns");
    set_number(f->proof, "bound_ns", (double)f->t->best_ns + 1);
    return true;
}
static bool bound_above_plan(struct forgery *f)
{
    if (has_plan(f)) set_number(f->proof, "bound_ns", (double)f->t->best_ns + 1);
    return has_plan(f);
}
static bool time_too_long(struct forgery *f)
{
    if (has_plan(f)) set_number(f->proof, "iteration_ns", (double)f->t->best_ns + 1);
    return has_plan(f);
}
static bool time_too_short(struct forgery *f)
{
    if (!has_plan(f) || f->t->best_ns < 1) return false;
    set_number(f->proof, "iteration_ns", (double)f->t->best_ns - 1);
    set_number(f->proof, "bound_ns", (double)f->t->best_ns - 1);
    return true;
}
static bool says_infeasible(struct forgery *f)
{
    if (!has_plan(f)) return false;
    drop(f->proof, "incumbent");
    drop(f->proof, "iteration_ns");
    drop(f->proof, "bound_ns");
    cJSON_AddTrueToObject(f->proof, "infeasible");
    return true;
}
static bool both_claims(struct forgery *f)
{
    if (has_plan(f)) cJSON_AddTrueToObject(f->proof, "infeasible");
    return has_plan(f);
}
static bool no_claim(struct forgery *f)
{
    if (has_plan(f)) drop(f->proof, "bound_ns");
    return has_plan(f);
}
static bool plan_without_time(struct forgery *f)
{
    if (has_plan(f)) drop(f->proof, "iteration_ns");
    return has_plan(f);
}

// ---- the plan

static bool stage_missing(struct forgery *f)
{
    if (has_plan(f)) cJSON_DeleteItemFromArray(f->stages, 0);
    return has_plan(f);
}
static bool stage_twice(struct forgery *f)
{
    if (has_plan(f)) cJSON_AddItemToArray(f->stages, cJSON_Duplicate(first_stage(f), true));
    return has_plan(f);
}
static bool layer_left_out(struct forgery *f)
{
    if (!has_plan(f) || get(first_stage(f), "layer_count")->valuedouble < 2) return false;
    set_number(first_stage(f), "layer_count", get(first_stage(f), "layer_count")->valuedouble - 1);
    return true;
}
static bool first_layer_off(struct forgery *f)
{
    if (has_plan(f)) set_number(first_stage(f), "first_layer", 1);
    return has_plan(f) && f->t->priced.layer_count > 1;
}
static bool group_unknown(struct forgery *f)
{
    if (has_plan(f)) set_text(first_stage(f), "group", "nowhere");
    return has_plan(f);
}
static bool group_excluded(struct forgery *f)
{
    const struct priced *p = &f->t->priced;
    for (int g = 0; g < p->group_count && has_plan(f); g++)
        if (p->groups[g].excluded) {
            set_text(first_stage(f), "group", p->groups[g].name);
            return true;
        }
    return false;
}
static bool mode_not_allowed(struct forgery *f)
{
    if (!has_plan(f) || f->t->priced.recompute[RECOMPUTE_SELECTIVE]) return false;
    set_text(first_stage(f), "recompute", "selective");
    set_number(first_stage(f), "recomputed_layers", 0);
    return true;
}
static bool recomputed_without_mode(struct forgery *f)
{
    if (!has_plan(f) || strcmp(get(first_stage(f), "recompute")->valuestring, "none")) return false;
    set_number(first_stage(f), "recomputed_layers", 1);
    return true;
}
static bool gradient_option_unknown(struct forgery *f)
{
    if (has_plan(f))
        set_number(first_stage(f), "gradient_option", f->t->priced.gradient_option_count);
    return has_plan(f);
}
static bool boundary_before_first(struct forgery *f)
{
    if (!has_plan(f) || f->t->priced.boundary_option_count < 2) return false;
    set_number(first_stage(f), "boundary_option", 1);
    return true;
}
// All on one group that has too few slots, whatever else that breaks.
static bool slots_overdrawn(struct forgery *f)
{
    const struct priced *p = &f->t->priced;
    cJSON *stage;
    for (int g = 0; g < p->group_count && has_plan(f); g++) {
        if (p->groups[g].excluded || p->groups[g].slots < 1 || p->groups[g].slots >= p->rank_count)
            continue;
        cJSON_ArrayForEach(stage, f->stages) set_text(stage, "group", p->groups[g].name);
        return true;
    }
    return false;
}

// ---- paths

static bool path_is_none(struct forgery *f)
{
    if (first_path(f)) set_text(first_path(f), "steps", "7");
    return first_path(f) != NULL;
}
static bool path_laps_wrong(struct forgery *f)
{
    if (first_path(f))
        set_number(first_path(f), "laps", get(first_path(f), "laps")->valuedouble + 1);
    return first_path(f) != NULL;
}
static bool path_no_laps(struct forgery *f)
{
    if (first_path(f)) set_number(first_path(f), "laps", 0);
    return first_path(f) != NULL;
}
static bool path_cycle_open(struct forgery *f)
{
    if (f->t->priced.layout.barrier || !first_path(f)) return false;
    set_text(first_path(f), "steps", "");
    return true;
}
// The first path with another start: kind, stage, micro-batch or slice.
static bool start_path(struct forgery *f, int which, cJSON *as)
{
    if (!first_path(f)) return cJSON_Delete(as), false;
    return cJSON_ReplaceItemInArray(get(first_path(f), "start"), which, as);
}
static bool path_of_no_operation(struct forgery *f)
{
    return start_path(f, 2, cJSON_CreateNumber(2 * f->t->priced.micro_batches));
}
static bool path_of_no_slice(struct forgery *f)
{
    return start_path(f, 3, cJSON_CreateNumber(f->t->priced.slice_count));
}
static bool path_of_no_stage(struct forgery *f)
{
    return start_path(f, 1, cJSON_CreateNumber(f->t->priced.stage_count));
}
static bool path_of_no_kind(struct forgery *f)
{
    return start_path(f, 0, cJSON_CreateString("sideways"));
}
static bool path_start_short(struct forgery *f)
{
    if (first_path(f)) cJSON_DeleteItemFromArray(get(first_path(f), "start"), 3);
    return first_path(f) != NULL;
}
static bool steps_garbled(struct forgery *f)
{
    static const char *const steps[] = {"x",  "0**2", "0*0",  "0 ",        " 0",       "0*",
                                        "-1", "0,0",  "0  0", "123456789", "0*9999999"};
    if (first_path(f))
        set_text(first_path(f), "steps", steps[f->t->seed % (sizeof steps / sizeof *steps)]);
    return first_path(f) != NULL;
}

// ---- weights and prices

// The first pair of a path (0) and its weight (1) with another number.
static bool change_weight(struct forgery *f, int which, double as)
{
    if (first_weight(f)) cJSON_ReplaceItemInArray(first_weight(f), which, cJSON_CreateNumber(as));
    return first_weight(f) != NULL;
}
static bool weight_negative(struct forgery *f) { return change_weight(f, 1, -1); }
static bool weight_too_large(struct forgery *f) { return change_weight(f, 1, 1099511627777.0); }
static bool weights_sum_too_large(struct forgery *f)
{
    cJSON *weights = first_weight(f) ? get(first_round(f), "weights") : NULL;
    for (int i = 0; weights && i < 4; i++)
        cJSON_AddItemToArray(weights, cJSON_Duplicate(cJSON_GetArrayItem(weights, 0), true));
    return weights != NULL;
}
static bool weight_of_no_path(struct forgery *f)
{
    return change_weight(f, 0, cJSON_GetArraySize(f->paths));
}
static bool weight_alone(struct forgery *f)
{
    if (first_weight(f)) cJSON_DeleteItemFromArray(first_weight(f), 1);
    return first_weight(f) != NULL;
}
static bool paths_dropped(struct forgery *f)
{
    if (!first_weight(f)) return false;
    while (cJSON_GetArraySize(f->paths)) cJSON_DeleteItemFromArray(f->paths, 0);
    return true;
}
static bool put_price(struct forgery *f, const char *key, double price, bool slots)
{
    cJSON *round = first_round(f), *prices, *pair;
    if (!round) return false;
    drop(round, "prices");
    prices = cJSON_AddObjectToObject(round, "prices");
    if (!slots) {
        cJSON_AddNumberToObject(prices, key, price);
        return true;
    }
    pair = cJSON_CreateArray();
    cJSON_AddItemToArray(pair, cJSON_CreateNumber(atoi(key)));
    cJSON_AddItemToArray(pair, cJSON_CreateNumber(price));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(prices, "slots"), pair);
    return true;
}
static bool price_negative(struct forgery *f) { return put_price(f, "0", -1, true); }
static bool price_of_no_group(struct forgery *f) { return put_price(f, "99", 1, true); }
static bool put_memory(struct forgery *f, bool by_ranks, int rank, int moment, int turn, int price)
{
    const int numbers[] = {rank, moment, turn, price};
    cJSON *round = first_round(f);
    if (!round) return false;
    drop(round, "by_ranks");
    drop(round, "memory");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(round, "memory"), cJSON_CreateIntArray(numbers, 4));
    if (by_ranks) cJSON_AddTrueToObject(round, "by_ranks");
    return true;
}
static bool memory_of_only_stages(struct forgery *f)
{
    return f->t->priced.layout.virtual_stages == 1 && put_memory(f, false, 0, 0, 0, 1);
}
static bool memory_negative(struct forgery *f) { return put_memory(f, true, 0, 0, 0, -1); }
static bool memory_of_no_rank(struct forgery *f) { return put_memory(f, true, 99, 0, 0, 1); }
static bool memory_of_no_moment(struct forgery *f) { return put_memory(f, true, 0, 99, 0, 1); }
static bool memory_of_no_turn(struct forgery *f) { return put_memory(f, true, 0, 0, 99, 1); }
static bool price_without_limit(struct forgery *f)
{
    return f->t->priced.budget.boundaries_max < 0 && put_price(f, "boundaries", 1, false);
}

// ---- boxes

static bool leaf_dropped(struct forgery *f)
{
    if (cJSON_GetArraySize(f->boxes) < 3) return false;
    cJSON_DeleteItemFromArray(f->boxes, cJSON_GetArraySize(f->boxes) - 1);
    return true;
}
static bool first_half_dropped(struct forgery *f)
{
    if (cJSON_GetArraySize(f->boxes) != 3) return false;
    cJSON_DeleteItemFromArray(f->boxes, 1);
    return true;
}
static bool all_dropped(struct forgery *f)
{
    while (cJSON_GetArraySize(f->boxes)) cJSON_DeleteItemFromArray(f->boxes, 0);
    return true;
}
static bool box_too_many(struct forgery *f)
{
    cJSON_AddItemToArray(
        f->boxes,
        cJSON_Duplicate(cJSON_GetArrayItem(f->boxes, cJSON_GetArraySize(f->boxes) - 1), true));
    return true;
}
static bool rounds_dropped(struct forgery *f)
{
    cJSON *box = box_with(f, "closed", true);
    if (!box) return false;
    drop(box, "rounds");
    cJSON_AddArrayToObject(box, "rounds");
    return true;
}
static bool rename_box(struct forgery *f, const char *key, const char *as)
{
    cJSON *box = box_with(f, key, false);
    if (!box) return false;
    drop(box, key);
    cJSON_AddTrueToObject(box, as);
    return true;
}
static bool split_called_closed(struct forgery *f) { return rename_box(f, "split", "closed"); }
static bool split_called_leaf(struct forgery *f) { return rename_box(f, "split", "leaf"); }
static bool leaf_called_closed(struct forgery *f) { return rename_box(f, "leaf", "closed"); }
static bool closed_and_leaf(struct forgery *f)
{
    cJSON *box = box_with(f, "closed", false);
    if (box) cJSON_AddTrueToObject(box, "leaf");
    return box != NULL;
}
static bool neither_closed_nor_split(struct forgery *f)
{
    cJSON *box = box_with(f, "closed", false);
    if (box) drop(box, "closed");
    return box != NULL;
}
static bool split_of_no_stage(struct forgery *f)
{
    cJSON *box = box_with(f, "split", false);
    if (box) set_number(get(box, "split"), "stage", f->t->priced.stage_count);
    return box != NULL;
}
static bool split_by_nothing(struct forgery *f)
{
    cJSON *box = box_with(f, "split", false);
    if (!box || get(get(box, "split"), "rank")) return false;
    drop(get(box, "split"), "choice");
    drop(get(box, "split"), "load_below_ns");
    return true;
}
static bool split_by_both(struct forgery *f)
{
    cJSON *box = box_with(f, "split", false), *by = box ? get(box, "split") : NULL;
    if (!box || get(by, "rank")) return false;
    if (!get(by, "choice")) cJSON_AddObjectToObject(by, "choice");
    set_number(by, "load_below_ns", 1);
    return true;
}
static bool counted_group_unknown(struct forgery *f)
{
    drop(f->proof, "counted");
    cJSON *counted = cJSON_AddObjectToObject(f->proof, "counted");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(counted, "slots"), cJSON_CreateString("nowhere"));
    return true;
}

// ---- all of them

static const struct {
    const char *name;
    bool (*forge)(struct forgery *f); // false: it does not apply
    const char *reason;               // occurs in the message
    bool is_audited;                  // not proven; else a file that cannot be audited
} forgeries[] = {
    {"bound a nanosecond too high", bound_too_high, "boxes", true},
    {"bound above the plan's time", bound_above_plan, "above iteration_ns", true},
    {"time a nanosecond too long", time_too_long, "takes less", true},
    {"time a nanosecond too short", time_too_short, "takes more", true},
    {"infeasible, which it is not", says_infeasible, "", true},
    {"infeasible and a bound", both_claims, "either infeasible or bound_ns", false},
    {"no claim", no_claim, "either infeasible or bound_ns", false},
    {"a plan without its time", plan_without_time, "or neither", false},
    {"a stage missing", stage_missing, "incumbent: expected", false},
    {"a stage too many", stage_twice, "incumbent: expected", false},
    {"a layer left out", layer_left_out, "incumbent", true},
    {"a first layer off by one", first_layer_off, "cover the layers", true},
    {"an unknown group", group_unknown, "unknown here", false},
    {"an excluded group", group_excluded, "does not offer", true},
    {"a mode that is not allowed", mode_not_allowed, "does not offer", true},
    {"recomputed layers without the mode", recomputed_without_mode, "do not fit the stage", true},
    {"an unknown gradient option", gradient_option_unknown, "gradient_option", false},
    {"a boundary option before the first stage", boundary_before_first, "does not offer", true},
    {"slots overdrawn", slots_overdrawn, "incumbent", true},
    {"a path that is no path", path_is_none, "is no path", true},
    {"wrong laps", path_laps_wrong, "lap", true},
    {"no laps", path_no_laps, "laps", false},
    {"a cycle that stays open", path_cycle_open, "lap", true},
    {"a path of a micro-batch too many", path_of_no_operation, "no operation", true},
    {"a path of a slice too many", path_of_no_slice, "no operation", true},
    {"a path of a stage too many", path_of_no_stage, "no operation", true},
    {"a path of an unknown kind", path_of_no_kind, "unknown here", false},
    {"a path whose start lacks its slice", path_start_short, "start", false},
    {"garbled steps", steps_garbled, "paths[0]", false},
    {"a negative weight", weight_negative, "negative", true},
    {"a weight above one", weight_too_large, "more than one", true},
    {"weights that sum to more than one", weights_sum_too_large, "more than one", true},
    {"a weight of no path", weight_of_no_path, "there is no path", true},
    {"a weight without its path", weight_alone, "path and numerator", false},
    {"all paths dropped", paths_dropped, "there is no path", true},
    {"a negative price", price_negative, "negative", true},
    {"a price of no group", price_of_no_group, "no group", true},
    {"a price of what has no limit", price_without_limit, "no limit", true},
    {"memory priced where ranks have one stage", memory_of_only_stages,
     "only where ranks have several stages", true},
    {"a negative price of memory", memory_negative, "negative", true},
    {"memory of no rank", memory_of_no_rank, "no rank 99", true},
    {"memory of no moment", memory_of_no_moment, "a moment 99", true},
    {"memory of no turn", memory_of_no_turn, "a turn 99", true},
    {"the last box dropped", leaf_dropped, "do not cover", true},
    {"a first half dropped", first_half_dropped, "boxes", true},
    {"all boxes dropped", all_dropped, "do not cover", true},
    {"a box too many", box_too_many, "boxes continue", false},
    {"the rounds of a closed box dropped", rounds_dropped, "not closed", true},
    {"a split box called closed", split_called_closed, "", true},
    {"a split box called a leaf", split_called_leaf, "", true},
    {"a leaf called closed", leaf_called_closed, "not closed", true},
    {"closed and a leaf", closed_and_leaf, "one of split, closed and leaf", false},
    {"neither closed nor split", neither_closed_nor_split, "one of split, closed and leaf", false},
    {"a split of no stage", split_of_no_stage, "stage", false},
    {"a split by nothing", split_by_nothing, "load_below_ns and choice", false},
    {"a split by two properties", split_by_both, "load_below_ns and choice", false},
    {"an unknown group counted", counted_group_unknown, "unknown here", false},
    {"another kind of document", kind_wrong, "kind", false},
    {"another version", version_wrong, "version", false},
    {"no sources", sources_missing, "made_from", false},
    {"no priced document named", priced_not_named, "names no priced", false},
    {"two priced documents named", priced_named_twice, "names two documents of role priced", false},
    {"no proof", proof_missing, "proof", false},
    {"an unknown key", key_unknown, "unknown key", false},
    {"a wrong hash", hash_wrong, "SHA-256", true},
    {"another problem", priced_swapped, "SHA-256", true},
    {"another problem, hash forged: dearer", prices_rounded, "incumbent", true},
    {"another problem, hash forged: less memory", memory_shrunk, "does not fit into memory", true},
};
enum { FORGERY_COUNT = sizeof forgeries / sizeof *forgeries };

static int tried[FORGERY_COUNT];

static void forge(int number, struct check_trial *t, struct arena *arena)
{
    struct forgery f = {
        .t = t, .priced = t->text, .root = cJSON_Parse(t->certificate.text), .arena = arena};
    assert_non_null(f.root);
    f.proof = get(f.root, "proof");
    f.paths = get(f.proof, "paths");
    f.boxes = get(f.proof, "boxes");
    f.stages = get(f.proof, "incumbent");
    if (tried[number] < TIMES_MOST && forgeries[number].forge(&f)) {
        char *text = cJSON_PrintUnformatted(f.root);
        struct check_text certificate = {"forged.json", text, strlen(text)};
        check_trial_refused(forgeries[number].name, &certificate, &f.priced,
                            forgeries[number].reason, forgeries[number].is_audited, arena);
        tried[number]++;
        cJSON_free(text);
    }
    cJSON_Delete(f.root);
}

TEST(test_forgeries)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= TRIALS; seed++, arena_reset(arena, mark)) {
        struct check_trial t;
        if (check_trial_open(&t, seed, arena))
            for (int i = 0; i < FORGERY_COUNT; i++) forge(i, &t, arena);
    }
    int least = TIMES_MOST;
    for (int i = 0; i < FORGERY_COUNT; i++) {
        if (tried[i] < least) least = tried[i];
        if (!tried[i]) fail_msg("%s: never tried", forgeries[i].name);
    }
    print_message("%d kinds of forgery refused, each %d to %d times\n", FORGERY_COUNT, least,
                  TIMES_MOST);
}
