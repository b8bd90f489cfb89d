// A page in words on what an accepted certificate proves, for the appendix of a paper. It states
// what the checker found (the result, and the priced document as it was read), not the
// certificate's claims; anything only read from the certificate is marked as such.
#include "solve/checker/verdict.h"

#include <string.h>

#include "solve/checker/proof.h"

// Names come from files: no line of theirs may look like one of ours.
static const char *tame(const char *text, struct arena *arena)
{
    char *copy = arena_copy_text(arena, text);
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    return copy;
}

static const char *amount(const struct check_result *r, int64_t ns, struct arena *arena)
{
    if (r->objective == MINIMISE_ENERGY)
        return arena_print(arena, "%lld microjoules", (long long)ns);
    return arena_print(arena, "%lld ns (%lld.%09lld s)", (long long)ns,
                       (long long)(ns / 1000000000), (long long)(ns % 1000000000));
}

// In percent of the iteration, rounded up to four decimals.
static const char *gap(const struct check_result *r, struct arena *arena)
{
    wide whole = r->iteration_ns > 0 ? r->iteration_ns : 1;
    int64_t parts =
        (int64_t)(((wide)(r->iteration_ns - r->bound_ns) * 1000000 + whole - 1) / whole);
    return arena_print(arena, "%lld.%04lld %%", (long long)(parts / 10000),
                       (long long)(parts % 10000));
}

static void put_grid(struct check_page *p, const struct check_layout *l)
{
    int all = l->grid[0] * l->grid[1];
    if (all > 1)
        page_print(p, " (a grid of %d x %d x %d, %s)", l->value[KEY_TENSOR] / all, l->grid[0],
                   l->grid[1], check_orders[l->value[KEY_GRID_ORDER]]);
}

void page_layout(struct check_page *p, const struct check_layout *l)
{
    const int *v = l->value;
    page_print(p, "  The layout: tensor %d", v[KEY_TENSOR]);
    put_grid(p, l);
    page_print(p, ", context %d, data %d, expert %d", v[KEY_CONTEXT], v[KEY_DATA], v[KEY_EXPERT]);
    if (v[KEY_EXPERT_TENSOR]) page_print(p, " (of tensor %d)", v[KEY_EXPERT_TENSOR]);
    if (v[KEY_POOL]) page_print(p, ", pools over %d", v[KEY_POOL]);
    page_print(p, ", micro-batches of %d, ZeRO %d, syncs %s%s%s%s%s%s", v[KEY_MICRO_BATCH],
               v[KEY_ZERO], v[KEY_OVERLAPPED] ? "overlapped" : "exposed",
               v[KEY_SEQUENCE_PARALLEL] ? ", sequence parallel" : "",
               v[KEY_OFFLOAD] ? ", offloaded optimizer" : "",
               v[KEY_FUSED_EMBEDDING] ? ", fused embedding sync" : "",
               v[KEY_BESIDE] ? ", dispatch beside other passes" : "",
               l->fused_attention ? ", fused attention" : "");
    if (l->data_shard) page_print(p, ", states over %d of the data ranks", l->data_shard);
    for (int i = 0; i < v[KEY_SLICES] && v[KEY_SLICES] > 1; i++)
        page_print(p, "%s%lld", i ? " + " : ", slices of ", (long long)l->slice[i]);
    for (int i = 0; i < v[KEY_PIPELINE] && l->in_flight[i]; i++)
        page_print(p, "%s%d", i ? ", " : ", in flight on its stages ", l->in_flight[i]);
    if (v[KEY_LOCAL]) page_print(p, ", a local loss every %d stages", v[KEY_LOCAL]);
}

static bool has_widths(const struct check_problem *q) { return q->groups[0].of_node_group > 0; }

static void put_tier_options(struct check_page *p, const struct check_problem *q)
{
    const char *lead = "  Parts of a stage may be in tiers as ";
    for (int o = 0; o < q->gradient_count; o++) {
        const char *name = q->gradient[o].tiers;
        int before = 0;
        while (name && before < o &&
               (!q->gradient[before].tiers || strcmp(q->gradient[before].tiers, name)))
            before++;
        if (!name || before < o) continue;
        page_print(p, "%s\"%s\"", lead, tame(name, p->arena));
        lead = ", ";
    }
    if (*lead == ',') page_print(p, " say.\n");
}

// What all stages of the layout have, and what a stage may choose of recomputation.
static void put_layout(struct check_page *p, const struct check_problem *q)
{
    const int *v = q->layout.value;
    page_layout(p, &q->layout);
    if (q->head) page_print(p, " with a head of its own");
    if (q->stored) page_print(p, " (its inputs stored)");
    page_print(p, ";\n  it minimises %s.\n", check_objective_names[q->objective]);
    if (has_widths(q))
        page_print(p,
                   "  Each stage has the width of its group instead of tensor and data above; "
                   "groups of one node group share its slots%s.\n",
                   q->width_per_group ? ", and all stages on them have one width" : "");
    if (q->in_turn)
        page_print(p, "  The replicas of a stage take whole micro-batches in turn%s.\n",
                   q->any_sets ? "; a stage recomputes any of its layers" : "");
    for (int i = 0; i < q->tier_count; i++)
        page_print(p, "%s%s", i ? ", " : "  Tiers of memory: ", tame(q->tiers[i], p->arena));
    if (q->tier_count) page_print(p, ", as the gradient options say.\n");
    put_tier_options(p, q);
    if (q->runs[0].sharded)
        page_print(p,
                   "  Each stage shards the first of its recomputable layers further, as many as "
                   "it chooses.\n");
    if (q->degree_count)
        page_print(p, "  A stage with an embedding or a head chooses their tensor degree.\n");
    page_print(p, "  Recomputation:");
    if (v[KEY_RECOMPUTE])
        page_print(p, " %s for every stage", check_setting_names[v[KEY_RECOMPUTE]]);
    for (int mode = 0; mode < MODES && !v[KEY_RECOMPUTE]; mode++)
        if (q->modes[mode]) page_print(p, " %s", check_mode_names[mode]);
    page_print(p, "; %d rule%s.\n", q->rule_count, q->rule_count == 1 ? "" : "s");
}

static bool any_blocks(const struct check_problem *q)
{
    int prices = q->slices * q->group_count * q->group_count * PARTS;
    for (int c = 0; c < q->cut_count; c++)
        for (int i = PART_BLOCKS; i < prices; i += PARTS) {
            if (q->cuts[c].forward[i] > 0) return true;
            for (int o = 0; o < q->boundary_count; o++)
                if (q->cuts[c].backward[o][i] > 0) return true;
        }
    return false;
}

static bool has_epilogues(const struct check_problem *q)
{
    for (int o = 0; o < q->boundary_count; o++)
        if (q->boundary[o].epilogue_only) return true;
    return false;
}

enum { LACKS = 8 };

// What no theorem is about; ended by NULL.
static void find_lacks(const struct check_problem *q, const char *lacks[LACKS + 1])
{
    bool in_rounds = check_schedules[q->kind].in_groups || check_schedules[q->kind].layered;
    const struct {
        bool is;
        const char *what;
    } all[LACKS] = {{q->objective != MINIMISE_TIME, "another objective"},
                    {q->stored && (q->turns > 1 || in_rounds), "stored inputs with this schedule"},
                    {q->degree_count, "degrees of the vocabulary"},
                    {q->in_turn, "replicas in turn"},
                    {q->width_per_group, "one width for each node group"},
                    {q->modes[MODE_SWAP], "swap"},
                    {any_blocks(q), "messages that block both ends"},
                    {q->slices > 1 && has_epilogues(q), "epilogues of slices"}};
    for (int i = 0; i < LACKS; i++)
        if (all[i].is) *lacks++ = all[i].what;
    *lacks = NULL;
}

const char *check_lacks_theorem(const struct check_problem *q)
{
    const char *lacks[LACKS + 1];
    find_lacks(q, lacks);
    return lacks[0];
}

static void put_argument(struct check_page *p, const struct check_result *r)
{
    const char *lacks[LACKS + 1];
    find_lacks(r->problem, lacks);
    page_print(p, "WHY THE ONE FOLLOWS FROM THE OTHER\n");
    if (!lacks[0]) {
        page_print(p,
                   "  Proven by machine for certificates of this kind (solve/proofs, "
                   "docs/PROOFS.md 16: %s):\n"
                   "  plumbline check --elaborate, then plumbline-referee, needs no trust in this "
                   "checker. Here it is argued in\n"
                   "  docs/PROOFS.md 2 to 5.\n\n",
                   r->infeasible          ? "theorem accepted_infeasible"
                   : r->iteration_ns >= 0 ? "theorems accepted_bound and reached"
                                          : "theorem accepted_bound");
        return;
    }
    page_print(p,
               "  Argued in docs/PROOFS.md %s; no theorem that a machine has checked is about such "
               "a document yet (16):\n",
               r->problem->in_turn ? "15.6" : "2 to 5");
    for (int i = 0; lacks[i]; i++) page_print(p, "%s%s", i ? ", " : "  ", lacks[i]);
    page_print(p, ".\n\n");
}

static void put_problem(struct check_page *p, const struct check_problem *q)
{
    page_print(p,
               "PROBLEM\n  \"%s\": %d layers on %d pipeline stages (%d rank%s with %d stage%s "
               "each), schedule %s,\n"
               "  %d micro-batches an iteration, %s. Stages stand on node groups:\n",
               tame(q->name, p->arena), q->layers, q->stages, q->ranks, q->ranks == 1 ? "" : "s",
               q->turns, q->turns == 1 ? "" : "s", check_schedule_names[q->kind], q->micro_batches,
               q->barrier ? "a barrier behind each" : "no barrier between iterations");
    for (int g = 0; g < q->group_count; g++)
        page_print(p, "    %s: %d rank%s at most, %lld bytes a device%s\n",
                   tame(q->groups[g].name, p->arena), check_seats(q, g),
                   check_seats(q, g) == 1 ? "" : "s", (long long)q->groups[g].memory_limit,
                   q->groups[g].excluded ? " (excluded)" : "");
    put_layout(p, q);
    page_print(p,
               "  A plan gives each stage its layers, a node group, a mode of recomputation, and "
               "options of gradient\n"
               "  and boundary compression; %d gradient and %d boundary options (none included) "
               "are offered.\n\n",
               q->gradient_count, q->boundary_count);
}

// What an objective other than the iteration time means.
static void put_objective(struct check_page *p, const struct check_result *r)
{
    if (r->objective == MINIMISE_ENERGY)
        page_print(
            p,
            "  \"Takes\" is about the objective energy: what the weights, states and swaps of "
            "an iteration need on all\n"
            "  GPUs. A plan takes %lld ns at most: every plan of less energy takes longer.\n",
            (long long)r->problem->time_limit);
    if (r->objective != MINIMISE_LOAD) return;
    page_print(p, "  \"Takes\" is about the objective max_load (docs/FORMULAS.md 17): the greatest "
                  "time that one micro-batch\n"
                  "  occupies a rank, or the link from one rank to another.\n");
}

static void put_claims(struct check_page *p, const struct check_result *r)
{
    struct arena *a = p->arena;
    const char *what = r->objective == MINIMISE_LOAD     ? "the greatest load of it"
                       : r->objective == MINIMISE_ENERGY ? "the energy of it"
                                                         : "one iteration of it";
    page_print(p, "CERTIFIED, given what is assumed below\n");
    put_objective(p, r);
    if (r->infeasible)
        page_print(p, "  There is no plan: whatever is chosen breaks a rule or a limit of the "
                      "priced document.\n\n");
    if (r->infeasible) return;
    if (r->iteration_ns >= 0)
        page_print(p,
                   "  1. The plan in the certificate satisfies every rule, memory limit, slot and "
                   "budget of the priced\n"
                   "     document, and %s takes exactly\n       %s.\n",
                   what, amount(r, r->iteration_ns, a));
    page_print(p, "  %s No plan of the priced document takes less than\n       %s.\n",
               r->iteration_ns >= 0 ? "2." : "1.", amount(r, r->bound_ns, a));
    if (r->iteration_ns >= 0 && r->iteration_ns == r->bound_ns)
        page_print(p, "  So the plan is optimal: the gap is 0.\n\n");
    else if (r->iteration_ns >= 0)
        page_print(p,
                   "  So the plan takes at most %s of its own value more than an optimal one.\n\n",
                   gap(r, a));
    else page_print(p, "  The certificate contains no plan.\n\n");
}

static void put_graph(struct check_page *p, const struct check_result *r)
{
    bool has_plan = r->iteration_ns >= 0;
    if (r->infeasible) {
        page_print(p, "  - memory, at the fullest moments of the schedule's %lld operations;\n",
                   (long long)r->operations);
        return;
    }
    if (r->objective == MINIMISE_LOAD) {
        if (has_plan) page_print(p, "  - the plan, by the sums of its loads;\n");
        page_print(p,
                   "  - %lld loads of ranks and links, summed by the checker: each, or a weighted "
                   "mean of them, is a lower bound\n"
                   "    on the greatest load of every plan; memory, at the fullest moments of the "
                   "schedule's %lld operations;\n",
                   (long long)r->paths, (long long)r->operations);
        return;
    }
    if (has_plan)
        page_print(p, "  - the plan, by a replay of the schedule's graph of %lld operations;\n",
                   (long long)r->operations);
    page_print(p,
               "  - %lld paths through that graph (%lld operations), step by step: the length of a "
               "path, or of a weighted\n"
               "    mean of paths, is a lower bound on the iteration time of every plan;\n",
               (long long)r->paths, (long long)r->operations);
}

static void put_boxes(struct check_page *p, const struct check_result *r)
{
    put_graph(p, r);
    page_print(p,
               "  - that the boxes cover every plan: %lld boxes, %lld of them split in two, %lld "
               "of one decision that was\n"
               "    replayed; the %lld stage choices were enumerated by the checker itself;\n",
               (long long)r->boxes, (long long)r->splits, (long long)r->leaves,
               (long long)r->choices);
    page_print(p,
               "  - that nothing%s is left in any box that is not split: %lld "
               "minimisations by dynamic\n"
               "    programming, redone.\n",
               r->infeasible ? "" : " below the bound", (long long)r->rounds);
}

static void put_turns(struct check_page *p, const struct check_result *r)
{
    if (r->iteration_ns >= 0)
        page_print(p, "  - the plan, by the sums of its loads, and the bytes of what its replicas "
                      "keep;\n");
    page_print(p,
               "  - that no plan%s is left: the fewest slots that hold all layers, by a table over "
               "%lld spans of layers\n"
               "    and widths (docs/PROOFS.md 15.6), are more than there are.\n",
               r->infeasible ? "" : " below the bound", (long long)r->choices);
}

const char *check_not_compared(const struct check_problem *p)
{
    for (int g = 0; g < p->group_count; g++)
        if (p->groups[g].excluded) return " but the prices of groups that can hold no stage";
    return "";
}

static void put_verified(struct check_page *p, const struct check_audit *h)
{
    const struct check_result *r = h->result;
    page_print(p, "VERIFIED by plumbline check " PLUMBLINE_VERSION
                  ", which shares no code with the planner, in whole numbers alone\n"
                  "  - that the certificate is about this very priced document (SHA-256);\n");
    if (h->problem)
        page_print(p,
                   "  - that all %lld numbers of that document%s are those of the problem named "
                   "below, by the judge's own prices of it;\n",
                   (long long)r->confirmed, check_not_compared(r->problem));
    (r->problem->in_turn ? put_turns : put_boxes)(p, r);
    page_print(p, "  Work: %llu steps, %lld.%06lld s.\n\n", (unsigned long long)r->work,
               (long long)(h->microseconds / 1000000), (long long)(h->microseconds % 1000000));
}

static void put_assumed(struct check_page *p, const struct check_audit *h)
{
    page_print(p, "ASSUMED, not verified\n");
    if (h->problem)
        page_print(p, "  - that the judge's formulas (docs/FORMULAS.md, solve/judge/price/), by "
                      "which the prices were confirmed, and its\n"
                      "    reading of the problem are right. They are a model of the machine; "
                      "nothing here states how near to a\n"
                      "    measured run they are (plumbline predict states their interval);\n");
    else
        page_print(p, "  - the prices: the whole nanoseconds and bytes of the priced document. "
                      "They were not compared with a problem\n"
                      "    (plumbline check CERTIFICATE PROBLEM does); and they are a model of the "
                      "machine: nothing here says how\n"
                      "    near to a measured run they are (plumbline predict states their "
                      "interval);\n");
    page_print(p, "  - that these documents mean what docs/FORMULAS.md (8, 9, 13) and "
                  "docs/PROOFS.md (3, 4) say they mean;\n"
                  "  - that the checker, its compiler, the C library and the machine work.\n\n");
}

static void put_file(struct check_page *p, const char *role, const struct check_text *file)
{
    char hash[CHECK_HASH];
    check_hash(file->text, file->size, hash);
    page_print(p, "  %-12s %s\n               %s (%zu bytes)\n", role, hash,
               tame(file->file, p->arena), file->size);
}

// What the document states it was made from, other than what was read here.
static enum status put_sources(struct check_page *p, const struct check_audit *h,
                               const struct check_text *document, const char *title,
                               struct error *err)
{
    const struct check_text *const known[] = {h->priced, h->problem};
    struct check_source *sources;
    char hash[2][CHECK_HASH] = {"", ""};
    int count, told = 0;
    for (int i = 0; i < 2; i++)
        if (known[i]) check_hash(known[i]->text, known[i]->size, hash[i]);
    TRY(check_list_sources(&sources, &count, document, p->arena, err));
    for (int i = 0; i < count; i++) {
        if (!strcmp(sources[i].sha256, hash[0]) || !strcmp(sources[i].sha256, hash[1])) continue;
        if (!told++)
            page_print(p, "  %s says that it was made from these too, %s:\n", title,
                       h->problem ? "and those that the problem names have these very hashes"
                                  : "which were not read");
        page_print(p, "  %-12s %s\n               %s\n", tame(sources[i].role, p->arena),
                   tame(sources[i].sha256, p->arena), tame(sources[i].path, p->arena));
    }
    return OK;
}

static enum status put_inputs(struct check_page *p, const struct check_audit *h, struct error *err)
{
    page_print(p, "INPUTS, by SHA-256 of their bytes\n");
    put_file(p, "certificate", h->certificate);
    put_file(p, "priced", h->priced);
    if (h->problem) put_file(p, "problem", h->problem);
    TRY(put_sources(p, h, h->certificate, "The certificate", err));
    return put_sources(p, h, h->priced, "The priced document", err);
}

enum status check_write_statement(const struct check_audit *h, const char *path,
                                  struct arena *arena, struct error *err)
{
    struct check_page page = {.arena = arena}, *p = &page;
    page_print(p, "WHAT IS CERTIFIED\n\n");
    put_problem(p, h->result->problem);
    put_claims(p, h->result);
    put_verified(p, h);
    put_argument(p, h->result);
    put_assumed(p, h);
    TRY(put_inputs(p, h, err));
    page_print(p,
               "\nTO REPEAT\n  sha256sum %s %s\n  plumbline check %s %s\n  It ends with exit code "
               "0 and the same statement; exit code 1 means: not certified.\n",
               tame(h->certificate->file, arena), tame(h->priced->file, arena),
               tame(h->certificate->file, arena),
               tame((h->problem ? h->problem : h->priced)->file, arena));
    return page_write(p, path, err);
}
