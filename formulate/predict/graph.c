// The graphs of the layouts seen so far. They depend only on the layout, and a table of runs has
// few layouts.
#include "formulate/predict/internal.h"

enum { OPERATIONS_KEPT_MAX = 1 << 23 }; // about 100 bytes each

static bool same_request(const struct schedule_request *a, const struct schedule_request *b)
{
    return a->kind == b->kind && a->stage_count == b->stage_count &&
           a->rank_count == b->rank_count && a->slice_count == b->slice_count &&
           a->micro_batches == b->micro_batches && a->local_loss_every == b->local_loss_every &&
           a->stored_inputs == b->stored_inputs && a->barrier == b->barrier &&
           a->sync_overlapped == b->sync_overlapped &&
           !memcmp(a->parts, b->parts, sizeof a->parts) && a->epilogue == b->epilogue &&
           a->sync == b->sync && a->optimizer == b->optimizer &&
           a->embedding_sync == b->embedding_sync &&
           !memcmp(a->in_flight, b->in_flight, sizeof a->in_flight);
}

static unsigned hash_request(const struct schedule_request *r)
{
    unsigned h = (unsigned)r->kind, flags = 0;
    for (int i = 0; i < PART_COUNT; i++) flags = 2 * flags + r->parts[i];
    flags = flags * 16 + r->sync * 8u + r->optimizer * 4u + r->embedding_sync * 2u +
            r->sync_overlapped;
    h = h * 31 + (unsigned)r->stage_count;
    h = h * 31 + (unsigned)r->rank_count;
    h = h * 65599 + (unsigned)r->micro_batches;
    h = h * 127 + flags;
    return h ^ h >> 15;
}

struct kept_graph *predict_graph(struct predictor *p, const struct priced *priced,
                                 struct prediction *prediction)
{
    struct error err; // a large text: not cleared
    struct schedule_request own = schedule_request_of(priced), *request = &own;
    unsigned at = hash_request(request) % KEPT_MAX;
    err.status = OK;
    for (; p->kept[at]; at = (at + 1) % KEPT_MAX)
        if (same_request(&p->kept[at]->schedule.request, request)) return p->kept[at];
    int64_t most = p->settings.operations_kept;
    if (p->kept_count > KEPT_MAX / 2 || p->kept_operations > (most ? most : OPERATIONS_KEPT_MAX)) {
        memset(p->kept, 0, sizeof p->kept);
        p->kept_count = 0;
        p->kept_operations = 0;
        p->graph = NULL;
        arena_reset(p->graphs, p->graphs_mark);
        at = hash_request(request) % KEPT_MAX;
    }
    struct kept_graph *kept = TAKE(p->graphs, 1, struct kept_graph);
    if (schedule_build(&kept->schedule, request, p->graphs, &err) != OK ||
        graph_compile(&kept->graph, &kept->schedule, p->graphs, &err) != OK) {
        predict_refuse(prediction, "%s", err.text);
        return NULL;
    }
    assert(!p->kept[at] && p->kept_count <= KEPT_MAX / 2);
    p->kept[at] = kept;
    p->kept_count++;
    p->kept_operations += kept->schedule.operation_count;
    return kept;
}
