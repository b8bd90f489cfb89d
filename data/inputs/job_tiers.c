// What a stage may do besides recompute: how it may compress, and what may be in tiers besides the
// GPU's own memory, of which shares of the optimizer and swaps are cases.
#include <string.h>

#include "data/inputs/job_fields.h"
#include "data/kinds/schedules.h"
#include "data/places/cluster.h"

const char *const tier_part_names[] = {"frozen_weights", "trained_weights", "optimizer",
                                       "activations", NULL};

bool tier_option_moves_weights(const struct tier_option *t)
{
    return t && (t->parts[TIER_FROZEN].tier || t->parts[TIER_TRAINED].tier);
}

static const struct member tier_share_rows[] = {
    KEY_TEXT(tier_share, tier, REQUIRED),
    KEY_INT(tier_share, percent, REQUIRED, ALWAYS_WRITTEN, 1, 100),
};
static MEMBERS(tier_share, struct tier_share, NULL, true, NULL);
static const struct member tier_state_rows[] = {
    KEY_TEXT(tier_share, tier, REQUIRED),
    KEY_INT(tier_share, percent, REQUIRED, ALWAYS_WRITTEN, 1, 100),
    KEY_BOOL(tier_share, in_turn, OPTIONAL, IF_SET),
};
static MEMBERS(tier_state, struct tier_share, NULL, true, NULL);
static const struct member tier_place_rows[] = {
    KEY_TEXT(tier_share, tier, REQUIRED),
    KEY_BOOL(tier_share, across_passes, OPTIONAL, IF_SET),
};
static MEMBERS(tier_place, struct tier_share, NULL, true, NULL);

#define PART(key, part, kind)                                                                      \
    KEY_OBJECT(key, tier_option, parts[part], OPTIONAL, IF_SET, &kind##_members)
static const struct member tier_option_rows[] = {
    KEY_TEXT(tier_option, name, REQUIRED),
    PART("frozen_weights", TIER_FROZEN, tier_share),
    PART("trained_weights", TIER_TRAINED, tier_share),
    PART("optimizer", TIER_OPTIMIZER, tier_state),
    PART("activations", TIER_ACTIVATIONS, tier_place),
};
MEMBERS(tier_option, struct tier_option, NULL, false, NULL);

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

bool compression_same(const struct compression_option *a, const struct compression_option *b)
{
    return a->form.method == b->form.method && a->form.amount == b->form.amount &&
           a->epilogue_only == b->epilogue_only && a->quality_cost == b->quality_cost &&
           a->forgets == b->forgets && same_text(a->tier_option, b->tier_option) &&
           same_text(a->activations, b->activations) && a->across_passes == b->across_passes;
}

static const struct tier_option *option_named(const struct job *j, const char *name)
{
    for (int i = 0; name && i < j->tier_option_count; i++)
        if (!strcmp(j->tier_options[i].name, name)) return &j->tier_options[i];
    return NULL;
}

static const char *share_name(int percent, struct arena *arena)
{
    return arena_print(arena, "optimizer %d %%", percent);
}

void job_offer_shares(struct job *j, const int *percents, int count, struct arena *arena)
{
    struct tier_option *all = TAKE(arena, count + j->tier_option_count, struct tier_option);
    for (int i = 0; i < count; i++)
        all[i] = (struct tier_option){.name = share_name(percents[i], arena),
                                      .parts[TIER_OPTIMIZER] = {TIER_HOST, percents[i]}};
    for (int i = 0; i < j->tier_option_count; i++) all[count + i] = j->tier_options[i];
    j->tier_options = all, j->tier_option_count += count;
}

enum status job_get_shares(const struct json *value, void *to, const void *context,
                           struct arena *arena, struct error *err)
{
    int *percents, count;
    (void)context;
    if (!json_is_present(value)) return OK;
    TRY(json_ints(value, 1, 100, &percents, &count, arena, err));
    for (int i = 1; i < count; i++)
        if (percents[i] <= percents[i - 1])
            return json_refuse(value, err, "expected each above the one before, found %d behind %d",
                               percents[i], percents[i - 1]);
    job_offer_shares(to, percents, count, arena);
    return OK;
}

// As the job states the way, whatever holds for all of them.
static struct tier_option stated_tiering(const struct job *j, int way)
{
    return way ? j->tier_options[way - 1] : (struct tier_option){0};
}

struct compression_option job_option(const struct job *j, struct compression_option of, int way)
{
    struct tier_option t = stated_tiering(j, way);
    of.tier_option = t.name;
    of.activations = t.parts[TIER_ACTIVATIONS].tier;
    of.across_passes = t.parts[TIER_ACTIVATIONS].across_passes;
    return of;
}

struct tier_option job_tiering(const struct job *j, int way)
{
    struct tier_option t = stated_tiering(j, way);
    struct tier_share *state = &t.parts[TIER_OPTIMIZER];
    if (j->layout.offload_optimizer) state->percent = 100, state->in_turn = true;
    if (state->percent) state->tier = TIER_HOST;
    if (j->recompute[RECOMPUTE_SWAP] && !t.parts[TIER_ACTIVATIONS].tier)
        t.parts[TIER_ACTIVATIONS].tier = TIER_HOST;
    return t;
}

bool job_swaps(const struct job *j)
{
    bool some = j->recompute[RECOMPUTE_SWAP];
    for (int i = 0; i < j->tier_option_count; i++)
        some = some || j->tier_options[i].parts[TIER_ACTIVATIONS].tier;
    return some;
}

bool job_offers(const struct job *j, enum recompute mode)
{
    return mode == RECOMPUTE_NONE || (mode == RECOMPUTE_SWAP ? job_swaps(j) : j->recompute[mode]);
}

// What a graph in which transfers run under other passes is made for; NULL: the job is so.
static const char *across_wants(const struct job *j)
{
    const struct layout *l = &j->layout;
    return j->space.given                                ? "one layout"
           : l->virtual_stages > 1                       ? "one stage a rank"
           : l->slice_count > 1                          ? "whole sequences"
           : schedule_kinds[l->schedule].splits_backward ? "whole backward passes"
           : !l->barrier                                 ? "a barrier"
           : l->local_loss_every                         ? "no local losses"
           : j->objective == OBJECTIVE_MAX_LOAD          ? "another objective than max_load"
                                                         : NULL;
}

static enum status check_tier_option(const struct job *j, int i, struct error *err)
{
    const struct tier_option *t = &j->tier_options[i];
    const struct tier_share *optimizer = &t->parts[TIER_OPTIMIZER];
    char where[40];
    if (!t->name || !*t->name || option_named(j, t->name) != t)
        return refuse(err, ".name: expected a unique name, found \"%s\"", t->name ? t->name : "");
    for (int part = 0; part < TIER_PARTS; part++) {
        snprintf(where, sizeof where, ".%s.", tier_part_names[part]);
        if (t->parts[part].tier && part != TIER_ACTIVATIONS)
            TRY(members_check(&tier_share_members, &t->parts[part], where, err));
    }
    if (!tier_option_moves_weights(t) && !optimizer->tier && !t->parts[TIER_ACTIVATIONS].tier)
        return refuse(err, ": expected frozen_weights, trained_weights, optimizer or activations, "
                           "found none");
    if (t->parts[TIER_ACTIVATIONS].across_passes && across_wants(j))
        return refuse(err, ".activations.across_passes: expected %s next to it", across_wants(j));
    if (optimizer->tier && strcmp(optimizer->tier, TIER_HOST))
        return refuse(err,
                      ".optimizer.tier: expected \"host\", which updates what it has, found \"%s\"",
                      optimizer->tier);
    if (t->parts[TIER_TRAINED].tier && j->trainer == TRAINER_TORCHTITAN)
        return refuse(err, ".trained_weights: expected none for trainer torchtitan, whose weights "
                           "are the optimizer's own");
    return OK;
}

enum status job_check_tiers(const struct job *j, struct error *err)
{
    int options = (j->gradient_option_count + 1) * job_tier_ways(j);
    for (int i = 0; i < j->tier_option_count; i++)
        TRY(fail_within(err, check_tier_option(j, i, err), "tier_options[%d]", i));
    if (options > OPTIONS_MAX)
        return refuse(err,
                      "offload_percents, tier_options: expected at most %d options of a stage "
                      "together with gradient_options, found %d",
                      OPTIONS_MAX, options);
    for (int way = 0; way < job_tier_ways(j); way++) {
        struct tier_option t = job_tiering(j, way);
        for (int part = TIER_FROZEN; t.parts[TIER_ACTIVATIONS].tier && part <= TIER_TRAINED; part++)
            if (same_text(t.parts[part].tier, t.parts[TIER_ACTIVATIONS].tier))
                return refuse(
                    err,
                    "tier_options \"%s\": expected weights in another tier than the activations, "
                    "which \"swap\" in recompute has on the host, found both in \"%s\"",
                    t.name, t.parts[part].tier);
    }
    return OK;
}

// ---- compression

const char *const compression_keys[] = {"rank", "kept_per_thousand", "bits", NULL};

const char *compression_text(struct compression_form form, struct arena *arena)
{
    if (!form.amount) return "none";
    if (form.method == COMPRESS_LOW_RANK) return arena_print(arena, "rank %d", form.amount);
    if (form.method == COMPRESS_QUANTISE)
        return arena_print(arena, form.amount > 1 ? "%d bits" : "%d bit", form.amount);
    return arena_print(arena, "the largest %g %%", form.amount / 10.0);
}

PUT_MEMBER(put_form)
{
    const struct compression_form *form = from;
    json_put_count(w, compression_keys[form->method], form->amount);
}

static enum status read_form(const struct json *object, struct compression_form *to, int rank_min,
                             struct arena *arena, struct error *err)
{
    int amounts[COMPRESSION_METHOD_COUNT] = {-1, -1, -1}, found = 0;
    struct json_field fields[] = {
        FIELD_INT("rank", OPTIONAL, &amounts[COMPRESS_LOW_RANK], rank_min, RANK_MAX),
        FIELD_INT("kept_per_thousand", OPTIONAL, &amounts[COMPRESS_TOP_K], 1, 999),
        FIELD_INT("bits", OPTIONAL, &amounts[COMPRESS_QUANTISE], 1, 8),
    };
    TRY(json_fields(object, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, arena, err));
    for (int i = 0; i < COMPRESSION_METHOD_COUNT; i++)
        if (amounts[i] >= 0) *to = (struct compression_form){i, amounts[i]}, found++;
    if (found != 1)
        return json_refuse(object, err, "expected one of rank, kept_per_thousand and bits");
    if (to->method == COMPRESS_QUANTISE && to->amount != 8 && to->amount != 4 && to->amount != 1)
        return json_refuse(object, err, "bits: expected 1, 4 or 8, found %d", to->amount);
    return OK;
}

GET_MEMBER(finish_offer)
{
    return read_form(value, &((struct compression_option *)to)->form, 1, arena, err);
}

GET_MEMBER(finish_option)
{
    return read_form(value, &((struct compression_option *)to)->form, 0, arena, err);
}

// Older documents state a share by its percent.
GET_MEMBER(finish_gradient)
{
    struct compression_option *o = to;
    int percent = 0;
    struct json_field share = FIELD_INT("offloaded_percent", OPTIONAL, &percent, 0, 100);
    TRY(json_fields(value, &share, 1, JSON_ENVELOPE, arena, err));
    if (percent && !o->tier_option) o->tier_option = share_name(percent, arena);
    return read_form(value, &o->form, 0, arena, err);
}

#define FORM_ROWS                                                                                  \
    KEY_PUT("rank", offsetof(struct compression_option, form), put_form),                          \
        KEY_SKIP("kept_per_thousand"), KEY_SKIP("bits")

static const struct member boundary_option_rows[] = {
    FORM_ROWS,
    KEY_BOOL(compression_option, epilogue_only, OPTIONAL, ALWAYS_WRITTEN),
    KEY_COUNT(compression_option, quality_cost, OPTIONAL, ALWAYS_WRITTEN, 0, QUALITY_MAX),
    KEY_UNLESS("error_feedback", compression_option, forgets),
};
static const struct member gradient_option_rows[] = {
    FORM_ROWS,
    KEY_COUNT(compression_option, quality_cost, OPTIONAL, ALWAYS_WRITTEN, 0, QUALITY_MAX),
    KEY_UNLESS("error_feedback", compression_option, forgets),
    KEY_SKIP("offloaded_percent"), // this and what follows is not offered
    KEY_TEXT(compression_option, tier_option, OPTIONAL),
    KEY_TEXT(compression_option, activations, OPTIONAL),
    KEY_BOOL(compression_option, across_passes, OPTIONAL, IF_SET),
};
MEMBERS(boundary_option, struct compression_option, NULL, true, finish_option);
MEMBERS(gradient_option, struct compression_option, NULL, true, finish_gradient);
const struct members boundary_offer_members = {boundary_option_rows,
                                               ARRAY_LENGTH(boundary_option_rows),
                                               sizeof(struct compression_option),
                                               NULL,
                                               true,
                                               finish_offer},
                     gradient_offer_members = {gradient_option_rows,
                                               ARRAY_LENGTH(gradient_option_rows) - 4,
                                               sizeof(struct compression_option),
                                               NULL,
                                               true,
                                               finish_offer};
