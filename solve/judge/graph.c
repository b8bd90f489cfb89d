// Which operations the schedule's graph has: a kind of operation is in it if any of its prices,
// for any choice, exceeds zero (docs/FORMULAS.md, section 9). A plan states what its graph has;
// the judge's own prices decide.
#include "solve/judge/internal.h"

static void raise_parts(const struct price_audit *a, struct sending m,
                        struct largest_prices *largest)
{
    int64_t ns[PART_COUNT];
    if (!transfer_price(a, m, ns)) return;
    for (int k = 0; k < PART_COUNT; k++) raise_to(&largest->parts_ns[k], ns[k]);
}

static void raise_messages(const struct price_audit *a, int run, int from, int to,
                           struct largest_prices *largest)
{
    const struct job *j = &a->problem->job;
    if (!judged_stage_link(a, from, to).joined || !judged_stage_link(a, to, from).joined) return;
    if (a->joints && from == to) return; // one rank of a replica on nodes
    for (int slice = 0; slice < layout_of(a)->slice_count; slice++) {
        struct sending back = {
            .run = run, .sender = to, .receiver = from, .slice = slice, .backward = true};
        raise_parts(a, (struct sending){.run = run, .sender = from, .receiver = to, .slice = slice},
                    largest);
        raise_parts(a, back, largest);
        for (int i = 0; i < j->boundary_option_count; i++) {
            if (!is_allowed(j, j->boundary_options[i].form)) continue;
            back.form = j->boundary_options[i].form;
            raise_parts(a, back, largest);
        }
    }
}

static void raise_sync(const struct price_audit *a, int run, int group, int64_t *largest)
{
    const struct job *j = &a->problem->job;
    raise_to(largest, layer_sync_ns(a, run, group, (struct compression_form){0}));
    for (int i = 0; i < j->gradient_option_count; i++)
        if (is_allowed(j, j->gradient_options[i].form))
            raise_to(largest, layer_sync_ns(a, run, group, j->gradient_options[i].form));
}

// And of what layer `run` does at the end of an iteration.
static void raise_ending(const struct price_audit *a, int run, int group,
                         struct largest_prices *largest)
{
    raise_sync(a, run, group, &largest->sync_ns);
    for (int way = 0; way < job_tier_ways(&a->problem->job); way++)
        raise_to(&largest->optimizer_ns,
                 shared_step_ns(a, run, group, job_tiering(&a->problem->job, way)));
}

struct largest_prices largest_prices_of(const struct price_audit *a)
{
    const struct cluster *c = &a->problem->cluster;
    struct largest_prices largest = {{0}, 0, 0};
    for (int g = 0; g < c->group_count; g++) {
        if (exclusion_of(a, g)) continue;
        raise_to(&largest.sync_ns, sync_constant_ns(a, g));
        for (int r = 0; r < a->problem->model.run_count; r++) {
            raise_ending(a, r, g, &largest);
            for (int h = 0; h < c->group_count; h++)
                if (!exclusion_of(a, h)) raise_messages(a, r, g, h, &largest);
        }
    }
    return largest;
}

bool offers_epilogue(const struct price_audit *a)
{
    const struct job *j = &a->problem->job;
    for (int i = 0; i < j->boundary_option_count; i++)
        if (j->boundary_options[i].epilogue_only && is_allowed(j, j->boundary_options[i].form))
            return true;
    return false;
}

// Some of the job's tier options lets transfers run under other passes.
static bool offers_across(const struct job *j)
{
    bool across = false;
    for (int i = 0; i < j->tier_option_count; i++)
        across = across || j->tier_options[i].parts[TIER_ACTIVATIONS].across_passes;
    return across;
}

static void audit_kind(struct audit *h, const char *what, bool stated, int64_t largest_ns,
                       bool claimed)
{
    if (!stated && largest_ns)
        REJECT(h, "schedule", -1, "the plan's graph has no %s, whose largest price is %lld ns",
               what, (long long)largest_ns);
    else if (!stated && claimed)
        REJECT(h, "schedule", -1, "the plan's graph has no %s, yet it claims a time for it", what);
    // For a replica on nodes only its own links count, not all that it could have had.
    if (stated && !h->rings && !largest_ns)
        REJECT(h, "schedule", -1, "the plan's graph has %s, which takes no time anywhere", what);
}

static void audit_same(struct audit *h, const char *what, bool stated, bool own)
{
    if (stated != own)
        REJECT(h, "schedule", -1, "the plan's graph has %s%s, the problem has %s",
               stated ? "" : "no ", what, own ? "one" : "none");
}

void audit_graph(struct audit *h)
{
    const struct plan *p = h->plan;
    struct largest_prices largest = h->at ? largest_of_widths(h)
                                          : largest_prices_of(&h->price_audit);
    bool parts[PART_COUNT] = {false}, sync = false, optimizer = false;
    for (int g = 0; g < h->judged.cluster.group_count && job_has_local_head(&h->judged.job); g++)
        if (!exclusion_of(&h->price_audit, g))
            raise_ending(&h->headed_audit, h->headed_run, g, &largest);
    for (int run = 0; run < h->judged.model.run_count && h->problem->job.sharded_zero; run++)
        for (int g = 0; g < h->judged.cluster.group_count; g++)
            if (!exclusion_of(&h->price_audit, g))
                raise_ending(&h->sharded_audit, run, g, &largest);
    for (int i = 0; i < h->degree_count; i++)
        for (int run = 0; run < h->judged.model.run_count; run++)
            for (int g = 0; g < h->judged.cluster.group_count; g++)
                if (run_has_vocabulary(&h->judged.model.runs[run]) &&
                    !exclusion_of(&h->price_audit, g))
                    raise_ending(&h->spread_audit[i], run, g, &largest);
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        sync = sync || x->sync_ns || x->queued_sync_ns;
        optimizer = optimizer || x->optimizer_ns;
        for (int k = 0; k < PART_COUNT; k++)
            parts[k] = parts[k] || x->slices[0].send_forward_ns[k] ||
                       x->slices[0].send_backward_ns[k] || x->send_epilogue_ns[k];
    }
    for (int k = 0; k < PART_COUNT; k++)
        audit_kind(h, arena_print(h->arena, "transfer_parts: %s", transfer_part_names[k]),
                   p->graph.parts[k], largest.parts_ns[k], parts[k]);
    audit_kind(h, "gradient sync", p->graph.sync, largest.sync_ns, sync);
    audit_kind(h, "optimizer step", p->graph.optimizer, largest.optimizer_ns, optimizer);
    audit_same(h, "epilogue", p->graph.epilogue, offers_epilogue(&h->price_audit));
    audit_same(h, "transfers across passes", p->graph.across_passes,
               offers_across(&h->problem->job));
    audit_same(h, "embedding sync", p->graph.embedding_sync, h->price_audit.embedding_sync);
}
