// Stages with widths of their own: a group is a node group with one width (docs/FORMULAS.md 23).
// Bytes depend on the width, so runs and messages state them by group.
#include <string.h>

#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "data/priced/fields.h"

#define BYTES_MAX 4503599627370496.0 // 2^52

int priced_seats(const struct priced *p, int group)
{
    const struct priced_group *g = &p->groups[group];
    return g->excluded ? 0 : g->slots / priced_seat_slots(p, group);
}

// Of widths, as many as all groups' devices have if each takes its smallest seat.
int64_t priced_all_seats(const struct priced *p)
{
    int64_t seats = 0;
    for (int g = 0; g < p->group_count; g++) {
        if (!priced_has_widths(p)) seats += priced_seats(p, g);
        else if (priced_pool(p, g) == g) {
            int most = 0;
            for (int k = g; k < p->group_count; k++)
                if (priced_pool(p, k) == g) most = larger_int(most, priced_seats(p, k));
            seats += most;
        }
    }
    return seats;
}

static const struct member seat_rows[] = {
    KEY_COUNT(priced_run, weight_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),
    KEY_COUNT(priced_run, gradient_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),
    KEY_COUNT(priced_run, optimizer_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),
    KEY_PART("stash_bytes", JSON_ARRAY, REQUIRED, offsetof(struct priced_run, stash_bytes),
             priced_modes_get, priced_modes_put),
    KEY_PART("working_bytes", JSON_ARRAY, REQUIRED, offsetof(struct priced_run, working_bytes),
             priced_modes_get, priced_modes_put),
    KEY_COUNT(priced_run, unsharded_bytes, OPTIONAL, IF_SET, 0, BYTES_MAX),
};
const struct members priced_seat_members = {
    seat_rows, ARRAY_LENGTH(seat_rows), sizeof(struct priced_run), NULL, true, NULL};

// Everything but the bytes is the run's own: the key is its last.
enum status priced_seats_get(const struct json *value, void *to, const void *context,
                             struct arena *arena, struct error *err)
{
    const struct priced *p = context;
    struct priced_run *run = to;
    if (!json_is_present(value)) return OK;
    TRY(json_expect_count(value, p->group_count, "entries", err));
    struct priced_run *bytes = TAKE(arena, p->group_count, struct priced_run);
    TRY(members_read_each(value, &priced_seat_members, bytes, context, arena, err));
    priced_put_seats(run, bytes, p->group_count, arena);
    return OK;
}

void priced_put_seats(struct priced_run *run, const struct priced_run *bytes, int group_count,
                      struct arena *arena)
{
    struct priced_run *seats = TAKE(arena, group_count, struct priced_run);
    for (int g = 0; g < group_count; g++) {
        const struct priced_run *own = &bytes[g];
        seats[g] = *run;
        seats[g].weight_bytes = own->weight_bytes, seats[g].gradient_bytes = own->gradient_bytes;
        seats[g].optimizer_bytes = own->optimizer_bytes;
        seats[g].unsharded_bytes = own->unsharded_bytes;
        memcpy(seats[g].stash_bytes, own->stash_bytes, sizeof own->stash_bytes);
        memcpy(seats[g].working_bytes, own->working_bytes, sizeof own->working_bytes);
    }
    run->seats = seats;
}

void priced_seats_put(struct json_writer *w, const char *key, const void *from, const void *context)
{
    const struct priced_run *run = from;
    const struct priced *p = context;
    if (run->seats)
        members_write_each(w, key, &priced_seat_members, run->seats, p->group_count, context);
}

enum status priced_seat_bytes_get(const struct json *value, void *to, const void *context,
                                  struct arena *arena, struct error *err)
{
    const struct priced *p = context;
    return json_is_present(value) ? priced_prices_get(value, p->group_count, 0, to, arena, err)
                                  : OK;
}

void priced_seat_bytes_put(struct json_writer *w, const char *key, const void *from,
                           const void *context)
{
    const struct priced *p = context;
    int64_t *bytes = *(int64_t *const *)from;
    if (bytes) json_put_counts(w, key, bytes, p->group_count);
}

enum status priced_entries_get(const struct json *value, void *to, const void *context,
                               struct arena *arena, struct error *err)
{
    const struct priced *p = context;
    return json_is_present(value) ? priced_prices_get(value, 2 * p->group_count, 0, to, arena, err)
                                  : OK;
}

void priced_entries_put(struct json_writer *w, const char *key, const void *from,
                        const void *context)
{
    const struct priced *p = context;
    int64_t *ns = *(int64_t *const *)from;
    if (ns) json_put_counts(w, key, ns, 2 * p->group_count);
}

void priced_find_pools(struct priced *p)
{
    for (int g = 0; g < p->group_count; g++) {
        int first = 0;
        if (!p->groups[g].node_group) continue;
        while (!p->groups[first].node_group ||
               strcmp(p->groups[first].node_group, p->groups[g].node_group) != 0)
            first++;
        p->groups[g].pool = first;
    }
}

// ---- checks

static enum status check_group(const struct priced *p, int i, struct error *err)
{
    const struct priced_group *g = &p->groups[i];
    bool wide = priced_has_widths(p);
    if (!g->node_group != !wide)
        return refuse(err, "groups[%d].node_group: expected it in all groups or none", i);
    bool stated = g->tensor && g->context && g->data && g->seat_slots,
         any = g->tensor || g->context || g->data || g->seat_slots;
    if (wide ? !stated : any)
        return refuse(err,
                      "groups[%d]: expected tensor, context, data and seat_slots next to "
                      "node_group, and nowhere else",
                      i);
    if (wide && g->slots != p->groups[g->pool].slots)
        return refuse(err,
                      "groups[%d].slots: expected those of the node group's first, %d, found %d", i,
                      p->groups[g->pool].slots, g->slots);
    return OK;
}

static bool is_above(const struct priced_run *a, const struct priced_run *b)
{
    bool above = a->weight_bytes > b->weight_bytes || a->gradient_bytes > b->gradient_bytes ||
                 a->optimizer_bytes > b->optimizer_bytes || a->unsharded_bytes > b->unsharded_bytes;
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
        above = above || a->stash_bytes[mode] > b->stash_bytes[mode] ||
                a->working_bytes[mode] > b->working_bytes[mode];
    return above;
}

// Sums are checked with a run's own bytes, so none of its seats is above them.
static enum status check_run(const struct priced *p, int i, struct error *err)
{
    const struct priced_run *run = &p->runs[i];
    if (!run->seats != !priced_has_widths(p))
        return refuse(err, "runs[%d].seats: expected them with widths alone", i);
    for (int g = 0; run->seats && g < p->group_count; g++)
        if (is_above(&run->seats[g], run))
            return refuse(err, "runs[%d].seats[%d]: expected no bytes above the run's own", i, g);
    return OK;
}

static enum status check_cut(const struct priced *p, int i, struct error *err)
{
    const struct priced_cut *cut = &p->cuts[i];
    if (!cut->seat_bytes != !priced_has_widths(p))
        return refuse(err, "cuts[%d].seat_bytes: expected them with widths alone", i);
    for (int g = 0; cut->seat_bytes && g < p->group_count; g++)
        if (cut->seat_bytes[g] > cut->message_bytes)
            return refuse(err, "cuts[%d].seat_bytes[%d]: expected no bytes above message_bytes", i,
                          g);
    return OK;
}

// What has no meaning yet for stages with widths of their own.
static enum status check_rest(const struct priced *p, struct error *err)
{
    const char *wrong = p->boundary_option_count > 1        ? "boundary_options: expected none"
                        : p->gradient_option_count > 1      ? "gradient_options: expected none"
                        : p->layout.virtual_stages > 1      ? "layout.virtual_stages: expected 1"
                        : p->places || priced_tiers(p)      ? "places, tiers, swap: expected none"
                        : p->devices_per_stage > 1          ? "devices_per_stage: expected 1"
                        : p->objective == OBJECTIVE_PIPETTE ? "objective: expected another"
                                                            : NULL;
    return wrong ? refuse(err, "%s with widths of stages", wrong) : OK;
}

static enum status check_turns(const struct priced *p, struct error *err)
{
    bool one = priced_has_widths(p) && p->objective == OBJECTIVE_MAX_LOAD && !p->rule_count &&
               p->layout.schedule == SCHEDULE_1F1B && !p->layout.local_loss_every &&
               !p->layout.in_flight[0];
    for (int g = 0; g < p->group_count && one; g++)
        one = p->groups[g].pool == 0 && p->micro_batches % p->groups[g].data == 0;
    return one ? OK
               : refuse(err,
                        "in_turn: expected widths of one node group, whose data degrees divide "
                        "micro_batches, schedule 1f1b, objective max_load and no rules");
}

enum status priced_check_widths(const struct priced *p, struct error *err)
{
    for (int i = 0; i < p->group_count; i++) TRY(check_group(p, i, err));
    for (int i = 0; i < p->run_count; i++) TRY(check_run(p, i, err));
    for (int i = 0; i < p->cut_count; i++) TRY(check_cut(p, i, err));
    if (p->width_per_group && !priced_has_widths(p))
        return refuse(err, "width_per_group: expected it with widths of stages alone");
    if (p->in_turn) TRY(check_turns(p, err));
    if (p->recompute_any && (!p->in_turn || !priced_may_recompute(p, RECOMPUTE_FULL) ||
                             layout_recomputes_alike(&p->layout)))
        return refuse(err, "recompute_any: expected it with in_turn, \"full\" in recompute and no "
                           "setting for all stages");
    for (int i = 0; i < p->run_count && !p->in_turn; i++)
        if (p->runs[i].entry_ns)
            return refuse(err, "runs[%d].entry_ns: expected it with in_turn alone", i);
    return priced_has_widths(p) ? check_rest(p, err) : OK;
}
