// What trainers keep, against a tape: a layer is written down as its operations run one after the
// other, each with the tensors that its backward pass reads, and every tensor counts once. Nothing
// here knows the formulas' terms.
#include "tests/support/check.h"
#include "tests/support/price_bench.h"

#include <string.h>

struct tape {
    const char *names[32];
    int64_t bytes[32];
    int count;
};

static void save(struct tape *t, const char *name, int64_t values, int64_t bytes_each)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->names[i], name)) return;
    t->names[t->count] = name;
    t->bytes[t->count++] = values * bytes_each;
}

static int64_t total(const struct tape *t)
{
    int64_t sum = 0;
    for (int i = 0; i < t->count; i++) sum += t->bytes[i];
    return sum;
}

// A Llama block on one of t tensor ranks, fused attention. `whole`: what is gathered for a product
// is saved by it, and not gathered again. `fused`: gate and activation are one function, which
// saves what it reads in so many bytes a value.
static int64_t block_on_tape(const struct shape *s, int64_t tokens, int64_t t, bool scattered,
                             bool whole, bool fused, int64_t saved)
{
    struct tape tape = {.count = 0};
    int64_t here = scattered ? tokens / t : tokens, read = whole ? tokens : here,
            q = s->heads * s->head_width / t, kv = s->kv_heads * s->head_width / t, f = s->ffn / t;
    save(&tape, "state", here * s->hidden, 2);  // read by the first norm
    save(&tape, "normed", read * s->hidden, 2); // read by the queries' product
    save(&tape, "queries", tokens * q, 2);      // read by attention
    save(&tape, "keys", tokens * kv, 2);
    save(&tape, "values", tokens * kv, 2);
    save(&tape, "attended", tokens * q, 2); // attention's own, and its product's
    save(&tape, "attended", tokens * q, 2);
    save(&tape, "added", here * s->hidden, 2);           // read by the second norm
    save(&tape, "normed again", read * s->hidden, 2);    // read by gate and up
    save(&tape, "gate", tokens * f, saved);              // read by the activation
    if (!fused) save(&tape, "activated", tokens * f, 2); // read by the multiplication
    save(&tape, "up", tokens * f, saved);
    save(&tape, "product", tokens * f, 2); // read by the last product
    return total(&tape);
}

TEST(blocks_keep_what_their_operations_read)
{
    const struct {
        enum trainer trainer;
        bool scattered, gathered_inputs, unfused;
        bool whole, fused; // on the tape
        bool narrow;
    } cases[] = {
        {TRAINER_MEGATRON, false, false, false, false, true, true},
        {TRAINER_MEGATRON, true, false, false, false, true, true},
        {TRAINER_MEGATRON, false, false, false, false, true},
        {TRAINER_MEGATRON, true, false, false, false, true},
        {TRAINER_MEGATRON, true, false, true, false, false},
        {TRAINER_DEEPSPEED, false, false, false, false, false},
        {TRAINER_OTHER, true, false, false, false, false},
        {TRAINER_OTHER, true, true, false, true, false},
        {TRAINER_TORCHTITAN, false, false, false, false, false},
        {TRAINER_TORCHTITAN, true, false, false, true, false},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        for (int tensor = 1; tensor <= 4; tensor *= 2) {
            struct bench *b = bench_gated();
            struct job *j = &b->problem.job;
            j->layout.fused_attention = true, j->compiled = true;
            j->trainer = cases[i].trainer, j->gathered_inputs = cases[i].gathered_inputs;
            j->unfused[UNFUSED_ACTIVATION] = cases[i].unfused;
            j->fp8_activation_input = cases[i].narrow;
            j->layout.tensor = tensor, j->layout.sequence_parallel = cases[i].scattered;
            int64_t tokens = j->sequence * j->layout.micro_batch;
            assert_int_equal(block_of(b).stash_bytes[RECOMPUTE_NONE],
                             block_on_tape(&b->problem.model.shape, tokens, tensor,
                                           cases[i].scattered, cases[i].whole, cases[i].fused,
                                           cases[i].narrow ? 1 : 2));
        }
}

// A loss in chunks: twice the words are twice the gradient of the matrix, and nothing more; as many
// tokens as one likes never take a logit each.
TEST(chunked_losses_hold_no_logits)
{
    for (int tensor = 1; tensor <= 2; tensor++)
        for (int trainer = TRAINER_MEGATRON; trainer <= TRAINER_OTHER; trainer++) {
            struct bench *b = bench_gated();
            struct job *j = &b->problem.job;
            struct shape *s = &b->problem.model.shape;
            j->layout.tensor = tensor, j->trainer = (enum trainer)trainer;
            int64_t held = price(b)->runs[HEAD].working_bytes[0], once, matrix;
            j->chunked_loss = true;
            once = price(b)->runs[HEAD].working_bytes[0];
            assert_true(once < held);
            matrix = 2 * s->vocabulary * s->hidden / tensor;
            s->vocabulary *= 2;
            assert_int_equal(price(b)->runs[HEAD].working_bytes[0], once + matrix);
            s->vocabulary /= 2, j->sequence *= 2; // states, their gradients, and one chunk of each
            int64_t twice = price(b)->runs[HEAD].working_bytes[0];
            assert_int_equal(twice - once, once - matrix);
            assert_true(twice - once < 10 * j->sequence / 2 * j->layout.micro_batch * s->hidden);
        }
}

static int64_t ns_of(const struct bench *b, int64_t bytes, double rate)
{
    (void)b;
    return (int64_t)((double)bytes / rate * 1e9 + 0.5);
}

// What full recomputation starts from: one state for each layer and token. In parts it is divided
// by the tensor ranks, unless their tokens are divided already, and comes from the others before it
// is used; on the host nothing waits, one state leaves and one comes meanwhile, and it takes its
// way twice, unseen where Megatron's is quicker than the layer. Nothing else changes.
TEST(checkpoints_are_parted_or_away)
{
    for (int tensor = 1; tensor <= 4; tensor *= 2)
        for (int scattered = 0; scattered <= (tensor > 1); scattered++)
            for (int trainer = TRAINER_MEGATRON; trainer <= TRAINER_OTHER; trainer++) {
                struct bench *b = bench_gated();
                struct job *j = &b->problem.job;
                j->recompute[RECOMPUTE_FULL] = true, j->trainer = (enum trainer)trainer;
                j->layout.tensor = tensor, j->layout.sequence_parallel = scattered;
                int64_t state = 2 * j->sequence * j->layout.micro_batch *
                                b->problem.model.shape.hidden / (scattered ? tensor : 1);
                struct priced_run here = block_of(b), x;
                int64_t again = here.again_ns[RECOMPUTE_FULL][0];
                assert_int_equal(here.stash_bytes[RECOMPUTE_FULL], state);
                j->checkpoints = CHECKPOINTS_PARTITIONED, x = block_of(b);
                assert_int_equal(x.stash_bytes[RECOMPUTE_FULL], scattered ? state : state / tensor);
                assert_true(scattered || tensor == 1 ? x.again_ns[RECOMPUTE_FULL][0] == again
                                                     : x.again_ns[RECOMPUTE_FULL][0] > again);
                assert_int_equal(x.working_bytes[RECOMPUTE_FULL],
                                 here.working_bytes[RECOMPUTE_FULL]);
                for (double rate = 1e6; rate < 1e14; rate *= 1e7) {
                    j->checkpoints = CHECKPOINTS_HOST;
                    b->gpus[0].host_link_bytes_per_s = exactly(rate), x = block_of(b);
                    assert_int_equal(x.stash_bytes[RECOMPUTE_FULL], 0);
                    assert_int_equal(x.working_bytes[RECOMPUTE_FULL],
                                     here.working_bytes[RECOMPUTE_FULL] + 2 * state);
                    int64_t way = ns_of(b, state, rate), hidden = again < way ? again : way,
                            more = 2 * (way - (trainer == TRAINER_MEGATRON ? hidden : 0));
                    if (llabs(x.again_ns[RECOMPUTE_FULL][0] - again - more) > 2)
                        fail_msg("%lld more, not %lld",
                                 (long long)(x.again_ns[RECOMPUTE_FULL][0] - again),
                                 (long long)more);
                    assert_int_equal(x.stash_bytes[RECOMPUTE_NONE],
                                     here.stash_bytes[RECOMPUTE_NONE]);
                    assert_int_equal(x.forward_ns[0], here.forward_ns[0]);
                }
            }
}

// The life of a parameter's gradient in a trainer with sums in fp32: made in 16 bits, copied into a
// bucket where replicas are to be sent whole gradients, added to the sum.
TEST(gradients_of_other_trainers_are_kept_twice)
{
    const double values = 15730688; // a block of bench_gated
    for (int zero = 0; zero < 2; zero++)
        for (int data = 1; data <= 4; data *= 2)
            for (int bytes = 2; bytes <= 4; bytes += 2) {
                struct bench *b = bench_gated();
                b->problem.job.layout.data = data, b->problem.job.layout.zero = zero;
                b->problem.job.layout.pipeline = 1, b->problem.job.global_batch = 64;
                b->problem.job.gradient_bytes_per_value = bytes;
                int64_t plain = block_of(b).gradient_bytes;
                b->problem.job.trainer = TRAINER_OTHER;
                double made = bytes == 4 ? 2 : 0, bucket = bytes == 4 && data > 1 && !zero ? 2 : 0;
                assert_int_equal(block_of(b).gradient_bytes,
                                 plain + (int64_t)((made + bucket) * values));
                b->problem.job.precision = FP32; // the gradient is the sum
                b->problem.job.gradient_bytes_per_value = 4;
                assert_int_equal(block_of(b).gradient_bytes, (int64_t)(4 * values));
            }
}

// PyTorch's last stage appends each micro-batch's output to a list, which is handed back.
TEST(returned_logits_pile_up)
{
    for (int pipeline = 1; pipeline <= 4; pipeline *= 2)
        for (int64_t batch = 16; batch <= 64; batch *= 2)
            for (int tensor = 1; tensor <= 2; tensor++) {
                struct bench *b = bench_gated();
                struct job *j = &b->problem.job;
                j->trainer = TRAINER_TORCHTITAN, j->layout.tensor = tensor;
                j->layout.pipeline = pipeline, j->global_batch = batch;
                int64_t before = price(b)->runs[HEAD].working_bytes[0], listed = 0;
                assert_int_equal(b->priced.runs[HEAD].unsharded_bytes, 0);
                j->kept_logits = true;
                for (int64_t done = 0; done < batch / j->layout.data; done += j->layout.micro_batch)
                    listed += 2 * j->layout.micro_batch * j->sequence *
                              (b->problem.model.shape.vocabulary / tensor);
                assert_int_equal(price(b)->runs[HEAD].unsharded_bytes, pipeline > 1 ? listed : 0);
                assert_int_equal(b->priced.runs[HEAD].working_bytes[0], before);
                assert_int_equal(b->priced.runs[BLOCK].unsharded_bytes, 0);
            }
}

// Mixtral 8x7B with rank 16 on what its attention multiplies by: 13,631,488 values, as adapter
// tools print for Mistral 7B, whose attention it has. Experts are not trained, and gradients pass
// through them.
TEST(adapters_of_a_mixture)
{
    struct bench *b = bench_gated();
    b->problem.model.shape = (struct shape){.hidden = 4096,
                                            .ffn = 14336,
                                            .heads = 32,
                                            .kv_heads = 8,
                                            .head_width = 128,
                                            .vocabulary = 32000,
                                            .gated_ffn = true,
                                            .rms_norm = true};
    struct layer_run *mixture = &b->runs[BLOCK];
    mixture->kind = LAYER_MOE, mixture->count = 32, b->problem.model.layer_count = 34;
    mixture->experts = (struct expert_shape){.experts = 8, .top_k = 2, .ffn = 14336};
    b->problem.job.gradient_bytes_per_value = 4;
    struct priced_run trained = block_of(b);
    int64_t n = b->problem.job.sequence * b->problem.job.layout.micro_batch;
    for (int i = 0; i < 3; i++) b->runs[i].frozen = true;
    assert_int_equal(block_of(b).backward_ns[0] + block_of(b).stash_bytes[0], 0);
    bool *on = mixture->adapter_modules;
    mixture->adapter_rank = 16, on[ADAPTER_QUERY] = on[ADAPTER_KEY] = true;
    on[ADAPTER_VALUE] = on[ADAPTER_OUTPUT] = true;
    struct priced_run adapted = block_of(b);
    assert_int_equal(32 * adapted.gradient_bytes, 4LL * 13631488);
    assert_int_equal(adapted.weight_bytes, trained.weight_bytes + 2 * 13631488 / 32);
    assert_int_equal(adapted.stash_bytes[0], trained.stash_bytes[0] + 2 * n * 4 * 16);
    assert_true(adapted.backward_ns[0] > adapted.forward_ns[0] * 9 / 10);
    assert_true(adapted.backward_ns[0] < trained.backward_ns[0] * 7 / 10);
    // Rings of adapters alone: an all-reduce over both replicas, none of experts.
    b->problem.job.layout.data = b->problem.job.layout.expert = 2;
    int64_t with = block_of(b).gradient_bytes;
    assert_int_equal(32 * with, 4LL * 13631488); // the same on each expert rank
    on[ADAPTER_DOWN] = true;
    assert_int_equal(model_check(&b->problem.model, &err), BAD_INPUT);
    assert_non_null(strstr(err.text, "products of its attention alone"));
}

// PyTorch's stages leave weights as a backward pass found them, a forward pass frees them. Whatever
// the order of a stage's passes, it gathers once more than it has micro-batches, and scatters once.
TEST(stages_of_fsdp2_gather_between_passes)
{
    // Over 4 ranks at 100e9 B/s, with 3 steps of 1 us.
    const int64_t gather = 238960, scatter = 235960;
    for (int count = 1; count <= 16; count *= 2)
        for (int ahead = 1; ahead <= count; ahead++) {
            int gathers = 0, forward = 0, back = 0;
            for (bool whole = false; back < count;) {
                bool goes_back = forward == count || forward - back == ahead;
                gathers += !whole, whole = goes_back;
                ++*(goes_back ? &back : &forward);
            }
            struct bench *b = bench_gated();
            struct layout *l = &b->problem.job.layout;
            l->data = 4, l->pipeline = 2, l->zero = 2, l->micro_batch = 2;
            b->problem.job.global_batch = 4 * 2 * count;
            b->problem.job.trainer = TRAINER_TORCHTITAN, b->problem.job.compiled = true;
            struct priced_run two = block_of(b);
            assert_true(llabs(two.sync_ns[0][0] - 2 * scatter) <= 1);
            assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 6000);
            l->zero = 3;
            struct priced_run three = block_of(b);
            int64_t more = three.forward_ns[0] - two.forward_ns[0] + three.backward_ns[0] -
                           two.backward_ns[0];
            assert_true(llabs(count * more - gathers * gather) <= 2 * count);
            assert_true(llabs(three.sync_ns[0][0] - scatter) <= 1);
            assert_int_equal(b->priced.groups[0].sync_constant_ns[0], 3000);
        }
}
