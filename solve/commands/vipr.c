// plumbline vipr: a certificate -> the same claim as a proof in the format of VIPR. The
// certificate is checked first. The output is for a third party's checker; the tests have their own
// (tests/support/vipr).
#include <unistd.h>

#include "solve/checker/sources.h"
#include "solve/commands/commands.h"
#include "solve/commands/verbs.h"
#include "solve/certificate/vipr/vipr.h"

struct options {
    const char *certificate, *priced, *out;
    double time_limit_s;
    int64_t threads, memory_mib;
};

static enum status read_text(struct check_text *to, const char *path, struct arena *arena,
                             struct error *err)
{
    to->file = path;
    return file_read(path, &to->text, &to->size, arena, err);
}

// ---- the incumbent of an accepted certificate, as a plan

static enum status read_stage(struct plan_stage *s, const struct json *array, int stage,
                              const struct priced *p, const char *const *groups,
                              struct arena *arena, struct error *err)
{
    struct json element = json_element(array, stage, arena);
    const struct json_field fields[] = {
        FIELD_INT("first_layer", REQUIRED, &s->first_layer, 0, 1 << 20),
        FIELD_INT("layer_count", REQUIRED, &s->layer_count, 1, 1 << 20),
        FIELD_NAME("group", REQUIRED, &s->group, groups),
    };
    TRY(json_fields(&element, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, arena, err));
    return decision_get(&s->decision, &element, p->gradient_option_count, p->boundary_option_count,
                        arena, err);
}

static enum status read_incumbent(struct plan *plan, const struct check_text *certificate,
                                  const struct priced *p, struct arena *arena, struct error *err)
{
    struct json root, proof = {0}, stages = {0};
    const char **groups = TAKE(arena, p->group_count + 1, const char *);
    for (int g = 0; g < p->group_count; g++) groups[g] = p->groups[g].name;
    TRY(json_parse(&root, certificate->file, certificate->text, certificate->size, arena, err));
    const struct json_field in_root[] = {FIELD_OBJECT("proof", REQUIRED, &proof)},
                            in_proof[] = {FIELD_ARRAY("incumbent", REQUIRED, &stages)};
    TRY(json_fields(&root, in_root, 1, JSON_ENVELOPE, arena, err));
    TRY(json_fields(&proof, in_proof, 1, JSON_ENVELOPE, arena, err));
    *plan = (struct plan){.group_names = groups,
                          .group_count = p->group_count,
                          .stage_count = p->stage_count,
                          .boundary_options = p->boundary_options,
                          .boundary_option_count = p->boundary_option_count,
                          .gradient_options = p->gradient_options,
                          .gradient_option_count = p->gradient_option_count};
    plan->stages = TAKE(arena, p->stage_count, struct plan_stage);
    if (json_length(&stages) != p->stage_count)
        return json_refuse(&stages, err, "expected %d stages", p->stage_count);
    for (int s = 0; s < p->stage_count; s++)
        TRY(read_stage(&plan->stages[s], &stages, s, p, groups, arena, err));
    return OK;
}

// ---- from file to file

static const char *comment_of(const struct priced *p, struct arena *arena)
{
    char *comment = arena_print(arena,
                                "Iteration time T, in ns, of \"%s\"; priced document SHA-256 %s",
                                p->name, p->document.sha256);
    for (char *c = comment; *c; c++)
        if ((unsigned char)*c < 0x20) *c = '?';
    return comment;
}

// The proof is made by a process of its own, which this one ends if it does not end by itself: it
// has as long for the rows behind the search as solve has for a certificate.
static enum status begin_apart(const struct options *r, struct arena *arena, struct error *err)
{
    const struct supervise_settings how = {
        "the proof", r->time_limit_s + solve_time_behind_s(r->time_limit_s), SUPERVISE_GRACE_S};
    struct supervised s;
    TRY(supervise(&s, &how, arena, err));
    if (s.as == SUPERVISED_ENDED) _exit(s.exit_code);
    if (s.as == SUPERVISED_CHILD) return supervised_begins(how.what, how.limit_s, false), OK;
    if (s.died_of) return fail(err, SOLVER, "%s died of signal %d", s.what, s.died_of);
    return fail(err, SOLVER, "%s was ended %s: nothing is written", s.what,
                s.late ? "at its limit" : "by a signal");
}

static const struct option_row rows[] = {
    {"CERTIFICATE.json", OPTION_PATH, OPT(certificate), .low = 1},
    {"PRICED.json", OPTION_PATH, OPT(priced)},
    {"-o", OPTION_PATH, OPT(out), "output file for the proof (default: standard output)"},
    {"--time-limit-s", OPTION_NUMBER, OPT(time_limit_s),
     "time limit in seconds of the tree that closes the boxes by rows (default: 600; 0: none)", 0,
     1e9},
    {"--threads", OPTION_INT, OPT(threads),
     "number of worker processes; the proof does not depend on it", 1, 64},
    {"--memory-limit-mib", OPTION_INT, OPT(memory_mib),
     "memory limit in MiB for writing the proof (default: 1024); the audit of the certificate "
     "has the limit of plumbline check",
     1, 1e7},
};

COMMAND_RUN(run)
{
    const struct options *r = options;
    struct check_text certificate, priced_text;
    struct check_result checked;
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct plan plan;
    struct vipr_result made;
    double begin_s = clock_s();
    const char *path;
    TRY(file_check_place(r->out, err));
    memory_limit((size_t)MEMORY_BASE_MIB << 20);
    TRY(read_text(&certificate, r->certificate, arena, err));
    struct error unread = {OK, ""};
    if (check_priced_path(&path, &certificate, arena, &unread) != OK)
        return fail(err, unread.status, "%s: expected the certificate of one layout", unread.text);
    path = r->priced ? r->priced : path_beside(r->certificate, path, arena);
    if (read_text(&priced_text, path, arena, &unread) != OK)
        return fail(err, unread.status, "%s%s%s", r->priced ? "" : r->certificate,
                    r->priced ? "" : ": made_from: ", unread.text);
    TRY(check_certificate(&checked, &certificate, &priced_text, CHECK_WORK_DEFAULT, arena, err));
    if (!checked.accepted)
        return fail(err, SOLVER, "%s: not certified: %.300s", r->certificate, checked.reason);
    TRY(priced_load(priced, path, arena, err));
    if (priced->objective != OBJECTIVE_ITERATION_TIME)
        return refuse(err, "%s: is about the objective %s: expected iteration_time", r->certificate,
                      objective_names[priced->objective]);
    if (priced->width_per_group)
        return refuse(err,
                      "%s: has one width for each node group: expected each stage its own, as rows "
                      "have it",
                      r->certificate);
    bool has_plan = checked.iteration_ns >= 0;
    if (has_plan) TRY(read_incumbent(&plan, &certificate, priced, arena, err));
    struct vipr_request request = {priced,           has_plan ? &plan : NULL,   checked.infeasible,
                                   checked.bound_ns, comment_of(priced, arena), r->time_limit_s,
                                   (int)r->threads};
    memory_limit((size_t)r->memory_mib << 20);
    TRY(begin_apart(r, arena, err));
    TRY(vipr_make(&made, &request, arena, err));
    TRY(file_write(r->out, made.text, made.size, err));
    fprintf(stderr,
            "vipr: %d columns, %d rows (%d of paths), %d derived rows, %zu bytes; %lld boxes in "
            "%.2f s\n",
            made.columns, made.rows, made.path_rows, made.lines, made.size, (long long)made.boxes,
            clock_s() - begin_s);
    return OK;
}

const struct command command_vipr = {
    .name = "vipr",
    .text = "certificate -> VIPR: the same proof in rows of the integer program",
    .about = "Writes the proof for a third-party checker.",
    .usage = "plumbline vipr CERTIFICATE.json [PRICED.json] [-o FILE.vipr]",
    READS(struct options, rows,
          {.out = "-", .time_limit_s = 600, .threads = 1, .memory_mib = 1024}),
    .audits = true,
    .run = run,
};
