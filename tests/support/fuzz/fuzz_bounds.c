// Certificates of a space of layouts, and about placements, under the fuzzer: of a small problem in
// tests/fuzz/space or places, whose optimum is known. An input is a certificate and, after a form
// feed, a job in place of the folder's own. In the certificate @p, @m, @c, @k and @j stand for the
// hashes of problem, model, cluster, costs and job, which no fuzzer would guess. Also plans for the
// judge, of the problems in these two folders.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "solve/checker/proof.h"
#include "solve/checker/places/places.h"
#include "solve/checker/prices/open.h"
#include "solve/judge/verify.h"
#include "tests/fuzz/fuzz.h"

enum { WORK_MOST = 1 << 20, INPUTS = 5 };

static const char *const roles[INPUTS] = {"problem", "model", "cluster", "costs", "job"};
static const char letters[] = "pmckj";

static void give_up(const char *what, const char *why, const char *text)
{
    fprintf(stderr, "fuzz: %s: %s: %s\n", what, why, text);
    abort();
}

// ---- the problem

struct ground {
    const char *kind;
    char folder[FUZZ_FOLDER];
    int64_t optimum_ns;
};

static void write_text(const char *folder, const char *name, const char *text, size_t size)
{
    char path[FUZZ_FOLDER + 20];
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    FILE *f = fopen(path, "w");
    if (!f || (size && fwrite(text, 1, size, f) != size) || fclose(f))
        give_up("ground", "cannot write", path);
}

static struct ground grounds[] = {
    {"space", "", 97700000}, {"places", "", 64006080}, {"verify", "", 0}};
enum { GROUND_SPACE, GROUND_PLACES, GROUND_VERIFY };

static void close_grounds(void)
{
    static const char *const files[] = {"problem", "model", "cluster", "costs", "job", "plan"};
    for (size_t g = 0; g < ARRAY_LENGTH(grounds); g++) {
        for (size_t i = 0; i < ARRAY_LENGTH(files) && *grounds[g].folder; i++) {
            char path[FUZZ_FOLDER + 20];
            snprintf(path, sizeof path, "%s/%s.json", grounds[g].folder, files[i]);
            unlink(path);
        }
        if (*grounds[g].folder) rmdir(grounds[g].folder);
    }
}

static void open_folder(struct ground *g)
{
    static bool closes;
    if (!closes) atexit(close_grounds);
    closes = true;
    snprintf(g->folder, sizeof g->folder, "%s/plumbline-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(g->folder)) give_up(g->kind, "cannot make", g->folder);
}

// A copy of the folder, in which the job changes.
static void open_ground(struct ground *g, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_text text;
    open_folder(g);
    for (int i = 0; i < INPUTS; i++) {
        const char *path = arena_print(arena, "tests/fuzz/%s/%s.json", g->kind, roles[i]);
        if (space_read_file(&text, path, arena, &err) != OK)
            give_up(g->kind, "cannot read", err.text);
        write_text(g->folder, roles[i], text.text, text.size);
    }
}

static const char *lay_ground(struct ground *g, const char *job, size_t size,
                              struct check_input inputs[INPUTS], struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_text own;
    if (!*g->folder) open_ground(g, arena);
    if (space_read_file(&own, arena_print(arena, "tests/fuzz/%s/job.json", g->kind), arena, &err) !=
        OK)
        give_up(g->kind, "no job", err.text);
    write_text(g->folder, "job", job ? job : own.text, job ? size : own.size);
    for (int i = 0; i < INPUTS; i++) {
        inputs[i].role = roles[i];
        const char *path = arena_print(arena, "%s/%s.json", g->folder, roles[i]);
        if (space_read_file(&inputs[i].text, path, arena, &err) != OK)
            give_up(g->kind, "cannot read", err.text);
    }
    return inputs[0].text.file;
}

// ---- the certificate

static struct check_text put_hashes(const char *text, size_t size,
                                    const struct check_input inputs[INPUTS], struct arena *arena)
{
    char hashes[INPUTS][CHECK_HASH], *to = TAKE(arena, size * (CHECK_HASH - 1) + 1, char);
    struct check_text out = {.file = "certificate.json", .text = to};
    for (int i = 0; i < INPUTS; i++)
        check_hash(inputs[i].text.text, inputs[i].text.size, hashes[i]);
    for (size_t i = 0; i < size; i++) {
        const char *which =
            text[i] == '@' && i + 1 < size && text[i + 1] ? strchr(letters, text[i + 1]) : NULL;
        if (!which) {
            to[out.size++] = text[i];
            continue;
        }
        memcpy(to + out.size, hashes[which - letters], CHECK_HASH - 1);
        out.size += CHECK_HASH - 1;
        i++;
    }
    return out;
}

static enum status audit(struct check_result *result, const struct ground *g, const char *problem,
                         const struct check_text *certificate, const struct check_input *inputs,
                         struct arena *arena, struct error *err)
{
    if (g == &grounds[GROUND_SPACE]) {
        struct check_space space;
        struct check_pricer pricers[2];
        struct check_space_result found;
        TRY(space_open(&space, pricers, problem, inputs, INPUTS, arena, err));
        TRY(check_space_certificate(&found, certificate, inputs, INPUTS, &space, pricers, WORK_MOST,
                                    arena, err));
        *result = found.proof;
        return OK;
    }
    struct check_places places;
    TRY(space_open_places(&places, problem, inputs, INPUTS, arena, err));
    return check_places_certificate(result, certificate, inputs, INPUTS, &places, WORK_MOST, arena,
                                    err);
}

struct input {
    struct ground *ground;
    const uint8_t *data;
    size_t size;
};

static bool audit_input(const void *argument, struct arena *arena)
{
    const struct input *in = argument;
    struct error err = {OK, ""};
    struct check_result r;
    struct check_input inputs[INPUTS];
    const char *text = (const char *)in->data,
               *feed = in->size ? memchr(text, '\f', in->size) : NULL, *kind = in->ground->kind;
    size_t length = feed ? (size_t)(feed - text) : in->size;
    const char *problem = lay_ground(in->ground, feed ? feed + 1 : NULL,
                                     feed ? in->size - length - 1 : 0, inputs, arena);
    struct check_text certificate = put_hashes(text, length, inputs, arena);
    enum status status = audit(&r, in->ground, problem, &certificate, inputs, arena, &err);
    if (status != OK && (status != BAD_INPUT || !*err.text || strchr(err.text, '\n')))
        give_up(kind, "not one clear line", err.text);
    if (status != OK) return false;
    if (!r.accepted && !*r.reason) give_up(kind, "refused", "without a reason");
    if (r.accepted && r.iteration_ns >= 0 && r.iteration_ns < r.bound_ns)
        give_up(kind, "accepted", "a plan below the bound");
    if (r.accepted && !feed && (r.infeasible || r.bound_ns > in->ground->optimum_ns))
        give_up(kind, "accepted", "more than is true");
    return r.accepted;
}

// ---- plans

static bool judge_input(const void *argument, struct arena *arena)
{
    const struct input *in = argument;
    struct error err = {OK, ""};
    struct problem problem;
    struct plan plan;
    struct verdict v = {
        .closed_form_ns = -1, .memory_bytes = -1, .published_bytes = -1, .proven_ns = -1};
    if (!*in->ground->folder) open_folder(in->ground);
    write_text(in->ground->folder, "plan", (const char *)in->data, in->size);
    enum status status =
        plan_load(&plan, arena_print(arena, "%s/plan.json", in->ground->folder), arena, &err);
    if (status == OK)
        status = problem_load(&problem,
                              plan.placement ? "tests/fuzz/places/problem.json"
                                             : "tests/fuzz/space/problem.json",
                              arena, &err);
    if (status == OK && plan.stage_count) status = verify_plan(&v, &plan, &problem, arena, &err);
    if (status != OK && (status != BAD_INPUT || !*err.text || strchr(err.text, '\n')))
        give_up("verify", "not one clear line", err.text);
    bool accepted = status == OK && plan.stage_count && !v.violation_count;
    if (accepted && v.replayed_ns != plan.iteration_ns)
        give_up("verify", "accepted", "another iteration time");
    return accepted;
}

bool fuzz_space(const uint8_t *data, size_t size)
{
    return fuzz_within_limit(audit_input, &(struct input){&grounds[GROUND_SPACE], data, size},
                             size);
}

bool fuzz_places(const uint8_t *data, size_t size)
{
    return fuzz_within_limit(audit_input, &(struct input){&grounds[GROUND_PLACES], data, size},
                             size);
}

bool fuzz_verify(const uint8_t *data, size_t size)
{
    return fuzz_within_limit(judge_input, &(struct input){&grounds[GROUND_VERIFY], data, size},
                             size);
}
