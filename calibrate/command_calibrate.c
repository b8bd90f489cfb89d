// plumbline calibrate: samples in, costs out. With --iterations, measured runs in, costs out
// (command_iterations.c); with --products, a table of products (command_products.c).

#include "calibrate/calibrate.h"
#include "calibrate/commands.h"
#include "data/base/shipped.h"

static const double mebibyte = 1048576;

struct options {
    struct option_texts paths;
    const char *output, *name, *costs, *cluster, *cluster_output, *model, *drawing, *residuals;
    bool iterations, products; // they select the variants
    bool show;
    double constant_mib;
};

static const struct option_row rows[] = {
    {"SAMPLES", OPTION_PATH, OPT(paths), .low = 1, .many = OPTION_ANY_NUMBER},
    {"-o", OPTION_PATH, OPT(output),
     "output file for the costs (default: standard output, unless --show, --svg or --residuals is "
     "given)"},
    {"--iterations", OPTION_FLAG, OPT(iterations),
     "fit to measured iterations instead; see calibrate --iterations --help"},
    {"--products", OPTION_FLAG, OPT(products),
     "fit to a table of matrix products instead; see calibrate --products --help"},
    {"--show", OPTION_FLAG, OPT(show), "print each fit next to its samples, and outlying links"},
    {"--name", OPTION_TEXT, OPT(name), "device name in the costs (default: as in the samples)"},
    {"--costs", OPTION_COSTS, OPT(costs), "costs to use for everything that was not measured"},
    {"--svg", OPTION_PATH, OPT(drawing),
     "write an SVG plot of each fit and its samples to this file"},
    {"--residuals", OPTION_PATH, OPT(residuals),
     "write how far each sample is from its fit, as an SVG plot, or as a page if the file's name "
     "ends in .html"},
    {"--model", OPTION_MODEL, OPT(model),
     "model whose layers' time outside kernels is fitted: to samples of its own shape if there are "
     "any, otherwise to all that state a shape"},
    {"--cluster", OPTION_CLUSTER, OPT(cluster),
     "cluster whose links were measured; gives the achieved share of nominal bandwidth"},
    {"--cluster-out", OPTION_PATH, OPT(cluster_output),
     "write that cluster with measured latencies and node-to-node links to this file",
     .needs = "--cluster"},
    {"--constant-mib", OPTION_NUMBER, OPT(constant_mib),
     "MiB to assume for the process itself if not measured (default: 512)", 0, 1e9},
};

// Plans that were carried out, instead of samples.
static enum status run_carried(const struct options *r, const struct costs *base,
                               struct arena *arena, struct error *err)
{
    struct carried_fits fits;
    const char *output = r->output ? r->output : "-";
    TRY(carried_fit(&fits, &r->paths, base, r->name, output, arena, err));
    carried_show(&fits, stderr);
    if (r->show) layers_show(&fits.layers, stdout);
    if (r->residuals)
        TRY(residuals_draw(&fits.calibration, &fits.layers, r->residuals, arena, err));
    return r->show && !r->output ? OK : costs_save(&fits.calibration.costs, output, arena, err);
}

COMMAND_RUN(run)
{
    struct options *r = options;
    struct inputs inputs;
    struct costs base;
    struct cluster cluster;
    struct model model;
    struct calibration calibration;
    if (r->costs) TRY(shipped_find(&r->costs, "costs", r->costs, arena, err));
    if (r->model) TRY(shipped_find(&r->model, "models", r->model, arena, err));
    if (r->cluster) TRY(shipped_find(&r->cluster, "clusters", r->cluster, arena, err));
    if (r->costs) TRY(costs_load(&base, r->costs, arena, err));
    if (r->model) TRY(model_load(&model, r->model, arena, err));
    if (r->cluster) TRY(cluster_load(&cluster, r->cluster, arena, err));
    if (document_is(r->paths.items[0], "plumbline.run", arena))
        return run_carried(r, r->costs ? &base : NULL, arena, err);
    TRY(inputs_load(&inputs, r->paths.items, r->paths.count, r->name, arena, err));
    if (!r->output && !r->show && !r->drawing && !r->residuals) r->output = "-";
    struct calibrate_settings settings = {r->name, r->costs ? &base : NULL,
                                          (int64_t)(r->constant_mib * mebibyte),
                                          r->output ? r->output : "-"};
    TRY(calibrate(&calibration, &inputs, &settings, arena, err));
    struct layer_fits layers = {0};
    TRY(layers_fit(&layers, &calibration, r->model ? &model : NULL, arena, err));
    if (!r->show) calibration_quality(&calibration, stderr);
    if (layers.other_count)
        fprintf(stderr,
                "%d sample%s of layers not used: another shape than %s, no FLOP that say which "
                "(traces state none), or graphs\n",
                layers.other_count, layers.other_count == 1 ? " is" : "s are",
                r->model ? r->model : "any that is stated (--model names one)");
    if (calibration_assume_trainer(&calibration))
        fprintf(stderr, "assumed: a training step takes 1.16 (0.94 to 1.42) times as long as its "
                        "kernels alone, until calibrate --iterations fits that to a run\n");
    if (r->cluster)
        TRY(links_to_cluster(&cluster, &calibration.costs, &calibration.links, calibration.gpu,
                             arena, err));
    if (calibration.lacking)
        fprintf(stderr, "no entry for %s: %s\n", calibration.gpu, calibration.lacking);
    if (r->show) {
        calibration_show(&calibration, stdout, arena);
        layers_show(&layers, stdout);
    }
    if (r->drawing) TRY(calibration_draw(&calibration, r->drawing, arena, err));
    if (r->residuals) TRY(residuals_draw(&calibration, &layers, r->residuals, arena, err));
    if (r->output) TRY(costs_save(&calibration.costs, r->output, arena, err));
    return r->cluster_output ? cluster_save(&cluster, r->cluster_output, arena, err) : OK;
}

static const struct command *const variants[] = {&calibrate_iterations, &calibrate_products};

const struct command command_calibrate = {
    .name = "calibrate",
    .text = "samples -> costs",
    .about = "Fits a time for each kind of kernel, copy and message to samples from measure or "
             "import. Runs of plans (plumbline run) in place of samples correct the costs that the "
             "plans were made with. With --iterations it fits to measured iterations, with "
             "--products to a table of matrix products; follow either with --help for its options.",
    .usage = "plumbline calibrate SAMPLES ... [OPTION ...]",
    READS(struct options, rows, {.constant_mib = 512}),
    .variants = variants,
    .variant_count = ARRAY_LENGTH(variants),
    .run = run,
};
