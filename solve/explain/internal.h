// Shared by the files of this folder.
#pragma once

#include "solve/explain/explain.h"

void explain_assume(struct explained *x, const char *column, const char *value, const char *why);
// adapters.c: whether the log says what no column does; puts it into the row's problem.
void explain_take_lone(struct explained *x);
void explain_assume_host(struct explained *x);
bool explain_adjusts(const struct explained *x);
void explain_adjust(const struct explained *x, struct problem *problem,
                    struct placement *placement);
void explain_assume_adapters(struct explained *x);
// On which products the log has adapters; false: all, or no name is known.
bool explain_finds_modules(const struct explained *x, const struct shape *s, bool *set);
// held.c, of a run that ran out of memory: pairs as batches; what its trainer holds besides;
// whether the request that failed is a copy of a rank's weights.
void explain_assume_pairs(struct explained *x);
void explain_assume_models(struct explained *x);
void explain_leave_out_batch(struct explained *x);
void explain_hold(struct explained *x, const struct run_row *row, struct prediction *p);
bool explain_is_copy(const struct explained *x);
// Whether transformers reads the weights in 4 bytes.
bool explain_reads_wide(const struct explained *x);
bool explain_has_trainer(const struct log *l); // transformers', or perhaps
// Bytes on a GPU when it failed, where that was not in a training pass; else 0.
int64_t explain_moment(struct explained *x);
int64_t explain_others(const struct explained *x); // bytes that other processes hold, by the report
int64_t explain_pieces(const struct explained *x); // reserved and not allocated, by the report
// All weights' bytes, where ZeRO 3 shares them and one GPU has no room for all; else 0.
int64_t explain_unshared(struct explained *x);
// dumped.c: x->model; whether it has the layers of the row's.
void explain_read_model(struct explained *x, const struct run_row *of_log);
bool explain_has_model(const struct explained *x, const struct model *of_row);
// assemble.c: x->row and x->own; measured.c: what was measured.
enum status explain_assemble(struct explained *x, struct error *err);
enum status explain_find_gpu(struct explained *x, struct error *err); // sets asked.gpu
bool explain_fit_card(struct explained *x); // after a prediction: whether asked.gpu is another
// Predicts x->asked: x->own, x->row, x->problem, and what was assumed.
void explain_predict(struct explained *x);
void explain_measured(struct explained *x);
void explain_certify(struct explained *x);
// The sequence for which the model's FLOP of a token (0: of a sequence), as the log's program
// counts them, are the log's; 0: there is none.
int64_t certify_sequence(const struct explained *x, const struct model *m, double flop_per_token,
                         double flop_per_sequence);
// Batch, and sequence if it is not stated, by the FLOP of an iteration, where the log has them.
void explain_assume_by_flop(struct explained *x);
double explain_flop_of_sequence(const struct explained *x); // 0: GPUs or batch are not stated
double explain_flop_of_log(const struct explained *x);      // of a token; 0: not stated
// An iteration's seconds by the log's FLOP/s alone, and the model's FLOP; 0: they give none.
double explain_time_of_flop(const struct explained *x);
void explain_judge(struct explained *x);
void explain_find_alternatives(struct explained *x);
// failure.c, of a run that ran out of memory: why, with what would not have fitted; and what stands
// in for a model, a batch and values that its text does not state, as far as memory tells.
const char *explain_failure(struct explained *x);
void explain_assume_size(struct explained *x);
void explain_assume_request(struct explained *x);
// The model alone: on one GPU, of which any will do. name NULL: the row's.
bool explain_try_model(struct explained *x, const struct cell *name, int64_t seq, struct model *m);
// killed.c, of a run whose process the host's system ended: what it holds on the host.
const char *explain_killed(struct explained *x);
void explain_changes(struct explained *x);
void explain_layouts(struct explained *x); // x->any
// A run that states no degree and that no GPU holds alone: false if it is none, or nothing fits.
bool explain_assume_degrees(struct explained *x);
// More memory than may be planned is allowed where the run itself has more and ran.
int64_t explain_room(const struct explained *x);
// Whether the log's framework runs the problem that was predicted last.
bool explain_is_run(struct explained *x);
// predicted.c: a row, with ranges or without; an iteration of several pipelines' batches as many.
void explain_predict_row(struct explained *x, const struct run_row *row, bool ranges,
                         struct prediction *to);
void explain_assume_batches(struct explained *x); // says how many those are
// Predicts a row without ranges; false: it cannot be, or refused.
bool explain_try(struct explained *x, const struct run_row *row, struct prediction *to);
