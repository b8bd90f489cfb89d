// Grids of tensor ranks: the orders of their axes; whether a tensor degree may be one: features of
// model, job and cluster that the prices of grids do not cover (docs/FORMULAS.md section 20) are
// each refused by name. Whether a pool can be cut over a group of its devices. Whether a framework
// runs anything of a space.
#include <string.h>

#include "data/kinds/schedules.h"
#include "data/inputs/problem.h"

const char *const grid_order_names[] = {"1-2-3", "1-3-2", "2-1-3", "2-3-1", "3-1-2", "3-2-1", NULL};
const char *const grid_gathers_names[] = {"pass", "micro_batch", "step", NULL};

int layout_axis_stride(const struct layout *l, int axis)
{
    int stride = 1;
    for (const char *at = grid_order_names[l->grid_order]; *at != '1' + axis; at++)
        if (*at != '-') stride *= layout_tensor_axis(l, *at - '1');
    return stride;
}

// Of orders that leave every axis above 1 where it is, the first.
int layout_orders(const struct layout *l, int *values)
{
    struct layout one = *l, other = *l;
    int count = 0;
    for (one.grid_order = 0; grid_order_names[one.grid_order]; one.grid_order++) {
        bool first = true;
        for (other.grid_order = 0; other.grid_order < one.grid_order; other.grid_order++) {
            bool differs = false;
            for (int axis = 0; axis < 3; axis++)
                differs = differs ||
                          (layout_tensor_axis(&one, axis) > 1 &&
                           layout_axis_stride(&one, axis) != layout_axis_stride(&other, axis));
            first = first && differs;
        }
        if (first) values[count++] = one.grid_order;
    }
    return count;
}

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
    return !job_like_megatron(j)               ? "trainer \"megatron\""
           : precision_is_narrow(j->precision) ? "another precision than fp8 and narrower"
           : j->gathered_logits                ? "gathered_logits false"
           : compresses                        ? "no boundary_options, no gradient_options"
           : j->objective == OBJECTIVE_PIPETTE ? "another objective than \"pipette\""
           : j->space.framework && !framework_runs_grids(j->space.framework)
               ? "space.framework \"axonn\" or \"any\""
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
    if (wanted) return refuse(err, "%s: %s: a tensor grid needs %s", job, key, wanted);
    if (peculiar)
        return refuse(err, "%s: %s: a tensor grid needs a model without %s", job, key, peculiar);
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
        return refuse(err, "%s: layout.expert_tensor: a tensor grid needs none, found %d", job,
                      l->expert_tensor);
    if (!layout_has_grid(l)) return OK;
    for (int i = 0; i < 2; i++)
        if (ones[i].found != 1)
            return refuse(err, "%s: layout.%s: a tensor grid needs 1, found %d", job, ones[i].key,
                          ones[i].found);
    if (l->sequence_parallel && layout_tensor_axis(l, 0) == 1)
        return refuse(
            err,
            "%s: layout.sequence_parallel: a tensor grid of one along its first axis needs "
            "false",
            job);
    if (l->grid_gathers && (l->grid_rows == 1 || l->zero == 3))
        return refuse(
            err,
            "%s: layout.grid_gathers: expected pass with zero 3 or one along tensor_grid's "
            "third axis, found %s",
            job, grid_gathers_names[l->grid_gathers]);
    if (l->micro_batch % l->grid_rows)
        return refuse(err,
                      "%s: layout.micro_batch: expected a multiple of tensor_grid's third axis %d, "
                      "found %d",
                      job, l->grid_rows, l->micro_batch);
    if (p->model.shape.hidden % l->grid_depth)
        return refuse(err,
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
        return refuse(err,
                      "%s: layout.pool: expected none for a model without memory layers, or with "
                      "shared and other pools, found %d",
                      job, l->pool);
    return refuse(err,
                  "%s: layout.pool: expected a divisor of the %lld devices of a pool, found %d",
                  job, (long long)devices, l->pool);
}

// States in groups of data ranks are neither placed rank by rank nor compressed, and have the
// layout's data degree.
enum status problem_check_shard(const struct problem *p, struct error *err)
{
    const struct job *j = &p->job;
    enum framework framework = j->space.framework;
    bool pools = false;
    for (int i = 0; i < p->model.run_count; i++)
        pools = pools || p->model.runs[i].kind == LAYER_MEMORY;
    const char *wanted = p->cluster.places.node_count ? "a cluster without places"
                         : job_has_widths(j)          ? "stage_degrees uniform"
                         : j->vocabulary_tensor_count ? "no vocabulary_tensor"
                         : j->gradient_option_count   ? "no gradient_options"
                         : j->whole_gradient_sums     ? "whole_gradient_sums false"
                         : j->owner_broadcasts && (j->layout.zero != 1 ||
                                                   j->space.axes[SPACE_ZERO].kind != AXIS_FIXED)
                             ? "zero 1 alone, as with owner_broadcasts,"
                         : j->objective == OBJECTIVE_PIPETTE  ? "another objective than \"pipette\""
                         : pools                              ? "a model without memory layers"
                         : !j->space.given && !j->layout.zero ? "zero 1 to 3"
                         : framework == FRAMEWORK_DEEPSPEED || framework == FRAMEWORK_AXONN
                             ? "space.framework \"megatron\", \"nemo\", \"torchtitan\" or \"any\""
                             : NULL;
    if (!j->layout.data_shard || !wanted) return OK;
    return refuse(err, "%s: layout.data_shard: expected %s next to it",
                  name_or(j->document.path, "job"), wanted);
}

// ---- the space of a framework

static bool take_first(void *argument, int64_t number, const struct layout *layout)
{
    *(struct layout *)argument = *layout;
    return (void)number, false;
}

static const char *const *const value_names[SPACE_KEY_COUNT] = {
    [SPACE_SCHEDULE] = schedule_names,           [SPACE_GRADIENT_SYNC] = gradient_sync_names,
    [SPACE_CONTEXT_KIND] = layout_context_names, [SPACE_GRID_ORDER] = grid_order_names,
    [SPACE_GRID_GATHERS] = grid_gathers_names,   [SPACE_RECOMPUTE] = recompute_setting_names};

// Keys that are fixed or listed, without any of which the framework runs some layout: with which
// values, and with which it does.
struct in_vain {
    char found[256], runs[256];
    int count;
};

static void put_value(char text[256], enum space_key key, int value)
{
    size_t used = strlen(text);
    if (value_names[key]) snprintf(text + used, 256 - used, " %s", value_names[key][value]);
    else snprintf(text + used, 256 - used, " %d", value);
}

static void put_key(char text[256], const char *before, enum space_key key)
{
    size_t used = strlen(text);
    snprintf(text + used, 256 - used, "%s%s", used ? before : " ", space_key_names[key]);
}

static struct in_vain find_in_vain(const struct problem *p, const struct space_limits *limits)
{
    struct in_vain x = {.count = 0};
    for (int k = 0; k < SPACE_KEY_COUNT; k++) {
        struct space freed = p->job.space;
        const struct space_axis own = freed.axes[k];
        enum space_key key = (enum space_key)k;
        struct layout runs;
        if (own.kind == AXIS_ALL) continue;
        freed.axes[k] = (struct space_axis){.kind = AXIS_ALL};
        if (!space_each(&freed, limits, take_first, &runs)) continue;
        put_key(x.found, " and ", key), put_key(x.runs, " or ", key), x.count++;
        for (int i = 0; i < own.count && own.kind == AXIS_LIST; i++)
            put_value(x.found, key, own.values[i]);
        if (own.kind == AXIS_FIXED) put_value(x.found, key, layout_value(limits->layout, key));
        put_value(x.runs, key, layout_value(&runs, key));
    }
    return x;
}

enum status problem_check_framework(const struct problem *p, struct error *err)
{
    struct space any = p->job.space;
    struct space_limits limits = problem_space_limits(p);
    struct layout first;
    enum framework framework = any.framework;
    const char *job = document_name(&p->job.document, "job");
    any.framework = FRAMEWORK_ANY;
    if (framework == FRAMEWORK_ANY || space_each(&p->job.space, &limits, take_first, &first) ||
        !space_each(&any, &limits, take_first, &first))
        return OK;
    struct framework_of of = space_framework_of(&limits, limits.layout);
    const char *why = framework_refusal(framework, limits.layout, &of), *which = "job's";
    if (!why) of = space_framework_of(&limits, &first), which = "first";
    if (!why) why = framework_refusal(framework, &first, &of);
    bool uneven = why && !strcmp(why, "virtual_stages");
    struct in_vain x = find_in_vain(p, &limits);
    if (!uneven && x.count)
        return refuse(
            err,
            "%s: space.framework: %s runs no layout of the space with%s (docs/FORMATS.md, "
            "job), but some with%s",
            job, framework_names[framework], x.found, x.runs);
    return refuse(
        err,
        "%s: space.framework: %s runs no layout of the space; the %s layout is excluded by "
        "%s (docs/FORMATS.md, job)%s",
        job, framework_names[framework], which, why ? why : "schedule",
        uneven ? "; with space.uneven_stages it is not" : "");
}
