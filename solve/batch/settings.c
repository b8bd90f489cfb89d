// The options of plumbline solve that a manifest states, read by solve's own reader.
#include <string.h>

#include "data/base/names.h"
#include "solve/batch/batch.h"
#include "solve/commands/commands.h"
#include "solve/commands/solve_request.h"

static const char certificate_key[] = "certificate", parts_key[] = "parts";
// Those that name no file: the batch determines where files are.
static const char *const known[] = {
    "gap",           "time_limit_s", "threads",          "seed",
    "engine",        "recheck",      "memory_limit_mib", "shrink_certificate",
    certificate_key, parts_key,
};

static enum status check_known(const struct axis *axis, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (!strcmp(axis->key, known[i])) return OK;
    int nearest = name_nearest(axis->key, known, (int)ARRAY_LENGTH(known));
    return json_refuse(axis->values, err, "unknown option \"%.60s\", the nearest is \"%s\"",
                       axis->key, known[nearest]);
}

static const char *option_word(const char *key, struct arena *arena)
{
    char *word = arena_print(arena, "--%s", key);
    for (char *c = word; *c; c++)
        if (*c == '_') *c = '-';
    return word;
}

// true is the option alone, false is omitted.
void add_words(const char **words, int *count, const char *key, const char *value,
               struct arena *arena)
{
    if (!strcmp(value, "false")) return;
    words[(*count)++] = option_word(key, arena);
    if (strcmp(value, "true")) words[(*count)++] = arena_copy_text(arena, value);
}

static enum status read_parts(struct instance *i, const struct json *value, const struct point *c,
                              struct error *err)
{
    const char *text = value_text(value, c->scratch);
    int end = 0;
    if (sscanf(text, "%d%n", &i->parts, &end) == 1 && !text[end] && i->parts >= 2 &&
        i->parts <= SPACE_PARTS_MAX)
        return OK;
    return json_refuse(value, err, "expected 2 to %d parts, found %s", SPACE_PARTS_MAX, text);
}

enum status point_options(struct instance *i, const struct point *c, struct arena *arena,
                          struct error *err)
{
    const struct line *l = c->line;
    i->words = TAKE(arena, 2 * l->axis_count + 1, const char *);
    for (int k = 0; k < l->axis_count; k++) {
        const struct axis *axis = &l->axes[k];
        if (!axis->is_option) continue;
        TRY(check_known(axis, err));
        if (!strcmp(axis->key, parts_key)) TRY(read_parts(i, &axis->values[c->at[k]], c, err));
        else if (strcmp(axis->key, certificate_key))
            add_words(i->words, &i->word_count, axis->key,
                      value_text(&axis->values[c->at[k]], c->scratch), arena);
    }
    return OK;
}

// Read and refused as by solve itself.
static enum status ask(struct instance *i, const struct problem *p, bool certified,
                       struct arena *arena, struct error *err)
{
    struct solve_request r;
    bool helped;
    char **argv = TAKE(arena, i->word_count + 9, char *);
    int argc = 0;
    argv[argc++] = arena_copy_text(arena, "solve");
    argv[argc++] = arena_copy_text(arena, "problem.json");
    for (int k = 0; k < i->word_count; k++) argv[argc++] = arena_copy_text(arena, i->words[k]);
    if (i->parts) {
        argv[argc++] = arena_copy_text(arena, "--part");
        argv[argc++] = arena_print(arena, "1/%d", i->parts);
        argv[argc++] = arena_copy_text(arena, "-o");
        argv[argc++] = arena_copy_text(arena, "plan.json");
    }
    if (certified) argv[argc++] = arena_copy_text(arena, "--certificate");
    if (certified) argv[argc++] = arena_copy_text(arena, "certificate.json");
    TRY(command_read(&command_solve, &r, argc, argv, &helped, arena, err));
    TRY(solve_request_complete(&r, err));
    i->threads = r.settings.threads;
    return solve_request_suits(&r, p, err);
}

// A rough order of problems by solving time; the batch learns the scale.
static double effort_of(const struct problem *p)
{
    double gpus = 0, layers = 0;
    for (int g = 0; g < p->cluster.group_count; g++)
        gpus += (double)p->cluster.groups[g].nodes * p->cluster.groups[g].gpus_per_node;
    for (int r = 0; r < p->model.run_count; r++) layers += p->model.runs[r].count;
    double placed = 1 + p->cluster.places.node_count;
    if (p->job.space.given) return 100 * placed * layers * pow(1 + log2(gpus), 3);
    double stages = layout_stage_count(&p->job.layout);
    return placed * p->cluster.group_count * stages * (layers + job_micro_batches(&p->job));
}

enum status point_suits(struct instance *i, const struct point *c, const char *problem_path,
                        struct arena *arena, struct error *err)
{
    struct problem p;
    struct error uncertified = {OK, ""};
    const char *wanted = "";
    for (int k = 0; k < c->line->axis_count; k++)
        if (c->line->axes[k].is_option && !strcmp(c->line->axes[k].key, certificate_key))
            wanted = value_text(&c->line->axes[k].values[c->at[k]], c->scratch);
    TRY(problem_load(&p, problem_path, c->scratch, err));
    i->problem = arena_copy_text(arena, p.name);
    i->estimate = effort_of(&p);
    i->certified = strcmp(wanted, "false") && ask(i, &p, true, c->scratch, &uncertified) == OK;
    if (i->certified) return OK;
    if (!strcmp(wanted, "true")) return refuse(err, "%s", uncertified.text);
    return ask(i, &p, false, c->scratch, err);
}
