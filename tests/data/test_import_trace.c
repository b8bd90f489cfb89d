// Profiler traces: to which range a kernel's time belongs (nested ranges, the backward's own
// thread, no launches, no device), times beyond a double's digits, and traces that are truncated,
// hostile or not traces. Memory does not depend on the length of the file.
#include "data/numbers/samples.h"
#include "data/import/import.h"
#include "data/text/json_stream.h"
#include "data/import/trace/ranges.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

static char input[FOLDER_SIZE + 20], output[FOLDER_SIZE + 20];

static int open_all(void **state)
{
    (void)state;
    if (folder_open(state)) return 1;
    snprintf(input, sizeof input, "%s/in.json", own_folder);
    snprintf(output, sizeof output, "%s/out", own_folder);
    return 0;
}

// Reads a trace out of memory.
static enum status read_text(struct trace *t, const char *text, size_t size)
{
    FILE *from = fmemopen((void *)(uintptr_t)text, size ? size : 1, "rb");
    assert_non_null(from);
    if (!size) getc(from);
    own_err = (struct error){OK, ""};
    enum status status = trace_read(t, "trace", from, false, &own_arena, &own_err);
    fclose(from);
    return status == OK ? trace_attribute(t, "trace", &own_arena, &own_err) : status;
}

static void write_input(const char *text)
{
    FILE *file = fopen(input, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static enum status import(const char *words)
{
    char *argv[40] = {"trace", input, "-o", output};
    int argc = 4, exit_code = 0;
    char *copy = arena_copy_text(&own_arena, words);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    own_err = (struct error){OK, ""};
    remove(output);
    return command_call(&import_trace, argc, argv, &exit_code, &own_arena, &own_err);
}

static double seconds_of(const struct trace *t, const char *name)
{
    for (int n = 0; n < t->names.count; n++)
        if (!strcmp(t->names.texts[n], name)) return t->name_seconds[n];
    return -1;
}

static void assert_seconds(const struct trace *t, const char *name, double microseconds)
{
    double found = seconds_of(t, name);
    if (!(fabs(found - microseconds * 1e-6) < 1e-12)) print_error("%s: %.12g s\n", name, found);
    assert_true(fabs(found - microseconds * 1e-6) < 1e-12);
}

// As Kineto writes them: an epoch in microseconds with three decimals, the device's events under
// the device's number, flow events and metadata between, a step with a forward and a backward, the
// backward's launches from a thread of their own.
static const char head[] =
    "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA H100\", "
    "\"totalGlobalMem\": 84942979072}],\n"
    "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0},\n  \"displayTimeUnit\": "
    "\"ms\",\n  \"baseTimeNanoseconds\": 1700000000000000000,\n"
    "  \"traceEvents\": [\n"
    "  {\"ph\": \"M\", \"name\": \"process_name\", \"ts\": 0, \"pid\": 77, \"tid\": 0, \"args\": "
    "{\"name\": \"python\"}},\n";
static const char host[] =
    "  {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#7\", \"pid\": 77, "
    "\"tid\": 77, \"ts\": 1700000000000000.000, \"dur\": 1000.000},\n"
    "  {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"forward\", \"pid\": 77, \"tid\": "
    "77, \"ts\": 1700000000000100.100, \"dur\": 100.200, \"args\": {\"External id\": 5}},\n"
    "  {\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"backward\", \"pid\": 77, \"tid\": "
    "77, \"ts\": 1700000000000300, \"dur\": 100},\n"
    "  {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 77, \"tid\": 77, "
    "\"ts\": 1700000000000101.000, \"dur\": 5, \"args\": {\"Input Dims\": [[8, 8], [8, 8]], "
    "\"Sequence number\": 3}},\n"
    "  {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 77, "
    "\"tid\": 77, \"ts\": 1700000000000100.100, \"dur\": 2, \"args\": {\"correlation\": 11}},\n"
    "  {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 77, "
    "\"tid\": 77, \"ts\": 1700000000000200.301, \"dur\": 2, \"args\": {\"correlation\": 12}},\n"
    "  {\"ph\": \"X\", \"cat\": \"cuda_driver\", \"name\": \"cuLaunchKernel\", \"pid\": 77, "
    "\"tid\": 99, \"ts\": 1700000000000350, \"dur\": 2, \"args\": {\"correlation\": 13}},\n"
    "  {\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaMemcpyAsync\", \"pid\": 77, "
    "\"tid\": 99, \"ts\": 1700000000002000, \"dur\": 2, \"args\": {\"correlation\": 14}},\n";
static const char device[] =
    "  {\"ph\": \"s\", \"id\": 11, \"pid\": 77, \"tid\": 77, \"ts\": 1700000000000100.100, "
    "\"cat\": \"ac2g\", \"name\": \"ac2g\"},\n"
    "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"sm90_gemm<a, \\\"b\\\">\", \"pid\": 0, "
    "\"tid\": 7, \"ts\": 1700000000000500, \"dur\": 40.5, \"args\": {\"correlation\": 11, "
    "\"stream\": 7, \"grid\": [1, 2, 3]}},\n"
    "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"relu\", \"pid\": 0, \"tid\": 7, \"ts\": "
    "1700000000000550, \"dur\": 3, \"args\": {\"correlation\": 12, \"stream\": 7}},\n"
    "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm_back\", \"pid\": 0, \"tid\": 7, "
    "\"ts\": 1700000000000600, \"dur\": 80, \"args\": {\"correlation\": 13, \"stream\": 7}},\n"
    "  {\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH\", \"pid\": 0, \"tid\": 7, "
    "\"ts\": 1700000000002100, \"dur\": 9, \"args\": {\"correlation\": 14, \"stream\": 7}},\n"
    "  {\"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"forward\", \"pid\": 0, "
    "\"tid\": 7, \"ts\": 1700000000000500, \"dur\": 60},\n"
    "  {\"ph\": \"i\", \"s\": \"g\", \"name\": \"Record Window End\", \"pid\": \"\", \"tid\": "
    "\"\", \"ts\": 1700000000003000}\n";
static const char tail[] = "  ],\n  \"traceName\": \"trace.json\"\n}\n";

static const char *whole_trace(const char *a, const char *b)
{
    return arena_print(&own_arena, "%s%s%s%s", head, a, b, tail);
}

TEST(test_by_launch)
{
    struct trace t;
    const char *text = whole_trace(host, device);
    assert_int_equal(read_text(&t, text, strlen(text)), OK);
    assert_int_equal(t.rule, TRACE_BY_LAUNCH);
    // 11 at the very start of forward; 12 one nanosecond after its end; 13 from a thread without
    // ranges; 14 after all.
    assert_seconds(&t, "forward", 40.5);
    assert_seconds(&t, "backward", 80);
    assert_seconds(&t, "ProfilerStep", 123.5);
    assert_int_equal(t.outside, 1);
    assert_true(fabs(t.outside_s - 9e-6) < 1e-12);
    // The same as an array of events alone.
    const char *start = strstr(text, "\"traceEvents\": [") + strlen("\"traceEvents\": ");
    assert_int_equal(
        read_text(&t, start, (size_t)(strstr(start, "  ],\n  \"traceName") + 3 - start)), OK);
    assert_seconds(&t, "backward", 80);
}

TEST(test_without_launches_or_device)
{
    struct trace t;
    const char *text = whole_trace("", device);
    assert_int_equal(read_text(&t, text, strlen(text)), OK);
    assert_int_equal(t.rule, TRACE_BY_DEVICE);
    assert_seconds(&t, "forward", 43.5); // what began on stream 7 from 500 to 560
    assert_int_equal(t.outside, 2);
    text = whole_trace(host, "  {\"ph\": \"M\"}\n");
    assert_int_equal(read_text(&t, text, strlen(text)), OK);
    assert_int_equal(t.rule, TRACE_BY_HOST);
    assert_seconds(&t, "forward", 100.2);
}

TEST(test_ranges_within_their_like)
{
    static const char text[] = "[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"r\",\"pid\":"
                               "1,\"tid\":1,\"ts\":0,\"dur\":100},"
                               "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"r\",\"pid\":1,"
                               "\"tid\":1,\"ts\":10,\"dur\":50},"
                               "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":1,"
                               "\"tid\":1,\"ts\":2e1,\"args\":{\"correlation\":1}},"
                               "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":"
                               "7,\"ts\":30,\"dur\":8,\"args\":{\"correlation\":1}}]";
    struct trace t;
    assert_int_equal(read_text(&t, text, strlen(text)), OK);
    assert_seconds(&t, "r", 8); // once, though two ranges of the name are open
    assert_true(fabs(t.used[0].seconds - 8e-6) < 1e-12 && fabs(t.used[1].seconds - 8e-6) < 1e-12);
}

TEST(test_outputs)
{
    struct samples s;
    char line[300];
    write_input(whole_trace(host, device));
    assert_int_equal(import("--format csv"), OK);
    FILE *file = fopen(output, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "range,calls,device_operations,seconds,median_s,host_s\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "ProfilerStep,1,3,0.0001235,0.0001235,0.001\n");
    fclose(file);
    assert_int_equal(import("--format table"), OK);
    assert_int_equal(import("--format samples --gpu h100 --precision bf16 --micro-batch 2 "
                            "--sequence 4096 --range forward --operation block"),
                     OK);
    MUST(samples_load(&s, output, &own_arena, &own_err));
    assert_int_equal(s.sample_count, 1);
    assert_int_equal(s.samples[0].kind, SAMPLE_LAYER);
    assert_string_equal(s.samples[0].operation, "block");
    assert_true(s.samples[0].dimensions[0] == 2 && s.samples[0].dimensions[1] == 4096 &&
                s.samples[0].precision == BF16);
    assert_true(s.samples[0].repetitions == 1 && fabs(s.samples[0].seconds[0] - 40.5e-6) < 1e-12);
    assert_int_equal(import("--format samples --gpu h100"), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "--micro-batch is missing"));
    assert_int_equal(import("--format samples --gpu h100 --precision bf16 --micro-batch 2 "
                            "--sequence 4096 --operation block"),
                     BAD_INPUT);
    assert_non_null(strstr(own_err.text, "--range"));
    assert_int_equal(import("--range x"), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "begins with 'x'"));
    write_input("\x1f\x8b\x08");
    assert_int_equal(import(""), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "gunzip -c"));
    write_input("SQLite format 3");
    assert_int_equal(import(""), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "export_chrome_trace"));
    remove(input);
    assert_int_equal(import(""), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "cannot be read"));
}

static void assert_refused(const char *text, size_t size, const char *word)
{
    struct trace t;
    struct arena_mark mark = arena_set_mark(&own_arena);
    assert_int_equal(read_text(&t, text, size), BAD_INPUT);
    if (!strstr(own_err.text, word)) print_error("'%s' is not in: %s\n", word, own_err.text);
    assert_non_null(strstr(own_err.text, word));
    assert_null(strchr(own_err.text, '\n'));
    arena_reset(&own_arena, mark);
}

TEST(test_hostile)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"{}", "traceEvents"},
        {"5", "traceEvents"},
        {"{\"traceEvents\": 5}", "expected one array"},
        {"{\"traceEvents\": [5]}", "expected objects"},
        {"{\"traceEvents\": []} x", "nothing after"},
        {"[{\"ph\" \"X\"}]", "':'"},
        {"[{5: 5}]", "a key"},
        {"[1 2]", "objects"},
        {"{\"a\": [1 2]}", "','"},
        {"{\"a\": [1,]}", "a value"},
        {"{\"a\": 01}", "'01'"},
        {"{\"a\": NaN}", "traceEvents"}, // as Python writes it
        {"{\"a\": nul}", "'nul'"},
        {"{\"a\": 1111111111111111111111111111111111111111111111111111111111111111111}",
         "more than 63"},
        {"{\"a\": \"\xff\"}", "UTF-8"},
        {"{\"a\": \"\xed\xa0\x80\"}", "UTF-8"},
        {"{\"a\": \"\xc0\x80\"}", "UTF-8"},
        {"{\"a\": \"\\ud800x\"}", "surrogate"},
        {"{\"a\": \"\\u0000\"}", "NUL"},
        {"{\"a\": \"\\x\"}", "escape"},
        {"{\"a\": \"b\nc\"}", "control character"},
        {"{\"a\": \"b", "does not end"},
        {"{\"a\": [1}", "']'"},
        {"\x7f"
         "ELF",
         "0x7f"},
        {"[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1}]", "ts and dur"},
        {"[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1e999, \"dur\": 1}]", "below 9e15"},
        {"[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 99999999999999999999, \"dur\": 1}]",
         "below 9e15"},
        {"[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": -1}]", "0 to 1e14"},
        {"[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": 1, \"dur\": 8e15}]", "0 to 1e14"},
        {"[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": \"x\", \"dur\": 1}]", "ts: "},
        {"[{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": {}, \"dur\": 1}]", "ts: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].text, strlen(cases[i].text), cases[i].word);
    const char *text = whole_trace(host, device);
    for (size_t n = 1; n + 2 < strlen(text); n++) assert_refused(text, n, "line ");
    char deep[3000];
    memset(deep, '[', sizeof deep);
    deep[0] = '{', deep[1] = '"', deep[2] = '"', deep[3] = ':';
    assert_refused(deep, sizeof deep, "nested deeper");
}

// Bytes of a whole trace changed at random: an answer or a line, never more.
TEST(test_damaged)
{
    struct trace t;
    uint32_t random = 1;
    const char *text = whole_trace(host, device);
    size_t size = strlen(text);
    char *copy = arena_take(&own_arena, size, 1);
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < 400; i++, arena_reset(&own_arena, mark)) {
        memcpy(copy, text, size);
        for (int k = 0; k < 3; k++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % size] = (char)(random >> 3);
        }
        enum status status = read_text(&t, copy, size);
        assert_true(status == OK ||
                    (status == BAD_INPUT && *own_err.text && !strchr(own_err.text, '\n')));
    }
}

// As many as may be, each once; beyond, those that are known stay known.
TEST(test_names)
{
    struct trace_names names = {0};
    char text[20];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < TRACE_NAMES_MAX; i++) {
            snprintf(text, sizeof text, "%d", i);
            assert_int_equal(trace_name(&names, text, &own_arena), i);
        }
    assert_int_equal(trace_name(&names, "one more", &own_arena), -1);
    assert_int_equal(trace_name(&names, "0", &own_arena), 0);
    assert_int_equal(names.count, TRACE_NAMES_MAX);
    assert_string_equal(names.texts[TRACE_NAMES_MAX - 1], text);
}

// Tokens across the buffer's edge, texts longer than the part that is kept, and no memory allocated
// while reading.
TEST(test_stream)
{
    struct json_stream *s = TAKE(&own_arena, 1, struct json_stream);
    enum stream_token token = STREAM_WORD;
    int texts = 0, numbers = 0;
    FILE *file = fopen(input, "w+b");
    assert_non_null(file);
    fputc('[', file);
    for (int i = 0; i < 20000; i++)
        fprintf(file, "%s\"\\u00e9\xc3\xa9\\n%0*d\", -%d.5e3", i ? ", " : "", i % 3000, i, i);
    fputc(']', file);
    rewind(file);
    memory_fail_at(0);
    stream_begin(s, "big", file);
    do {
        MUST(stream_next(s, &token, &own_err));
        if (token == STREAM_TEXT) {
            assert_memory_equal(s->text, "\xc3\xa9\xc3\xa9\n", 5);
            assert_true(s->length < STREAM_TEXT_MAX && (texts % 3000 >= 1019 || texts % 3000 < 6 ||
                                                        s->length == 5 + (size_t)(texts % 3000)));
            texts++;
        }
        if (token == STREAM_NUMBER) {
            assert_true(strtod(s->text, NULL) == -1000.0 * numbers - 500);
            numbers++;
        }
    } while (token != STREAM_END && texts + numbers < 40001);
    assert_int_equal(texts, 20000);
    assert_int_equal(numbers, 20000);
    assert_int_equal(memory_taken(), 0);
    fclose(file);
}

AROUND_ALL(open_all, folder_close)
