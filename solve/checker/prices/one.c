// A problem with one layout -> the tables that its priced document must have, by the judge's own
// prices.
#include <string.h>

#include "solve/checker/prices/open.h"
#include "solve/checker/prices/prices.h"

// What the checker hashed is what was read here.
static enum status same_document(const struct document *read, const struct check_input *input,
                                 struct error *err)
{
    char found[SHA256_TEXT];
    sha256_text(input->text.text, input->text.size, found);
    return strcmp(found, read->sha256)
               ? refuse(err, "%s: changed while it was read", input->text.file)
               : OK;
}

enum status space_load_problem(struct problem *to, const char *path,
                               const struct check_input *inputs, int count, struct arena *arena,
                               struct error *err)
{
    TRY(problem_load(to, path, arena, err));
    for (int i = 0; i < count; i++) {
        const struct document *read = problem_document(to, inputs[i].role);
        if (read) TRY(same_document(read, &inputs[i], err));
    }
    return OK;
}

enum status space_one_prices(struct check_problem **own, const struct problem *p,
                             struct arena *arena, struct error *err)
{
    struct check_pricer pricer;
    const char *file = p->document.path ? p->document.path : "problem";
    struct check_layout layout = space_layout(&p->job.layout);
    TRY(space_check_kind(p, CERTIFICATE_OF_LAYOUT, err));
    TRY(space_pricer_open(&pricer, p, arena, err));
    if (!pricer.bytes(pricer.context, &layout, own) || !pricer.times(pricer.context))
        return refuse(err, "%s: a price is beyond what can be counted (2^53)", file);
    (*own)->name = p->name;
    (*own)->doubtful = *pricer.doubtful_prices + *pricer.doubtful_sizes;
    return OK;
}

enum status space_open_one(struct check_problem **own, const char *path,
                           const struct check_input *inputs, int count, struct arena *arena,
                           struct error *err)
{
    struct problem *problem = TAKE(arena, 1, struct problem);
    TRY(space_load_problem(problem, path, inputs, count, arena, err));
    return space_one_prices(own, problem, arena, err);
}
