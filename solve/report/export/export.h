// A plan as the configuration of a training framework. Every decision of the plan is either a key
// of the configuration or named in it as not expressed. The keys are the rows that imports read
// (data/frameworks/).
#pragma once

#include "solve/report/report.h"

// problem: has the model, the precision and the sequence; BAD_INPUT: NULL, except for Megatron-LM;
// stages that recompute otherwise than the configuration can state.
typedef enum status export_function(struct text *out, const struct plan *plan,
                                    const struct problem *problem, struct error *err);

// Megatron-LM's flags, as a bash array to be sourced. Without a problem, those that describe the
// model are left out, and the comments say so.
export_function report_megatron;
// The file next to it, plumbline_layer.py, of a model that flags do not say; NULL: it needs none.
const char *report_megatron_layer(const struct problem *problem, struct arena *arena);
// YAML that NeMo's Megatron Bridge merges into a recipe's ConfigContainer (training/config.py,
// training/utils/omegaconf_utils.py): --config-file of its scripts.
export_function report_nemo;
// TOML of torchtitan 0.2.2 (torchtitan/config/job_config.py), the last release configured by TOML.
export_function report_torchtitan;
// A Python function that makes torchtitan 0.3.0's Trainer.Config (torchtitan/trainer.py,
// config/configs.py), which replaced TOML.
export_function report_torchtitan_python;
// The order of passes on each rank, a line a rank, as torch.distributed.pipelining loads it
// (_PipelineScheduleRuntime._load_csv, compute_only): 2F0 is the forward of micro-batch 0 on stage
// 2, B a whole backward, I and W its two halves. BAD_INPUT: slices of a sequence, local losses.
export_function report_pytorch_schedule;
// JSON of DeepSpeed (runtime/config.py, runtime/constants.py).
export_function report_deepspeed;
// JSON of the arguments of AxoNN's calls (axonn/axonn.py, axonn/lightning/axonn_strategy.py).
export_function report_axonn;

// The job with experts, messages, checkpoints and loss as the framework's configurations and code
// have them for its layout.
struct job export_stated_job(const struct job *job, enum framework framework);
// What of the plan's job they do not have: texts, and how many.
enum { JOB_GAPS_MAX = 10 };
int export_job_gaps(const char *texts[JOB_GAPS_MAX], const struct plan *plan,
                    const struct problem *p, enum framework framework, struct arena *arena);

// Whether the framework's configuration expresses each stage's recomputation: one setting for all,
// or Megatron-LM's flags, one for each rank of the pipeline.
bool export_recomputes(const struct plan *plan, const struct problem *problem,
                       enum framework framework, struct arena *arena);
// Layers of each stage, with this text between them.
const char *export_layers(const struct plan *plan, const char *between, struct arena *arena);
