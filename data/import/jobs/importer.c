// See importer.h.
#include "data/import/jobs/importer.h"

#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/jobs/launch.h"
#include "data/inputs/framework.h"
#include "data/inputs/model/size.h"

// Where the framework has one setting of recomputation for all stages, the layout has it.
static void set_one_recompute(struct run *r, const struct importer *im, const struct settings *s)
{
    struct layout *l = &r->job.layout;
    int mode = RECOMPUTE_COUNT - 1;
    struct layout whole = *l; // with what the job states of it
    whole.overlapped_dispatch = r->job.overlapped_dispatch && l->expert > 1;
    if (!framework_recomputes_alike(im->framework, &whole)) return;
    if (im->recompute_key && !setting_of(s, im->recompute_key)) return;
    while (mode > RECOMPUTE_NONE && !r->job.recompute[mode]) mode--;
    l->recompute = 1 + mode;
    if (mode == RECOMPUTE_FIRST_LAYERS) l->recomputed_layers = (int)r->recomputed;
}

void adapters_default(struct run *r, struct settings *s, int64_t rank, const char *modules)
{
    const char *stated = r->adapters.modules;
    if (!run_has_adapters(r)) return;
    if (!r->adapters.rank)
        r->adapters.rank = rank,
        said_assume(&s->said, "adapters of rank %lld, the program's default", (long long)rank);
    // Megatron Core has one product for queries, keys and values, and one for gate and up.
    if (r->adapters.all || (stated && !strncasecmp(stated, "all", 3)))
        r->adapters.modules = strcmp(modules, ADAPTED_BY_CORE) != 0 ? "all" : ADAPTED_BY_CORE;
    else if (!stated || !*stated || !strcmp(stated, "[]"))
        r->adapters.modules = modules,
        said_assume(&s->said, "adapters on %s, the program's default", modules);
}

// Names of products, of which none may be passed over; in a pattern the known ones count.
static enum status check_products(const struct run *r, struct settings *s, struct error *err)
{
    const char *words = r->adapters.modules, *nearest, *unknown = NULL;
    bool pattern = words && strpbrk(words, "^$*(\\|");
    if (words && !pattern && strncasecmp(words, "all", 3))
        unknown = adapters_unknown_word(words, &nearest, s->arena);
    if (!unknown) return OK;
    bool outside = find_in_any_case(unknown, "embed") || find_in_any_case(unknown, "head") ||
                   !strcmp(unknown, "wte");
    if (outside)
        return refuse(err,
                      "%s: adapters: expected products of blocks, found %.60s: no other is priced",
                      r->file, unknown);
    return refuse(err,
                  "%s: adapters: expected names of products (q_proj, linear_qkv), found %.60s; the "
                  "nearest is %s",
                  r->file, unknown, nearest);
}

// Adapters in the model that is made, or what to write into another one.
static enum status adapt(struct run *r, struct settings *s, struct asked *asked, struct error *err)
{
    static const char full[] = "full none null false no";
    const char *way = r->adapters.way, *text = adapters_text(r, s->arena);
    bool has = run_has_adapters(r);
    int bits = run_frozen_bits(r);
    if (!has && way && *way && !name_is_listed(full, way, strlen(way)))
        said_assume(&s->said, "%.40s: frozen weights are the model's: state them there", way);
    if (!has && bits)
        said_assume(&s->said,
                    "frozen weights in %d bits are the model's: write \"weight_bits\": %d in its "
                    "frozen runs",
                    bits, bits);
    if (!has) return OK;
    TRY(check_products(r, s, err));
    if (!text)
        said_assume(&s->said,
                    "adapters are the model's: none of the products' names is known in \"%.60s\": "
                    "state adapter_rank %lld and adapter_modules in it",
                    r->adapters.modules, (long long)r->adapters.rank);
    else if (!asked->model_path)
        said_assume(&s->said,
                    "adapters are the model's: write %s in its runs of kind block, and \"frozen\": "
                    "true in the others",
                    text);
    else {
        TRY(adapters_add(&asked->model, r, s->arena, err));
        said_line(&s->said, "%s: all is frozen but adapters, in runs of kind block: %s",
                  asked->model.name, text);
    }
    return OK;
}

static enum status convert(struct run *r, struct settings *s, struct asked *asked,
                           struct error *err)
{
    const struct importer *im = asked->importer;
    TRY(settings_take(s, im->rows, r, err));
    enum { UNKNOWN_MOST = 8 }; // of one that is read
    int unknown = s->said.unknown_count + s->weighty_count;
    if (s->count && (!s->said.read || unknown > UNKNOWN_MOST * s->said.read_count))
        return refuse(
            err,
            "%s: %s of its %d settings, such as %.80s, is one that import %s reads: is it "
            "another program's (plumbline import lists them; rl: reinforcement learning)?",
            r->file, s->said.read ? "hardly one" : "none", s->count, s->items[s->count - 1].key,
            im->name);
    if (!s->count && s->flags && path_is_yaml(r->file))
        return refuse(err,
                      "%s: no setting that import %s reads: is it another program's (plumbline "
                      "import lists them; rl: reinforcement learning)?",
                      r->file, im->name);
    if (!s->count && s->flags && path_ends_with(r->file, ".py"))
        return refuse(err,
                      "%s: a configuration in Python is not read by import %s (torchtitan's is by "
                      "import torchtitan): give the launch's flags, or state model and job",
                      r->file, im->name);
    if (!s->count && s->flags)
        return refuse(
            err,
            "%s: no launch with settings that import %s reads was found%s%s%s: import the script "
            "that has it, or with another program's reader (plumbline import)",
            r->file, im->name, s->seen ? " (" : "", s->seen ? s->seen : "", s->seen ? ")" : "");
    TRY(settings_check_weighty(s, err));
    TRY(im->run(r, s, asked, err));
    if (asked->job_path && im->job) TRY(im->job(r, err));
    set_one_recompute(r, im, s);
    if (asked->job_path) TRY(job_check(&r->job, err));
    if (asked->model_path) {
        asked->model = (struct model){.name = r->job.name, .document.path = r->file};
        TRY(im->model(&asked->model, r, s->arena, err));
    }
    return adapt(r, s, asked, err);
}

// A launch script: the file that it names is read, with its GPUs and what it sets over the file.
static enum status follow_launch(struct asked *asked, struct launched *to, struct error *err)
{
    const char *script = asked->import.path;
    struct launch_asked of = {
        .set = asked->set, .arguments = asked->arguments, .launch = asked->launch};
    if (!asked->importer->launched || !script_is_name(script)) return OK;
    TRY(launch_find_file(to, script, of, asked->import.arena, err));
    asked->import.path = to->path;
    if (!asked->config) asked->config = to->function;
    if (!asked->gpus) asked->gpus = to->gpus;
    return OK;
}

static enum status read_configuration(void *options, struct error *err)
{
    struct asked *asked = options;
    const struct importer *im = asked->importer;
    struct launched launched = {.path = NULL};
    TRY(follow_launch(asked, &launched, err));
    const char *path = asked->import.path, *output = asked->import.output;
    struct settings s;
    if (im->not_python && path_ends_with(path, ".py"))
        return refuse(err, "%s: %s", path, im->not_python);
    asked->job_path = im->model ? asked->job : output ? output : "-";
    if (im->model) asked->model_path = output || asked->job ? output : "-";
    if (im->read) TRY(im->read(&s, asked, err));
    else TRY(im->settings(&s, path, asked->import.arena, err));
    if (launched.path) {
        launch_override(&s, &launched.flags);
        if (launched.gpus && launched.gpus == asked->gpus)
            said_assume(&s.said, "%lld GPUs, as the launch has them", (long long)asked->gpus);
    }
    struct run run = *im->defaults;
    run.file = path, run.arena = asked->import.arena;
    run.wants_model = asked->model_path != NULL, run.wants_job = asked->job_path != NULL;
    s.leave = &asked->ignore, s.gpus_asked = asked->gpus > 0,
    s.vocabulary_asked = asked->vocabulary > 0;
    run.job = job_imported(asked->import.name ? asked->import.name : im->name, &s);
    run.job.sequence = im->defaults->job.sequence;
    run.gpus = asked->gpus;
    enum status status = convert(&run, &s, asked, err);
    if (status == BAD_INPUT) settings_hint(&s, err);
    settings_conclude(&s);
    asked->made = run.job, asked->made.document = s.document, asked->import.said = s.said;
    return status;
}

static enum status save_made(void *options, struct error *err)
{
    struct asked *asked = options;
    struct arena *arena = asked->import.arena;
    struct job *j = &asked->made;
    const struct model *m = &asked->model;
    if (asked->job_path) {
        struct source source = source_of("config", &j->document, asked->job_path, arena);
        j->document.sources = &source, j->document.source_count = 1;
        TRY(job_save(j, asked->job_path, arena, err));
    }
    if (!asked->model_path) return OK;
    TRY(model_save(m, asked->model_path, arena, err));
    said_line(&asked->import.said, "%s: %lld parameters", m->name, (long long)model_size_of(m).all);
    return OK;
}

const struct reader importer_reader = {
    .opens = true, .read = read_configuration, .save = save_made};
