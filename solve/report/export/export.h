// A plan as the configuration of a training framework. Every decision of the plan is either a key
// of the configuration or named in it as not expressed. The plan's problem is required, since it
// has the model, the precision and the sequence.
#ifndef PLUMBLINE_SOLVE_REPORT_EXPORT_EXPORT_H
#define PLUMBLINE_SOLVE_REPORT_EXPORT_EXPORT_H

#include "solve/report/report.h"

// TOML of torchtitan 0.2.2 (torchtitan/config/job_config.py), the last release configured by TOML.
enum status report_torchtitan(const struct plan *plan, const struct plan *told,
                              const struct problem *problem, const char **text, size_t *length,
                              struct arena *arena, struct error *err);
// A Python function that makes torchtitan 0.3.0's Trainer.Config (torchtitan/trainer.py,
// config/configs.py), which replaced TOML.
enum status report_torchtitan_python(const struct plan *plan, const struct plan *told,
                                     const struct problem *problem, const char **text,
                                     size_t *length, struct arena *arena, struct error *err);
// The order of passes on each rank, a line a rank, as torch.distributed.pipelining loads it
// (_PipelineScheduleRuntime._load_csv, compute_only): 2F0 is the forward of micro-batch 0 on stage
// 2, B a whole backward, I and W its two halves. BAD_INPUT: slices of a sequence, local losses.
enum status report_pytorch_schedule(const struct plan *plan, const struct plan *told,
                                    const struct problem *problem, const char **text,
                                    size_t *length, struct arena *arena, struct error *err);
// JSON of DeepSpeed (runtime/config.py, runtime/constants.py).
enum status report_deepspeed(const struct plan *plan, const struct plan *told,
                             const struct problem *problem, const char **text, size_t *length,
                             struct arena *arena, struct error *err);

// YAML that NeMo's Megatron Bridge merges into a recipe's ConfigContainer (training/config.py,
// training/utils/omegaconf_utils.py): --config-file of its scripts.
enum status report_nemo(const struct plan *plan, const struct plan *told,
                        const struct problem *problem, const char **text, size_t *length,
                        struct arena *arena, struct error *err);

// Whether one recomputation mode for all stages expresses the plan.
bool export_one_recompute(const struct plan *plan, const struct problem *problem);

#endif
