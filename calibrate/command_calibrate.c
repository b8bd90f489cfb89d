// plumbline calibrate: samples in, costs out. With --iterations, measured runs in, costs out (command_iterations.c).
#include <stdio.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "calibrate/commands.h"

static const double mebibyte = 1048576;

enum status command_calibrate(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--iterations")) return command_iterations(argc, argv, exit_code, arena, err);
    const char *input = NULL, *output = NULL, *name = NULL;
    bool show = false, helped;
    double constant_mib = 512;
    const struct option options[] = {
        {"-o", OPTION_TEXT, &output, 0, 0, NULL, "the costs file (standard output, unless --show is given)"},
        {"--iterations", OPTION_FLAG, &helped, 0, 0, NULL, "fit to whole iterations instead: see calibrate --iterations --help"},
        {"--show", OPTION_FLAG, &show, 0, 0, NULL, "print each fit against its samples"},
        {"--name", OPTION_TEXT, &name, 0, 0, NULL, "what the costs call the device (what the samples call it)"},
        {"--constant-mib", OPTION_NUMBER, &constant_mib, 0, 1e9, NULL, "memory of the process itself, assumed (512)"},
    };
    TRY(options_read(argc, argv, "plumbline calibrate SAMPLES [OPTION ...]", options, ARRAY_LENGTH(options), &input, 1,
                     1, NULL, &helped, err));
    if (helped) return OK;
    struct samples samples;
    TRY(samples_load(&samples, input, arena, err));
    if (!output && !show) output = "-";
    struct calibrate_settings settings = {name, (int64_t)(constant_mib * mebibyte), output ? output : "-"};
    struct calibration calibration;
    TRY(calibrate(&calibration, &samples, &settings, arena, err));
    if (show) calibration_show(&calibration, stdout);
    if (output) TRY(costs_save(&calibration.costs, output, arena, err));
    return OK;
}
