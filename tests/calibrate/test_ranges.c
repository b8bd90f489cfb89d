// Ranges of predicted times: what a row leaves open, what published runs show, what errs apart.
#include <math.h>
#include <string.h>

#include "data/inputs/cost_keys.h"
#include "tests/support/check.h"
#include "tests/support/check/predicted.h"
#include "tests/support/problems.h"

// Stating what was taken changes neither time nor memory; stating what was open gives the time that
// was told, and lies within the range.
TEST(what_is_open_is_inside_the_range)
{
    static const char *const others[] = {"overlap_tensor=0", "gradient_bytes=2"};
    static const enum trait traits[] = {TRAIT_OVERLAP_TENSOR, TRAIT_GRADIENT_BYTES},
                            known[] = {TRAIT_ZERO, TRAIT_ATTENTION, TRAIT_OVERLAP_MESSAGES};
    struct prediction plain, stated;
    predict_words(&plain, RUN, "", arena);
    predict_words(&stated, RUN,
                  "precision=bf16,flash=te-2024,sp=1,zero=1,recompute=none,gradient_bytes=4,"
                  "overlap=1,overlap_messages=1,overlap_tensor=1,overlap_input_gradients=1,"
                  "gated=1,rms_norm=1,tied=0,"
                  "dropout=0,bias=0,"
                  "positions=0",
                  arena);
    assert_int_equal(plain.iteration_ns, stated.iteration_ns);
    assert_int_equal(plain.device_bytes, stated.device_bytes);
    assert_true(plain.low_ns <= stated.low_ns && plain.high_ns > stated.high_ns);
    assert_string_equal(prediction_assumed(&stated, arena), "");
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        struct prediction other;
        const struct assumption *a = &plain.assumptions[traits[i]];
        predict_words(&other, RUN, others[i], arena);
        assert_true(plain.low_ns <= other.iteration_ns && other.iteration_ns <= plain.high_ns);
        assert_true(a->low_ns <= other.iteration_ns && other.iteration_ns <= a->high_ns);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        assert_int_equal(plain.assumptions[known[i]].taken.open, 0);
    predict_words(&plain, SPLIT_RUN "A100-80GB", "", arena);
    for (size_t i = 0; i < 2; i++) assert_int_not_equal(plain.assumptions[known[i]].taken.open, 0);
}

enum { WORDS_ROOM = 320 };

// The words of some run of some program.
static void random_words(struct random *rng, char words[WORDS_ROOM])
{
    static const char *const gpus[] = {"A100-80GB", "H100-80GB", "B200", "GB200"},
                             *const versions[] = {"2023-05", "2024-02", "2025-03"};
    static const int hidden[] = {2048, 4096, 8192};
    int h = hidden[random_between(rng, 0, 2)], tensor = 1 << random_between(rng, 0, 3),
        stages = 1 << random_between(rng, 0, 2), replicas = 1 << random_between(rng, 0, 4);
    snprintf(words, WORDS_ROOM,
             "gpu=%s,num_gpus=%d,layers=32,hidden=%d,ffn=%d,heads=%d,kv_heads=8,vocab=128256,"
             "seq=4096,tp=%d,pp=%d,vpp=%d,micro_batch=1,global_batch=%d,framework=%s,version=%s",
             gpus[random_between(rng, 0, 3)], tensor * stages * replicas, h, 4 * h, h / 128, tensor,
             stages, stages > 1 && random_chance(rng, 50) ? 2 : 1,
             replicas * stages * (int)random_between(rng, 1, 8),
             program_names[random_between(rng, 1, PROGRAM_COUNT - 1)],
             versions[random_between(rng, 0, 2)]);
}

static bool holds(const struct prediction *x, int64_t ns)
{
    return x->low_ns <= ns && ns <= x->high_ns;
}

// Whether everything else is as open in both.
static bool open_alike(const struct prediction *x, const struct prediction *y, int but)
{
    for (int i = 0; i < TRAIT_COUNT; i++)
        if (i != but && (x->assumptions[i].low_ns != y->assumptions[i].low_ns ||
                         x->assumptions[i].high_ns != y->assumptions[i].high_ns))
            return false;
    return true;
}

// Whether what fits decided otherwise, which no alternative by itself is tried for.
static bool by_memory_otherwise(const struct prediction *x, const struct prediction *y)
{
    for (int i = 0; i < TRAIT_COUNT; i++)
        if (x->assumptions[i].taken.by_memory &&
            x->assumptions[i].taken.value != y->assumptions[i].taken.value)
            return true;
    return false;
}

// Ranges hold their times, and the same words have the same range. Stated as it was taken, a value
// leaves one cause less: its range is inside the one before, but for values on which depends what
// else may be (unfused attention is code of a time without sharding). Stated otherwise, its time
// was inside, but for those and for what memory then makes of a run.
TEST(stating_what_was_open_never_widens)
{
    struct random rng = {38};
    int narrower = 0, dependent = 0, others = 0, outside = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 100; trial++, arena_reset(arena, mark)) {
        struct prediction x, again, stated;
        char words[WORDS_ROOM], word[64];
        random_words(&rng, words);
        if (!try_words(&x, words, "", arena) || !try_words(&again, words, "", arena)) continue;
        assert_true(holds(&x, x.iteration_ns));
        assert_true(x.low_ns == again.low_ns && x.high_ns == again.high_ns);
        for (int i = 0; i < TRAIT_COUNT; i++) {
            const struct assumption *a = &x.assumptions[i];
            for (int value = 0; a->low_ns && value < 8; value++) {
                bool taken = value == a->taken.value;
                if (!taken && !(a->taken.open >> value & 1)) continue;
                snprintf(word, sizeof word, "%s=%s", trait_columns[i],
                         trait_value_text((enum trait)i, value));
                if (!try_words(&stated, words, word, arena)) continue;
                assert_true(holds(&stated, stated.iteration_ns));
                others += !taken, outside += !holds(&x, stated.iteration_ns);
                assert_true(holds(&x, stated.iteration_ns) || by_memory_otherwise(&x, &stated));
                if (!taken) continue;
                assert_int_equal(stated.iteration_ns, x.iteration_ns);
                bool inside = stated.low_ns >= x.low_ns && stated.high_ns <= x.high_ns;
                assert_true(inside || !open_alike(&x, &stated, i));
                narrower += stated.low_ns > x.low_ns || stated.high_ns < x.high_ns;
                dependent += !inside;
            }
        }
    }
    print_message("%d ranges narrower, %d not by what depends on it; %d of %d others outside\n",
                  narrower, dependent, outside, others);
    assert_true(narrower > 80 && dependent < narrower / 50 && others > 80 && outside < others / 10);
}

// Unfused attention stays open for DeepSpeed's runs, but where no card holds its scores: with
// everything recomputed, if nobody states what is; what does not fit anyway says nothing.
TEST(attention_that_fits_no_card_is_no_case)
{
    static const char run[] = "gpu=A100-80GB,num_gpus=8,layers=32,hidden=4096,ffn=11008,heads=32,"
                              "kv_heads=32,vocab=32000,zero=3,micro_batch=1,global_batch=8,"
                              "gated=1,framework=DeepSpeed,version=2024-06";
    static const struct {
        const char *words;
        bool open;
    } cases[] = {{"seq=2048,recompute=none", true},
                 {"seq=32768,recompute=full", false},
                 {"seq=8192,recompute=full", true},
                 {"seq=8192,recompute=none", false},
                 {"seq=8192", true},
                 {"seq=1048576,recompute=none", true}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct prediction x, unfused;
        predict_words(&x, run, cases[i].words, arena);
        const struct assumption *a = &x.assumptions[TRAIT_ATTENTION];
        assert_true(a->taken.open >> UNFUSED_ATTENTION & 1);
        assert_true((a->high_ns > 0) == cases[i].open);
        char words[128];
        snprintf(words, sizeof words, "%s,flash=unfused", cases[i].words);
        predict_words(&unfused, run, words, arena);
        assert_true(cases[i].open || (double)unfused.device_bytes > 1.15 * 85e9);
    }
}

// What a program's own published runs show bounds what its costs leave open; graphs leave nothing
// of the host. A program of which nothing is published, a mixture, another GPU: as the costs say.
TEST(ranges_of_known_programs_are_what_their_runs_show)
{
    static const struct {
        const char *words;
        double off; // 0: more than any
    } cases[] = {
        {"framework=nemo,version=25.04,precision=bf16", 0.054},
        {"framework=nemo,version=24.07,precision=bf16,overlap_tensor=1,gradient_bytes=2", 0.103},
        {"framework=megatron-bridge,version=25.09,precision=bf16", 0.093},
        {"framework=my own,overlap=1,zero=1,sp=1,recompute=none,flash=te", 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct prediction x;
        predict_words(&x, RUN, cases[i].words, arena);
        double fast = log((double)x.iteration_ns / (double)x.low_ns),
               slow = log((double)x.high_ns / (double)x.iteration_ns);
        bool shown = fast >= cases[i].off && slow >= cases[i].off && fast < cases[i].off + 0.004 &&
                     slow < cases[i].off + 0.006;
        assert_true(shown == (cases[i].off > 0));
        assert_true(cases[i].off > 0 || slow >= 0.1);
    }
}

static void close_interval(struct estimate *e, const struct cost_key *key, void *context)
{
    const unsigned *kept = context;
    if (!(*kept >> key->group & 1)) e->low = e->high = e->value;
}

// The logarithm of the slow end over the time, by the doubts of these groups of costs alone.
static double slow_by(unsigned groups, const char *words, struct arena *arena)
{
    struct predictor *p;
    struct prediction x;
    predict_open(&p, arena);
    for (int key = 0; key < cost_key_count; key++)
        costs_visit(predictor_costs(p), key, NULL, 0, close_interval, &groups);
    predictor_costs(p)->iteration_spread = (struct estimate){0};
    predictor_costs_changed(p);
    assert_true(predict_try(p, &x, words, "", arena));
    return log((double)x.high_ns / (double)x.iteration_ns);
}

// What a network's protocol reaches and what a fabric leaves of it over many nodes err by
// themselves: squares add. Within a node there is neither.
TEST(fabrics_err_apart_from_networks)
{
    static const char *const words[] = {
        "gpu=A100-80GB,num_gpus=1024,layers=32,hidden=4096,ffn=11008,heads=32,kv_heads=32,"
        "vocab=32000,seq=2048,tp=1,pp=1,micro_batch=1,global_batch=1024,zero=1,overlap=0,"
        "recompute=none,flash=flash,sp=0,gradient_bytes=2,framework=my own,version=2024-01",
        "gpu=A100-80GB,num_gpus=8,layers=32,hidden=4096,ffn=11008,heads=32,kv_heads=32,"
        "vocab=32000,seq=2048,tp=1,pp=1,micro_batch=1,global_batch=8,zero=1,overlap=0,"
        "recompute=none,flash=flash,sp=0,gradient_bytes=2,framework=my own,version=2024-01"};
    unsigned network = 1U << COSTS_OF_NETWORK, fabric = 1U << COSTS_OF_FABRIC;
    double by_network = slow_by(network, words[0], arena),
           by_fabric = slow_by(fabric, words[0], arena);
    assert_true(by_network > 0.01 && by_fabric > 0.1);
    double both = slow_by(network | fabric, words[0], arena);
    assert_true(fabs(both - hypot(by_network, by_fabric)) < 1e-6);
    assert_true(slow_by(network | fabric, words[1], arena) == 0);
}

// A mixture's too, launches with them, as hosts were at work in those runs; in nodes more is open,
// and more than the costs say where no runs of the program's mixtures are known, or none of layers
// of states.
TEST(mixtures_on_wide_links_are_as_near_as_their_runs_show)
{
    static const char *const gpus[] = {"gpu=GB200", "gpu=B200"};
    double fast[2];
    for (int i = 0; i < 2; i++) {
        struct prediction x;
        predict_words(&x, gpus[i],
                      "num_gpus=64,model=qwen3-30b-a3b,seq=4096,tp=1,pp=1,ep=8,micro_batch=4,"
                      "global_batch=1024,precision=mxfp8,framework=megatron-bridge,version=26.06",
                      arena);
        fast[i] = log((double)x.iteration_ns / (double)x.low_ns);
    }
    assert_true(fabs(fast[0] - 0.086) < 1e-6 && fabs(fast[1] - 0.16) < 1e-6);
    static const char *const others[] = {
        "model=qwen3-30b-a3b,framework=my own",
        "model=nemotron-3-nano-30b-a3b,framework=megatron-bridge,version=26.06"};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        struct prediction x;
        predict_words(&x,
                      "gpu=GB200,num_gpus=64,seq=4096,tp=1,pp=1,ep=8,micro_batch=4,"
                      "global_batch=1024,precision=bf16",
                      others[i], arena);
        double low = log((double)x.iteration_ns / (double)x.low_ns),
               high = log((double)x.high_ns / (double)x.iteration_ns);
        assert_true(low > 0.205 && low < 0.35 && high > 0.205);
    }
}

// What widens a range most is named, and alone gives no more than all together; of what is open the
// widest is told first.
TEST(the_widest_doubt_is_named_first)
{
    struct random rng = {381};
    struct arena_mark mark = arena_set_mark(arena);
    int names[4] = {0}, orders = 0;
    for (int trial = 0; trial < 60; trial++, arena_reset(arena, mark)) {
        struct prediction x;
        char words[WORDS_ROOM];
        random_words(&rng, words);
        if (!try_words(&x, words, "", arena)) continue;
        assert_true(x.iteration_ns < x.widest_ns && x.widest_ns <= x.high_ns);
        // The largest of a sum of at most twelve squares is a twelfth at least.
        assert_true(log((double)x.widest_ns / (double)x.iteration_ns) * sqrt(12) >=
                    log((double)x.high_ns / (double)x.iteration_ns));
        names[!strcmp(x.widest, "trainer")         ? 0
              : !strcmp(x.widest, "launches")      ? 1
              : strstr(x.widest, "published runs") ? 2
                                                   : 3]++;
        double widest = 0;
        const struct assumption *first = NULL;
        for (int i = 0; i < TRAIT_COUNT; i++)
            if (x.assumptions[i].taken.assumed && *x.assumptions[i].taken.why &&
                assumption_width(&x.assumptions[i]) > widest)
                first = &x.assumptions[i], widest = assumption_width(first);
        if (!first) continue;
        const char *column = trait_columns[first - x.assumptions];
        assert_true(!strncmp(prediction_assumed(&x, arena), column, strlen(column)));
        orders++;
    }
    assert_true(names[0] > 3 && names[1] > 3 && names[2] > 3 && orders > 20);
}

// A run that does more takes longer at its fast end, as it is priced and at its slow end. (Of a
// pipeline a wider layer or more words change which stage has how many layers.)
TEST(more_work_moves_both_ends_up)
{
    static const char *const more[] = {"layers", "global_batch", "seq", "vocab", "ffn"};
    struct random rng = {382};
    struct arena_mark mark = arena_set_mark(arena);
    int pairs = 0;
    for (int trial = 0; trial < 100; trial++, arena_reset(arena, mark)) {
        struct prediction less;
        char words[WORDS_ROOM];
        random_words(&rng, words);
        if (!try_words(&less, words, "gated=1", arena)) continue;
        for (size_t i = 0; i < (strstr(words, ",pp=1,") ? ARRAY_LENGTH(more) : 3); i++) {
            struct prediction x;
            char name[32], other[WORDS_ROOM + 32];
            snprintf(name, sizeof name, ",%s=", more[i]);
            char *at = strstr(words, name), *end;
            long value = strtol(at + strlen(name), &end, 10);
            snprintf(other, sizeof other, "%.*s%s%ld%s", (int)(at - words), words, name, 2 * value,
                     end);
            if (!try_words(&x, other, "gated=1", arena)) continue;
            assert_true(x.low_ns >= less.low_ns && x.iteration_ns >= less.iteration_ns &&
                        x.high_ns >= less.high_ns);
            pairs++;
        }
    }
    print_message("%d pairs\n", pairs);
    assert_true(pairs > 200);
}

#define SMALL_RUN                                                                                  \
    "gpu=A100-80GB,num_gpus=8,layers=24,hidden=1024,ffn=4096,heads=16,kv_heads=16,vocab=50257,"    \
    "seq=1024,tp=2,global_batch=32,precision=bf16,flash=unfused,sp=0,zero=0,recompute=full,"       \
    "gradient_bytes=2,overlap=0,gated=0,rms_norm=0,tied=1,dropout=1,bias=1,positions=1"

// Where the host decides, the program whose operations are known leaves less open, as much at
// either end; within a node Megatron's runs are as near as recipes' are.
TEST(hosts_of_known_programs_leave_less_open)
{
    static const char *const known[] = {"framework=megatron-deepspeed", "framework=megatron"},
                             *other = "framework=deepspeed";
    struct prediction x, y;
    predict_words(&x, SMALL_RUN, known[0], arena);
    predict_words(&y, SMALL_RUN, other, arena);
    assert_int_equal(x.iteration_ns, y.iteration_ns);
    assert_true(x.low_ns > y.low_ns && x.high_ns < y.high_ns);
    assert_true(x.low_ns < x.iteration_ns && x.iteration_ns < x.high_ns);
    predict_words(&x, SMALL_RUN ",graphs=step", known[1], arena);
    double fast = log((double)x.iteration_ns / (double)x.low_ns),
           slow = log((double)x.high_ns / (double)x.iteration_ns);
    assert_true(fast < 0.102 && slow < 0.02 + hypot(0.101, log1p(25e6 / (double)x.iteration_ns)));
}

// Runs of seconds show nothing of what is done once an iteration: 25 ms of it are inside, however
// short the iteration, and no longer one has a wider slow end.
TEST(short_iterations_have_a_slow_end_for_what_is_done_once)
{
    int64_t last_ns = 0;
    double last = 1e9;
    for (int batch = 1; batch <= 64; batch *= 4) {
        char words[256];
        struct prediction x;
        snprintf(words, sizeof words,
                 "global_batch=%d,graphs=step,framework=mlperf,version=25.09,precision=fp8",
                 8 * batch);
        predict_words(&x, SHORT_RUN, words, arena);
        double fast = log((double)x.iteration_ns / (double)x.low_ns),
               slow = log((double)x.high_ns / (double)x.iteration_ns),
               once = log1p(25e6 / (double)x.iteration_ns);
        assert_true(x.iteration_ns > last_ns && slow < last);
        assert_true(fast < 0.109 && slow > once && slow > fast && slow < hypot(0.114, once));
        last_ns = x.iteration_ns, last = slow;
    }
}
