// See import.h.
#include <string.h>
#include <sys/stat.h>

#include "data/base/shipped.h"
#include "data/import/import.h"

static const struct option_row rows[] = {
    {"FILE", OPTION_PATH, offsetof(struct reading, path), NULL, .low = 1},
    {"-o", OPTION_PATH, offsetof(struct reading, output),
     "output file (default: -, standard output)"},
    {"--name", OPTION_TEXT, offsetof(struct reading, name),
     "name of what is made, of samples the GPU's (default: the file's or the format's)"},
    {"--strict", OPTION_FLAG, offsetof(struct reading, strict),
     "refuse a file of which something would be assumed (exit 2)"},
};
const struct option_table import_rows = OPTION_TABLE(rows);

enum status import_check_size(const char *path, struct error *err)
{
    enum { SIZE_MOST = 1 << 24 };
    struct stat about;
    if (stat(path, &about) || about.st_size <= SIZE_MOST) return OK;
    return refuse(err, "%s: expected settings of at most %d MiB, found %lld MiB", path,
                  SIZE_MOST >> 20, (long long)about.st_size >> 20);
}

enum status import_read(struct document *d, const char *path, const char **text, size_t *size,
                        struct arena *arena, struct error *err)
{
    *d = (struct document){.path = arena_copy_text(arena, path)};
    TRY(file_read(path, text, size, arena, err));
    if (memchr(*text, '\0', *size))
        return refuse(err, "%s: expected text, found a zero byte", d->path);
    sha256_text(*text, *size, d->sha256);
    size_t mark = *size >= 3 && !memcmp(*text, "\xEF\xBB\xBF", 3) ? 3 : 0; // of byte order
    *text += mark, *size -= mark;
    return OK;
}

enum status import_like(struct cluster *c, const char *like, struct arena *arena, struct error *err)
{
    const char *path;
    TRY(shipped_find(&path, "clusters", like, arena, err));
    return cluster_load(c, path, arena, err);
}

static struct document made_from(const struct reading *r)
{
    struct source *sources = TAKE(r->arena, 2, struct source);
    int count = 0;
    if (r->into) sources[count++] = source_of("costs", r->into, r->output, r->arena);
    sources[count++] = source_of(r->reader->role, &r->file, r->output, r->arena);
    return (struct document){.path = r->file.path, .sources = sources, .source_count = count};
}

// Of one launch of the program that measured, which the role names.
static void describe_samples(struct reading *r)
{
    struct samples *s = &r->samples;
    if (r->name) s->machine.gpu = r->name;
    if (!s->machine.gpu) s->machine.gpu = "unknown";
    s->machine.threads = 1;
    s->launch_count = 1, s->launches = TAKE(r->arena, 1, struct launch);
    s->launches[0] = (struct launch){.host = s->machine.host, .command = r->reader->role};
    s->document = made_from(r);
}

static enum status save(struct reading *r, struct error *err)
{
    if (!r->output) return OK;
    switch (r->reader->makes) {
    case MAKES_OTHER: return OK;
    case MAKES_CLUSTER:
        r->cluster.document = made_from(r), r->cluster.name = r->name;
        TRY(cluster_check(&r->cluster, err));
        return cluster_save(&r->cluster, r->output, r->arena, err);
    case MAKES_COSTS:
        r->costs.document = made_from(r);
        r->costs.document.path = r->output;
        if (r->name) r->costs.name = r->name;
        TRY(costs_check(&r->costs, err));
        return costs_save(&r->costs, r->output, r->arena, err);
    case MAKES_SAMPLES:
        describe_samples(r);
        return samples_save(&r->samples, r->output, r->arena, err);
    }
    return OK;
}

enum status import_run(void *options, int *exit_code, struct arena *arena, struct error *err)
{
    struct reading *r = options;
    (void)exit_code;
    r->arena = r->said.arena = arena;
    if (!r->reader->opens) TRY(import_read(&r->file, r->path, &r->text, &r->size, arena, err));
    TRY(r->reader->read(options, err));
    if (r->strict) TRY(said_check_strict(&r->said, r->path, err));
    TRY(r->reader->save ? r->reader->save(options, err) : save(r, err));
    said_tell(&r->said, r->path, stderr);
    if (r->reader->tell) r->reader->tell(options);
    return OK;
}
