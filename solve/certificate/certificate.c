// Making a certificate: from the records of the search as they are; where these do not suffice, a
// proof built step by step with the checker's own functions, for the claimed bound or the greatest
// lower one that holds.
#include "solve/certificate/certificate.h"

#include "data/base/least.h"
#include "data/results/bound.h"
#include "solve/certificate/internal.h"

static bool prove_at(struct maker *m, int64_t bound_ns)
{
    m->bound_ns = m->proof->bound_ns = bound_ns;
    m->result->mended = 0;
    return maker_prove(m);
}

// In a round by ranks the checker chooses the prices for the current box, and a smaller box need
// not get better ones.
static bool is_accepted(const struct proof *proof)
{
    struct arena_mark mark = arena_set_mark(proof->arena);
    struct error why = {OK, ""};
    struct check_result audited;
    struct check_text text = {"certificate", proof->result->text, proof->result->size};
    bool accepted = !check_certificate(&audited, &text, &proof->request->priced_text,
                                       CHECK_WORK_DEFAULT, proof->arena, &why) &&
                    audited.accepted;
    arena_reset(proof->arena, mark);
    return accepted;
}

// Writes the shrunk proof if the checker accepts it, otherwise the original.
static void write_shrunk(struct maker *m)
{
    struct proof *proof = m->proof;
    struct proof_box *boxes = proof->boxes;
    int count = proof->box_count;
    struct certificate_result result = *m->result;
    maker_shrink(m);
    proof_write(proof);
    if (is_accepted(proof)) return;
    proof->boxes = boxes;
    proof->box_count = count;
    *m->result = result;
    proof_write(proof);
}

// Tries the claimed bound, then what the requested gap needs, then what the records prove, then
// what the whole problem proves as one box.
static bool prove(struct maker *m)
{
    const struct plan *plan = m->request->plan;
    if (plan->outcome == OUTCOME_INFEASIBLE) return prove_at(m, -1);
    if (plan->bound_ns <= 0) return false;
    if (prove_at(m, plan->bound_ns)) return true;
    if (m->request->of_energy) return false; // a lower one says nothing
    int64_t edge_ns = bound_closing(plan_value_ns(plan), plan->gap_asked, 0);
    if (edge_ns > 0 && edge_ns < plan->bound_ns && prove_at(m, edge_ns)) return true;
    int64_t records_ns = m->request->evidence->proof_bound_ns;
    if (records_ns > 0 && records_ns < plan->bound_ns && prove_at(m, records_ns)) return true;
    int64_t root_ns = maker_root_bound(m, plan->bound_ns);
    return root_ns > 0 && root_ns < plan->bound_ns && prove_at(m, root_ns);
}

// Step by step; with shrink, written, too.
static enum status find_anew(struct proof *proof, bool *proven, struct arena *arena,
                             struct error *err)
{
    struct arena *scratch = arena_open_within(arena);
    struct maker *m = TAKE(arena, 1, struct maker);
    TRY(maker_open(m, proof, arena, scratch, err));
    *proven = prove(m);
    if (*proven && proof->request->shrink) write_shrunk(m);
    arena_close(scratch);
    arena_open(scratch, arena->exit);
    return OK;
}

// For ranks with several stages the checker lists fewer choices than the search, so a recorded
// split may split nothing.
static enum status splits_stand(bool *stand, const struct proof *proof, struct arena *arena,
                                struct error *err)
{
    struct proof own = *proof;
    *stand = true;
    if (proof->request->priced->layout.virtual_stages == 1) return OK;
    struct maker *m = TAKE(arena, 1, struct maker);
    TRY(maker_open(m, &own, arena, arena, err));
    for (int i = 0; i < proof->box_count && *stand; i++) {
        const struct proof_box *box = &proof->boxes[i];
        *stand = box->end == END_CLOSED || box->end == END_LEAF || maker_separates(m, box);
    }
    return OK;
}

static struct proof open_proof(struct certificate_result *result,
                               const struct certificate_request *request, struct arena *arena)
{
    const struct plan *plan = request->plan;
    return (struct proof){.request = request,
                          .result = result,
                          .arena = arena,
                          .bound_ns = plan->outcome == OUTCOME_INFEASIBLE ? -1 : plan->bound_ns};
}

enum status proof_find(struct proof *proof, bool *proven, struct arena *arena, struct error *err)
{
    const struct certificate_request *request = proof->request;
    const bool *taken = proof->taken;
    *proven = true;
    if (request->priced->in_turn) return OK; // the checker searches anew: bound and plan alone
    if (request->priced->width_per_group) return proof_find_by_group(proof, proven, arena, err);
    bool stands = !request->shrink && !request->anew && proof_take_records(proof);
    if (stands) TRY(splits_stand(&stands, proof, arena, err));
    if (stands) return OK;
    *proof = open_proof(proof->result, request, arena);
    proof->taken = taken;
    return find_anew(proof, proven, arena, err);
}

enum status certificate_search(struct solve_result *found, bool *none,
                               struct solve_settings settings, const struct priced *priced,
                               int64_t bound_ns, struct arena *arena, struct error *err)
{
    settings.progress = 0;
    settings.evidence = true;
    settings.cutoff_ns = larger(bound_ns, 0);
    TRY(solve_run(found, priced, &settings, NULL, NULL, arena, err));
    *none = found->plan.outcome == OUTCOME_INFEASIBLE && !found->cut_off;
    return OK;
}

enum status certificate_make(struct certificate_result *result,
                             const struct certificate_request *request, struct arena *arena,
                             struct error *err)
{
    struct proof proof = open_proof(result, request, arena);
    bool alone = request->priced->in_turn || request->priced->width_per_group, proven;
    *result = (struct certificate_result){.bound_ns = 0};
    TRY(proof_find(&proof, &proven, arena, err));
    if (!proven || result->text) return OK; // nothing, or written
    proof_write(&proof);
    if (alone && !request->into && !is_accepted(&proof)) result->text = NULL;
    return OK;
}

enum status certificate_of_energy(struct certificate_result *result,
                                  const struct certificate_request *request, struct arena *arena,
                                  struct error *err)
{
    const struct plan *plan = request->plan;
    struct certificate_request below = *request;
    const struct priced priced = energy_below(request->priced, plan->bound_ns);
    const struct plan none = {.outcome = OUTCOME_NO_PLAN,
                              .bound_ns = request->priced->iteration_limit_ns + 1};
    below.priced = &priced, below.plan = &none, below.of_energy = plan;
    *result = (struct certificate_result){.bound_ns = 0};
    if (request->evidence) return certificate_make(result, &below, arena, err);
    struct proof proof = {.request = &below, .result = result, .arena = arena};
    bool counted[RESOURCES_MOST] = {false};
    proof.counted = counted;
    if (plan->stage_count && plan->objective_ns == 0) proof_write(&proof); // nothing is less
    return OK;
}
