// A framework's configuration of a plan, imported, is the plan's own settings: over drawn plans of
// drawn models. Whatever an export does not note as not expressed comes back as it was. Knows
// nothing of the frameworks' keys.
#include "data/inputs/framework.h"
#include "data/inputs/space.h"
#include "data/kinds/schedules.h"
#include "formulate/commands.h"
#include "solve/report/export/export.h"
#include "tests/support/folder.h"
#include "tests/support/problems.h"
#include "tests/support/check.h"

AROUND_ALL(folder_open, folder_close)

enum { BLOCKS = 16 };

static const struct target {
    const char *name;
    enum framework runs;
    enum trainer trainer;
    export_function *export;
    bool model;            // is in the configuration
    const char *leaves[2]; // words of notes of what is left to the model's code
} targets[] = {
    {"megatron", FRAMEWORK_MEGATRON, TRAINER_MEGATRON, report_megatron, true, {"none", "none"}},
    {"nemo", FRAMEWORK_NEMO, TRAINER_MEGATRON, report_nemo, true, {"none", "none"}},
    {"torchtitan",
     FRAMEWORK_TORCHTITAN_0_2,
     TRAINER_TORCHTITAN,
     report_torchtitan,
     false,
     {"the model: ", "share a matrix"}},
    {"deepspeed",
     FRAMEWORK_DEEPSPEED,
     TRAINER_DEEPSPEED,
     report_deepspeed,
     false,
     {"'s code", "script"}}};

// ---- drawing

static bool coin(struct random *r) { return random_chance(r, 50); }
static int power(struct random *r, int most) { return 1 << random_between(r, 0, most); }

static void draw_model(struct model *m, struct random *r, struct arena *arena)
{
    bool latent = random_chance(r, 25), gated = coin(r), bias = coin(r), mixtures = coin(r);
    static const char *const plain[] = {"gelu", "gelu_new", "relu2"};
    *m = (struct model){.name = "drawn", .has_shape = true, .layer_count = BLOCKS + 2};
    m->shape = (struct shape){.hidden = 256,
                              .ffn = 64 * random_between(r, 1, 20),
                              .heads = 8,
                              .kv_heads = latent ? 8 : power(r, 3),
                              .head_width = latent || coin(r) ? 32 : 48,
                              .vocabulary = 128 * random_between(r, 1, 100),
                              .qk_norm = !latent && coin(r) ? QK_NORM_HEAD : QK_NORM_NONE,
                              .positions = !latent && random_chance(r, 20) ? 4096 : 0,
                              .gated_ffn = gated,
                              .rms_norm = coin(r),
                              .qkv_bias = bias || (!latent && coin(r)),
                              .linear_bias = bias,
                              .dropout = coin(r),
                              .tied_embeddings = coin(r),
                              .activation = gated ? "silu" : plain[random_between(r, 0, 2)],
                              .norm_epsilon = coin(r) ? 1e-5 : 1e-6};
    if (!m->shape.positions) {
        m->shape.rotary_base = coin(r) ? 10000 : 500000;
        m->shape.rotary_share = coin(r) ? 0 : 0.5;
    }
    if (latent) {
        m->shape.query_rank = coin(r) ? 0 : 96, m->shape.kv_rank = 64;
        m->shape.rotary_width = 16, m->shape.value_width = 24;
    }
    if (!m->shape.positions && coin(r)) {
        m->shape.rotary_factor = 4;
        m->shape.rotary_scaling.type = "linear";
    }
    static const struct layer_run ends[] = {
        {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
        {.name = "head", .kind = LAYER_HEAD, .count = 1}};
    m->runs = TAKE(arena, 4, struct layer_run);
    m->runs[m->run_count++] = ends[0];
    int dense = mixtures ? (int)random_between(r, 0, BLOCKS - 1) : BLOCKS;
    if (dense)
        m->runs[m->run_count++] = (struct layer_run){
            .name = "dense", .kind = LAYER_BLOCK, .count = dense, .recomputable = true};
    if (mixtures)
        m->runs[m->run_count++] =
            (struct layer_run){.name = "mixture",
                               .kind = LAYER_MOE,
                               .count = BLOCKS - dense,
                               .recomputable = true,
                               .experts = {.experts = 8,
                                           .top_k = random_between(r, 1, 8),
                                           .ffn = 64 * random_between(r, 1, 9),
                                           .shared_ffn = coin(r) ? 0 : 128,
                                           .imbalance = 1}};
    m->runs[m->run_count++] = ends[1];
}

// Each key now and then, so that most plans stay expressed.
static void draw_experts(struct job *j, uint64_t seed)
{
    struct random own = {seed};
    if (random_chance(&own, 50)) return;
    if (random_chance(&own, 15)) j->dispatcher = (enum dispatcher)random_between(&own, 1, 2);
    if (random_chance(&own, 15)) j->graphs = (enum graphs)random_between(&own, 1, 2);
    j->fixed_capacity = random_chance(&own, 25);
    if (random_chance(&own, 25)) j->expert_padding = (double)random_between(&own, 8, 24) / 8;
    if (random_chance(&own, 25))
        j->expert_products = (enum expert_products)random_between(&own, 1, EXPERTS_GROUPED);
    if (j->fixed_capacity && random_chance(&own, 25)) j->expert_padding = 0.625;
}

static void draw_job(struct job *j, const struct target *target, struct random *r)
{
    bool titan = target->trainer == TRAINER_TORCHTITAN, deep = target->trainer == TRAINER_DEEPSPEED;
    *j = (struct job){.name = target->name,
                      .sequence = 1024 * random_between(r, 1, 8),
                      .precision = (enum precision)random_between(r, 0, PRECISION_COUNT - 1),
                      .gradient_bytes_per_value = coin(r) ? 2 : 4,
                      .adam = deep || coin(r),
                      .trainer = target->trainer,
                      .fused_loss = coin(r),
                      .compiled = (titan || deep) && coin(r),
                      .overlapped_messages = titan, // PyTorch's runtime has nothing else
                      .budget = {-1, -1, -1, 0},
                      .memory_fraction = MEMORY_FRACTION_DEFAULT};
    if ((titan || deep) && j->precision > FP8) j->precision = BF16; // their files have no others
    j->gathered_logits = (titan || deep) && coin(r);
    j->whole_gradient_sums = deep && coin(r);
    j->loss_in_place = !titan && !deep && !j->fused_loss && coin(r);
    if (j->adam && r->state % 5 < 2) j->state_bytes_per_value = 1 + (int)(r->state % 16);
    draw_experts(j, r->state + 5);
    if (!titan) j->unfused[UNFUSED_ROTARY] = deep && coin(r), j->unfused[UNFUSED_NORMS] = coin(r);
}

static void draw_layout(struct layout *l, struct random *r)
{
    *l = (struct layout){LAYOUT_PLAIN(power(r, 3)),
                         .tensor = power(r, 2),
                         .context = power(r, 1),
                         .data = power(r, 2),
                         .micro_batch = power(r, 2),
                         .schedule = (int)random_between(r, 0, SCHEDULE_KIND_COUNT - 1),
                         .fused_attention = coin(r),
                         .gradient_sync = coin(r) ? SYNC_OVERLAPPED : SYNC_EXPOSED,
                         .zero = (int)random_between(r, 0, 3),
                         .offload_optimizer = random_chance(r, 20)};
    int of_rank = schedule_kinds[l->schedule].virtual_stages;
    l->virtual_stages = of_rank ? of_rank : 2;
    l->sequence_parallel = l->tensor > 1 && coin(r);
}

// All stages recompute alike, and hold equal numbers of blocks.
static void draw_plan(struct plan *p, struct random *r, const struct target *target, int micro,
                      struct arena *arena)
{
    static const char *names[] = {"a100"}, *gpus[] = {"A100-80"};
    static struct compression_option none[1];
    const struct layout *l = &p->layout;
    enum recompute mode;
    do mode = (enum recompute)random_between(r, 0, RECOMPUTE_COUNT - 1);
    while (!framework_recomputes(target->runs, mode) ||
           (mode == RECOMPUTE_FIRST_LAYERS && layout_stage_count(l) == BLOCKS)); // that is all
    p->name = "drawn", p->iteration_ns = 1000000000, p->bound_ns = 900000000;
    p->micro_batches = micro;
    p->devices_per_stage = (int64_t)l->tensor * l->context * l->data;
    p->group_names = names, p->group_gpus = gpus, p->group_count = 1;
    p->gradient_options = p->boundary_options = none;
    p->gradient_option_count = p->boundary_option_count = 1;
    p->stage_count = layout_stage_count(l);
    p->stages = TAKE(arena, p->stage_count, struct plan_stage);
    for (int s = 0, first = 0; s < p->stage_count; s++) {
        int layers = BLOCKS / p->stage_count + (s == 0) + (s == p->stage_count - 1);
        p->stages[s].first_layer = first, p->stages[s].layer_count = layers;
        p->stages[s].recompute = mode;
        if (mode == RECOMPUTE_FIRST_LAYERS) p->stages[s].recomputed_layers = 1;
        first += layers;
    }
}

// ---- there and back

// Whether every note is of what this framework leaves to the model's code.
static bool expressed(const char *text, const struct target *target)
{
    const char *notes = strstr(text, "ot expressed by this"), *end;
    if (!notes) notes = strstr(text, "not_expressed");
    for (const char *at = strchr(notes, '\n'); at && at[1]; at = end) {
        end = strchr(at + 1, '\n');
        if (!end) break;
        const char *line = arena_print(&own_arena, "%.*s", (int)(end - at), at);
        if (strlen(line) < 10 || strstr(line, "(nothing)")) continue;
        if (!strstr(line, target->leaves[0]) && !strstr(line, target->leaves[1])) return false;
    }
    return true;
}

static void import(const struct target *target, const struct plan *p, const struct model *m,
                   const char *from, const char *job, const char *model, bool by_table,
                   struct arena *arena)
{
    struct error err = {OK, ""};
    int exit_code = 0;
    const char *gpus =
        arena_print(arena, "%lld", (long long)p->devices_per_stage * p->layout.pipeline);
    const char *words[12] = {"import", target->name, from, "--gpus", gpus, "-o"};
    int argc = 6;
    words[argc++] = target->model ? model : job;
    if (target->model) {
        words[argc++] = "--job", words[argc++] = job, words[argc++] = "--vocabulary";
        words[argc++] = arena_print(arena, "%lld", (long long)m->shape.vocabulary);
    }
    if (by_table) words[argc++] = "--schedule", words[argc++] = schedule_names[p->layout.schedule];
    char *argv[ARRAY_LENGTH(words) + 1] = {NULL};
    for (int i = 0; i < argc; i++) argv[i] = arena_copy_text(arena, words[i]);
    CHECK_OK(command_call(&command_import, argc, argv, &exit_code, arena, &err));
}

// How experts get their tokens and multiply them: where the model's code decides it, a padding
// alone may be left.
static void same_experts(const struct target *target, const struct job *was, const struct job *now)
{
    bool titan = was->trainer == TRAINER_TORCHTITAN;
    assert_int_equal(was->dispatcher, now->dispatcher);
    assert_int_equal(was->graphs, now->graphs);
    assert_true(!was->expert_products || (was->expert_products == EXPERTS_GROUPED) == titan);
    assert_int_equal(now->expert_products, EXPERTS_BY_TRAINER);
    if (target->trainer == TRAINER_DEEPSPEED)
        assert_true(was->fixed_capacity || job_expert_padding(was) == 1);
    else assert_int_equal(was->fixed_capacity, now->fixed_capacity);
    if (target->trainer != TRAINER_DEEPSPEED)
        assert_true(job_expert_padding(was) == job_expert_padding(now));
}

static void same_job(const struct job *was, const struct job *now, enum recompute mode)
{
    assert_true(layout_equal(&was->layout, &now->layout));
    assert_int_equal(was->sequence, now->sequence);
    assert_int_equal(was->global_batch, now->global_batch);
    assert_int_equal(was->precision, now->precision);
    assert_int_equal(was->gradient_bytes_per_value, now->gradient_bytes_per_value);
    assert_int_equal(was->adam, now->adam);
    if (was->adam) assert_int_equal(job_state_bytes(was), job_state_bytes(now));
    assert_int_equal(was->trainer, now->trainer);
    assert_int_equal(was->fused_loss, now->fused_loss);
    assert_int_equal(was->loss_in_place, now->loss_in_place);
    assert_int_equal(was->fp8_activation_input, now->fp8_activation_input);
    assert_int_equal(was->compiled, now->compiled);
    if (was->layout.pipeline > 1)
        assert_int_equal(was->overlapped_messages, now->overlapped_messages);
    assert_memory_equal(was->unfused, now->unfused, sizeof was->unfused);
    if (was->layout.tensor > 1) assert_int_equal(was->gathered_logits, now->gathered_logits);
    if (!was->layout.zero && was->gradient_bytes_per_value == 2 && was->precision != FP32)
        assert_int_equal(was->whole_gradient_sums, now->whole_gradient_sums);
    // The module core_attn alone is what selective recomputation is.
    if (!strcmp(recompute_names[mode], "core_attn")) mode = RECOMPUTE_SELECTIVE;
    if (layout_recomputes_alike(&now->layout))
        assert_int_equal(layout_recompute(&now->layout), mode);
    for (int i = 0; i < RECOMPUTE_COUNT; i++)
        assert_int_equal(now->recompute[i], i == RECOMPUTE_NONE || i == (int)mode);
}

static void same_model(const struct model *was, const struct model *now)
{
    const struct shape *a = &was->shape, *b = &now->shape;
    const struct {
        int64_t was, now;
    } counts[] = {{a->hidden, b->hidden},
                  {a->ffn, b->ffn},
                  {a->heads, b->heads},
                  {a->kv_heads, b->kv_heads},
                  {a->head_width, b->head_width},
                  {a->vocabulary, b->vocabulary},
                  {a->query_rank, b->query_rank},
                  {a->kv_rank, b->kv_rank},
                  {a->rotary_width, b->rotary_width},
                  {a->value_width, b->value_width},
                  {a->qk_norm, b->qk_norm},
                  {a->positions, b->positions},
                  {a->vocabulary_multiple, b->vocabulary_multiple},
                  {a->gated_ffn, b->gated_ffn},
                  {a->rms_norm, b->rms_norm},
                  {a->qkv_bias, b->qkv_bias},
                  {a->linear_bias, b->linear_bias},
                  {a->dropout, b->dropout},
                  {a->tied_embeddings, b->tied_embeddings},
                  {was->run_count, now->run_count},
                  {was->layer_count, now->layer_count}};
    const struct {
        double was, now;
    } numbers[] = {{a->norm_epsilon, b->norm_epsilon},
                   {a->rotary_base, b->rotary_base},
                   {a->rotary_share, b->rotary_share},
                   {a->rotary_factor, b->rotary_factor}};
    for (size_t i = 0; i < ARRAY_LENGTH(counts); i++)
        assert_int_equal(counts[i].was, counts[i].now);
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        assert_true(fabs(numbers[i].was - numbers[i].now) <= 1e-6 * numbers[i].was);
    assert_string_equal(a->activation, b->activation);
    for (int i = 0; i < was->run_count; i++) {
        assert_int_equal(was->runs[i].kind, now->runs[i].kind);
        assert_int_equal(was->runs[i].count, now->runs[i].count);
        if (was->runs[i].kind == LAYER_MOE)
            assert_memory_equal(&was->runs[i].experts, &now->runs[i].experts,
                                sizeof was->runs[i].experts);
    }
}

// Returns whether all of the plan was expressed, and has come back.
// A tensor degree of experts, where the framework has one.
static void fold_experts(struct layout *l, const struct target *target, int micro, uint64_t seed)
{
    struct layout folded = *l;
    folded.expert_tensor = l->tensor > 2 && seed % 2 ? l->tensor / 2 : 1;
    struct framework_of of = {BLOCKS + 2, micro, BF16};
    if (l->expert > 1 && l->tensor > 1 && l->sequence_parallel && seed / 2 % 2 &&
        !framework_refusal(target->runs, &folded, &of))
        *l = folded;
}

// Where the framework has one setting for all stages, the layout has it: that of the module
// core_attn alone is selective recomputation.
static void set_recompute(struct plan *plan, const struct target *target)
{
    const struct plan_stage *stage = &plan->stages[0];
    struct layout *l = &plan->layout;
    l->recompute = 0;
    if (!framework_recomputes_alike(target->runs, l)) return;
    bool selective = !strcmp(recompute_names[stage->recompute], "core_attn");
    l->recompute = 1 + (selective ? RECOMPUTE_SELECTIVE : (int)stage->recompute);
    l->recomputed_layers = stage->recomputed_layers;
}

static bool there_and_back(const struct target *target, struct random *r, struct arena *arena)
{
    struct error err = {OK, ""};
    struct problem problem = {.name = "drawn"};
    struct plan plan = {.name = "drawn"};
    struct job job;
    struct model model;
    struct text out;
    text_begin(&out, arena);
    int micro = power(r, 4);
    draw_model(&problem.model, r, arena);
    draw_job(&problem.job, target, r);
    struct framework_of of = {BLOCKS + 2, micro, problem.job.precision};
    do draw_layout(&plan.layout, r), plan.layout.recompute = 1 + RECOMPUTE_NONE;
    while (framework_refusal(target->runs, &plan.layout, &of) ||
           (plan.layout.zero && plan.layout.data * plan.layout.context == 1) || // the same as 0
           micro % layout_micro_batch_unit(&plan.layout) ||
           BLOCKS % layout_stage_count(&plan.layout));
    // Fused attention is of 16 bits, but for PyTorch's memory-efficient one.
    plan.layout.fused_attention &= problem.job.precision != FP32 ||
                                   target->runs == FRAMEWORK_DEEPSPEED;
    if (problem.model.runs[problem.model.run_count - 2].kind == LAYER_MOE && coin(r))
        plan.layout.expert = plan.layout.data;
    fold_experts(&plan.layout, target, micro, r->state);
    draw_plan(&plan, r, target, micro, arena);
    set_recompute(&plan, target);
    problem.job.layout = plan.layout;
    problem.job.global_batch = (int64_t)micro * plan.layout.data * plan.layout.micro_batch;
    CHECK_OK(target->export(&out, &plan, &problem, &err));
    const char *file = arena_print(arena, "%s/%s", own_folder, target->name);
    CHECK_OK(file_write(file, out.text, out.length, &err));
    const char *job_path = arena_print(arena, "%s/job.json", own_folder),
               *model_path = arena_print(arena, "%s/model.json", own_folder);
    import(target, &plan, &problem.model, file, job_path, model_path,
           strstr(out.text, "schedule.csv"), arena);
    CHECK_OK(job_load(&job, job_path, arena, &err));
    assert_int_equal(job.layout.tensor, plan.layout.tensor);
    assert_int_equal(job.layout.pipeline, plan.layout.pipeline);
    if (!expressed(out.text, target)) return false;
    same_job(&problem.job, &job, plan.stages[0].recompute);
    if (problem.model.runs[problem.model.run_count - 2].kind == LAYER_MOE)
        same_experts(target, &problem.job, &job);
    if (target->model) CHECK_OK(model_load(&model, model_path, arena, &err));
    if (target->model) same_model(&problem.model, &model);
    return true;
}

TEST(test_there_and_back)
{
    struct random r = {17};
    for (size_t k = 0; k < ARRAY_LENGTH(targets); k++) {
        int all = 0;
        struct arena_mark mark = arena_set_mark(arena);
        for (int round = 0; round < 500; round++, arena_reset(arena, mark))
            all += there_and_back(&targets[k], &r, arena);
        print_message("%s: %d of 500 plans are expressed\n", targets[k].name, all);
        assert_true(all > 10);
    }
}
