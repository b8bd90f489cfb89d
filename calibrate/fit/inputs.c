// Joining documents: samples are concatenated, endpoints merged by name, quantities appended.
#include "calibrate/fit/fit.h"

#include <string.h>

static int find_endpoint(const struct samples *s, const char *name)
{
    for (int i = 0; i < s->endpoint_count; i++)
        if (!strcmp(s->endpoints[i].name, name)) return i;
    return -1;
}

static void join_endpoints(struct samples *all, const struct samples *one, int *map)
{
    for (int i = 0; i < one->endpoint_count; i++) {
        map[i] = find_endpoint(all, one->endpoints[i].name);
        if (map[i] >= 0) continue;
        map[i] = all->endpoint_count;
        all->endpoints[all->endpoint_count++] = one->endpoints[i];
    }
}

static void join_samples(struct inputs *in, int document, const int *map, struct arena *arena)
{
    const struct samples *one = &in->documents[document];
    for (int i = 0; i < one->sample_count; i++) {
        int at = in->all.sample_count++;
        struct sample *s = &in->all.samples[at];
        *s = one->samples[i];
        in->document_of[at] = document;
        in->index_in[at] = i;
        if (s->from >= 0) s->from = map[s->from];
        if (s->to >= 0) s->to = map[s->to];
        s->members = TAKE_COPY(arena, s->members, s->member_count);
        for (int k = 0; k < s->member_count; k++) s->members[k] = map[s->members[k]];
    }
}

// Hosts that measure links may have any name: a device's name comes from the documents that
// measured it.
static bool names_device(const struct samples *s)
{
    bool links = s->sample_count > 0;
    for (int i = 0; i < s->sample_count; i++)
        links = links &&
                (s->samples[i].kind == SAMPLE_LINK || s->samples[i].kind == SAMPLE_COLLECTIVE);
    return !links;
}

enum status inputs_join(struct inputs *in, struct samples *documents, int count, const char *name,
                        struct arena *arena, struct error *err)
{
    int samples = 0, endpoints = 0, quantities = 0;
    int first = 0;
    while (first < count && !names_device(&documents[first])) first++;
    if (first == count) first = 0;
    const struct samples *device = &documents[first];
    *in = (struct inputs){.documents = documents,
                          .document_count = count,
                          .all = {.document = device->document, .machine = device->machine}};
    for (int d = 0; d < count; d++) {
        rounds_even(&documents[d], arena);
        if (!name && names_device(&documents[d]) &&
            strcmp(documents[d].machine.gpu, device->machine.gpu))
            return refuse(
                err,
                "%s: machine.gpu: \"%s\", but \"%s\" in %s; --name gives the costs' name for both",
                documents[d].document.path, documents[d].machine.gpu, device->machine.gpu,
                device->document.path);
        if (names_device(&documents[d]) && !documents[d].machine.driver &&
            !device->machine.driver && documents[d].machine.threads != device->machine.threads)
            return refuse(err,
                          "%s: machine.threads: expected %d as in %s, found %d: costs apply to one "
                          "number of threads",
                          documents[d].document.path, device->machine.threads,
                          device->document.path, documents[d].machine.threads);
        samples += documents[d].sample_count;
        endpoints += documents[d].endpoint_count;
        quantities += documents[d].quantity_count;
    }
    in->document_of = TAKE(arena, samples, int);
    in->index_in = TAKE(arena, samples, int);
    in->all.samples = TAKE(arena, samples, struct sample);
    in->all.endpoints = TAKE(arena, endpoints, struct endpoint);
    in->all.quantities = TAKE(arena, quantities, struct quantity);
    int *map = TAKE(arena, endpoints, int);
    for (int d = 0; d < count; d++) {
        join_endpoints(&in->all, &documents[d], map);
        join_samples(in, d, map, arena);
        for (int q = 0; q < documents[d].quantity_count; q++)
            in->all.quantities[in->all.quantity_count++] = documents[d].quantities[q];
    }
    return OK;
}

enum status inputs_load(struct inputs *in, const char *const *paths, int count, const char *name,
                        struct arena *arena, struct error *err)
{
    struct samples *documents = TAKE(arena, count, struct samples);
    for (int d = 0; d < count; d++) {
        TRY(samples_load(&documents[d], paths[d], arena, err));
        for (int k = 0; k < d; k++)
            if (!strcmp(documents[k].document.sha256, documents[d].document.sha256))
                return refuse(err,
                              "%s: holds the same samples as %s; a file must not be counted twice",
                              paths[d], paths[k]);
    }
    return inputs_join(in, documents, count, name, arena, err);
}

enum status inputs_points(struct fit_point **to, int *count, const struct inputs *in,
                          sample_chooser *choose, const void *context, sample_work *work,
                          struct arena *arena, struct error *err)
{
    int chosen = 0;
    for (int i = 0; i < in->all.sample_count; i++) chosen += choose(&in->all.samples[i], context);
    struct fit_point *points = *to = TAKE(arena, chosen, struct fit_point);
    *count = 0;
    for (int i = 0; i < in->all.sample_count; i++) {
        const struct sample *s = &in->all.samples[i];
        if (!choose(s, context)) continue;
        TRY(point_of_sample(&points[(*count)++], s, work(s),
                            in->documents[in->document_of[i]].document.path, in->index_in[i], arena,
                            err));
    }
    return OK;
}

const char *inputs_source(const struct inputs *in, const struct fit_point *points, int count,
                          struct arena *arena)
{
    bool *used = TAKE(arena, in->document_count, bool);
    for (int i = 0; i < count; i++)
        if (points[i].sample) used[in->document_of[points[i].sample - in->all.samples]] = true;
    const char *text = arena_print(arena, "%d sample%s (", count, count == 1 ? "" : "s");
    const char *between = "";
    for (int d = 0; d < in->document_count; d++) {
        if (!used[d]) continue;
        text = arena_print(arena, "%s%s%.12s", text, between, in->documents[d].document.sha256);
        between = ", ";
    }
    return arena_print(arena, "%s)", text);
}
