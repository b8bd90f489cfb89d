// What configurations state of adapters of low rank, as keys of a model's runs.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/frameworks/run.h"

bool run_has_adapters(const struct run *r)
{
    const char *way = r->adapters.way;
    if (way && *way) return find_in_any_case(way, "lora") || find_in_any_case(way, "dora");
    return r->adapters.on >= 0 ? r->adapters.on : r->adapters.rank > 0 || r->adapters.alpha;
}

int run_frozen_bits(const struct run *r)
{
    const char *digits = r->adapters.bits ? strpbrk(r->adapters.bits, "12348") : NULL;
    int bits = digits ? atoi(digits) : 0;
    if (r->adapters.four || find_in_any_case(r->adapters.way, "qlora")) return 4;
    return r->adapters.eight ? 8 : bits < 16 ? bits : 0;
}

// False: none of the names is known.
static bool adapt(struct layer_run *run, const struct shape *s, const struct run *r)
{
    const char *words = r->adapters.modules;
    run->adapter_rank = r->adapters.rank < INT16_MAX ? (int)r->adapters.rank : INT16_MAX;
    run->adapter_dropout = r->adapters.dropout > 0;
    run->weight_bits = run_frozen_bits(r);
    return !words || !strncasecmp(words, "all", 3) ||
           adapters_by_words(words, s, run->adapter_modules);
}

const char *adapters_text(const struct run *r, struct arena *arena)
{
    static const struct shape gated = {.gated_ffn = true};
    struct layer_run run = {.frozen = true};
    if (!adapt(&run, &gated, r)) return NULL;
    const char *text =
        arena_print(arena, "\"frozen\": true, \"adapter_rank\": %d", run.adapter_rank);
    const char *between = ", \"adapter_modules\": [";
    for (int m = 0; m < ADAPTER_MODULE_COUNT; m++) {
        if (!run.adapter_modules[m]) continue;
        text = arena_print(arena, "%s%s\"%s\"", text, between, adapter_module_names[m]);
        between = ", ";
    }
    if (between[2] == '\0') text = arena_print(arena, "%s]", text);
    if (run.adapter_dropout) text = arena_print(arena, "%s, \"adapter_dropout\": true", text);
    if (!run.weight_bits) return text;
    return arena_print(arena, "%s, \"weight_bits\": %d", text, run.weight_bits);
}

enum status adapters_add(struct model *m, const struct run *r, struct arena *arena,
                         struct error *err)
{
    struct model with = *m;
    with.runs = TAKE_COPY(arena, m->runs, m->run_count);
    for (int i = 0; i < with.run_count; i++) {
        struct layer_run *run = &with.runs[i];
        bool ends = run->kind == LAYER_EMBEDDING || run->kind == LAYER_HEAD;
        if (!ends && run->kind != LAYER_BLOCK && run->kind != LAYER_MOE)
            return refuse(err,
                          "%s: adapters are priced in blocks and mixtures alone: import the job "
                          "alone, and the model without them",
                          r->file);
        run->frozen = true;
        if (ends) continue;
        if (!adapt(run, run_shape(m, run), r))
            return refuse(err, "%s: expected names of products (q_proj, linear_qkv), found %.60s",
                          r->file, r->adapters.modules);
        if (run->kind == LAYER_MOE && !adapters_spare_ffn(run->adapter_modules))
            return refuse(
                err,
                "%s: adapters on experts are not priced: name products of attention alone "
                "(q_proj, linear_qkv), or import the job alone",
                r->file);
    }
    TRY(model_check(&with, err));
    return *m = with, OK;
}
