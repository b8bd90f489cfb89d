// Forged certificates of spaces, as in test_check_space_forgeries.c: proofs of layouts, the
// documents that they are about, and form.
#include "data/inputs/cost_keys.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/forge.h"
#include "tests/support/trials/space_forgery.h"
#include "tests/support/check.h"

// ---- proofs

static cJSON *proof_at(const struct forgery *f, int i) { return cJSON_GetArrayItem(f->proofs, i); }
static bool proof_missing(struct forgery *f)
{
    return count_of(f->proofs) ? cJSON_DeleteItemFromArray(f->proofs, 0), true : false;
}
static bool proof_of_another(struct forgery *f)
{
    if (!count_of(f->proofs)) return false;
    set_number(proof_at(f, 0), "layout", get_number(proof_at(f, 0), "layout") + 1);
    return true;
}
// The proofs of two layouts with different numbers of stages.
static bool proofs_exchanged(struct forgery *f)
{
    for (int i = 0; i < count_of(f->proofs); i++)
        for (int k = 0; k < i; k++) {
            cJSON *one = proof_at(f, i), *two = proof_at(f, k);
            struct check_layout a = layout_at(f, (int64_t)get_number(one, "layout")),
                                b = layout_at(f, (int64_t)get_number(two, "layout"));
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
    cJSON_ArrayForEach(
        one, f->proofs) if (get(get(one, "proof"), "bound_ns") &&
                            get_number(f->space, "bound_ns") >
                                0) return set_number(get(one, "proof"), "bound_ns",
                                                     get_number(f->space, "bound_ns") - 1),
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
        if ((int64_t)get_number(one, "layout") != (int64_t)get_number(f->space, "chosen")) continue;
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
        one, f->proofs) if ((int64_t)get_number(one, "layout") !=
                            (int64_t)get_number(f->space,
                                                "chosen")) return claim(f, "chosen",
                                                                        get_number(one, "layout"));
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
    struct problem *p = TAKE(f->arena, 1, struct problem);
    *p = f->t->problem;
    if (!has_plan(f)) return false;
    change(p, f->arena);
    space_read(&f->t->space, p, f->arena);
    MUST(space_pricers_open(f->t->pricers, p, f->arena, &own_err));
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
static void ask_megatron(struct problem *p, struct arena *arena)
{
    (void)arena, p->job.space.framework = FRAMEWORK_MEGATRON;
}
static bool another_framework(struct forgery *f)
{
    int64_t layouts = (int64_t)get_number(f->space, "layouts");
    struct problem p = f->t->problem;
    ask_megatron(&p, f->arena);
    return spaces_count(&p) != layouts && change_problem(f, ask_megatron);
}
static bool cheaper_prices(struct forgery *f) { return change_problem(f, halve_times); }
static bool more_micro_batches(struct forgery *f) { return change_problem(f, double_batch); }
static bool larger_cluster(struct forgery *f)
{
    int64_t layouts = (int64_t)get_number(f->space, "layouts");
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
    return claim(f, "layouts", get_number(f->space, "layouts") + 0.5);
}

static const struct space_forgery kinds[] = {
    FORGERY(proof_missing),
    FORGERY(proof_of_another),
    FORGERY(proofs_exchanged),
    FORGERY(proofs_out_of_order),
    FORGERY(proof_twice),
    FORGERY(proof_of_less),
    FORGERY(proof_without_rounds),
    FORGERY(box_missing),
    FORGERY(plan_of_another),
    FORGERY(chosen_without_proof),
    FORGERY(chosen_refused),
    FORGERY(plan_dropped),
    FORGERY(another_job),
    FORGERY(another_model),
    FORGERY(source_missing),
    FORGERY(source_twice),
    FORGERY(cheaper_prices),
    FORGERY(more_micro_batches),
    FORGERY(larger_cluster),
    FORGERY(another_framework),
    FORGERY(unknown_key),
    FORGERY(proof_beside_space),
    FORGERY(no_space),
    FORGERY(layouts_missing),
    FORGERY(too_many_layouts),
    FORGERY(layouts_below_zero),
    FORGERY(dominated_no_list),
    FORGERY(fraction),
};

TEST(forgeries_are_refused) { space_forgeries_refused(kinds, ARRAY_LENGTH(kinds)); }
