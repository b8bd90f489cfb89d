// Files made to exhaust memory: check, verify, vipr and the tests' own reader of VIPR take at most
// 24 bytes for each byte of the files that they read, plus 64 MB, whatever the files contain. Each
// case is audited in a process of its own whose address space may grow by that much (not under the
// sanitizers, whose own memory grows it), and ends in one clear line. What turns out to need more
// is refused by the program's own count.
#define _DEFAULT_SOURCE // wait4
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/base/command.h"
#include "solve/checker/check.h"
#include "tests/support/folder.h"
#include "tests/support/vipr/command.h"
#include "tests/support/check.h"

extern const struct command command_check, command_verify, command_vipr;

enum { OUTSIDE_BYTES = 64 * 1000 * 1000, LINE_BYTES = 2000 };

static char folder[FOLDER_SIZE];
static size_t written; // bytes of the case's files

static FILE *begin_file(const char *name)
{
    char path[FOLDER_SIZE + 40];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

static void end_file(FILE *f)
{
    written += (size_t)ftell(f);
    assert_int_equal(fclose(f), 0);
}

static void repeat(FILE *f, const char *text, int times)
{
    for (int i = 0; i < times; i++) fputs(text, f);
}

// A document of tests/documents with `to` in place of the first `from`; its hash.
static void change(const char *name, const char *from, const char *to, char hash[SHA256_TEXT])
{
    const char *text;
    size_t size;
    struct arena_mark mark = arena_set_mark(&own_arena);
    MUST(file_read(arena_print(&own_arena, "tests/documents/%s", name), &text, &size, &own_arena,
                   &own_err));
    const char *at = strstr(text, from);
    if (!at) fail_msg("%s: '%s' is not there", name, from);
    const char *changed =
        arena_print(&own_arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    sha256_text(changed, strlen(changed), hash);
    FILE *f = begin_file(name);
    fputs(changed, f);
    end_file(f);
    arena_reset(&own_arena, mark);
}

static void begin_certificate(FILE *f, const char *priced_hash, int bound_ns)
{
    fprintf(f,
            "{\"kind\": \"plumbline.certificate\", \"version\": 1, \"made_from\": [{\"role\": "
            "\"priced\", "
            "\"path\": \"priced.json\", \"sha256\": \"%s\"}], \"proof\": {\"bound_ns\": %d, ",
            priced_hash, bound_ns);
}

static void write_repeated(const char *name, const char *head, const char *each, int times,
                           const char *tail)
{
    FILE *f = begin_file(name);
    fputs(head, f);
    repeat(f, each, times);
    fputs(tail, f);
    end_file(f);
}

// A certificate of that document of prices: head, each so many times, tail.
static void write_certificate(const char *hash, const char *head, const char *each, int times,
                              const char *tail)
{
    FILE *f = begin_file("case.json");
    begin_certificate(f, hash, 1);
    fputs(head, f);
    repeat(f, each, times);
    fputs(tail, f);
    end_file(f);
}

// ---- certificates

static void write_numbers(void)
{
    write_repeated("case.json",
                   "{\"kind\": \"plumbline.certificate\", \"version\": 1, \"made_from\": [0", ",0",
                   1000000, "], \"proof\": {}}");
}

static void write_brackets(void) { write_repeated("case.json", "[[]", ",[]", 700000, "]"); }

static void write_texts(void) { write_repeated("case.json", "[\"\"", ",\"\"", 700000, "]"); }

static const char one_box[] = "{\"rounds\": [], \"closed\": true}]}}";

// Splits of one rank's layers, each of which leaves one half unchanged: open boxes pile up.
static void write_waiting(void)
{
    char hash[SHA256_TEXT];
    change("priced.json", "\"name\"", "\"name\"", hash);
    write_certificate(hash, "\"paths\": [], \"boxes\": [",
                      "{\"rounds\": [], \"split\": {\"rank\": 0, \"layers_below\": 8}}, ", 20000,
                      one_box);
}

static void write_idle_splits(void)
{
    char hash[SHA256_TEXT];
    change("priced.json", "\"name\"", "\"name\"", hash);
    write_certificate(
        hash, "\"paths\": [], \"boxes\": [",
        "{\"rounds\": [], \"split\": {\"stage\": 0, \"load_below_ns\": 1000000000000000}}, ", 2000,
        one_box);
}

static void write_tables(FILE *f, int stages, int layers, int micro_batches)
{
    fprintf(f,
            "{\"kind\": \"plumbline.priced\", \"version\": 1, \"name\": \"x\", \"layout\": "
            "{\"pipeline\": %d}, "
            "\"stage_count\": %d, \"micro_batches\": %d, \"layer_count\": %d, "
            "\"devices_per_stage\": 1, "
            "\"recompute\": [\"none\"], \"boundary_options\": [{\"rank\": 0}], "
            "\"gradient_options\": [{\"rank\": 0}], "
            "\"groups\": [{\"name\": \"g\", \"gpu\": \"x\", \"slots\": %d, \"memory_limit_bytes\": "
            "1000000000, "
            "\"constant_bytes\": 0, \"sync_constant_ns\": [0]}], \"runs\": [",
            stages, stages, micro_batches, 2 * layers, stages);
    for (int run = 0; run < 2; run++)
        fprintf(
            f,
            "%s{\"name\": \"%c\", \"count\": %d, \"recomputable\": false, \"weight_bytes\": 1, "
            "\"gradient_bytes\": 1, \"optimizer_bytes\": 0, \"stash_bytes\": [1, 1, 1], "
            "\"working_bytes\": "
            "[0, 0, 0], \"feedback_bytes\": [0], \"cut\": 0, \"forward_ns\": [%d], "
            "\"backward_ns\": [2000], "
            "\"selective_ns\": [0], \"full_ns\": [0], \"optimizer_ns\": [0], \"sync_ns\": [[0]]}",
            run ? ", " : "", 'a' + run, layers, 1000 + run); // layers of equal runs are one choice
    fputs("], \"cuts\": [{\"message_bytes\": 0, \"feedback_bytes\": [0], \"forward_ns\": [0, 0, 0, "
          "0], "
          "\"backward_ns\": [[0, 0, 0, 0]]}]}",
          f);
}

static void write_priced(int stages, int layers, int micro_batches, char hash[SHA256_TEXT])
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size), *f = begin_file("priced.json");
    write_tables(to, stages, layers, micro_batches);
    fclose(to);
    sha256_text(text, size, hash);
    fputs(text, f);
    end_file(f);
    free(text);
}

// A thousand bytes of tables that give a million choices.
static void write_choices(void)
{
    char hash[SHA256_TEXT];
    write_priced(12, 500, 1, hash);
    write_certificate(hash, "\"paths\": [], \"boxes\": [", "", 0, one_box);
}

// A graph of millions of operations out of a few digits.
static void write_operations(void)
{
    char hash[SHA256_TEXT];
    write_priced(64, 64, 30000, hash);
    write_certificate(hash, "\"paths\": [], \"boxes\": [", "", 0, one_box);
}

// Short paths over many symbols.
static void write_paths(void)
{
    char hash[SHA256_TEXT];
    write_priced(256, 256, 1, hash);
    write_certificate(hash, "\"paths\": [",
                      "{\"start\": [\"forward\", 0, 0, 0], \"laps\": 1, \"steps\": \"\"}, ", 40000,
                      "{\"start\": [\"forward\", 0, 0, 0], \"laps\": 1, \"steps\": \"\"}], "
                      "\"boxes\": [{\"rounds\": [], \"closed\": true}]}}");
}

static void write_pipe(void)
{
    char path[FOLDER_SIZE + 40];
    write_certificate("0", "\"paths\": [], \"boxes\": []}}", "", 0, "");
    snprintf(path, sizeof path, "%s/priced.json", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void write_device(void)
{
    FILE *f = begin_file("case.json");
    fputs("{\"kind\": \"plumbline.certificate\", \"version\": 1, \"made_from\": [{\"role\": "
          "\"priced\", \"path\": "
          "\"/dev/zero\", \"sha256\": \"0\"}], \"proof\": {\"bound_ns\": 1, \"paths\": [], "
          "\"boxes\": []}}",
          f);
    end_file(f);
}

// ---- work

enum { TURNS = 6 };

// Ranks with six stages of like layers, so many on each, of which one has room that is not
// recomputed: by the working memory, or by its activations beside the weights.
struct one_kept {
    int ranks, layers, weight_bytes, working_bytes, limit_bytes;
};
static const struct one_kept by_working = {1, 8, 0, 1000, 1010};

static void write_one_kept(const struct one_kept *k, char hash[SHA256_TEXT])
{
    FILE *f = begin_file("priced.json");
    const char *text = arena_print(
        &own_arena,
        "{\"kind\": \"plumbline.priced\", \"version\": 1, \"name\": \"x\", \"layout\": "
        "{\"pipeline\": %d, \"virtual_stages\": %d, \"schedule\": \"looped-bfs\"}, "
        "\"stage_count\": %d, \"micro_batches\": %d, \"layer_count\": %d, "
        "\"devices_per_stage\": 1, \"recompute\": [\"none\", \"full\", \"first_layers\"], "
        "\"boundary_options\": [{\"rank\": 0}], \"gradient_options\": [{\"rank\": 0}], "
        "\"groups\": [{\"name\": \"g\", \"gpu\": \"x\", \"slots\": %d, \"memory_limit_bytes\": "
        "%d, \"constant_bytes\": 0, \"sync_constant_ns\": [0]}], \"runs\": [{\"name\": \"a\", "
        "\"count\": %d, \"recomputable\": true, \"weight_bytes\": %d, \"gradient_bytes\": 0, "
        "\"optimizer_bytes\": 0, \"stash_bytes\": [10, 10, 0], \"working_bytes\": [%d, %d, 0], "
        "\"feedback_bytes\": [0], \"cut\": 0, \"forward_ns\": [1000], \"backward_ns\": [2000], "
        "\"selective_ns\": [0], \"full_ns\": [900], \"optimizer_ns\": [0], \"sync_ns\": [[0]]}], "
        "\"cuts\": [{\"message_bytes\": 0, \"feedback_bytes\": [0], \"forward_ns\": [0, 0, 0, 0], "
        "\"backward_ns\": [[0, 0, 0, 0]]}]}",
        k->ranks, TURNS, k->ranks * TURNS, k->ranks, k->ranks * k->layers, k->ranks, k->limit_bytes,
        k->ranks * k->layers, k->weight_bytes, k->working_bytes, k->working_bytes);
    sha256_text(text, strlen(text), hash);
    fputs(text, f);
    end_file(f);
}

static void check_written(struct check_result *result)
{
    const char *names[] = {"case.json", "priced.json"};
    struct check_text texts[2];
    for (int i = 0; i < 2; i++) {
        texts[i].file = arena_print(&own_arena, "%s/%s", folder, names[i]);
        MUST(file_read(texts[i].file, &texts[i].text, &texts[i].size, &own_arena, &own_err));
    }
    MUST(check_certificate(result, &texts[0], &texts[1], CHECK_WORK_DEFAULT, &own_arena, &own_err));
}

// The work of one round by ranks, which closes nothing.
static uint64_t work_of_round(bool decisions)
{
    struct check_result result;
    char hash[SHA256_TEXT];
    write_one_kept(&by_working, hash);
    write_certificate(hash,
                      "\"paths\": [], \"boxes\": [{\"rounds\": [{\"by_ranks\": true, "
                      "\"decisions\": ",
                      decisions ? "true" : "false", 1, "}], \"closed\": true}]}}");
    check_written(&result);
    assert_false(result.accepted);
    assert_non_null(strstr(result.reason, "not closed by its rounds"));
    return result.work;
}

// A rank's decisions are paid for whether they fit or not: of those with at most 8 layers, in 28
// ways, and any stages that are not recomputed in full, one in nine fits.
TEST(test_work_of_decisions)
{
    enum { TRIED = 28 * (1 << TURNS), STEPS = TURNS * (2 + 1) };
    assert_int_equal(folder_make(folder), 0);
    uint64_t without = work_of_round(false), with = work_of_round(true);
    print_message("%d decisions: %d steps of work\n", TRIED, (int)(with - without));
    assert_true(with - without >= TRIED * STEPS);
    assert_int_equal(folder_remove(folder), 0);
}

// Whether one round by the rank's decisions proves that no plan takes less than bound_ns.
static bool proves(const struct one_kept *k, int bound_ns)
{
    struct check_result result;
    char hash[SHA256_TEXT];
    write_one_kept(k, hash);
    FILE *f = begin_file("case.json");
    begin_certificate(f, hash, bound_ns);
    fprintf(f,
            "\"paths\": [{\"start\": [\"forward\", 0, %d, 0], \"laps\": 1, \"steps\": \"0*%d\"}], "
            "\"boxes\": [{\"rounds\": [{\"weights\": [[0, 1099511627776]], \"by_ranks\": true, "
            "\"decisions\": true}], \"closed\": true}]}}",
            k->ranks - 1, 2 * TURNS * k->ranks - 1);
    end_file(f);
    check_written(&result);
    return result.accepted;
}

// The path is the last micro-batch's, through all stages and back, and the ranks hold as many
// layers as they have room for: the least time is that of all layers, all but one of each rank
// recomputed.
TEST(test_truth_of_decisions)
{
    const struct one_kept cases[] = {
        by_working, {1, TURNS, 0, 1000, 1010}, {1, TURNS, 100, 0, 610}, {2, 8, 100, 0, 820}};
    assert_int_equal(folder_make(folder), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int least_ns = cases[i].ranks * (3000 * cases[i].layers + 900 * (cases[i].layers - 1));
        assert_true(proves(&cases[i], least_ns));
        assert_false(proves(&cases[i], least_ns + 1));
    }
    assert_int_equal(folder_remove(folder), 0);
}

// ---- VIPR

static void begin_vipr(FILE *f, int variables)
{
    fprintf(f, "VER 1.0\nVAR %d\n", variables);
    repeat(f, "a ", variables);
    fputs("\nINT 0\nOBJ min\n0\n", f);
}

static const char last_rows[] = "RTP infeas\nSOL 0\nDER 1\nz G 1 0 { lin 1 0 1/3 } -1\n";

static void write_wide(void)
{
    enum { VARIABLES = 300000 };
    FILE *f = begin_file("case.vipr");
    begin_vipr(f, VARIABLES);
    fprintf(f, "CON 1 0\na G 1 %d", VARIABLES);
    for (int i = VARIABLES - 1; i >= 0; i--) fprintf(f, " %d 1", i);
    fprintf(f, "\n%s", last_rows);
    end_file(f);
}

static void write_rows(void)
{
    FILE *f = begin_file("case.vipr");
    begin_vipr(f, 1);
    fputs("CON 400000 0\n", f);
    repeat(f, "a E 0 0\n", 200000);
    repeat(f, "a E 0 1 0 1/3\n", 200000);
    fputs(last_rows, f);
    end_file(f);
}

static void write_assumptions(void)
{
    enum { ROWS = 100000 };
    FILE *f = begin_file("case.vipr");
    begin_vipr(f, 1);
    fprintf(f, "CON 1 0\na E 0 0\nRTP infeas\nSOL 0\nDER %d\n", 2 * ROWS);
    repeat(f, "z G 1 0 { asm } -1\n", ROWS);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "z G 1 0 { lin 2 %d 1 %d 1 } -1\n", 1 + i, i ? ROWS + i : 2);
    end_file(f);
}

// A few long digits on every column.
static void write_growth(void)
{
    enum { COLUMNS = 20000, DIGITS = 19000 };
    FILE *f = begin_file("case.vipr");
    begin_vipr(f, COLUMNS);
    fprintf(f, "CON 1 0\na G 1 %d", COLUMNS);
    for (int i = 0; i < COLUMNS; i++) fprintf(f, " %d 1/%d", i, 2 * i + 3);
    fputs("\nRTP infeas\nSOL 0\nDER 1\nz G 1 0 { lin 1 0 1/", f);
    repeat(f, "7", DIGITS);
    fputs(" } -1\n", f);
    end_file(f);
}

// ---- plans

static void write_stages(void)
{
    write_repeated("case.json", "{\"kind\": \"plumbline.plan\", \"version\": 1, \"stages\": [0",
                   ",0", 1000000, "]}");
}

static void write_sources(void)
{
    char hash[SHA256_TEXT];
    struct arena_mark mark = arena_set_mark(&own_arena);
    char *list = TAKE(&own_arena, 20000 * 130, char), *to = list;
    to += sprintf(to, "\"made_from\": [");
    for (int i = 0; i < 20000; i++)
        to += sprintf(to, "{\"role\": \"x\", \"path\": \"p%d\", \"sha256\": \"%064d\"},", i, i);
    change("plan.json", "\"made_from\": [", list, hash);
    arena_reset(&own_arena, mark);
}

// ---- all of them

static const struct {
    const char *name, *command, *file;
    void (*write)(void);
    int exit_code; // or a line on stdout: 0
    const char *says;
} cases[] = {
    {"numbers", "check", "case.json", write_numbers, 2, "made_from: expected"},
    {"brackets", "check", "case.json", write_brackets, 2, "expected an object"},
    {"texts", "check", "case.json", write_texts, 2, "expected an object"},
    {"texts, to vipr", "vipr", "case.json", write_texts, 2, "expected an object"},
    {"waiting halves", "check", "case.json", write_waiting, 1, "not closed by its rounds"},
    {"idle splits", "check", "case.json", write_idle_splits, 1, "separates nothing"},
    {"choices", "check", "case.json", write_choices, 1, "needs more memory than the 4"},
    {"operations", "check", "case.json", write_operations, 1, "needs more memory than the 4"},
    {"paths", "check", "case.json", write_paths, 1, "needs more memory than the "},
    {"a pipe", "check", "case.json", write_pipe, 2, "expected a file, found a pipe"},
    {"a pipe, to vipr", "vipr", "case.json", write_pipe, 2, "expected a file, found a pipe"},
    {"a device", "check", "case.json", write_device, 2, "expected a file, found a device"},
    {"wide rows", "vipr_check", "case.vipr", write_wide, 1, "does not follow"},
    {"many rows", "vipr_check", "case.vipr", write_rows, 1, "does not follow"},
    {"assumptions", "vipr_check", "case.vipr", write_assumptions, 1, "larger sets of assumptions"},
    {"growing sums", "vipr_check", "case.vipr", write_growth, 1, "memory limit is reached"},
    {"stages", "verify", "case.json", write_stages, 2, "case.json"},
    {"sources", "verify", "plan.json", write_sources, 2, "expected at most 64 documents"},
};

#if !defined(__SANITIZE_ADDRESS__)
static size_t address_space(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%zu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}
#endif

// In a process of its own: what the front door does, within the limit.
static void audit(const char *command, const char *file)
{
    char path[FOLDER_SIZE + 40], out[FOLDER_SIZE + 40];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(out, sizeof out, "%s/out", folder);
    char *words[] = {(char *)command, path, "-o", "/dev/null"};
    const struct command *run = !strcmp(command, "check")        ? &command_check
                                : !strcmp(command, "vipr")       ? &command_vipr
                                : !strcmp(command, "vipr_check") ? &command_vipr_check
                                                                 : &command_verify;
    if (!freopen(out, "w", stdout) || dup2(fileno(stdout), STDERR_FILENO) < 0) _exit(99);
    setvbuf(stdout, NULL, _IONBF, 0);
#if !defined(__SANITIZE_ADDRESS__)
    size_t most = address_space() + OUTSIDE_BYTES + MEMORY_FOR_A_BYTE * written;
    struct rlimit limit = {most, most};
    if (address_space() && setrlimit(RLIMIT_AS, &limit)) _exit(98);
#endif
    _exit(command_run("plumbline", command, run, run == &command_vipr ? 4 : 2, words));
}

static void read_line(char line[LINE_BYTES])
{
    char path[FOLDER_SIZE + 40];
    snprintf(path, sizeof path, "%s/out", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    line[fread(line, 1, LINE_BYTES - 1, f)] = '\0';
    fclose(f);
}

// Returns its line, its status and its greatest memory use.
static int audit_apart(const char *command, const char *file, char line[LINE_BYTES],
                       size_t *most_bytes)
{
    struct rusage usage;
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) audit(command, file);
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    *most_bytes = 1024 * (size_t)usage.ru_maxrss;
    read_line(line);
    char *end = strchr(line, '\n');
    if (!end || end[1]) fail_msg("not one line: %s", line);
    *end = '\0';
    return status;
}

TEST(test_within_bounds)
{
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char line[LINE_BYTES];
        size_t most_bytes;
        assert_int_equal(folder_make(folder), 0);
        written = 0;
        cases[i].write();
        int status = audit_apart(cases[i].command, cases[i].file, line, &most_bytes);
        const char *says = strstr(line, cases[i].says);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != cases[i].exit_code || !says)
            fail_msg("%s: status %x, said: %s", cases[i].name, (unsigned)status, line);
        print_message("%-16s %8zu bytes, %4zu MB: %.60s\n", cases[i].name, written,
                      most_bytes / 1000000, says);
#if !defined(__SANITIZE_ADDRESS__)
        assert_true(most_bytes <= OUTSIDE_BYTES + MEMORY_FOR_A_BYTE * written);
#endif
        assert_int_equal(folder_remove(folder), 0);
    }
}
