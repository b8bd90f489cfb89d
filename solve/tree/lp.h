// The interface to the LP solver: a linear program over a struct milp in our own terms. Only glpk.c
// and search.c implement it.
//
// Times are scaled by a power of two (exact in binary) so that stage loads are small numbers. Rows
// that the zero point violates get one elastic column each, so every relaxation has an optimum and
// the dual simplex alone suffices; infeasibility then appears as a bound. Results are floating
// point: nothing here proves anything (bound.c does).
#pragma once

#include "data/base/watch.h"
#include "data/program/milp.h"

struct lp;

// A basis of the simplex method: one status for each column, elastic column and row below
// first_path_row, and the path rows whose slack was not basic. Path rows outside the list need not
// be in the program for the basis to fit.
struct lp_basis {
    unsigned char *columns;  // [column_count] of the milp; 0: was not in the program
    unsigned char *elastics; // [elastic count]
    unsigned char *rows;     // [first_path_row]
    int *path_rows;
    unsigned char *path_statuses;
    int path_count;
    bool present;
};

struct lp_request {
    const struct milp *milp;
    int first_path_row;           // rows from here on are added only by lp_add_row
    int unit_log2;                // a time of 2^unit_log2 ns is 1
    double elastic_price;         // in units of time, per unit of violation
    const bool *closed;           // [column_count]: fixed at 0, and left out where the basis allows
    const struct lp_basis *basis; // NULL or not present: the standard basis
    const struct watch *watch;    // ends a relaxation early, at its limit; NULL: never
    bool levels; // with the levels of stages' loads, and binaries that lp_search may branch on
};

// Lives as long as the arena.
struct lp *lp_open(const struct lp_request *request, struct arena *arena);

bool lp_has_row(const struct lp *lp, int row);
void lp_add_row(struct lp *lp, int row);
void lp_set_closed(struct lp *lp, int column,
                   bool closed); // a column that is not in the program stays out
void lp_set_elastic_price(struct lp *lp, double price);

enum lp_method { LP_DUAL, LP_DUAL_FROM_SCRATCH, LP_DUAL_SCALED, LP_PRIMAL, LP_METHOD_COUNT };
enum lp_status {
    LP_OPTIMAL,
    LP_ABOVE_LIMIT,
    LP_STOPPED,
    LP_FAILED
}; // ABOVE_LIMIT: dual feasible, and the objective exceeded the limit. STOPPED: the watch's time is
   // up; multipliers are those of the current basis
enum lp_status lp_solve(struct lp *lp, enum lp_method method, double limit_ns);

double lp_objective_ns(const struct lp *lp);
double lp_value(const struct lp *lp, int column); // in ns for times; 0 if the column is left out
double lp_elastic_use(const struct lp *lp);       // sum over the elastic columns
// Row multipliers in the program's own units (a plain number for a time row, in units of time for
// another row).
int lp_row_count(const struct lp *lp);
int lp_row_of(const struct lp *lp, int index); // milp row of the index-th row
int lp_index_of(const struct lp *lp, int row); // of a milp row that is in
double lp_multiplier(const struct lp *lp, int index);
long lp_iterations(const struct lp *lp);

void lp_basis_save(struct lp_basis *basis, const struct lp *lp, struct arena *arena);
void lp_basis_restore(struct lp *lp, const struct lp_basis *basis);
int lp_elastic_count(const struct milp *milp, int first_path_row);

// glp_intopt over a program opened with levels. It chooses which node is next, and solves its
// relaxation; the caller decides each node, as a box of its own.
enum lp_move {
    LP_AGAIN,  // rows were added
    LP_BRANCH, // branch() says where
    LP_DROP,   // the box has ended, or is kept for later
    LP_END,    // of the whole search
};
struct lp_search {
    // The box's relaxation is optimal. The first box is 0.
    enum lp_move (*visit)(void *argument, int64_t box);
    // The column to branch on and the boxes in which it is 0 and 1; *up: the latter comes first.
    // -1: there is none, and the search ends.
    int (*branch)(void *argument, int64_t box, int64_t children[2], bool *up);
    void *argument;
};
// After an optimal lp_solve. Boxes that were neither visited nor dropped are not decided: GLPK may
// give up some or all of them at any time.
void lp_search(struct lp *lp, const struct lp_search *search);
bool lp_can_branch(const struct lp *lp, int column); // within branch()
