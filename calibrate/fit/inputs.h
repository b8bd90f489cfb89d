// Several documents of samples as one: each may have what another lacks.
#ifndef PLUMBLINE_CALIBRATE_FIT_INPUTS_H
#define PLUMBLINE_CALIBRATE_FIT_INPUTS_H

#include "calibrate/fit/points.h"

struct inputs {
    struct samples all; // of all documents, in order; endpoints of equal name are merged. The
                        // machine is that of the first document that measured more than links
    struct samples *documents;
    int document_count;
    int *document_of; // [all.sample_count]
    int *index_in;    // [all.sample_count] in that document
};

// BAD_INPUT: two documents measured devices of different names and `name` (NULL) does not override
// them.
enum status inputs_load(struct inputs *in, const char *const *paths, int count, const char *name,
                        struct arena *arena, struct error *err);
// The same for documents in memory.
enum status inputs_join(struct inputs *in, struct samples *documents, int count, const char *name,
                        struct arena *arena, struct error *err);

// Whether a sample belongs to a fit; context is the caller's.
typedef bool sample_chooser(const struct sample *s, const void *context);
// The chosen samples as points, with the work that `work` returns; messages identify a sample by
// its document and its index there.
typedef double sample_work(const struct sample *s);
enum status inputs_points(struct fit_point **points, int *count, const struct inputs *in,
                          sample_chooser *choose, const void *context, sample_work *work,
                          struct arena *arena, struct error *err);

// "12 samples (00112233aabb, ...)": the documents of the points, by the beginnings of their
// hashes.
const char *inputs_source(const struct inputs *in, const struct fit_point *points, int count,
                          struct arena *arena);

#endif
