// plumbline models, clusters, costs: lists the documents shipped with the program, or describes
// given ones.
#include <stdio.h>

#include "data/base/shipped.h"
#include "data/inputs/costs.h"
#include "data/inputs/model/size.h"
#include "data/places/cluster.h"
#include "formulate/commands.h"

enum { DOCUMENTS_MAX = 64 };

typedef enum status describe(const char *name, const char *path, struct arena *arena,
                             struct error *err);

struct listing {
    const char *folder, *usage, *heading;
    enum option_type kind; // of the operands
    describe *describe;
};

// Each of the operands, or each shipped document if there are none.
static enum status list_documents(const struct listing *l, int argc, char **argv,
                                  struct arena *arena, struct error *err)
{
    const char *operands[DOCUMENTS_MAX], *path;
    const char *const *names = operands;
    int count;
    bool helped;
    const struct option operand = {"NAME", l->kind, NULL, 0, 0, NULL, "shipped name or file"};
    TRY(options_read(argc, argv, l->usage, &operand, 1, operands, 0, DOCUMENTS_MAX, &count, &helped,
                     err));
    if (helped) return OK;
    if (!count) TRY(shipped_list(&names, &count, l->folder, arena, err));
    for (int i = 0; i < count; i++) {
        TRY(shipped_find(&path, l->folder, names[i], arena, err));
        if (i == 0) puts(l->heading);
        TRY(l->describe(names[i], path, arena, err));
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

enum status command_models(int argc, char **argv, int *exit_code, struct arena *arena,
                           struct error *err)
{
    static const struct listing models = {
        "models", "plumbline models [NAME|model.json ...]: the shipped ones, or those",
        "model                          parameters         a token's layers  hidden  heads kv "
        "heads",
        OPTION_MODEL, describe_model};
    (void)exit_code;
    return list_documents(&models, argc, argv, arena, err);
}

// ---- clusters

static enum status describe_cluster(const char *name, const char *path, struct arena *arena,
                                    struct error *err)
{
    struct cluster c;
    TRY(cluster_load(&c, path, arena, err));
    for (int i = 0; i < c.group_count; i++) {
        const struct node_group *g = &c.groups[i];
        printf("%-20s %5d x %-4d %-16s %6.1f %9.1f ", i ? "" : name, g->nodes, g->gpus_per_node,
               g->gpu, (double)g->memory_bytes / 1e9, g->intra.bytes_per_s / 1e9);
        for (int k = 0; k < g->nic_count; k++)
            printf(" %d x %g %s", g->nics[k].count, g->nics[k].link.bytes_per_s / 1e9,
                   nic_kind_names[g->nics[k].kind]);
        puts(c.places.node_count ? " nodes named" : "");
    }
    return OK;
}

enum status command_clusters(int argc, char **argv, int *exit_code, struct arena *arena,
                             struct error *err)
{
    static const struct listing clusters = {
        "clusters", "plumbline clusters [NAME|cluster.json ...]: the shipped ones, or those",
        "cluster              nodes x GPUs GPU             GB each  GB/s in a node, GB/s of its "
        "network "
        "cards",
        OPTION_CLUSTER, describe_cluster};
    (void)exit_code;
    return list_documents(&clusters, argc, argv, arena, err);
}

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

enum status command_costs(int argc, char **argv, int *exit_code, struct arena *arena,
                          struct error *err)
{
    static const struct listing costs = {
        "costs", "plumbline costs [NAME|costs.json ...]: the shipped ones, or those",
        "costs                GPU              at    TFLOP/s  origin and source of that rate of "
        "matrix products",
        OPTION_COSTS, describe_costs};
    (void)exit_code;
    return list_documents(&costs, argc, argv, arena, err);
}
