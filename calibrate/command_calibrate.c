// plumbline calibrate: samples in, costs out. With --iterations, measured runs in, costs out
// (command_iterations.c); with --products, a table of products (command_products.c).
#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "calibrate/commands.h"
#include "calibrate/draw.h"
#include "calibrate/layers.h"
#include "data/base/options_text.h"
#include "data/base/shipped.h"

static const double mebibyte = 1048576;
enum { DOCUMENTS_MAX = 256 };

struct request {
    const char *paths[DOCUMENTS_MAX], *output, *name, *costs, *cluster, *cluster_output, *model,
        *drawing;
    int path_count;
    bool show;
    double constant_mib;
};

static enum status read_request(struct request *r, int argc, char **argv, bool *helped,
                                struct error *err)
{
    bool iterations, products;
    const struct option options[] = {
        {"-o", OPTION_PATH, &r->output, 0, 0, NULL,
         "output file for the costs (default: standard output, unless --show or --svg is given)"},
        {"--iterations", OPTION_FLAG, &iterations, 0, 0, NULL,
         "fit to measured iterations instead; see calibrate --iterations --help"},
        {"--products", OPTION_FLAG, &products, 0, 0, NULL,
         "fit to a table of matrix products instead; see calibrate --products --help"},
        {"--show", OPTION_FLAG, &r->show, 0, 0, NULL,
         "print each fit next to its samples, and outlying links"},
        {"--name", OPTION_TEXT, &r->name, 0, 0, NULL,
         "device name in the costs (default: as in the samples)"},
        {"--costs", OPTION_COSTS, &r->costs, 0, 0, NULL,
         "costs to use for everything that was not measured"},
        {"--svg", OPTION_PATH, &r->drawing, 0, 0, NULL,
         "write an SVG plot of each fit and its samples to this file"},
        {"--model", OPTION_MODEL, &r->model, 0, 0, NULL,
         "model whose layers' time outside kernels is fitted: to samples of its own shape if there "
         "are any, otherwise to all that state a shape"},
        {"--cluster", OPTION_CLUSTER, &r->cluster, 0, 0, NULL,
         "cluster whose links were measured; gives the achieved share of nominal bandwidth"},
        {"--cluster-out", OPTION_PATH, &r->cluster_output, 0, 0, NULL,
         "write that cluster with measured latencies and node-to-node links to this file"},
        {"--constant-mib", OPTION_NUMBER, &r->constant_mib, 0, 1e9, NULL,
         "MiB to assume for the process itself if not measured (default: 512)"},
    };
    TRY(options_read(argc, argv, "plumbline calibrate SAMPLES ... [OPTION ...]", options,
                     ARRAY_LENGTH(options), r->paths, 1, DOCUMENTS_MAX, &r->path_count, helped,
                     err));
    if (r->cluster_output && !r->cluster)
        return fail(err, BAD_INPUT, "--cluster-out: requires --cluster");
    return OK;
}

// The manual page's text on the other two.
static enum status print_others(struct arena *arena, struct error *err)
{
    static const struct {
        command_function *run;
        const char *option;
    } others[] = {{command_iterations, "--iterations"}, {command_products, "--products"}};
    int unused;
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        char *words[] = {arena_copy_text(arena, "calibrate"), arena_copy_text(arena, HELP_SECTION)};
        printf(".SH \"Options with %s\"\n", others[i].option);
        TRY(others[i].run(2, words, &unused, arena, err));
    }
    return OK;
}

enum status command_calibrate(int argc, char **argv, int *exit_code, struct arena *arena,
                              struct error *err)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--iterations"))
            return command_iterations(argc, argv, exit_code, arena, err);
        else if (!strcmp(argv[i], "--products"))
            return command_products(argc, argv, exit_code, arena, err);
    struct request r = {.constant_mib = 512};
    bool helped;
    TRY(read_request(&r, argc, argv, &helped, err));
    if (helped) return strcmp(argv[1], HELP_PAGE) ? OK : print_others(arena, err);
    struct inputs inputs;
    struct costs base;
    struct cluster cluster;
    struct model model;
    struct calibration calibration;
    if (r.costs) TRY(shipped_find(&r.costs, "costs", r.costs, arena, err));
    if (r.model) TRY(shipped_find(&r.model, "models", r.model, arena, err));
    if (r.cluster) TRY(shipped_find(&r.cluster, "clusters", r.cluster, arena, err));
    if (r.costs) TRY(costs_load(&base, r.costs, arena, err));
    if (r.model) TRY(model_load(&model, r.model, arena, err));
    if (r.cluster) TRY(cluster_load(&cluster, r.cluster, arena, err));
    TRY(inputs_load(&inputs, r.paths, r.path_count, r.name, arena, err));
    if (!r.output && !r.show && !r.drawing) r.output = "-";
    struct calibrate_settings settings = {r.name, r.costs ? &base : NULL,
                                          (int64_t)(r.constant_mib * mebibyte),
                                          r.output ? r.output : "-"};
    TRY(calibrate(&calibration, &inputs, &settings, arena, err));
    struct layer_fits layers = {0};
    TRY(layers_fit(&layers, &calibration, r.model ? &model : NULL, arena, err));
    if (r.cluster)
        TRY(links_to_cluster(&cluster, &calibration.costs, &calibration.links, calibration.gpu,
                             arena, err));
    if (calibration.lacking)
        fprintf(stderr, "no entry for %s: %s\n", calibration.gpu, calibration.lacking);
    if (r.show) {
        calibration_show(&calibration, stdout, arena);
        layers_show(&layers, stdout);
    }
    if (r.drawing) TRY(calibration_draw(&calibration, r.drawing, arena, err));
    if (r.output) TRY(costs_save(&calibration.costs, r.output, arena, err));
    return r.cluster_output ? cluster_save(&cluster, r.cluster_output, arena, err) : OK;
}
