// The one file that includes lapacke.h. dgels solves by QR and leaves R; the covariance is (R^T
// R)^-1 (dpotri). Columns are first scaled to length one, since FLOP counts near 10^10 are next to
// a column of ones.
#include "calibrate/fit/fit.h"

#include <assert.h>
#include <lapacke.h>
#include <math.h>

// If less than this share of a column's length is independent of the others, it is rounding.
static const double rank_tolerance = 1e-10;

static enum status solve(double *a, double *b, int rows, int columns, struct error *err)
{
    if (LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', rows, columns, 1, a, rows, b, rows) != 0)
        return refuse(err, "least squares: the design matrix is rank-deficient");
    for (int j = 0; j < columns; j++)
        if (fabs(a[j * rows + j]) < rank_tolerance)
            return refuse(err, "least squares: the design matrix is rank-deficient");
    return OK;
}

enum status least_squares(struct solution *s, int rows, int columns, const double *design,
                          const double *observed, const double *deviation, struct arena *arena,
                          struct error *err)
{
    assert(rows >= columns && columns >= 1);
    double *a = TAKE(arena, rows * columns, double), *b = TAKE(arena, rows, double),
           *scale = TAKE(arena, columns, double);
    for (int j = 0; j < columns; j++) {
        double square = 0;
        for (int i = 0; i < rows; i++) {
            assert(deviation[i] > 0);
            a[j * rows + i] = design[i * columns + j] / deviation[i];
            square += a[j * rows + i] * a[j * rows + i];
        }
        scale[j] = square > 0 ? sqrt(square) : 1;
        for (int i = 0; i < rows; i++) a[j * rows + i] /= scale[j];
    }
    for (int i = 0; i < rows; i++) b[i] = observed[i] / deviation[i];
    TRY(solve(a, b, rows, columns, err));

    *s = (struct solution){.x = TAKE(arena, columns, double),
                           .covariance = TAKE(arena, columns * columns, double)};
    for (int j = 0; j < columns; j++) s->x[j] = b[j] / scale[j];
    for (int i = 0; i < rows; i++) {
        double residual = observed[i];
        for (int j = 0; j < columns; j++) residual -= design[i * columns + j] * s->x[j];
        s->chi_square += residual / deviation[i] * (residual / deviation[i]);
    }
    if (LAPACKE_dpotri(LAPACK_COL_MAJOR, 'U', columns, a, rows) != 0)
        return refuse(err, "least squares: the design matrix is rank-deficient");
    for (int j = 0; j < columns; j++)
        for (int k = 0; k < columns; k++)
            s->covariance[j * columns + k] = a[(j > k ? j : k) * rows + (j > k ? k : j)] /
                                             scale[j] / scale[k];
    return OK;
}
