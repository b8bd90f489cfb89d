// The checker's verdict as a document. The checker shares no JSON writer, so the few keys are
// written directly. Paths are relative to the document, as in every document of plumbline.
#include "solve/checker/verdict.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "solve/checker/proof.h"

void page_print(struct check_page *page, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    size_t need = page->length + (size_t)(length > 0 ? length : 0) + 1;
    if (need > page->capacity) {
        size_t capacity = 2 * page->capacity + need + 1024;
        page->text = arena_grow(page->arena, page->text, page->length, capacity, 1);
        page->capacity = capacity;
    }
    vsnprintf(page->text + page->length, page->capacity - page->length, format, again);
    va_end(again);
    page->length = need - 1;
}

static void put_file(struct check_page *page, const char *role, const struct check_text *text)
{
    char hash[CHECK_HASH];
    check_hash(text->text, text->size, hash);
    page_print(page, "  %-12s %s (%zu bytes)\n", role, hash, text->size);
}

void page_files(struct check_page *page, const struct check_text *certificate,
                const struct check_input *sources, int source_count)
{
    put_file(page, "certificate", certificate);
    for (int i = 0; i < source_count; i++) put_file(page, sources[i].role, &sources[i].text);
    page_print(page,
               "\nTO REPEAT\n  plumbline check CERTIFICATE PROBLEM\n  with these files. It ends "
               "with exit code 0 and the same statement; exit code 1 means: not certified.\n");
}

// Either the old file or the complete new one.
enum status page_write(const struct check_page *page, const char *path, struct error *err)
{
    if (!strcmp(path, "-")) {
        bool written = fwrite(page->text, 1, page->length, stdout) == page->length &&
                       !fflush(stdout);
        return written ? OK : refuse(err, "standard output: cannot be written");
    }
    const char *beside = arena_print(page->arena, "%s.new", path);
    FILE *file = fopen(beside, "wb");
    if (!file) return refuse(err, "%s: %s", path, strerror(errno));
    bool written = fwrite(page->text, 1, page->length, file) == page->length;
    written = !fclose(file) && written && !rename(beside, path);
    if (written) return OK;
    remove(beside);
    return refuse(err, "%s: cannot be written", path);
}

// ---- paths

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

const char *check_path_from(const char *from, const char *to, struct arena *arena)
{
    size_t folder = folder_length(from), common = 0;
    if (*to == '/' || !strcmp(from, "-")) return to;
    for (size_t i = 0; i < folder && from[i] == to[i]; i++)
        if (from[i] == '/') common = i + 1;
    const char *up = "";
    for (const char *c = from + common; c < from + folder; c++) {
        if (*c == '/') up = arena_print(arena, "%s../", up);
        if (*c == '.' && c[1] == '.') return to;
    }
    if (*from == '/' && common == 0) return to;
    return arena_print(arena, "%s%s", up, to + common);
}

// ---- the document

static void put_text(struct check_page *p, const char *text)
{
    page_print(p, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') page_print(p, "\\%c", *c);
        else if ((unsigned char)*c < 0x20) page_print(p, "\\u%04x", (unsigned)*c);
        else page_print(p, "%c", *c);
    }
    page_print(p, "\"");
}

static void put_source(struct check_page *p, const char *role, const struct check_text *file,
                       const char *path, bool first)
{
    char hash[CHECK_HASH];
    check_hash(file->text, file->size, hash);
    page_print(p, "%s\n    {\"role\": \"%s\", \"path\": ", first ? "" : ",", role);
    put_text(p, check_path_from(path, file->file, p->arena));
    page_print(p, ", \"sha256\": \"%s\"}", hash);
}

static void put_count(struct check_page *p, const char *key, int64_t value)
{
    page_print(p, "  \"%s\": %lld,\n", key, (long long)value);
}

static void put_claims(struct check_page *p, const struct check_result *r)
{
    if (!r->accepted) {
        page_print(p, "  \"reason\": ");
        put_text(p, r->reason);
        page_print(p, ",\n");
        return;
    }
    if (r->infeasible) page_print(p, "  \"infeasible\": true,\n");
    bool of_time = r->objective == MINIMISE_TIME;
    if (!of_time) page_print(p, "  \"objective\": \"%s\",\n", check_objective_names[r->objective]);
    if (r->iteration_ns >= 0)
        put_count(p, of_time ? "iteration_ns" : "objective_ns", r->iteration_ns);
    if (!r->infeasible) put_count(p, "bound_ns", r->bound_ns);
}

enum status check_write_verdict(const struct check_audit *h, const char *path, struct arena *arena,
                                struct error *err)
{
    const struct check_result *r = h->result;
    struct check_page page = {.arena = arena}, *p = &page;
    page_print(p, "{\n  \"kind\": \"plumbline.checked\",\n  \"version\": 1,\n  \"made_by\": "
                  "\"plumbline " PLUMBLINE_VERSION "\",\n  \"made_from\": [");
    put_source(p, "certificate", h->certificate, path, true);
    put_source(p, "priced", h->priced, path, false);
    if (h->problem) put_source(p, "problem", h->problem, path, false);
    page_print(p, "\n  ],\n  \"name\": ");
    put_text(p, r->problem ? r->problem->name : "");
    page_print(p, ",\n  \"accepted\": %s,\n", r->accepted ? "true" : "false");
    put_claims(p, r);
    put_count(p, "certificate_bytes", (int64_t)h->certificate->size);
    put_count(p, "boxes", r->boxes);
    put_count(p, "splits", r->splits);
    put_count(p, "leaves", r->leaves);
    put_count(p, "rounds", r->rounds);
    put_count(p, "choices", r->choices);
    put_count(p, "paths", r->paths);
    put_count(p, "operations", r->operations);
    put_count(p, "work", (int64_t)(r->work > (uint64_t)MOST_NS ? (uint64_t)MOST_NS : r->work));
    page_print(p, "  \"microseconds\": %lld\n}\n", (long long)h->microseconds);
    return page_write(p, path, err);
}
