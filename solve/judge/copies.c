// Copies: what a plan's document repeats for people. Loading a plan ignores them; here each that is
// there is derived again from what it is a copy of. One that is missing states nothing.
#include <string.h>

#include "solve/judge/internal.h"

struct copies {
    struct verdict *verdict;
    const struct plan *plan;
    struct arena *arena;
};

// ---- one copy

// Writers give the shortest digits that read back to the same number.
static enum status same_number(struct copies *c, const struct json *object, int stage,
                               const char *key, double own, const char *of, struct error *err)
{
    double found = own;
    struct json_field field[] = {FIELD_NUMBER(key, OPTIONAL, &found, -HUGE_VAL, HUGE_VAL)};
    TRY(json_fields(object, field, 1, JSON_ENVELOPE, c->arena, err));
    if (found < own || found > own)
        REJECT(c, "copy", stage, "%s%s%s is %.17g, %s: %.17g", object->path,
               *object->path ? "." : "", key, found, of, own);
    return OK;
}

static enum status same_text(struct copies *c, const struct json *object, int stage,
                             const char *key, const char *own, const char *of, struct error *err)
{
    const char *found = own;
    struct json_field field[] = {FIELD_TEXT(key, OPTIONAL, &found)};
    TRY(json_fields(object, field, 1, JSON_ENVELOPE, c->arena, err));
    if (strcmp(found, own))
        REJECT(c, "copy", stage, "%s.%s is \"%.60s\", %s: \"%.60s\"", object->path, key, found, of,
               own);
    return OK;
}

// ---- seconds of nanoseconds, and totals of bytes, wherever they are

// A number, or an object of numbers: their sum. 0 where it is missing.
static enum status sum_of(const struct copies *c, const struct json *object, const char *key,
                          double *sum, struct error *err)
{
    struct json value = json_member(object, key, c->arena);
    struct error ignored = {OK, ""};
    struct json_field field[] = {FIELD_NUMBER(key, OPTIONAL, sum, -HUGE_VAL, HUGE_VAL)};
    const char *const *keys;
    struct json *values;
    int count;
    *sum = 0;
    if (json_expect(&value, JSON_OBJECT, &ignored) != OK)
        return json_fields(object, field, 1, JSON_ENVELOPE, c->arena, err);
    TRY(json_members(&value, &keys, &values, &count, c->arena, err));
    for (int i = 0; i < count; i++) {
        double part = 0;
        struct json_field one[] = {FIELD_NUMBER(keys[i], OPTIONAL, &part, -HUGE_VAL, HUGE_VAL)};
        TRY(json_fields(&value, one, 1, JSON_ENVELOPE, c->arena, err));
        *sum += part;
    }
    return OK;
}

static enum status copy_seconds(struct copies *c, const struct json *object, int stage,
                                const char *key, struct error *err)
{
    const char *of = arena_print(c->arena, "%.*s_ns", (int)strlen(key) - 2, key);
    double ns;
    TRY(sum_of(c, object, of, &ns, err));
    return same_number(c, object, stage, key, ns / 1e9, arena_print(c->arena, "by %s", of), err);
}

static enum status copy_total(struct copies *c, const struct json *object, int stage,
                              const char *const *keys, int count, struct error *err)
{
    double total = 0;
    for (int i = 0; i < count; i++) {
        double part;
        if (!path_ends_with(keys[i], "_bytes") || !strcmp(keys[i], "total_bytes")) continue;
        TRY(sum_of(c, object, keys[i], &part, err));
        total += part;
    }
    return same_number(c, object, stage, "total_bytes", total, "the parts come to", err);
}

// Of an object and what is in it.
static enum status copies_in(struct copies *c, const struct json *object, int stage,
                             struct error *err)
{
    struct error ignored = {OK, ""};
    const char *const *keys;
    struct json *values;
    int count;
    TRY(json_members(object, &keys, &values, &count, c->arena, err));
    for (int i = 0; i < count; i++) {
        if (path_ends_with(keys[i], "_s")) TRY(copy_seconds(c, object, stage, keys[i], err));
        if (!strcmp(keys[i], "total_bytes")) TRY(copy_total(c, object, stage, keys, count, err));
        if (json_expect(&values[i], JSON_OBJECT, &ignored) == OK)
            TRY(copies_in(c, &values[i], stage, err));
        if (json_expect(&values[i], JSON_ARRAY, &ignored) != OK) continue;
        bool stages = !strcmp(keys[i], "stages");
        for (int k = 0; k < json_length(&values[i]); k++) {
            struct json element = json_element(&values[i], k, c->arena);
            if (json_expect(&element, JSON_OBJECT, &ignored) == OK)
                TRY(copies_in(c, &element, stages ? k : stage, err));
        }
    }
    return OK;
}

// ---- a stage in words

static const char *compression_words(const struct plan *p, const struct plan_stage *x,
                                     struct arena *arena)
{
    const struct compression_option *sync = &p->gradient_options[x->gradient_option],
                                    *back = &p->boundary_options[x->boundary_option];
    const char *text = "";
    if (sync->form.amount)
        text = arena_print(arena, "gradient sync at %s%s", compression_text(sync->form, arena),
                           sync->forgets ? " without error feedback" : "");
    if (back->form.amount)
        text = arena_print(arena, "%s%sbackward transfers at %s%s%s", text, *text ? ", " : "",
                           compression_text(back->form, arena),
                           back->epilogue_only ? " in the drain" : "",
                           back->forgets ? " without error feedback" : "");
    return *text ? text : "none";
}

static int64_t devices_of(const struct plan *p, const struct plan_stage *x)
{
    if (!p->widths) return p->devices_per_stage;
    const struct plan_width *w = &p->widths[x->group];
    return (int64_t)w->data * w->context * w->tensor;
}

static enum status copies_of_stage(struct copies *c, const struct json *object, int stage,
                                   struct error *err)
{
    const struct plan *p = c->plan;
    const struct plan_stage *x = &p->stages[stage];
    struct schedule_request request = plan_request(p);
    TRY(same_number(c, object, stage, "stage", stage, "counted from 0", err));
    TRY(same_number(c, object, stage, "rank", schedule_rank_of(&request, stage), "by the schedule",
                    err));
    TRY(same_number(c, object, stage, "last_layer", x->first_layer + x->layer_count - 1,
                    "by first_layer and layer_count", err));
    TRY(same_text(c, object, stage, "gpu", p->group_gpus[x->group], "its group's", err));
    TRY(same_number(c, object, stage, "devices", (double)devices_of(p, x),
                    p->widths ? "by its group's width" : "by devices_per_stage", err));
    TRY(same_text(c, object, stage, "compression", compression_words(p, x, c->arena),
                  "by its options", err));
    const char *tiers = p->gradient_options[x->gradient_option].tier_option;
    if (tiers && !json_has(object, "tier_option") && !json_has(object, "offloaded_percent"))
        REJECT(c, "copy", stage, "tier_option is missing, by its gradient_option: \"%s\"", tiers);
    return same_text(c, object, stage, "tier_option", tiers ? tiers : "", "by its gradient_option",
                     err);
}

static enum status copies_of_ranks(struct copies *c, const struct json *root, struct error *err)
{
    struct json ranks = json_member(root, "ranks", c->arena);
    for (int rank = 0; rank < json_length(&ranks); rank++) {
        struct json element = json_element(&ranks, rank, c->arena);
        TRY(same_number(c, &element, -1, "rank", rank, "counted from 0", err));
    }
    return OK;
}

enum status verify_copies(struct verdict *v, const struct plan *plan, struct arena *arena,
                          struct error *err)
{
    const struct json *root = &plan->document.root;
    struct copies c = {v, plan, arena};
    int64_t value = plan->objective == OBJECTIVE_ITERATION_TIME ? plan->iteration_ns
                                                                : plan->objective_ns;
    if (!json_is_present(root)) return OK; // made in memory: it has no document
    TRY(copies_in(&c, root, -1, err));
    TRY(same_number(&c, root, -1, "gap",
                    value > 0 ? (double)(value - plan->bound_ns) / (double)value : 0,
                    "by the bound", err));
    struct json stages = json_member(root, "stages", arena);
    for (int stage = 0; stage < json_length(&stages); stage++) {
        struct json element = json_element(&stages, stage, arena);
        TRY(copies_of_stage(&c, &element, stage, err));
    }
    return copies_of_ranks(&c, root, err);
}
