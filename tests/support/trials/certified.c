// A solved problem with its audited certificate.
#include "tests/support/trials/certified.h"

#include "tests/support/trials/check_trials.h"

bool certify_solved(struct certified *c, const struct priced *p, const struct check_text *text,
                    const struct solve_result *of, bool shrink, struct arena *arena,
                    struct error *err)
{
    struct certificate_request request = {.priced = p,
                                          .priced_text = *text,
                                          .plan = &of->plan,
                                          .evidence = of->evidence,
                                          .shrink = shrink};
    c->audited = (struct check_result){.accepted = false};
    if ((p->objective == OBJECTIVE_ENERGY ? certificate_of_energy
                                          : certificate_make)(&c->made, &request, arena, err) != OK)
        return false;
    struct check_text certificate = {"certificate.json", c->made.text, c->made.size};
    return !c->made.text ||
           check_certificate(&c->audited, &certificate, text, CHECK_WORK_DEFAULT, arena, err) == OK;
}

bool certify_best(struct certified *c, const struct priced *p, const struct solve_result *of,
                  int64_t best_ns, struct arena *arena, struct error *err)
{
    struct check_text text = check_trial_save(p, "priced.json", arena);
    const struct check_result *audited = &c->audited;
    bool none = best_ns == INT64_MAX;
    *err = (struct error){OK, ""};
    if (!certify_solved(c, p, &text, of, false, arena, err)) return false;
    if (!c->made.text)
        return fail(err, SOLVER, "no certificate of bound %lld", (long long)of->plan.bound_ns) ==
               OK;
    if (!audited->accepted)
        return fail(err, SOLVER, "the certificate is refused: %s", audited->reason) == OK;
    if (audited->infeasible != none)
        return fail(err, SOLVER, "the certificate is wrong about whether there is a plan") == OK;
    if (none || (audited->bound_ns == best_ns && audited->iteration_ns == best_ns)) return true;
    return fail(
               err, SOLVER,
               "the certificate proves %lld ns of a plan of %lld ns, the best of all takes %lld ns",
               (long long)audited->bound_ns, (long long)audited->iteration_ns,
               (long long)best_ns) == OK;
}
