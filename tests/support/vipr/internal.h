// Shared by the files that read VIPR. The only header that includes GMP.
#pragma once

#include <gmp.h>

#include "solve/checker/layout/choices.h"
#include "tests/support/vipr/vipr.h"

enum {
    VIPR_DIGITS_MOST = 20000, // of a number in the file
    VIPR_BITS_MOST = 1 << 18, // of a computed number
    VIPR_FILE_MOST = 1 << 27,
    VIPR_VARIABLES_MOST = 1 << 22,
};

// A number that stays as it was read: whole ones below 2^62 stand in the word itself, others in
// the arena.
struct vipr_value {
    uintptr_t word;
};
struct vipr_view {
    mpq_t number;
    mp_limb_t own[2];
};

struct vipr_terms {
    int count, *columns;
    struct vipr_value values[];
}; // columns ascending, values not 0

struct vipr_row {
    const struct vipr_terms *terms; // the objective's where the file says OBJ
    struct vipr_value right;
    const int *set; // assumptions that it rests on, ascending
    int set_count;
    int last_use;      // no row after this one may refer to it; -1: any may
    signed char sense; // -1: <=, 0: =, 1: >=
    bool is_assumption;
};

struct vipr {
    const struct check_text *file;
    const char *at, *end;
    int line;
    const char *token; // the one last read, ended by '\0' in a copy
    size_t length;
    char *copy; // [longest token + 1]
    struct error *err;
    struct check_vipr_result *result;
    uint64_t work; // left
    int64_t set_room;
    struct arena *arena;

    int variables;
    bool *integer; // [variable]
    bool minimises;
    const struct vipr_terms *objective;
    struct vipr_row *constraints, *derived;
    int row_count, constraint_count; // rows: constraints, then what is derived
    bool infeasible, has_lower, has_upper;
    bool absurd; // a row that no point keeps rests on nothing
    mpq_t lower, upper;
    int solution_count;
    mpq_t best;   // objective value of the best solution
    bool cut_off; // only what is better than the best solution was looked at

    // The current sum: the columns that it touches, in order of appearance. For a solution: its
    // columns.
    int *place; // [variable] in touched_columns and sums, from 1; 0: not there
    int *touched_columns, touched_count, sum_sense;
    mpq_t **sums, sum_right, scratch, read; // sums[place / VIPR_SUMS][place % VIPR_SUMS]
    int sums_ready;
};
enum { VIPR_SUMS = 256 };

// ---- tokens and numbers
enum status vipr_next(struct vipr *v); // BAD_INPUT at the end of the file
enum status vipr_refuse(const struct vipr *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum status vipr_keyword(struct vipr *v, const char *word);
enum status vipr_integer(struct vipr *v, const char *what, int low, int high, int *to);
enum status vipr_number(struct vipr *v, mpq_t to); // of the current token
enum status vipr_spend(struct vipr *v, const mpq_t a,
                       const mpq_t b); // work of one operation with these two
bool vipr_is_whole(const mpq_t q);
void vipr_init(mpq_t q, struct arena *arena); // cleared with the arena
void vipr_count_memory(void);                 // of GMP from here on; before its first number
struct vipr_value vipr_keep(const mpq_t q, struct arena *arena);
mpq_srcptr vipr_see(struct vipr_view *view, struct vipr_value value); // nobody clears it
bool vipr_same(struct vipr_value a, struct vipr_value b);
void vipr_open_sums(struct vipr *v);         // when the variables are known
mpq_t *vipr_sum(struct vipr *v, int column); // 0 where it was not touched
void vipr_clear_sums(struct vipr *v);

// ---- sections
enum status vipr_read_row(struct vipr *v,
                          struct vipr_row *row); // name, sense, right-hand side, terms
const struct vipr_row *vipr_row_at(const struct vipr *v, int number);
enum status vipr_read_problem(struct vipr *v); // up to CON
enum status vipr_read_claim(struct vipr *v);   // RTP, SOL

#define VIPR_NOT_PROVEN(v, ...) fail((v)->err, (enum status)NOT_PROVEN, __VA_ARGS__)
