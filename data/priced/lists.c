// Runs of a priced document besides the model's own: the head of a stage before a local boundary,
// the model's runs as sharded further, and those with the vocabulary at other degrees. Each list
// alone is a document of these layers.
#include <string.h>

#include "data/priced/fields.h"

bool priced_list_alone(const struct priced *p, int list, struct priced *alone)
{
    struct priced_run *runs[] = {p->local_heads, p->sharded_runs, p->vocabulary_runs};
    const int counts[] = {p->local_head_count, p->sharded_run_count, p->vocabulary_run_count};
    int at = 0;
    for (; at < 3 && (!counts[at] || list-- > 0);) at++;
    if (at == 3) return false;
    *alone = *p;
    alone->runs = runs[at], alone->run_count = counts[at];
    alone->local_head_count = alone->sharded_run_count = alone->cut_count = 0;
    alone->vocabulary_run_count = 0;
    alone->has_embedding_sync = false;
    return true;
}

static enum status check_local_heads(const struct priced *p, struct error *err)
{
    struct priced heads = *p;
    heads.runs = p->local_heads, heads.run_count = p->local_head_count;
    if (p->layout.stored_inputs && (p->places || priced_has_widths(p)))
        return refuse(err, "layout.stored_inputs: expected no places and no widths");
    if (!p->local_head_count) return OK;
    if (!p->layout.local_loss_every || p->places || priced_has_widths(p) || priced_tiers(p))
        return refuse(
            err,
            "local_heads: expected local boundaries next to it, and no places, widths or tiers");
    for (int run = 0; run < p->run_count; run++)
        if (!strcmp(p->runs[run].name, p->local_heads->name))
            return refuse(err, "local_heads[0].name: \"%s\" names a run, too",
                          p->local_heads->name);
    if (p->local_heads->count != 1 || p->local_heads->recomputable)
        return refuse(err, "local_heads[0]: expected one layer, not recomputable");
    return priced_check_run(&heads, 0, err);
}

int priced_next_degree(const struct priced *p, int i)
{
    int next = i;
    while (next < p->vocabulary_run_count &&
           p->vocabulary_runs[next].tensor == p->vocabulary_runs[i].tensor)
        next++;
    return next;
}

const struct priced_run *priced_at_vocabulary(const struct priced *p, int run, int tensor)
{
    for (int i = 0; i < p->vocabulary_run_count; i++)
        if (p->vocabulary_runs[i].tensor == tensor &&
            !strcmp(p->vocabulary_runs[i].name, p->runs[run].name))
            return &p->vocabulary_runs[i];
    return NULL;
}

static enum status check_mixing(const struct priced *p, const char *list, struct error *err)
{
    if (p->layout.virtual_stages > 1 || p->places || priced_has_widths(p) || priced_tiers(p) ||
        p->local_head_count || p->gradient_option_count > 1)
        return refuse(err,
                      "%s: expected one stage a rank, and no places, widths, tiers, local_heads or "
                      "gradient_options",
                      list);
    return OK;
}

// They are the model's runs, but for what sharding changes.
static enum status check_sharded(const struct priced *p, struct error *err)
{
    struct priced sharded = *p;
    sharded.runs = p->sharded_runs, sharded.run_count = p->sharded_run_count;
    if (!p->sharded_run_count) return OK;
    TRY(check_mixing(p, "sharded_runs", err));
    if (p->sharded_run_count != p->run_count)
        return refuse(err, "sharded_runs: expected as many as runs, %d, found %d", p->run_count,
                      p->sharded_run_count);
    for (int i = 0; i < p->run_count; i++) {
        const struct priced_run *a = &p->runs[i], *b = &p->sharded_runs[i];
        if (strcmp(a->name, b->name) || a->count != b->count || a->cut != b->cut ||
            a->recomputable != b->recomputable || b->tensor)
            return refuse(
                err, "sharded_runs[%d]: expected name, count, recomputable and cut of runs[%d]", i,
                i);
        TRY(priced_check_run(&sharded, i, err));
    }
    return OK;
}

// Each degree, above the one before, has the same runs of the model, in its order.
static enum status check_vocabulary(const struct priced *p, struct error *err)
{
    int each = priced_next_degree(p, 0);
    for (int i = 0; i < p->run_count; i++)
        if (p->runs[i].tensor)
            return refuse(err, "runs[%d].tensor: expected it in vocabulary_runs alone", i);
    if (!p->vocabulary_run_count) return OK;
    TRY(check_mixing(p, "vocabulary_runs", err));
    if (p->has_embedding_sync) return refuse(err, "vocabulary_runs: expected no embedding_sync_ns");
    for (int i = 0, run = 0; i < p->vocabulary_run_count; i++, run++) {
        const struct priced_run *own = &p->vocabulary_runs[i];
        struct priced alone = *p;
        alone.runs = p->vocabulary_runs + i / each * each, alone.run_count = each;
        bool next = i % each == 0;
        if (next) run = 0;
        while (run < p->run_count && strcmp(p->runs[run].name, own->name)) run++;
        if (run == p->run_count || own->count != p->runs[run].count || p->runs[run].recomputable ||
            own->recomputable || own->cut != p->runs[run].cut || p->vocabulary_run_count % each ||
            strcmp(own->name, p->vocabulary_runs[i % each].name) ||
            (next ? own->tensor <= (i ? own[-1].tensor : 0) : own->tensor != own[-1].tensor))
            return refuse(
                err,
                "vocabulary_runs[%d]: expected a run that is not recomputable, its count and cut, "
                "and the same runs, in their order, for each tensor degree, above the one before",
                i);
        TRY(priced_check_run(&alone, i % each, err));
    }
    return OK;
}

enum status priced_check_lists(const struct priced *p, struct error *err)
{
    TRY(check_local_heads(p, err));
    TRY(check_sharded(p, err));
    return check_vocabulary(p, err);
}
