// Runs of a priced document besides the model's own: the head of a stage before a local boundary,
// and the model's runs as sharded further. Each list alone is a document of these layers.
#include <string.h>

#include "data/priced/fields.h"

bool priced_list_alone(const struct priced *p, int list, struct priced *alone)
{
    struct priced_run *runs[] = {p->local_heads, p->sharded_runs};
    const int counts[] = {p->local_head_count, p->sharded_run_count};
    int at = 0;
    for (; at < 2 && (!counts[at] || list-- > 0);) at++;
    if (at == 2) return false;
    *alone = *p;
    alone->runs = runs[at], alone->run_count = counts[at];
    alone->local_head_count = alone->sharded_run_count = alone->cut_count = 0;
    alone->has_embedding_sync = false;
    return true;
}

static enum status check_local_heads(const struct priced *p, struct error *err)
{
    struct priced heads = *p;
    heads.runs = p->local_heads, heads.run_count = p->local_head_count;
    if (p->layout.stored_inputs && (p->places || priced_has_widths(p)))
        return fail(err, BAD_INPUT, "%s: layout.stored_inputs: expected no places and no widths",
                    priced_file(p));
    if (!p->local_head_count) return OK;
    if (!p->layout.local_loss_every || p->places || priced_has_widths(p) || priced_tiers(p) ||
        p->recompute[RECOMPUTE_SWAP])
        return fail(err, BAD_INPUT,
                    "%s: local_heads: expected local boundaries next to it, and no places, widths, "
                    "tiers or \"swap\"",
                    priced_file(p));
    for (int run = 0; run < p->run_count; run++)
        if (!strcmp(p->runs[run].name, p->local_heads->name))
            return fail(err, BAD_INPUT, "%s: local_heads[0].name: \"%s\" names a run, too",
                        priced_file(p), p->local_heads->name);
    if (p->local_heads->count != 1 || p->local_heads->recomputable)
        return fail(err, BAD_INPUT, "%s: local_heads[0]: expected one layer, not recomputable",
                    priced_file(p));
    return priced_check_run(&heads, 0, err);
}

// They are the model's runs, but for what sharding changes.
static enum status check_sharded(const struct priced *p, struct error *err)
{
    struct priced sharded = *p;
    sharded.runs = p->sharded_runs, sharded.run_count = p->sharded_run_count;
    if (!p->sharded_run_count) return OK;
    if (p->layout.virtual_stages > 1 || p->places || priced_has_widths(p) || priced_tiers(p) ||
        p->local_head_count || p->recompute[RECOMPUTE_SWAP] || p->gradient_option_count > 1)
        return fail(err, BAD_INPUT,
                    "%s: sharded_runs: expected one stage a rank, and no places, widths, tiers, "
                    "local_heads, gradient_options or \"swap\"",
                    priced_file(p));
    if (p->sharded_run_count != p->run_count)
        return fail(err, BAD_INPUT, "%s: sharded_runs: expected as many as runs, %d, found %d",
                    priced_file(p), p->run_count, p->sharded_run_count);
    for (int i = 0; i < p->run_count; i++) {
        const struct priced_run *a = &p->runs[i], *b = &p->sharded_runs[i];
        if (strcmp(a->name, b->name) || a->count != b->count || a->cut != b->cut ||
            a->recomputable != b->recomputable)
            return fail(err, BAD_INPUT,
                        "%s: sharded_runs[%d]: expected name, count, recomputable and cut of "
                        "runs[%d]",
                        priced_file(p), i, i);
        TRY(priced_check_run(&sharded, i, err));
    }
    return OK;
}

enum status priced_check_lists(const struct priced *p, struct error *err)
{
    TRY(check_local_heads(p, err));
    return check_sharded(p, err);
}
