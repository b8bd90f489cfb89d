// Every key of every document of a problem of each kind is left out, emptied, shortened, lengthened
// and changed, and every command that reads the document is run on it. It refuses the document in
// one line that names file and place; or its verdict names the key; or the edit has no effect, for
// one of the reasons below, each of which is tested. No command ends by a signal.
// usage: test_keys [EVERY [KIND]]: every EVERY-th edit (default 499; 1: all), and what verify says
// of a plan with each of its keys edited in each way once.
#include "data/base/command.h"
#include "tests/support/sweep/edits.h"
#include "tests/support/sweep/kinds.h"
#include "tests/support/sweep/run.h"
#include "tests/support/check.h"

enum { EDIT_KINDS_MAX = 5000 };

static int every = 499;
static const char *only = NULL;

// ---- who reads what

struct reader {
    const char *document, *line;
    const char *needs; // another document; NULL: none
    enum {
        JUDGES, // its exit code says whether the document is right
        SHOWS,  // it takes the document as it is
    } how;
    int no; // its exit code where it says no, besides 2
};
static const struct reader readers[] = {
    {"plan.json", "verify plan.json", NULL, JUDGES, 20},
    {"plan.json", "report plan.json", NULL, SHOWS, 0},
    {"plan.json", "report --format csv plan.json", NULL, SHOWS, 0},
    {"plan.json", "report --format html plan.json", NULL, SHOWS, 0},
    {"plan.json", "report --format megatron plan.json", NULL, SHOWS, 0},
    {"plan.json", "report --format trace plan.json", NULL, SHOWS, 0},
    {"plan.json", "compare plan.json", NULL, SHOWS, 0},
    {"plan.json", "solve problem.json --start plan.json -o again.json --quiet", NULL, SHOWS, 0},
    {"certificate.json", "check certificate.json problem.json", NULL, JUDGES, 1},
    {"certificate.json", "verify plan.json --certificate certificate.json", NULL, JUDGES, 20},
    {"certificate.json", "vipr certificate.json -o proof.vipr", "checked.json", JUDGES, 1},
    {"priced.json", "check certificate.json priced.json", "checked.json", JUDGES, 1},
    {"priced.json", "vipr certificate.json priced.json -o proof.vipr", "checked.json", JUDGES, 1},
    {"checked.json", "report --format csv checked.json", NULL, SHOWS, 0},
    {"verdict.json", "report --verdict verdict.json plan.json", NULL, SHOWS, 0},
    {"plan.layouts.json", "report --layouts plan.layouts.json", NULL, SHOWS, 0},
    {"plan.layouts.json", "report --format html plan.json", NULL, SHOWS, 0},
    {"plan.layouts.json", "solve problem.json --resume plan.json -o again.json --quiet", NULL,
     SHOWS, 0},
#define INPUT(document)                                                                            \
    {document, "price problem.json", NULL, SHOWS, 0},                                              \
        {document, "formulate problem.json -o again.lp", NULL, SHOWS, 0},                          \
        {document, "solve problem.json -o again.json --quiet --time-limit-s 5", NULL, SHOWS, 0},   \
        {document, "verify plan.json", NULL, JUDGES, 20},                                          \
    {                                                                                              \
        document, "verify plan.json --problem problem.json", NULL, JUDGES, 20                      \
    }
    INPUT("problem.json"),
    INPUT("model.json"),
    INPUT("cluster.json"),
    INPUT("costs.json"),
    INPUT("job.json"),
};

// ---- why an edit may have no effect

// A plan that is loaded and saved again is the same: what was left out has its default, or is a
// copy, which is written anew.
static bool means_the_same(const char *folder, const struct edited *e, struct arena *arena)
{
    struct error err = {OK, ""};
    struct plan plan;
    if (e->edit != EDIT_DELETE && e->edit != EDIT_SHORTEN) return false;
    if (plan_load(&plan, arena_print(arena, "%s/plan.json", folder), arena, &err) != OK)
        return false;
    size_t length;
    const char *text = plan_text(&plan, &length, arena);
    return !strcmp(text, read_text(folder, "saved", arena));
}

// The verdict itself says that it takes this key as it is.
static bool is_stated(const char *out, const char *path)
{
    const char *line = strstr(out, "stated, not judged: ");
    size_t length = strcspn(path, ".[");
    for (const char *at = line ? strstr(line, ": ") + 1 : NULL; at && *at == ' ';) {
        if (!strncmp(at + 1, path, length) && strchr(",\n", at[1 + length])) return true;
        at += 1 + strcspn(at + 1, " ");
    }
    return false;
}

// Another decision of a stage has other prices, by which the verdict names the stage.
static bool decides(const char *key)
{
    static const char *const keys[] = {
        "recompute", "recomputed_layers", "swapped_layers", "gradient_option", "boundary_option",
        "group",     "replicas",          "nodes",          "slowest",         "stages",
        "rings"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (!strcmp(key, keys[i])) return true;
    return false;
}

// Another plan, of which everything holds that is stated: another layout of the space, or a mode
// that changes nothing in layers that cannot be recomputed.
static bool is_other_plan(const char *folder, const struct edited *e)
{
    bool layout = !strncmp(e->path, "layout.", strlen("layout."));
    return decides(e->key) || (layout && sweep_has(folder, "plan.layouts.json"));
}

static const struct {
    const char *document, *pattern;
    enum edit edit;
    const char *because;
} without_effect[] = {
    {"plan.json", "graph.transfer_parts", EDIT_CHANGE, "a set: its order says nothing"},
    {"plan.json", "placement.rings[]", EDIT_CHANGE, "a ring begins anywhere"},
    {"plan.json", "made_from", EDIT_CHANGE, "documents are named by their roles"},
    {"plan.json", "made_from", EDIT_SHORTEN,
     "the last one is the priced one: the judge reads none"},
    {"plan.json", "placement.replicas[].stages[].send_forward_ns", EDIT_DELETE, "claims nothing"},
    {"plan.json", "placement.replicas[].stages[].send_backward_ns", EDIT_DELETE, "claims nothing"},
    {"plan.json", "placement.replicas[].stages[]", EDIT_SHORTEN, "claims less"},
    {"plan.json", "made_from[5]", EDIT_DELETE, "the priced document: the judge reads none"},
};
static long tried_times[ARRAY_LENGTH(without_effect)], silent_times[ARRAY_LENGTH(without_effect)];

// ---- one edit

struct counts {
    long edits, refused, rejected, same, stated, listed, proven, shown;
};
static struct counts counts;
static int failures;

struct sweep {
    const struct sweep_kind *kind;
    const char *folder;
    const struct reader *reader;
    const char *answer; // to the document as it was
    struct arena *arena;
    long number;
};

static void complain(const struct sweep *w, const struct edited *e, const struct answer *a,
                     const char *what)
{
    failures++;
    printf("%s: %s: %s %s: %s\n    %.400s%.400s\n", w->kind->name, w->reader->line,
           edit_names[e->edit], e->path, what, a->out, a->err);
}

// Whether the text has this key, or its words: "forward_ns", "forward".
static bool has_key(const char *text, const char *key, struct arena *arena)
{
    char *words = arena_copy_text(arena, key), *unit = strrchr(words, '_');
    if (strstr(text, key)) return true;
    if (unit && (!strcmp(unit, "_ns") || !strcmp(unit, "_s") || !strcmp(unit, "_bytes")))
        *unit = '\0';
    if (strstr(text, words)) return true;
    for (char *p = words; *p; p++)
        if (*p == '_') *p = ' ';
    return strstr(text, words) != NULL;
}

// A key of its path, or of the document: documents that are told by their hash are named whole.
static bool names(const struct sweep *w, const struct edited *e, const char *text)
{
    char *path = arena_copy_text(w->arena, e->pattern), *rest = NULL;
    if (!strcmp(w->reader->document, "certificate.json") && strstr(text, "not certified: "))
        return true; // the checker names the place in the proof where it stopped
    if (is_other_plan(w->folder, e) && (strstr(text, "stage") || strstr(text, "replica")))
        return true;
    if (strstr(text, "SHA-256")) return strstr(text, w->reader->document) || strstr(path, "sha256");
    for (char *key = strtok_r(path, ".[]", &rest); key; key = strtok_r(NULL, ".[]", &rest))
        if (has_key(text, key, w->arena)) return true;
    return false;
}

static void judge_refusal(const struct sweep *w, const struct edited *e, const struct answer *a)
{
    const char *line = a->err; // after those of the log
    while (*line && strncmp(line, "plumbline ", strlen("plumbline ")))
        line += strcspn(line, "\n"), line += *line != '\0';
    const char *end = strchr(line, '\n');
    counts.refused++;
    if (!end || end[1]) complain(w, e, a, "expected one line");
    else if (*a->out) complain(w, e, a, "expected nothing on stdout");
    else if (!strstr(line, ".json") && !strstr(line, w->reader->document))
        complain(w, e, a, "names no file");
}

static int listed_as(const struct sweep *w, const struct edited *e)
{
    for (size_t i = 0; i < ARRAY_LENGTH(without_effect); i++)
        if (!strcmp(without_effect[i].document, w->reader->document) &&
            (!strcmp(without_effect[i].pattern, e->pattern) ||
             !strcmp(without_effect[i].pattern, e->path)) &&
            without_effect[i].edit == e->edit)
            return (int)i;
    return -1;
}

// "proven: the plan takes 5 ns, and no plan takes less than 4 ns", or "... takes less".
static int64_t claim_in(const char *text)
{
    const char *less = strstr(text, "no plan takes less than "), *takes = strstr(text, " takes ");
    if (less) return strtoll(less + strlen("no plan takes less than "), NULL, 10);
    return takes ? strtoll(takes + strlen(" takes "), NULL, 10) : -1;
}

// A proof still proves what it says: no more than before, when that was the optimum.
static bool proves_no_more(const struct sweep *w, const struct answer *a)
{
    if (strcmp(w->reader->document, "certificate.json")) return false;
    int64_t now = claim_in(a->out), before = claim_in(w->answer);
    return now <= before || !strncmp(a->out, w->answer, strcspn(a->out, "\n"));
}

static void judge_silence(const struct sweep *w, const struct edited *e, const struct answer *a)
{
    int listed = listed_as(w, e);
    bool plan = !strcmp(w->reader->document, "plan.json");
    if (listed >= 0) silent_times[listed]++, counts.listed++;
    else if (plan && means_the_same(w->folder, e, w->arena)) counts.same++;
    else if (plan && is_stated(a->out, e->path)) counts.stated++;
    else if (plan && is_other_plan(w->folder, e)) counts.listed++;
    else if (proves_no_more(w, a)) counts.proven++;
    else complain(w, e, a, "accepted");
}

// A changed problem may have another answer: open, infeasible, no plan.
static bool is_answer(const struct reader *r, int exit_code)
{
    return !strncmp(r->line, "solve", strlen("solve")) && exit_code >= EXIT_OPEN &&
           exit_code <= EXIT_NO_PLAN;
}

static void judge(const struct sweep *w, const struct edited *e, const struct answer *a)
{
    bool judges = w->reader->how == JUDGES;
    int listed = judges ? listed_as(w, e) : -1;
    if (listed >= 0) tried_times[listed]++;
    if (a->signal) complain(w, e, a, "ended by a signal");
    else if (a->exit_code == 2) judge_refusal(w, e, a);
    else if (a->exit_code == 0 && judges) judge_silence(w, e, a);
    else if (judges && a->exit_code == w->reader->no) {
        counts.rejected++;
        if (!names(w, e, arena_print(w->arena, "%s%s", a->out, a->err)))
            complain(w, e, a, "its verdict names no key");
    } else if (a->exit_code == 0 || is_answer(w->reader, a->exit_code)) counts.shown++;
    else complain(w, e, a, arena_print(w->arena, "exit code %d", a->exit_code));
}

// Whether no edit before was of this key in this way; judged of each key, wherever it is.
static bool first_of_its_kind(const struct edited *e)
{
    static uint64_t seen[EDIT_KINDS_MAX];
    static int count = 0;
    uint64_t hash = UINT64_C(14695981039346656037) + (uint64_t)e->edit;
    for (const char *p = e->pattern; *p; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
    for (int i = 0; i < count; i++)
        if (seen[i] == hash) return false;
    assert_true(count < EDIT_KINDS_MAX);
    seen[count++] = hash;
    return true;
}

static void visit(const struct edited *e, void *argument)
{
    struct sweep *w = argument;
    bool is_first = w->reader == readers && first_of_its_kind(e),
         always = e->edit == EDIT_DELETE && e->path == e->key && w->reader == readers;
    if (w->number++ % every && !is_first && !always) return;
    counts.edits++;
    write_text(w->folder, w->reader->document, e->text, w->arena);
    struct answer a = run_command(w->folder, w->reader->line, w->arena);
    judge(w, e, &a);
}

static void sweep_reader(const struct sweep_kind *kind, const struct reader *r, const char *folder,
                         struct arena *arena)
{
    size_t length = strlen(r->document);
    bool table = !strcmp(r->document + length - 3, "csv");
    if (!sweep_has(folder, r->document) || (r->needs && !sweep_has(folder, r->needs))) return;
    const char *original = read_text(folder, r->document, arena);
    struct answer a = run_command(folder, r->line, arena);
    struct sweep w = {kind, folder, r, a.out, arena, 0};
    if (a.exit_code == 2) return; // not for this kind
    if (a.exit_code) fail_msg("%s: %s: %d %s%s", kind->name, r->line, a.exit_code, a.out, a.err);
    (table ? edits_each_cell : edits_each)(original, visit, &w, arena);
    write_text(folder, r->document, original, arena);
}

static void save_again(const char *folder, struct arena *arena)
{
    struct plan plan;
    size_t length;
    MUST(plan_load(&plan, arena_print(arena, "%s/plan.json", folder), arena, &own_err));
    write_text(folder, "saved", plan_text(&plan, &length, arena), arena);
}

static char *new_folder(struct arena *arena)
{
    const char *base = getenv("TMPDIR");
    char *folder = arena_print(arena, "%s/plumbline-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void remove_folder(const char *folder, struct arena *arena)
{
    if (system(arena_print(arena, "rm -r %s", folder))) fail_msg("%s stays", folder);
}

static void sweep_kind(const struct sweep_kind *kind)
{
    struct arena_mark mark = arena_set_mark(&own_arena);
    char *folder = new_folder(&own_arena);
    sweep_prepare(kind, folder, &own_arena);
    save_again(folder, &own_arena);
    for (size_t i = 0; i < ARRAY_LENGTH(readers); i++)
        sweep_reader(kind, &readers[i], folder, &own_arena);
    remove_folder(folder, &own_arena);
    arena_reset(&own_arena, mark);
}

// ---- documents that no problem has

static const struct reader others[] = {
    {"samples.json", "calibrate samples.json --show -o costs-made.json", NULL, SHOWS, 0},
    {"manifest.jsonl", "batch lines manifest.jsonl -o work", NULL, SHOWS, 0},
    {"runs.csv", "predict runs.csv", NULL, SHOWS, 0},
    {"runs.csv", "validate runs.csv --costs published", NULL, SHOWS, 0},
};

static const char runs[] =
    "id,gpu,num_gpus,layers,hidden,heads,seq,vocab,tp,pp,dp,vpp,micro_batch,global_batch,recompute,"
    "zero,precision,metric,value,unit\n"
    "a,A100,8,24,1024,16,1024,50257,1,2,4,1,2,64,none,1,bf16,iteration_time,1.5,s\n"
    "b,A100,16,24,1024,16,1024,50257,2,4,2,2,1,64,full,0,fp16,peak_memory,20,GB\n";

TEST(other_documents)
{
    static const struct sweep_kind none = {.name = "no problem"};
    char *folder = new_folder(arena);
    sweep_prepare(sweep_kinds, folder, arena);
    write_text(folder, "samples.json", read_text("tests/documents", "samples.json", arena), arena);
    write_text(folder, "manifest.jsonl",
               "{\"problem\": [\"problem.json\"], \"name\": \"a\", \"options\": {\"gap\": [0, "
               "0.01], \"time_limit_s\": 5, \"seed\": 1}}\n",
               arena);
    write_text(folder, "runs.csv", runs, arena);
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        sweep_reader(&none, &others[i], folder, arena);
    remove_folder(folder, arena);
}

TEST(edits_are_noticed)
{
    for (int i = 0; i < sweep_kind_count; i++)
        if (!only || !strcmp(only, sweep_kinds[i].name)) sweep_kind(&sweep_kinds[i]);
    printf("%ld edits: %ld refused, %ld rejected, %ld shown; without effect: %ld mean the same, "
           "%ld stated as not judged, %ld by the list, %ld leave a proof\n",
           counts.edits, counts.refused, counts.rejected, counts.shown, counts.same, counts.stated,
           counts.listed, counts.proven);
    for (size_t i = 0; i < ARRAY_LENGTH(without_effect); i++)
        if (!only && !silent_times[i] && (tried_times[i] || every == 1)) {
            printf("%s is listed as without effect, and has one\n", without_effect[i].pattern);
            failures++;
        }
    assert_int_equal(failures, 0);
}

ARGUMENT(every)
ARGUMENT(only)
