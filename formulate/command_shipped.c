// plumbline models, clusters, costs: lists the documents shipped with the program, or describes
// given ones.
#include <string.h>

#include "data/base/shipped.h"
#include "data/inputs/costs.h"
#include "data/inputs/model/size.h"
#include "formulate/commands.h"

typedef enum status describe(const char *name, const char *path, struct arena *arena,
                             struct error *err);

struct options {
    struct option_texts names;
};
#define NAMES_ROW(kind)                                                                            \
    {                                                                                              \
        "NAME", kind, offsetof(struct options, names), "shipped name or file",                     \
            .many = OPTION_ANY_NUMBER                                                              \
    }

// Each of the operands, or each shipped document if there are none.
static enum status list_documents(const struct options *o, const char *folder, const char *heading,
                                  describe *tell, struct arena *arena, struct error *err)
{
    const char *const *names = o->names.items, *path;
    int count = o->names.count;
    if (!count) TRY(shipped_list(&names, &count, folder, arena, err));
    for (int i = 0; i < count; i++) {
        TRY(shipped_find(&path, folder, names[i], arena, err));
        if (i == 0) puts(heading);
        TRY(tell(names[i], path, arena, err));
    }
    return OK;
}

// ---- models

static enum status describe_model(const char *name, const char *path, struct arena *arena,
                                  struct error *err)
{
    struct model m;
    TRY(model_load(&m, path, arena, err));
    struct model_size size = model_size_of(&m);
    int64_t layers = 0;
    for (int i = 0; i < m.run_count; i++)
        if (m.runs[i].kind != LAYER_EMBEDDING && m.runs[i].kind != LAYER_HEAD)
            layers += m.runs[i].count;
    printf("%-24s %16lld %16lld %6lld %7lld %6lld %8lld%s\n", name, (long long)size.all,
           (long long)size.active, (long long)layers, (long long)m.shape.hidden,
           (long long)m.shape.heads, (long long)m.shape.kv_heads,
           size.measured ? "  (plus layers that state only their bytes)" : "");
    return OK;
}

COMMAND_RUN(list_models)
{
    return list_documents(options, "models",
                          "model                          parameters         a token's layers  "
                          "hidden  heads kv heads",
                          describe_model, arena, err);
}

static const struct option_row models_rows[] = {NAMES_ROW(OPTION_MODEL)};
const struct command command_models = {
    .name = "models",
    .text = "list shipped or given models: parameters, layers, widths",
    .about =
        "Prints one line per model. A name that is not that of a shipped model is taken as a file.",
    .usage = "plumbline models [NAME|model.json ...]: the shipped ones, or those",
    READS(struct options, models_rows, {.names = {0}}),
    .run = list_models,
};

// ---- clusters

static enum status describe_cluster(const char *name, const char *path, struct arena *arena,
                                    struct error *err)
{
    struct cluster c;
    TRY(cluster_load(&c, path, arena, err));
    for (int i = 0; i < c.group_count; i++) {
        const struct node_group *g = &c.groups[i];
        double rate = g->intra.bytes_per_s; // of a ring over all of a node
        for (int k = g->ring_count - 1; k >= 0; k--)
            if (g->rings[k].gpus == g->gpus_per_node) rate = g->rings[k].bytes_per_s;
        printf("%-20s %5d x %-4d %-16s %6.1f %9.1f ", i ? "" : name, g->nodes, g->gpus_per_node,
               g->gpu, (double)g->memory_bytes / 1e9, rate / 1e9);
        for (int k = 0; k < g->nic_count; k++)
            printf(" %d x %g %s", g->nics[k].count, g->nics[k].link.bytes_per_s / 1e9,
                   nic_kind_names[g->nics[k].kind]);
        puts(c.places.node_count ? " nodes named" : "");
    }
    return OK;
}

COMMAND_RUN(list_clusters)
{
    return list_documents(options, "clusters",
                          "cluster              nodes x GPUs GPU             GB each  GB/s in a "
                          "node, GB/s of its network cards",
                          describe_cluster, arena, err);
}

static const struct option_row clusters_rows[] = {NAMES_ROW(OPTION_CLUSTER)};
const struct command command_clusters = {
    .name = "clusters",
    .text = "list shipped or given clusters: nodes, memory, links",
    .about = "Prints one line per group of nodes. A name that is not that of a shipped cluster is "
             "taken as a file.",
    .usage = "plumbline clusters [NAME|cluster.json ...]: the shipped ones, or those",
    READS(struct options, clusters_rows, {.names = {0}}),
    .run = list_clusters,
};

// ---- costs

static enum status describe_costs(const char *name, const char *path, struct arena *arena,
                                  struct error *err)
{
    struct costs c;
    TRY(costs_load(&c, path, arena, err));
    for (int i = 0; i < c.gpu_count; i++)
        for (int k = 0; k < c.gpus[i].precision_count; k++) {
            const struct precision_costs *p = &c.gpus[i].precisions[k];
            const struct estimate *rate = &p->gemm_flop_per_s;
            printf("%-20s %-16s %-4s %7.1f  %-9s %s\n", i || k ? "" : name, k ? "" : c.gpus[i].gpu,
                   precision_names[p->precision], rate->value / 1e12, origin_names[rate->origin],
                   rate->source ? rate->source : "");
        }
    return OK;
}

COMMAND_RUN(list_costs)
{
    const struct options *o = options;
    if (o->names.count && !strcmp(o->names.items[0], "diff"))
        return costs_diff(&o->names, arena, err);
    if (o->names.count && !strcmp(o->names.items[0], "history"))
        return costs_history(&o->names, arena, err);
    return list_documents(options, "costs",
                          "costs                GPU              at    TFLOP/s  origin and source "
                          "of that rate of matrix products",
                          describe_costs, arena, err);
}

static const struct option_row costs_rows[] = {NAMES_ROW(OPTION_COSTS)};
const struct command command_costs = {
    .name = "costs",
    .text = "list shipped or given costs: GPUs, rates, sources",
    .about =
        "Prints one line per GPU and precision. A name that is not that of shipped costs is taken "
        "as a file. diff A B prints every number in which two documents differ, with both "
        "intervals, and whether these have nothing in common; history FOLDER (or documents in "
        "their order) what drifted out of its first interval, and since which document.",
    .usage = "plumbline costs [NAME|costs.json ...]: the shipped ones, or those\n"
             "       plumbline costs diff A B\n"
             "       plumbline costs history FOLDER",
    READS(struct options, costs_rows, {.names = {0}}),
    .run = list_costs,
};
