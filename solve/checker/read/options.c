// The options of a priced document: how messages and gradients are compressed, and what stages have
// in tiers.
#include "solve/checker/read/problem.h"

// Exactly one of the three.
static bool take_form(struct check_option *o, const int *amounts)
{
    int found = 0;
    for (int form = 0; form < FORM_COUNT; form++)
        if (amounts[form] >= 0) o->form = (enum check_form)form, o->amount = amounts[form], found++;
    bool coded = o->amount == 1 || o->amount == 4 || o->amount == 8;
    return found == 1 && (o->form != FORM_BITS || coded);
}

enum status check_read_option_list(struct check_problem *p, const cJSON *v, bool of_gradient,
                                   struct arena *arena)
{
    const char *where = of_gradient ? "gradient_options" : "boundary_options";
    struct check_option **to = of_gradient ? &p->gradient : &p->boundary;
    int *count = of_gradient ? &p->gradient_count : &p->boundary_count;
    TRY(value_expect(&p->reader, v, where, cJSON_Array));
    int found = cJSON_GetArraySize(v);
    if (found < 1 || found > MOST_OPTIONS)
        return check_refuse(&p->reader, where, "found %d options", found);
    *to = TAKE(arena, found, struct check_option);
    for (const cJSON *e = v->child; e; e = e->next, ++*count) {
        struct check_option *o = &(*to)[*count];
        int amounts[FORM_COUNT] = {-1, -1, -1}, share = 0;
        o->remembers = true;
        const struct value_field fields[] = {
            {"?rank", 0, *count ? 1 << 20 : 0, .small = &amounts[FORM_RANK]},
            {"?kept_per_thousand", 1, 999, .small = &amounts[FORM_KEPT]},
            {"?bits", 1, 8, .small = &amounts[FORM_BITS]},
            {"?offloaded_percent", 0, *count ? 100 : 0, .small = &share}, // of older documents
            {"?tier_option", .text = &o->tiers},
            {"?activations", .text = &o->away},
            {"?across_passes", .flag = &o->across},
            {"?epilogue_only", .flag = &o->epilogue_only},
            {"?error_feedback", .flag = &o->remembers},
            {"?quality_cost", 0, *count ? (int64_t)1 << 40 : 0, .large = &o->cost},
            {NULL},
        };
        TRY(value_fields(&p->reader, e, where, fields, NULL));
        if (share && !o->tiers) o->tiers = arena_print(arena, "optimizer %d %%", share);
        if (!take_form(o, amounts))
            return check_refuse(&p->reader, where,
                                "option %d: expected one of rank, kept_per_thousand and bits",
                                *count);
        if (!*count && (o->form != FORM_RANK || o->epilogue_only || !o->remembers))
            return check_refuse(&p->reader, where, "the first option is to do nothing");
        bool alone = p->turns == 1 && p->barrier && !p->local_every;
        if (o->across && (!o->away || !alone || p->objective == MINIMISE_LOAD))
            return check_refuse(&p->reader, where,
                                "option %d: across_passes with nothing swapped, or with another "
                                "schedule or objective",
                                *count);
        p->across = p->across || (o->across && p->modes[MODE_SWAP]);
        if (o->away ? !*count || !o->tiers : !*count && o->tiers)
            return check_refuse(&p->reader, where,
                                "option %d: activations without a tier option, "
                                "or the first option does something",
                                *count);
        if (*count && !o->amount && !o->tiers)
            return check_refuse(&p->reader, where, "option %d does nothing", *count);
        if (of_gradient ? o->epilogue_only : share || o->tiers)
            return check_refuse(&p->reader, where, "option %d: a key of the other options", *count);
    }
    return OK;
}
