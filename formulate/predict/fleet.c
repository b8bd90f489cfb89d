// The GPUs that a row names: all of one kind ("A100-80GB"), or kinds in the order of the ranks
// ("V100*16 T4*16"), which are placed as in Megatron-LM: tensor, then context, then data, then
// pipeline. With several kinds, each replica's pipeline has its own.
#include <ctype.h>

#include "data/base/names.h"
#include "formulate/predict/internal.h"

static const struct node_group *find_group(const struct predictor *p, struct cell gpu)
{
    for (int i = 0; i < p->cluster_count; i++)
        for (int g = 0; g < p->clusters[i].group_count; g++)
            if (gpu.length &&
                name_is_gpu(gpu.text, (size_t)gpu.length, p->clusters[i].groups[g].gpu))
                return &p->clusters[i].groups[g];
    // A cluster that the user names, and a row without a GPU: the first group.
    return p->settings.cluster && !gpu.length ? &p->clusters[0].groups[0] : NULL;
}

// Neighbouring rows mostly have the same.
static const struct node_group *find_known(struct predictor *p, struct cell gpu)
{
    struct known_gpu *k = &p->gpu;
    bool same = k->group && k->gpu.length == gpu.length &&
                (k->gpu.text == gpu.text || !memcmp(k->gpu.text, gpu.text, (size_t)gpu.length));
    if (!same) *k = (struct known_gpu){gpu, find_group(p, gpu)};
    return k->group;
}

struct cell predict_gpu(struct predictor *p, struct cell gpu)
{
    const char *known = p->settings.likeness.known;
    return known && !find_known(p, gpu) ? (struct cell){known, (int)strlen(known)} : gpu;
}

enum status predict_check_likeness(struct predictor *p, struct error *err)
{
    const char *known = p->settings.likeness.known;
    if (!known || find_known(p, (struct cell){known, (int)strlen(known)})) return OK;
    return refuse(err, "--gpu-like: no cluster has a GPU \"%.60s\" (plumbline clusters)", known);
}

static const char *nearest_gpu(const struct predictor *p, struct cell gpu)
{
    enum { GPUS_MAX = 64 };
    const char *known[GPUS_MAX];
    char name[64];
    int count = 0;
    for (int i = 0; i < p->cluster_count; i++)
        for (int g = 0; g < p->clusters[i].group_count && count < GPUS_MAX; g++)
            known[count++] = p->clusters[i].groups[g].gpu;
    snprintf(name, sizeof name, "%.*s", gpu.length < 60 ? gpu.length : 60, gpu.text);
    int nearest = name_related_gpu(name, known, count);
    if (nearest < 0) nearest = name_nearest(name, known, count);
    return nearest < 0 ? "none" : known[nearest];
}

// The group's index in the fleet; -1: no cluster has it.
static int add_group(struct predictor *p, struct cell gpu, const struct run_row *row, int64_t gpus,
                     struct prediction *prediction)
{
    struct fleet *f = &p->fleet;
    struct cell known = predict_gpu(p, gpu);
    const struct node_group *group = find_known(p, known);
    if (!group) {
        if (!gpu.length) predict_refuse(prediction, "gpu not stated");
        else
            predict_refuse(prediction, "%s%.*s has a GPU like '%.*s' (nearest: %s)",
                           p->settings.cluster ? "no group of " : "no cluster", 80,
                           p->settings.cluster ? p->settings.cluster : "",
                           gpu.length < 60 ? gpu.length : 60, gpu.text, nearest_gpu(p, gpu));
        return -1;
    }
    for (int g = 0; g < f->group_count; g++)
        if (!strcmp(f->groups[g].name, group->name)) return g;
    struct node_group *to = &f->groups[f->group_count];
    *to = *group;
    if (known.text != gpu.text) gpu_likeness_apply(to, &p->settings.likeness);
    if (row->gpus_per_node != NOT_STATED) to->gpus_per_node = (int)row->gpus_per_node;
    to->nodes = (int)((gpus + to->gpus_per_node - 1) / to->gpus_per_node);
    return f->group_count++;
}

// "NAME*COUNT"; false: the part has another form.
static bool split_part(struct cell part, struct cell *name, int64_t *count)
{
    const char *star = memchr(part.text, '*', (size_t)part.length), *end = part.text + part.length;
    if (!star || star == part.text || star + 1 == end || end - star > 9) return false;
    *name = (struct cell){part.text, (int)(star - part.text)}, *count = 0;
    for (const char *at = star + 1; at < end; at++) {
        if (!isdigit((unsigned char)*at)) return false;
        *count = 10 * *count + (*at - '0');
    }
    return *count > 0;
}

static bool read_parts(struct predictor *p, const struct run_row *row, int64_t gpus,
                       struct prediction *prediction)
{
    struct fleet *f = &p->fleet;
    const char *at = row->gpu.text, *end = at + row->gpu.length;
    int64_t sum = 0, count;
    while (at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        struct cell part = {at, (int)((space ? space : end) - at)}, name;
        at = space ? space + 1 : end;
        if (!part.length) continue;
        if (f->part_count == FLEET_MAX || !split_part(part, &name, &count))
            return predict_refuse(prediction, "gpu: expected up to %d of GPU*COUNT, found '%.*s'",
                                  FLEET_MAX, part.length < 60 ? part.length : 60, part.text);
        int group = add_group(p, name, row, gpus, prediction);
        if (group < 0) return false;
        f->part_group[f->part_count] = group;
        f->part_end[f->part_count++] = sum += count;
    }
    if (sum == gpus) return true;
    return predict_refuse(prediction, "gpu names %lld GPUs, tp x cp x pp x dp = %lld",
                          (long long)sum, (long long)gpus);
}

static int part_at(const struct fleet *f, int64_t gpu)
{
    int part = 0;
    while (f->part_end[part] <= gpu) part++;
    return part;
}

// The groups of a replica's ranks. A tensor group is on one kind.
static bool find_pipeline(const struct predictor *p, int64_t replica, int *groups,
                          struct prediction *prediction)
{
    const struct fleet *f = &p->fleet;
    const struct layout *l = &p->problem.job.layout;
    int64_t each = (int64_t)l->tensor * l->context;
    for (int rank = 0; rank < l->pipeline; rank++) {
        int64_t first = (rank * l->data + replica) * each;
        int from = part_at(f, first), to = part_at(f, first + each - 1);
        groups[rank] = f->part_group[from];
        for (int part = from; part <= to; part++)
            if (f->part_group[part] != groups[rank])
                return predict_refuse(prediction,
                                      "the tensor ranks from GPU %lld on are of two kinds",
                                      (long long)first);
    }
    return true;
}

// A ring of replicas of several kinds goes over the network; prices include that only for rings
// that do not fit in a node.
static bool rings_leave_nodes(const struct predictor *p, int rank)
{
    const struct fleet *f = &p->fleet;
    const struct layout *l = &p->problem.job.layout;
    bool mixed = false, fits = false;
    for (int k = 0; k < f->pipeline_count; k++) {
        int group = f->pipelines[k][rank];
        mixed = mixed || group != f->pipelines[0][rank];
        fits = fits || (int64_t)l->tensor * l->context * l->data <= f->groups[group].gpus_per_node;
    }
    return !mixed || !fits;
}

static bool find_pipelines(struct predictor *p, struct prediction *prediction)
{
    struct fleet *f = &p->fleet;
    const struct layout *l = &p->problem.job.layout;
    size_t bytes = (size_t)l->pipeline * sizeof(int);
    for (int replica = 0; replica < l->data; replica++) {
        int groups[STAGES_MAX], k = 0;
        if (!find_pipeline(p, replica, groups, prediction)) return false;
        while (k < f->pipeline_count && memcmp(f->pipelines[k], groups, bytes)) k++;
        if (k == PIPELINES_MAX)
            return predict_refuse(prediction, "more than %d kinds of pipelines", PIPELINES_MAX);
        memcpy(f->pipelines[k], groups, bytes);
        f->pipeline_count = k == f->pipeline_count ? k + 1 : f->pipeline_count;
    }
    for (int rank = 0; rank < l->pipeline; rank++)
        if (!rings_leave_nodes(p, rank))
            return predict_refuse(prediction,
                                  "pipeline rank %d has replicas of several kinds of GPU, so few "
                                  "that they fit a node",
                                  rank);
    return true;
}

bool predict_set_fleet(struct predictor *p, const struct run_row *row,
                       struct prediction *prediction)
{
    const struct layout *l = &p->problem.job.layout;
    int64_t gpus = (int64_t)l->tensor * l->context * l->data * l->pipeline;
    struct fleet *f = &p->fleet;
    f->group_count = f->part_count = f->pipeline_count = 0;
    bool several = row->gpu.length && memchr(row->gpu.text, '*', (size_t)row->gpu.length);
    bool found = several ? read_parts(p, row, gpus, prediction) && find_pipelines(p, prediction)
                         : add_group(p, row->gpu, row, gpus, prediction) >= 0;
    p->problem.cluster.group_count = f->group_count;
    return found;
}
