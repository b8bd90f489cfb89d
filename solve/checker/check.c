// Audits a certificate: see check.h. The file is an envelope that names the priced document by its
// hash, with one proof inside.
#include "solve/checker/check.h"

#include <string.h>

#include "solve/checker/proof.h"
#include "solve/checker/sources.h"

static enum status audit(struct check_result *result, const struct check_text *certificate,
                         const struct check_text *priced, const struct check_basis *basis,
                         uint64_t *work, struct arena *arena, struct error *err)
{
    const struct reader r = {certificate->file, err};
    struct check_problem *problem = TAKE(arena, 1, struct check_problem);
    cJSON *root;
    const char *path, *hash;
    char found[CHECK_HASH];
    TRY(check_read_envelope(&r, certificate, &root, arena));
    TRY(check_find_priced(&r, root, &path, &hash));
    check_hash(priced->text, priced->size, found);
    if (strcmp(found, hash))
        return fail(err, (enum status)NOT_PROVEN,
                    "%s: its SHA-256 is %.12s..., the proof is about %.12s...", priced->file, found,
                    hash);
    const cJSON *proof = value_get(root, "proof");
    if (!proof)
        return check_refuse(
            &r, "",
            "is about a space of layouts, or about placements: expected its problem as well");
    TRY(check_read_claims(&r, proof, result));
    TRY(check_read_problem(problem, priced, arena, err));
    result->problem = problem;
    if (basis)
        TRY(basis->confirm(basis, problem, value_get(root, "made_from"), &result->confirmed));
    return check_one_proof(&r, proof, problem, result, work, arena);
}

enum status check_certificate(struct check_result *result, const struct check_text *certificate,
                              const struct check_text *priced, uint64_t work_limit,
                              struct arena *arena, struct error *err)
{
    return check_certificate_of(result, certificate, priced, NULL, work_limit, arena, err);
}

enum status check_certificate_of(struct check_result *result, const struct check_text *certificate,
                                 const struct check_text *priced, const struct check_basis *basis,
                                 uint64_t work_limit, struct arena *arena, struct error *err)
{
    struct error why = {OK, ""};
    uint64_t left = work_limit;
    *result = (struct check_result){.iteration_ns = -1, .bound_ns = -1};
    enum status status = audit(result, certificate, priced, basis, &left, arena, &why);
    result->work = work_limit - left;
    return check_conclude(result, status, &why, err);
}
