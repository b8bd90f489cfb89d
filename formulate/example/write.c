// Writes an example as five files without damaging existing ones.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formulate/example/example.h"

// ---- writing

static enum status make_folder(const char *folder, struct arena *arena, struct error *err)
{
    char *path = arena_copy_text(arena, folder);
    for (char *p = path + 1;; p++) {
        char here = *p;
        if (here != '/' && here) continue;
        *p = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            return fail(err, BAD_INPUT, "%s: cannot be created: %s", path, strerror(errno));
        *p = here;
        if (!here) break;
    }
    struct stat s;
    if (stat(folder, &s) || !S_ISDIR(s.st_mode))
        return fail(err, BAD_INPUT, "%s: expected a folder", folder);
    return OK;
}

enum { FILES = 5 };
static const char *const file_names[FILES] = {"model.json", "cluster.json", "costs.json",
                                              "job.json", "problem.json"};

// Each document is first written next to its place, under this name.
static const char *draft_of(const char *path, struct arena *arena)
{
    return arena_print(arena, "%s.draft", path);
}

static enum status save_draft(const struct problem *p, int file, const char *draft,
                              struct arena *arena, struct error *err)
{
    switch (file) {
    case 0: return model_save(&p->model, draft, arena, err);
    case 1: return cluster_save(&p->cluster, draft, arena, err);
    case 2: return costs_save(&p->costs, draft, arena, err);
    case 3: return job_save(&p->job, draft, arena, err);
    default: return problem_save(p, draft, arena, err);
    }
}

static enum status check_replaceable(const char *path, const char *draft, struct arena *arena,
                                     struct error *err)
{
    if (access(path, F_OK)) return OK;
    const char *old, *new;
    size_t old_size, new_size;
    TRY(file_read(path, &old, &old_size, arena, err));
    TRY(file_read(draft, &new, &new_size, arena, err));
    if (old_size == new_size && !memcmp(old, new, old_size)) return OK;
    return fail(err, BAD_INPUT, "%s: exists with other content (--force replaces it)", path);
}

static enum status write_drafts(struct problem *p, const char **paths, bool force,
                                struct arena *arena, struct error *err)
{
    for (int i = 0; i < FILES; i++) TRY(save_draft(p, i, draft_of(paths[i], arena), arena, err));
    for (int i = 0; i < FILES && !force; i++)
        TRY(check_replaceable(paths[i], draft_of(paths[i], arena), arena, err));
    for (int i = 0; i < FILES; i++)
        if (rename(draft_of(paths[i], arena), paths[i]))
            return fail(err, BAD_INPUT, "%s: cannot be written: %s", paths[i], strerror(errno));
    return OK;
}

enum status example_write(struct problem *problem, const char *folder, bool force,
                          struct arena *arena, struct error *err)
{
    TRY(problem_check_gpus(problem, arena, err));
    TRY(problem_check(problem, err));
    TRY(make_folder(folder, arena, err));
    const char *paths[FILES];
    for (int i = 0; i < FILES; i++) paths[i] = arena_print(arena, "%s/%s", folder, file_names[i]);
    problem->model.document.path = paths[0];
    problem->cluster.document.path = paths[1];
    problem->costs.document.path = paths[2];
    problem->job.document.path = paths[3];
    problem->document.path = paths[4];
    enum status status = write_drafts(problem, paths, force, arena, err);
    for (int i = 0; i < FILES && status != OK; i++) unlink(draft_of(paths[i], arena));
    return status;
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
