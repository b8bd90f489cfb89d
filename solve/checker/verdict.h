// The output of an audit: a document for reports (kind "plumbline.checked"), and a page in words
// for the appendix of a paper. Both state what the checker found, never what the file claims.
#pragma once

#include "solve/checker/sources.h"

struct check_audit {
    const struct check_result *result;
    const struct check_text *certificate, *priced;
    const struct check_text *problem; // the one given; NULL: none
    int64_t microseconds;             // from start to verdict, including reading the files
};

// "-": standard output. BAD_INPUT: cannot be written; no partial file remains.
enum status check_write_verdict(const struct check_audit *h, const char *path, struct arena *arena,
                                struct error *err);
// For an accepted certificate.
enum status check_write_statement(const struct check_audit *h, const char *path,
                                  struct arena *arena, struct error *err);

// What the document has that the theorems of solve/proofs are not about (docs/PROOFS.md 16); NULL:
// nothing, its certificates can be given to the referee.
const char *check_lacks_theorem(const struct check_problem *p);

// Behind "all numbers" of a priced document that equal the judge's: what was not compared, or "".
const char *check_not_compared(const struct check_problem *p);

// `to` relative to the folder of the file `from`; both are relative to the current folder. If that
// folder lies above the current one, `to` is unchanged.
const char *check_path_from(const char *from, const char *to, struct arena *arena);

// ---- shared by both
struct check_page {
    struct arena *arena;
    char *text;
    size_t length, capacity;
};
void page_print(struct check_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// The end of a statement about a problem: the files by their hashes, and how to repeat the check.
void page_files(struct check_page *page, const struct check_text *certificate,
                const struct check_input *sources, int source_count);
struct check_layout;
// A layout's degrees, and what all of its stages share.
void page_layout(struct check_page *page, const struct check_layout *layout);
enum status page_write(const struct check_page *page, const char *path, struct error *err);
