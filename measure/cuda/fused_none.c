// Replaces fused_cudnn.c where the library is missing: attention is then done by products and a
// softmax.
#include "measure/cuda/fused.h"

#include <assert.h>

enum status fused_open(struct fused **fused, cudaStream_t stream, struct arena *arena,
                       struct error *err)
{
    (void)stream, (void)arena;
    *fused = NULL;
    return fail(err, UNAVAILABLE, "cuda: built without cuDNN");
}

const char *fused_library(struct fused *fused, struct arena *arena)
{
    (void)fused, (void)arena;
    return NULL;
}

enum status fused_plan(struct fused *fused, const struct attention *attention, int *plan,
                       struct error *err)
{
    (void)fused, (void)attention;
    *plan = -1;
    return fail(err, UNAVAILABLE, "cuda: built without cuDNN");
}

int64_t fused_workspace_bytes(const struct fused *fused)
{
    (void)fused;
    return 0;
}

enum status fused_run(struct fused *fused, int plan, const void *const in[6], void *const out[4],
                      float scale, void *workspace, struct error *err)
{
    (void)fused, (void)plan, (void)in, (void)out, (void)scale, (void)workspace;
    assert(!"no plan was ever given out");
    return fail(err, UNAVAILABLE, "cuda: built without cuDNN");
}
