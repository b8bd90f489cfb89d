// Problems of layers that differ from the layout's: a stage's own head before a local boundary, as
// a layer of a model that has it, layers that are sharded further, and those with the vocabulary at
// a tensor degree of their own; and what these exclude.
#include "data/inputs/problem.h"
#include "data/kinds/schedules.h"

// The model's first head; run_count: it has none.
static int head_of(const struct model *m)
{
    int run = 0;
    while (run < m->run_count && m->runs[run].kind != LAYER_HEAD) run++;
    return run;
}

struct problem problem_with_local_head(const struct problem *p, int *run, struct arena *arena)
{
    const struct local_head *h = &p->job.local_loss.head;
    struct problem to = *p;
    struct shape *s = &to.model.shape;
    *run = head_of(&p->model);
    to.model.runs = TAKE_COPY(arena, p->model.runs, p->model.run_count);
    struct layer_run *head = &to.model.runs[*run];
    *head = (struct layer_run){.name = LOCAL_HEAD, .kind = LAYER_HEAD, .count = 1};
    s->vocabulary = h->vocabulary;
    s->embedding_width = h->embedding_width == s->hidden ? 0 : h->embedding_width;
    s->tied_embeddings = false;
    return to;
}

// What neither a head of a stage's own nor stored inputs can have next to them; NULL: nothing.
static const char *excluded(const struct problem *p)
{
    if (p->cluster.places.node_count) return "a cluster without places";
    return job_has_widths(&p->job) ? "stage_degrees uniform" : NULL;
}

// Only two schedules have segments of their own.
static bool has_other_schedules(const struct space *space)
{
    const struct space_axis *axis = &space->axes[SPACE_SCHEDULE];
    bool others = axis->kind == AXIS_ALL;
    for (int i = 0; axis->kind == AXIS_LIST && i < axis->count; i++)
        others = others || !schedule_stores_inputs(axis->values[i]);
    return others;
}

static enum status check_stored(const struct problem *p, struct error *err)
{
    if (!p->job.layout.stored_inputs) return OK;
    const char *wanted = excluded(p);
    if (!wanted && has_other_schedules(&p->job.space))
        wanted = "no schedule in space but gpipe and 1f1b";
    return wanted ? refuse(err, "%s: layout.stored_inputs: expected %s next to it",
                           document_name(&p->job.document, "job"), wanted)
                  : OK;
}

bool problem_steps_each(const struct problem *p)
{
    return p->job.local_loss.step_each_micro_batch && p->job.layout.local_loss_every == 1;
}

// A step waits for its stage's gradients alone, and the stage's next pass for the step.
static enum status check_steps(const struct problem *p, struct error *err)
{
    const struct job *j = &p->job;
    const struct layout *l = &j->layout;
    const char *wanted = NULL;
    if (!j->local_loss.step_each_micro_batch) return OK;
    if (j->space.given) wanted = "no space";
    else if (l->local_loss_every != 1 || l->schedule != SCHEDULE_1F1B)
        wanted = "layout.local_loss_every 1 and schedule 1f1b";
    else if (l->data * l->context > 1) wanted = "one replica, data and context 1,";
    else if (p->model.shape.tied_embeddings && l->pipeline > 1) wanted = "untied embeddings";
    else if (l->offload_optimizer || j->tier_option_count)
        wanted = "no offload and no tier options";
    else if (problem_states_energy(p)) wanted = "no energies of memories";
    else wanted = excluded(p);
    return wanted ? refuse(err, "%s: local_loss.step_each_micro_batch: expected %s next to it",
                           document_name(&j->document, "job"), wanted)
                  : OK;
}

enum status problem_check_local_head(const struct problem *p, struct error *err)
{
    const char *job = document_name(&p->job.document, "job");
    const struct job *j = &p->job;
    const struct model *m = &p->model;
    const char *wanted = NULL;
    TRY(check_stored(p, err));
    TRY(check_steps(p, err));
    if (!j->local_loss.head.vocabulary) return OK;
    if (head_of(m) == m->run_count) wanted = "a model with a head";
    else if (model_mtp_depth(m)) wanted = "a model that predicts one token at a time";
    else if (excluded(p)) wanted = excluded(p);
    else if (layout_has_grid(&j->layout) || j->space.tensor_grids) wanted = "no tensor_grid";
    else if (problem_has_tiers(p)) wanted = "no tiers, offload percentages or swap";
    return wanted ? refuse(err, "%s: local_loss.head: expected %s next to it", job, wanted) : OK;
}

// ---- layers of several layouts in one stage

struct problem problem_sharded(const struct problem *p)
{
    struct problem to = *p;
    to.job.layout.zero = p->job.sharded_zero;
    to.job.sharded_zero = to.job.vocabulary_tensor_count = 0;
    return to;
}

struct problem problem_at_vocabulary(const struct problem *p, int tensor)
{
    struct problem to = *p;
    struct layout *l = &to.job.layout;
    l->data = l->data * l->tensor / tensor;
    l->micro_batch = (int)((int64_t)l->micro_batch * tensor / l->tensor);
    l->tensor = tensor;
    to.job.sharded_zero = to.job.vocabulary_tensor_count = 0;
    return to;
}

int problem_vocabulary_degrees(const struct problem *p, int degrees[VOCABULARY_DEGREES_MAX])
{
    const struct layout *l = &p->job.layout;
    int count = 0;
    for (int i = 0; i < p->job.vocabulary_tensor_count; i++) {
        int tensor = p->job.vocabulary_tensor[i];
        bool divides = tensor % l->tensor == 0 || l->tensor % tensor == 0;
        if (tensor != l->tensor && divides && (int64_t)l->data * l->tensor % tensor == 0 &&
            (int64_t)l->micro_batch * tensor % l->tensor == 0)
            degrees[count++] = tensor;
    }
    return count;
}

static bool is_axis_free(const struct space *space, enum space_key key)
{
    return !space->given || space->axes[key].kind == AXIS_FIXED;
}

static const char *what_mixing_excludes(const struct problem *p)
{
    const struct job *j = &p->job;
    bool tiers = problem_has_tiers(p) || j->layout.offload_optimizer;
    return j->layout.virtual_stages > 1                        ? "one stage a rank"
           : !is_axis_free(&j->space, SPACE_VIRTUAL_STAGES)    ? "no virtual_stages in space"
           : !is_axis_free(&j->space, SPACE_OFFLOAD_OPTIMIZER) ? "no offload_optimizer in space"
           : j->space.framework != FRAMEWORK_ANY               ? "no framework in space"
           : p->cluster.places.node_count                      ? "a cluster without places"
           : job_has_widths(j)                                 ? "stage_degrees uniform"
           : model_shares_weights(&p->model) ? "a model whose layers share no weights"
           : tiers                           ? "no tiers, offloading or swap"
           : j->gradient_option_count        ? "no gradient_options"
           : j->local_loss.head.vocabulary   ? "no local_loss.head"
           : layout_has_grid(&j->layout) || j->space.tensor_grids ? "no tensor_grid"
                                                                  : NULL;
}

static const char *what_sharding_excludes(const struct problem *p)
{
    const struct job *j = &p->job;
    return j->layout.zero >= j->sharded_zero      ? "a lower layout.zero"
           : !is_axis_free(&j->space, SPACE_ZERO) ? "no zero in space"
                                                  : what_mixing_excludes(p);
}

// Where both ends have the vocabulary's matrix they would have to choose alike.
static const char *what_degrees_exclude(const struct problem *p)
{
    const struct job *j = &p->job;
    const struct model *m = &p->model;
    bool found = false, apart = j->layout.pipeline > 1 || !is_axis_free(&j->space, SPACE_PIPELINE);
    for (int i = 0; i < m->run_count; i++) found = found || run_has_vocabulary(&m->runs[i]);
    for (int i = 0; i < m->run_count; i++)
        if (run_has_vocabulary(&m->runs[i]) && m->runs[i].recomputable)
            return "an embedding and a head that are not recomputable";
    return !found                ? "a model with an embedding or a head"
           : model_has_towers(m) ? "a model without towers"
           : model_mtp_depth(m)  ? "a model that predicts one token at a time"
           : m->has_shape && m->shape.tied_embeddings && apart
               ? "one stage, as embeddings are tied,"
               : what_mixing_excludes(p);
}

static enum status check_ascending(const struct job *j, const char *file, struct error *err)
{
    for (int i = 1; i < j->vocabulary_tensor_count; i++)
        if (j->vocabulary_tensor[i] <= j->vocabulary_tensor[i - 1])
            return refuse(err,
                          "%s: vocabulary_tensor[%d]: expected a degree above the one before, %d, "
                          "found %d",
                          file, i, j->vocabulary_tensor[i - 1], j->vocabulary_tensor[i]);
    return OK;
}

enum status problem_check_mixing(const struct problem *p, struct error *err)
{
    const struct job *j = &p->job;
    const char *file = document_name(&j->document, "job"),
               *sharding = j->sharded_zero ? what_sharding_excludes(p) : NULL,
               *degrees = j->vocabulary_tensor_count ? what_degrees_exclude(p) : NULL;
    TRY(check_ascending(j, file, err));
    if (sharding) return refuse(err, "%s: sharded_zero: expected %s next to it", file, sharding);
    return degrees ? refuse(err, "%s: vocabulary_tensor: expected %s next to it", file, degrees)
                   : OK;
}
