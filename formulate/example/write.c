// Writes an example as five files without damaging existing ones.
#include "formulate/example/example.h"

enum status example_write(struct problem *problem, const char *folder, bool force,
                          struct arena *arena, struct error *err)
{
    const bool all[PIECE_COUNT] = {true, true, true, true, true};
    TRY(problem_check_names(problem, arena, err));
    TRY(problem_check(problem, err));
    TRY(file_make_folder(folder, err));
    for (int i = 0; i < PIECE_COUNT; i++)
        problem_piece_of(problem, i)->path =
            arena_print(arena, "%s/%s.json", folder, problem_roles[i]);
    return problem_write(problem, all, force ? NULL : " (--force replaces it)", arena, err);
}

struct model gpt_model(const char *name, int layers, int64_t hidden, int64_t heads,
                       int64_t vocabulary, int64_t positions, struct arena *arena)
{
    struct layer_run *runs = TAKE(arena, 3, struct layer_run);
    runs[0] = (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    runs[1] = (struct layer_run){
        .name = "block", .kind = LAYER_BLOCK, .count = layers, .recomputable = true};
    runs[2] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    return (struct model){.name = name,
                          .has_shape = true,
                          .shape = {.hidden = hidden,
                                    .ffn = 4 * hidden,
                                    .heads = heads,
                                    .kv_heads = heads,
                                    .head_width = hidden / heads,
                                    .vocabulary = vocabulary,
                                    .positions = positions,
                                    .qkv_bias = true,
                                    .linear_bias = true,
                                    .dropout = true,
                                    .tied_embeddings = true},
                          .runs = runs,
                          .run_count = 3,
                          .layer_count = layers + 2};
}
