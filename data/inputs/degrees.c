// Whether a tensor degree may be a grid of axes: features of model, job and cluster that the prices
// of grids do not cover (docs/FORMULAS.md section 20) are each refused by name. Whether a pool can
// be cut over a group of its devices.
#include "data/inputs/problem.h"

static const char *name_or(const char *path, const char *otherwise)
{
    return path ? path : otherwise;
}

static const char *unfit_run(const struct layer_run *r)
{
    bool known = r->kind == LAYER_BLOCK || r->kind == LAYER_EMBEDDING || r->kind == LAYER_HEAD;
    return !known ? "blocks, embeddings and heads alone" : r->frozen ? "no frozen layers" : NULL;
}

static const char *unfit_job(const struct job *j)
{
    bool compresses = j->boundary_option_count || j->gradient_option_count;
    return !job_like_megatron(j)                 ? "trainer \"megatron\""
           : precision_is_narrow(j->precision)   ? "another precision than fp8 and narrower"
           : j->gathered_logits                  ? "gathered_logits false"
           : compresses                          ? "no boundary_options, no gradient_options"
           : j->objective == OBJECTIVE_PIPETTE   ? "another objective than \"pipette\""
           : j->space.framework != FRAMEWORK_ANY ? "space.framework \"any\""
                                                 : NULL;
}

enum status problem_check_grid(const struct problem *p, struct error *err)
{
    const struct job *j = &p->job;
    const char *job = name_or(j->document.path, "job"),
               *key = layout_has_grid(&j->layout) ? "layout.tensor_grid" : "space.tensor_grids",
               *wanted = unfit_job(j), *peculiar = model_peculiarity(&p->model, true);
    if (!layout_has_grid(&j->layout) && !j->space.tensor_grids) return OK;
    if (!wanted && !p->model.has_shape) wanted = "a model with a shape";
    for (int i = 0; i < p->model.run_count && !wanted; i++) wanted = unfit_run(&p->model.runs[i]);
    if (!wanted && p->cluster.places.node_count) wanted = "a cluster without places";
    if (!wanted && layout_has_grid(&j->layout) && j->space.given && !j->space.tensor_grids &&
        j->space.axes[SPACE_TENSOR].kind != AXIS_FIXED)
        wanted = "space.tensor_grids, or a space that does not vary tensor";
    if (wanted) return fail(err, BAD_INPUT, "%s: %s: a tensor grid needs %s", job, key, wanted);
    if (peculiar)
        return fail(err, BAD_INPUT, "%s: %s: a tensor grid needs a model without %s", job, key,
                    peculiar);
    return OK;
}

enum status problem_check_grid_layout(const struct problem *p, struct error *err)
{
    const struct layout *l = &p->job.layout;
    const char *job = name_or(p->job.document.path, "job");
    const struct {
        const char *key;
        int found;
    } ones[] = {{"context", l->context}, {"expert", l->expert}};
    if (layout_has_grid(l) && l->expert_tensor)
        return fail(err, BAD_INPUT, "%s: layout.expert_tensor: a tensor grid needs none, found %d",
                    job, l->expert_tensor);
    if (!layout_has_grid(l)) return OK;
    for (int i = 0; i < 2; i++)
        if (ones[i].found != 1)
            return fail(err, BAD_INPUT, "%s: layout.%s: a tensor grid needs 1, found %d", job,
                        ones[i].key, ones[i].found);
    if (l->sequence_parallel)
        return fail(err, BAD_INPUT,
                    "%s: layout.sequence_parallel: a tensor grid needs false, as it splits "
                    "activations itself",
                    job);
    if (l->micro_batch % l->grid_rows)
        return fail(err, BAD_INPUT,
                    "%s: layout.micro_batch: expected a multiple of tensor_grid's third axis %d, "
                    "found %d",
                    job, l->grid_rows, l->micro_batch);
    if (p->model.shape.hidden % l->grid_depth)
        return fail(err, BAD_INPUT,
                    "%s: shape.hidden: expected a multiple of the layout's tensor_grid's second "
                    "axis %d, found %lld",
                    name_or(p->model.document.path, "model"), l->grid_depth,
                    (long long)p->model.shape.hidden);
    return OK;
}

enum status problem_check_pool_layout(const struct problem *p, struct error *err)
{
    const struct layout *l = &p->job.layout;
    const char *job = name_or(p->job.document.path, "job");
    int64_t devices = layout_pool_devices(l, model_pool_span(&p->model));
    if (!l->pool || (devices && devices % l->pool == 0)) return OK;
    if (!devices)
        return fail(err, BAD_INPUT,
                    "%s: layout.pool: expected none for a model without memory layers, or with "
                    "shared and other pools, found %d",
                    job, l->pool);
    return fail(err, BAD_INPUT,
                "%s: layout.pool: expected a divisor of the %lld devices of a pool, found %d", job,
                (long long)devices, l->pool);
}
