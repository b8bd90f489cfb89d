// Predictions of runs that words state ("gpu=A100-80GB,num_gpus=64,..."), with ranges and the
// shipped costs. Tests only.
#pragma once

#include "formulate/predict/predict.h"

#define SHORT_RUN                                                                                  \
    "gpu=B200,num_gpus=16,layers=32,hidden=4096,ffn=14336,heads=32,kv_heads=8,vocab=128256,"       \
    "seq=8192,cp=2,recompute=none"
#define SPLIT_RUN                                                                                  \
    "num_gpus=64,layers=32,hidden=8192,ffn=28672,heads=64,kv_heads=8,vocab=128256,seq=4096,tp=4,"  \
    "pp=2,vpp=4,global_batch=128,gpu="
#define RUN SPLIT_RUN "H100-80GB"

// With the predictor open at *p, whose costs may be changed. false: nothing is predicted of these
// words; a word that is no column's fails the test.
void predict_open(struct predictor **p, struct arena *arena);
bool predict_try(struct predictor *p, struct prediction *x, const char *text, const char *more,
                 struct arena *arena);
// With a predictor of its own.
bool try_words(struct prediction *x, const char *text, const char *more, struct arena *arena);
void predict_words(struct prediction *x, const char *text, const char *more, struct arena *arena);
