// Loading, saving and damaging documents of any format.
#include "tests/support/documents.h"

#include <string.h>

#include "data/import/hf/config.h"
#include "data/results/plan.h"
#include "data/inputs/problem.h"
#include "data/numbers/samples.h"

const char *const format_names[] = {"model",  "cluster", "costs",   "job",    "problem",
                                    "priced", "plan",    "samples", "config", NULL};

#define LOAD_AND_SAVE(noun)                                                                        \
    do {                                                                                           \
        struct noun value;                                                                         \
        TRY(noun##_load(&value, path, arena, err));                                                \
        return again ? noun##_save(&value, again, arena, err) : OK;                                \
    } while (0)

static enum status import_config(const char *path, const char *again, struct arena *arena,
                                 struct error *err)
{
    struct model model;
    struct said said = {.arena = arena};
    TRY(model_import_hf(&model, path, NULL, -1, again ? again : path, &said, arena, err));
    return again ? model_save(&model, again, arena, err) : OK;
}

enum status format_load(enum format format, const char *path, const char *again,
                        struct arena *arena, struct error *err)
{
    switch (format) {
    case FORMAT_MODEL: LOAD_AND_SAVE(model);
    case FORMAT_CLUSTER: LOAD_AND_SAVE(cluster);
    case FORMAT_COSTS: LOAD_AND_SAVE(costs);
    case FORMAT_JOB: LOAD_AND_SAVE(job);
    case FORMAT_PROBLEM: LOAD_AND_SAVE(problem);
    case FORMAT_PRICED: LOAD_AND_SAVE(priced);
    case FORMAT_PLAN: LOAD_AND_SAVE(plan);
    case FORMAT_SAMPLES: LOAD_AND_SAVE(samples);
    case FORMAT_CONFIG: return import_config(path, again, arena, err);
    case FORMAT_COUNT: break;
    }
    return fail(err, SYSTEM, "no such format");
}

const char *format_example(enum format format, struct arena *arena)
{
    return arena_print(arena, "tests/documents/%s.json", format_names[format]);
}

const struct planted planted_damages[] = {
    // what every document has
    {FORMAT_MODEL, "plumbline.model", "plumbline.job", "kind", true},
    {FORMAT_MODEL, "\"version\": 1", "\"version\": 2", "version", true},
    {FORMAT_MODEL, "\"version\": 1,", "", "version", true},
    {FORMAT_PLAN, "\"role\": \"problem\"", "\"rolle\": \"problem\"", "made_from[0]", true},
    {FORMAT_PLAN, "\"sha256\": \"", "\"sha256\": \"g", "sha256", true},
    {FORMAT_MODEL, "\"name\": \"tiny\"", "\"name\": \"tiny\", \"name\": \"tiny\"", "twice", false},
    // models
    {FORMAT_MODEL, "\"hidden\": 64", "\"hidden\": 64.5", "shape.hidden", true},
    {FORMAT_MODEL, "\"hidden\": 64", "\"hidden\": -64", "shape.hidden", true},
    {FORMAT_MODEL, "\"hidden\": 64", "\"hidden\": 9007199254740993", "shape.hidden", true},
    {FORMAT_MODEL, "\"hidden\": 64", "\"hidden\": \"64\"", "shape.hidden", true},
    {FORMAT_MODEL, "\"hidden\": 64", "\"hidden\": null", "shape.hidden", true},
    {FORMAT_MODEL, "\"hidden\": 64", "\"hidden\": 1e999", "shape.hidden", false},
    {FORMAT_MODEL, "\"hidden\": 64", "\"hidden\": NaN", "line 6", false},
    {FORMAT_MODEL, "\"hidden\": 64", "\"hiden\": 64", "hiden", true},
    {FORMAT_MODEL, "\"hidden\": 64,", "", "hidden", true},
    {FORMAT_MODEL, "\"kv_heads\": 2", "\"kv_heads\": 3", "kv_heads", false},
    {FORMAT_MODEL, "\"gated_ffn\": true", "\"gated_ffn\": 1", "shape.gated_ffn", true},
    {FORMAT_MODEL, "\"kind\": \"block\"", "\"kind\": \"blok\"", "runs[1].kind", true},
    {FORMAT_MODEL, "\"count\": 4", "\"count\": 0", "runs[1].count", true},
    {FORMAT_MODEL, "\"count\": 4", "\"count\": 4097", "runs[1].count", true},
    {FORMAT_MODEL, "\"name\": \"block\"", "\"name\": \"embedding\"", "runs[1].name", false},
    {FORMAT_MODEL, "\"kind\": \"measured\"", "\"kind\": \"block\"", "measured", true},
    {FORMAT_MODEL, "\"kind\": \"head\"", "\"kind\": \"measured\"", "measured", true},
    {FORMAT_MODEL, "\"weight_bytes\": 80000", "\"weight_bytes\": 2251799813685248",
     "runs[2].measured.weight_bytes", true},
    {FORMAT_MODEL, "\"none\": 100000, ", "", "stash_bytes", true},
    {FORMAT_MODEL, "\"matrix_rows\": 64", "\"matrix_rows\": 0", "matrix_rows", false},
    // clusters
    {FORMAT_CLUSTER, "\"nodes\": 2", "\"nodes\": 0", "groups[0].nodes", true},
    {FORMAT_CLUSTER, "\"nodes\": 2", "\"nodes\": [2]", "groups[0].nodes", true},
    {FORMAT_CLUSTER, "300e9", "0", "groups[0].intra.bytes_per_s", true},
    {FORMAT_CLUSTER, "3e-6", "-3e-6", "groups[0].intra.latency_s", true},
    {FORMAT_CLUSTER, "\"infiniband\"", "\"infinband\"", "groups[0].nics[0].kind", true},
    {FORMAT_CLUSTER, "\"infiniband\"", "\"ethernet\"", "appears twice", false},
    {FORMAT_CLUSTER, "\"from\": \"new\"", "\"from\": \"newer\"", "links[0]", false},
    {FORMAT_CLUSTER, "\"name\": \"o1\"", "\"name\": \"o0\"", "places.nodes[3]: name", false},
    {FORMAT_CLUSTER, "\"name\": \"o1\", \"group\": \"old\"", "\"name\": \"o1\", \"group\": \"new\"",
     "places.nodes", false},
    {FORMAT_CLUSTER, "\"switches\": [\"r1\"]", "\"switches\": [\"r1\", \"x\"]",
     "places.nodes[4].switches", false},
    {FORMAT_CLUSTER, "\"from\": \"o0\"", "\"from\": \"o9\"", "places.links[1]", false},
    {FORMAT_CLUSTER, "\"from\": \"o0\"", "\"from\": \"n1\"", "places.links[1]", false},
    {FORMAT_CLUSTER, "\"from\": \"o0\"", "\"from\": \"n0\"", "appears twice", false},
    {FORMAT_CLUSTER, "21.5e9", "0", "places.links[0].link.bytes_per_s", true},
    {FORMAT_CLUSTER, "\"memory_bytes\": 40000000000", "\"memory_bytes\": 0",
     "groups[0].memory_bytes", true},
    {FORMAT_CLUSTER, "\"gpu_hour_price\": 2.5", "\"gpu_hour_price\": -1",
     "groups[0].gpu_hour_price", true},
    // costs
    {FORMAT_COSTS, "{\"value\": 3.12e14, \"origin\": \"published\"}", "3.12e14", "peak_flop_per_s",
     true},
    {FORMAT_COSTS, "\"origin\": \"fitted\"", "\"origin\": \"guessed\"",
     "gpus[0].precisions[0].gemm_flop_per_s.origin", true},
    {FORMAT_COSTS, ", \"origin\": \"fitted\"", "", "gemm_flop_per_s", true},
    {FORMAT_COSTS, "{\"value\": 1e14, \"origin\": \"assumed\"}", "1e14", "attention_flop_per_s",
     true},
    {FORMAT_COSTS, "\"low\": 1.8e14", "\"low\": 2.1e14", "gemm_flop_per_s", false},
    {FORMAT_COSTS, "\"value\": 0.8", "\"value\": 1.8", "intra_efficiency", true},
    {FORMAT_COSTS, "\"blocking\": 0.25", "\"blocking\": 0.35", "transfer_share", false},
    {FORMAT_COSTS, "\"infiniband\"", "\"token_ring\"", "token_ring", true},
    {FORMAT_COSTS, "\"forward_s\": 0.0001", "\"forward_s\": -0.0001", "layer_times[0].forward_s",
     true},
    {FORMAT_COSTS, "\"precision\": \"fp16\"", "\"precision\": \"fp9\"", "precisions[1].precision",
     true},
    // jobs
    {FORMAT_JOB, "\"run_tokens\": 1000000000000", "\"run_tokens\": -1", "run_tokens", true},
    {FORMAT_JOB, "\"global_batch\": 32", "\"global_batch\": 33", "global_batch", false},
    {FORMAT_JOB, "\"gradient_bytes_per_value\": 4", "\"gradient_bytes_per_value\": 3",
     "gradient_bytes_per_value", true},
    {FORMAT_JOB, "\"pipeline\": 3", "\"pipeline\": 257", "layout.pipeline", true},
    {FORMAT_JOB, "\"pipeline\": 3,", "", "layout", true},
    {FORMAT_JOB, "\"schedule\": \"1f1b\"", "\"schedule\": \"2f2b\"", "layout.schedule", true},
    {FORMAT_JOB, "\"zero\": 1", "\"zero\": 4", "layout.zero", true},
    {FORMAT_JOB, "\"selective\", \"full\"", "\"selective\", \"fully\"", "recompute[2]", true},
    {FORMAT_JOB, "\"selective\", \"full\"", "\"selective\", \"selective\"", "recompute[2]", true},
    {FORMAT_JOB, "\"rank\": 4", "\"rank\": 0", "boundary_options[0].rank", true},
    {FORMAT_JOB, "\"boundaries_max\": 1", "\"boundaries_max\": -1", "budget.boundaries_max", true},
    {FORMAT_JOB, "\"memory_fraction\": 0.8", "\"memory_fraction\": 0", "memory_fraction", true},
    {FORMAT_JOB, "\"memory_fraction\": 0.8", "\"memory_fraction\": 80", "memory_fraction", true},
    {FORMAT_JOB, "\"stage\": 0", "\"stage\": 3", "rules[0].stage", false},
    {FORMAT_JOB, ", \"stage\": 0, \"groups\": [\"new\"]", "", "rules[0]", true},
    {FORMAT_JOB, "[\"new\"]", "[]", "rules[0].groups", true},
    {FORMAT_JOB, "[\"new\"]", "[1]", "rules[0].groups[0]", true},
    {FORMAT_JOB, "\"compresses_gradient\": true", "\"compresses_gradient\": 2",
     "compresses_gradient", true},
    {FORMAT_JOB, ", \"layers_max\": 3", "", "rules[3].run", true},
    {FORMAT_JOB, "\"holds_last\": 7", "\"holds_last\": 5", "rules[2]", false},
    // problems
    {FORMAT_PROBLEM, "\"model\": \"model.json\"", "\"model\": \"modell.json\"", "modell.json",
     false},
    {FORMAT_PROBLEM, "\"model\": \"model.json\"", "\"model\": \"job.json\"", "job.json", false},
    {FORMAT_PROBLEM, "\"model\": \"model.json\"", "\"model\": \"\"", "directory", true},
    {FORMAT_PROBLEM, "\"model\": \"model.json\",", "", "model", true},
    {FORMAT_PROBLEM, "\"job\": \"job.json\"", "\"job\": 7", "job", true},
    // priced documents
    {FORMAT_PRICED, "\"stage_count\": 3", "\"stage_count\": 4", "stage_count", false},
    {FORMAT_PRICED, "\"layer_count\": 8", "\"layer_count\": 9", "layer_count", false},
    {FORMAT_PRICED, "\"rank\": 0", "\"rank\": 1", "boundary_options[0]", false},
    {FORMAT_PRICED, "\"cut\": 0", "\"cut\": 99", "runs[0].cut", false},
    {FORMAT_PRICED, "\"cut\": 0", "\"cut\": -1", "runs[0].cut", true},
    {FORMAT_PRICED, "\"forward_ns\": [", "\"forward_ns\": [1, ", "runs[0].forward_ns", false},
    {FORMAT_PRICED, "\"forward_ns\": [", "\"forward_ns\": [-2, ", "runs[0].forward_ns", true},
    {FORMAT_PRICED, "\"slots\": ", "\"slots\": -", "groups[0].slots", true},
    // plans
    {FORMAT_PLAN, "\"outcome\": \"open\"", "\"outcome\": \"best\"", "outcome", true},
    {FORMAT_PLAN, "\"outcome\": \"open\"", "\"outcome\": \"infeasible\"", "stages", true},
    {FORMAT_PLAN, "\"iteration_ns\": 3012345", "\"iteration_ns\": 3012345.5", "iteration_ns", true},
    {FORMAT_PLAN, "\"iteration_ns\": 3012345", "\"iteration_ns\": -1", "iteration_ns", true},
    {FORMAT_PLAN, "\"group\": \"new\"", "\"group\": \"newer\"", "stages[0]", false},
    {FORMAT_PLAN, "\"gradient_option\": 0", "\"gradient_option\": 2", "stages[0].gradient_option",
     false},
    {FORMAT_PLAN, "\"gradient_option\": 0", "\"gradient_option\": -1", "stages[0].gradient_option",
     true},
    {FORMAT_PLAN, "\"gradient_option\": 0", "\"gradient_option\": 1e15",
     "stages[0].gradient_option", true},
    {FORMAT_PLAN, "\"weight_bytes\": 1000", "\"weight_bytes\": \"1000\"",
     "stages[0].memory.weight_bytes", true},
    {FORMAT_PLAN, "\"link\", \"delay\"", "\"link\", \"dely\"", "graph.transfer_parts[2]", true},
    {FORMAT_PLAN, "\"link\", \"delay\"", "\"link\", \"link\"", "graph.transfer_parts[2]", true},
    {FORMAT_PLAN, "\"gradient_sync\": true", "\"gradient_sync\": 1", "graph.gradient_sync", true},
    {FORMAT_PLAN, ", \"embedding_sync\": true", "", "embedding_sync", true},
    {FORMAT_PLAN, "\"delay\": 30", "\"delays\": 30", "send_forward_ns", true},
    // samples
    {FORMAT_SAMPLES, "\"threads\": 2", "\"threads\": 0", "machine.threads", true},
    {FORMAT_SAMPLES, "[0.0001, 0.00011, 0.000105]", "[]", "samples[0].seconds", true},
    {FORMAT_SAMPLES, "0.00011", "-0.00011", "samples[0].seconds[1]", true},
    {FORMAT_SAMPLES, "0.00011", "\"fast\"", "samples[0].seconds[1]", true},
    {FORMAT_SAMPLES, "\"stopped_by\": \"width\"", "\"stopped_by\": \"lunch\"",
     "samples[1].stopped_by", true},
    {FORMAT_SAMPLES, "\"stopped_by\": \"width\"",
     "\"shape\": {\"hidden\": 8, \"ffn\": 8, \"heads\": 2, \"kv_heads\": 1, \"head_width\": 4, "
     "\"vocabulary\": 9}, \"stopped_by\": \"width\"",
     "samples[1].shape", false},
    {FORMAT_SAMPLES, "[128, 192, 64]", "[128, 192, 64, 1, 1]", "samples[0].dimensions", true},
    {FORMAT_SAMPLES, "\"from\": 0,", "", "samples[2]", false},
    {FORMAT_SAMPLES, "\"to\": 1,", "\"to\": 0,", "samples[2]", false},
    {FORMAT_SAMPLES, "\"to\": 1,", "\"to\": 2,", "samples[2].to", false},
    {FORMAT_SAMPLES, "\"launch_repetitions\": [3, 1]", "\"launch_repetitions\": [3, 2]",
     "samples[2].launch_repetitions", false},
    {FORMAT_SAMPLES, "\"launch_repetitions\": [3, 1]", "\"launch_repetitions\": [4]",
     "samples[2].launch_repetitions", false},
    {FORMAT_SAMPLES, "\"outliers\": [1, 3]", "\"outliers\": [3, 1]", "samples[2].outliers", false},
    {FORMAT_SAMPLES, "\"outliers\": [1, 3]", "\"outliers\": [1, 4]", "samples[2].outliers", false},
    {FORMAT_SAMPLES, "\"first\": 2", "\"first\": 0", "samples[2].conditions[1].first", false},
    {FORMAT_SAMPLES, "\"first\": 2", "\"first\": 4", "samples[2].conditions[1].first", false},
    {FORMAT_SAMPLES, "\"members\": [0, 1]", "\"members\": [0, 2]", "samples[3].members", false},
    {FORMAT_SAMPLES, "\"members\": [0, 1]", "\"members\": []", "samples[3]", false},
    {FORMAT_SAMPLES, "[500000000, 500000001]", "[]", "quantities[0].values", true},
    {FORMAT_SAMPLES, "\"device\": 0", "\"device\": -1", "endpoints[0].device", true},
    {FORMAT_SAMPLES, "\"clock\": 1", "\"clock\": -1", "endpoints[1].clock", true},
    // foreign configs (no schema of ours)
    {FORMAT_CONFIG, "\"llama\"", "\"xlstm\"", "model_type", false},
    {FORMAT_CONFIG, "\"head_dim\": null", "\"num_local_experts\": 8", "num_local_experts", false},
    {FORMAT_CONFIG, "\"head_dim\": null", "\"vision_config\": {}", "vision_config", false},
    {FORMAT_CONFIG, "\"hidden_size\": 64", "\"hidden_size\": \"64\"", "hidden_size", false},
    {FORMAT_CONFIG, "\"hidden_size\": 64,", "\"hidden_size\": null,", "hidden", false},
    {FORMAT_CONFIG, "\"hidden_size\": 64", "\"hidden_size\": 65", "heads", false},
};
const size_t planted_count = ARRAY_LENGTH(planted_damages);

const char *planted_text(const struct planted *p, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    size_t size;
    if (file_read(format_example(p->format, arena), &text, &size, arena, &err) != OK) return NULL;
    const char *at = strstr(text, p->from);
    if (!at) return NULL;
    return arena_print(arena, "%.*s%s%s", (int)(at - text), text, p->to, at + strlen(p->from));
}
