// The documents of an instance: made by a sweep or copied, with the changed keys of the job.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/names.h"
#include "formulate/commands.h"
#include "formulate/example/example.h"
#include "solve/batch/batch.h"

static const char job_prefix[] = "job.";
static bool is_of_job(const char *key) { return !strncmp(key, job_prefix, strlen(job_prefix)); }

// ---- the problem, before changes of its job

// A file as named in the manifest.
static const char *named_file(const struct point *c, const char *key, const char *text)
{
    bool is_document = !strcmp(key, "model") || !strcmp(key, "cluster") || !strcmp(key, "costs");
    bool is_file = strchr(text, '/') || path_ends_with(text, ".json");
    return is_document && is_file ? path_beside(c->line->manifest, text, c->scratch) : text;
}

static enum status check_sweep(const struct point *c, struct error *err)
{
    if (point_value(c, "help"))
        return refuse(err, "sweep: unknown key \"help\"; plumbline example gpt --help");
    if (!point_value(c, "model"))
        return refuse(err, "sweep: \"model\" is missing; plumbline models lists them");
    if (!point_value(c, "gpu") == !point_value(c, "cluster"))
        return refuse(
            err, "sweep: expected \"cluster\", or \"gpu\" with \"nodes\" or \"gpus\"; plumbline "
                 "clusters lists them");
    if (point_value(c, "gpu") && !point_value(c, "nodes") == !point_value(c, "gpus"))
        return refuse(err, "sweep: gpu: requires \"nodes\" or \"gpus\"");
    return OK;
}

// The options of plumbline example that plumbline plan uses, where the sweep states no others.
static int sweep_words(const char **words, const struct point *c)
{
    static const char *const usual[] = {"gpt",  "--costs",     "kernels",  "--global-batch",
                                        "1024", "--framework", "megatron", "--layouts",
                                        "all"};
    int count = (int)ARRAY_LENGTH(usual);
    memcpy(words, usual, sizeof usual);
    for (int k = 0; k < c->line->axis_count; k++) {
        const struct axis *axis = &c->line->axes[k];
        if (axis->is_option || is_of_job(axis->key)) continue;
        const char *text = value_text(&axis->values[c->at[k]], c->scratch);
        add_words(words, &count, axis->key, named_file(c, axis->key, text), c->scratch);
    }
    return count;
}

static enum status load_sweep(struct problem *p, const struct point *c, struct error *err)
{
    const char **words = TAKE(c->scratch, 2 * c->line->axis_count + 10, const char *);
    TRY(check_sweep(c, err));
    int count = sweep_words(words, c);
    char **argv = TAKE(c->scratch, count + 1, char *);
    for (int i = 0; i < count; i++) argv[i] = arena_copy_text(c->scratch, words[i]);
    TRY(example_gpt(p, count, argv, c->scratch, err));
    TRY(problem_check_names(p, c->scratch, err));
    return problem_check(p, err);
}

static enum status load(struct problem *p, const struct point *c, struct error *err)
{
    const struct json *named = point_value(c, "problem");
    if (!named) return load_sweep(p, c, err);
    TRY(json_expect(named, JSON_TEXT, err));
    for (int k = 0; k < c->line->axis_count; k++) {
        const struct axis *axis = &c->line->axes[k];
        if (!axis->is_option && !is_of_job(axis->key) && strcmp(axis->key, "problem"))
            return json_refuse(axis->values, err,
                               "expected keys of its job, as \"job.global_batch\", next to "
                               "\"problem\", found \"%.60s\"",
                               axis->key);
    }
    return problem_load(p, path_beside(c->line->manifest, json_text(named, c->scratch), c->scratch),
                        c->scratch, err);
}

// ---- its id

// Documents by their hashes; other relevant settings in alphabetical order. The path of a
// problem's file does not count.
static void set_id(struct instance *i, const struct point *c, const struct problem *p)
{
    const struct line *l = c->line;
    bool copied = point_value(c, "problem");
    const char **parts = TAKE(c->scratch, l->axis_count, const char *);
    int count = 0;
    for (int k = 0; k < l->axis_count; k++) {
        const struct axis *axis = &l->axes[k];
        if (strcmp(axis->key, "problem"))
            parts[count++] = arena_print(c->scratch, "%s %s=%s", axis->is_option ? "option" : "key",
                                         axis->key,
                                         value_text(&axis->values[c->at[k]], c->scratch));
    }
    qsort(parts, (size_t)count, sizeof *parts, compare_texts);
    const char *text = arena_print(c->scratch, "plumbline %s\n%s\n%s\n%s\n%s\n%s\n",
                                   PLUMBLINE_VERSION, p->name, p->model.document.sha256,
                                   p->cluster.document.sha256, p->costs.document.sha256,
                                   copied ? p->job.document.sha256 : "sweep");
    for (int k = 0; k < count; k++) text = arena_print(c->scratch, "%s%s\n", text, parts[k]);
    char hash[SHA256_TEXT];
    sha256_text(text, strlen(text), hash);
    snprintf(i->id, sizeof i->id, "%.*s", ID_SIZE - 1, hash);
}

// ---- changes of the job

struct change {
    const char *path; // in the job
    const struct axis *axis;
    const struct json *value;
    bool used;
};

struct changes {
    struct change *items;
    int count;
    struct arena *arena;
};

static struct changes changes_of(const struct point *c)
{
    struct changes s = {TAKE(c->scratch, c->line->axis_count, struct change), 0, c->scratch};
    for (int k = 0; k < c->line->axis_count; k++) {
        const struct axis *axis = &c->line->axes[k];
        if (!axis->is_option && is_of_job(axis->key))
            s.items[s.count++] = (struct change){axis->key + strlen(job_prefix), axis,
                                                 &axis->values[c->at[k]], false};
    }
    return s;
}

// The key of the change in the object at the path; NULL: it is elsewhere.
static const char *key_within(const struct change *change, const char *path)
{
    size_t length = strlen(path);
    if (!length) return change->path;
    return !strncmp(change->path, path, length) && change->path[length] == '.'
               ? change->path + length + 1
               : NULL;
}

static struct change *change_at(const struct changes *s, const char *path)
{
    for (int k = 0; k < s->count; k++)
        if (!strcmp(s->items[k].path, path)) return &s->items[k];
    return NULL;
}

static bool change_within(const struct changes *s, const char *path)
{
    for (int k = 0; k < s->count; k++)
        if (key_within(&s->items[k], path)) return true;
    return false;
}

static void put_change(struct json_writer *w, const char *key, struct change *change)
{
    json_put_value(w, key, change->value);
    change->used = true;
}

// Keys that the object lacks, appended after its own.
static void put_new(struct json_writer *w, const char *path, struct changes *s)
{
    for (int k = 0; k < s->count; k++) {
        const char *key = key_within(&s->items[k], path);
        if (!s->items[k].used && key && !strchr(key, '.')) put_change(w, key, &s->items[k]);
    }
}

static enum status put_object(struct json_writer *w, const char *key, const struct json *object,
                              const char *path, struct changes *s, struct error *err)
{
    const char *const *keys;
    struct json *values;
    int count;
    TRY(json_members(object, &keys, &values, &count, s->arena, err));
    json_open_object(w, key);
    for (int i = 0; i < count; i++) {
        const char *here = arena_print(s->arena, "%s%s%s", path, *path ? "." : "", keys[i]);
        struct change *change = change_at(s, here);
        if (change) put_change(w, keys[i], change);
        else if (change_within(s, here)) TRY(put_object(w, keys[i], &values[i], here, s, err));
        else json_put_value(w, keys[i], &values[i]);
    }
    put_new(w, path, s);
    json_close_object(w);
    return OK;
}

static enum status changed_job(const char **text, size_t *size, const char *path, struct changes *s,
                               struct error *err)
{
    struct json root;
    struct json_writer w;
    TRY(file_read(path, text, size, s->arena, err));
    TRY(json_parse(&root, "job", *text, *size, s->arena, err));
    json_begin(&w, s->arena);
    TRY(put_object(&w, NULL, &root, "", s, err));
    *text = json_end(&w, size);
    for (int k = 0; k < s->count; k++)
        if (!s->items[k].used)
            return json_refuse(s->items[k].axis->values, err, "the job has no object for %s",
                               s->items[k].axis->key);
    return OK;
}

// ---- into the folder

// The problem last: if it is there, all of them are.
static const char *const file_names[] = {"model.json", "cluster.json", "costs.json", "job.json",
                                         "problem.json"};

static enum status copy_all(struct problem *p, const char *folder, struct arena *arena,
                            struct error *err)
{
    struct document *parts[] = {&p->model.document, &p->cluster.document, &p->costs.document,
                                &p->job.document};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        const char *text, *to = arena_print(arena, "%s/%s", folder, file_names[i]);
        size_t size;
        TRY(file_read(parts[i]->path, &text, &size, arena, err));
        TRY(file_write(to, text, size, err));
        parts[i]->path = to;
    }
    return problem_save(p, arena_print(arena, "%s/problem.json", folder), arena, err);
}

static enum status write_documents(struct problem *p, const char *folder, const struct point *c,
                                   struct error *err)
{
    if (point_value(c, "problem")) return copy_all(p, folder, c->scratch, err);
    return example_write(p, folder, true, c->scratch, err);
}

// A switch that is stated as off, where the job's space turns it on for every framework's layout
// that can have it.
static enum status check_switches(const struct change *c, struct job *job, struct error *err)
{
    for (int i = 0; i < SWITCH_COUNT; i++)
        if (job->space.switches[i] && !strcmp(c->path, trainer_switch_names[i]) &&
            !*job_switch(job, (enum trainer_switch)i))
            return json_refuse(
                c->axis->values, err,
                "%s: the job's space turns %s on where the framework has it, so that "
                "this value would not count; expected another job.space.switches",
                c->axis->key, c->path);
    return OK;
}

// Whether the change is of this key of a layout, by whatever name the job has it.
static bool states_key(const struct change *c, enum space_key key)
{
    const char *path = c->path, layout[] = "layout.";
    if (key == SPACE_CONTEXT_KIND && !strcmp(path, space_key_names[key])) return true;
    if (strncmp(path, layout, strlen(layout))) return false;
    path += strlen(layout);
    return !strcmp(path, key == SPACE_SLICE_COUNT ? "slices" : space_key_names[key]);
}

// A value that is stated for a key which the job's space leaves open would not count.
static enum status check_stated(const struct changes *s, struct job *job, struct error *err)
{
    for (int k = 0; k < s->count && job->space.given; k++) {
        TRY(check_switches(&s->items[k], job, err));
        for (int key = 0; key < SPACE_KEY_COUNT; key++) {
            bool open = job->space.axes[key].kind != AXIS_FIXED;
            if (!open || !states_key(&s->items[k], (enum space_key)key)) continue;
            return json_refuse(s->items[k].axis->values, err,
                               "%s: the job's space leaves %s open, so that this value would not "
                               "count; expected the sweep's own key \"%s\", or another job.space",
                               s->items[k].axis->key, space_key_names[key], space_key_names[key]);
        }
    }
    return OK;
}

static enum status change_job(const char *folder, const struct point *c, struct error *err)
{
    const char *path = arena_print(c->scratch, "%s/job.json", folder), *text;
    size_t size;
    struct problem again;
    struct error unwritten = {OK, ""};
    struct changes changes = changes_of(c);
    if (!changes.count) return OK;
    TRY(changed_job(&text, &size, path, &changes, err));
    if (file_write(path, text, size, &unwritten) != OK)
        return fail(err, UNAVAILABLE, "%s", unwritten.text);
    TRY(problem_load(&again, arena_print(c->scratch, "%s/problem.json", folder), c->scratch, err));
    return check_stated(&changes, &again.job, err);
}

static enum status move_in(const char *draft, const char *place, struct arena *arena,
                           struct error *err)
{
    for (size_t i = 0; i < ARRAY_LENGTH(file_names); i++) {
        const char *to = arena_print(arena, "%s/%s", place, file_names[i]);
        if (rename(arena_print(arena, "%s/%s", draft, file_names[i]), to))
            return fail(err, UNAVAILABLE, "%s: cannot be created: %s", to, strerror(errno));
    }
    folder_flush(place);
    return OK;
}

static enum status make(struct problem *p, const char *place, const struct point *c,
                        struct error *err)
{
    const char *draft = arena_print(c->scratch, "%s/draft", place);
    struct error unwritten = {OK, ""};
    folder_remove_files(draft);
    if (file_make_folder(draft, &unwritten) != OK || write_documents(p, draft, c, &unwritten) != OK)
        fail(err, UNAVAILABLE, "%s", unwritten.text);
    else if (change_job(draft, c, err) == OK) move_in(draft, place, c->scratch, err);
    folder_remove_files(draft);
    return err->status;
}

enum status point_place(const struct batch *b, struct instance *i, const struct point *c,
                        struct error *err)
{
    struct problem p;
    struct error unwritten = {OK, ""};
    int lock = -1;
    TRY(load(&p, c, err));
    set_id(i, c, &p);
    const char *place = batch_path(b, i->id, "", c->scratch),
               *lock_path = batch_path(b, i->id, "lock", c->scratch);
    while (lock < 0 && !batch_has(b, i->id, "problem.json", c->scratch)) {
        if (file_make_folder(place, &unwritten) != OK ||
            lock_take(&lock, lock_path, false, &unwritten) != OK)
            return fail(err, UNAVAILABLE, "%s", unwritten.text);
        if (lock < 0) signals_sleep(0.01); // another batch is doing this
    }
    if (lock < 0) return OK;
    if (!batch_has(b, i->id, "problem.json", c->scratch) && make(&p, place, c, err) != OK)
        folder_remove_files(place);
    close(lock);
    folder_flush(b->folder);
    return err->status;
}
