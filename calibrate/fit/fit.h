// The samples of one kind as a sum of a few terms: time = overhead + work / rate, plus traffic /
// traffic rate where that helps.
#pragma once

#include "data/numbers/intervals.h"
#include "data/inputs/costs.h"

// A time as a sum of terms, none of them negative: time = sum of x[j] * design[j]. Weighted least
// squares with 95 % intervals.

enum { LINEAR_TERMS_MAX = 4 };

// A number and its 95 % interval.
struct interval {
    double value, low, high;
};

struct linear {
    struct interval x[LINEAR_TERMS_MAX];
    bool held[LINEAR_TERMS_MAX]; // at 0, because it would be negative in the unconstrained optimum
    double scatter; // root of chi-square per degree of freedom: 1 where points scatter as much as
                    // their deviations state
};

// design[rows][columns] row by row; rows >= columns, columns <= LINEAR_TERMS_MAX; deviation[rows]
// > 0 gives the points' weights. Their scale comes from the scatter if there are more points than
// terms. BAD_INPUT if the columns are not distinguishable.
enum status fit_linear(struct linear *f, int rows, int columns, const double *design,
                       const double *observed, const double *deviation, struct arena *arena,
                       struct error *err);

// Samples as the fits use them: each sample's median and its uncertainty.

// One sample.
struct fit_point {
    const struct sample *sample; // NULL: not from a sample
    const char *operation;
    double work;               // FLOP, bytes, blocks
    double traffic;            // bytes moved in addition; 0: none, or not fitted
    double seconds, low, high; // the median and its 95 % rank interval
    double deviation;   // standard error of the median, for weights; 0: half the interval / 1.96
    double explained_s; // part of it that another rate accounts for; not fitted
};

// What launches and conditions of the samples show for a set of points.
struct point_notes {
    double launch_effect; // the greatest deviation of one launch's median from that of all
                          // launches, as a share: median over the points
    int launches;         // the most that any point has
    int throttled_repetitions, outlier_repetitions, repetitions;
    double throttled_slowdown; // median over points that have both: throttled over unthrottled
                               // median; 0: none has both
};

// BAD_INPUT: a median of 0. `path` and `index` name the sample in messages.
enum status point_of_sample(struct fit_point *p, const struct sample *s, double work,
                            const char *path, int index, struct arena *arena, struct error *err);
struct point_notes points_note(const struct fit_point *points, int count, struct arena *arena);

// Weights: the points' relative deviations are assumed equal (their median), because an interval
// from few repetitions is itself uncertain. A point ten times as wide as that gets less weight.
// deviation[count], in seconds, above 0.
void points_deviations(double *deviation, const struct fit_point *points, int count,
                       struct arena *arena);

// Ascending in work; equal works in an order independent of the samples' order.
void points_sort(struct fit_point *points, int count);

struct fit {
    const char *name;
    const struct fit_point *points; // ascending in work
    int point_count;
    struct interval overhead_s;   // never negative
    struct interval rate;         // work per second
    struct interval traffic_rate; // bytes per second, in addition to the work; all 0: no such term
    bool through_zero; // overhead is held at 0: requested, or the free line's was negative
    double scatter;    // root of chi-square per degree of freedom: above 1, points scatter more
                       // than their own intervals allow
    double residual;   // median of |line / measured - 1| over the points fitted
    double held_out;   // the same over left-out points, one operation at a time; 0: not computed
    double apart;      // relative difference between launches or documents; it widens the intervals
    struct point_notes notes;
};

enum line { LINE_WITH_OVERHEAD, LINE_THROUGH_ZERO, LINE_WITH_TRAFFIC };

// Fits the points in any order (they are sorted first, so the order affects no digit). BAD_INPUT:
// fewer than two sizes, or a time that does not grow with the work; `file` is named in the
// message.
enum status fit_line(struct fit *f, const char *file, const char *name, enum line line,
                     struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err);

// Points with equal work, from which no overhead can be determined: the median of their rates,
// with the least and greatest that their own intervals allow.
void fit_one_size(struct fit *f, const char *name, struct fit_point *points, int point_count,
                  struct arena *arena);

// Of several forms, the one that best predicts operations it was not fitted on: each operation is
// left out in turn (with fewer than three operations, each sample). A form with more terms is
// chosen only if its held-out error is below nine tenths of the simpler one's.
enum status fit_best(struct fit *f, const char *file, const char *name, const enum line *forms,
                     int form_count, struct fit_point *points, int point_count, struct arena *arena,
                     struct error *err);

struct interval interval_widened(struct interval x, double share);
// Widens the intervals by this share: the relative difference of a launch or document, which could
// have been the only one.
void fit_widen(struct fit *f, double share);

// The fitted time of this point's work and traffic, and the explained part, in seconds.
double fit_seconds(const struct fit *f, const struct fit_point *at);

// What all operations of a round have in common: other programs that take a share of a core,
// clocks.

// Sets even_s of the document's samples: medians of repetitions divided by what their rounds have
// in common (docs/FORMULAS.md section 12). Requires, for one device, launches with at least 20
// operations and three rounds that include all of them; otherwise, and for imported samples,
// even_s stays 0.
void rounds_even(struct samples *document, struct arena *arena);

// Times of messages by size: straight lines, each for a range of sizes, as where a protocol
// switches to another.

enum { SEGMENT_FITS_MAX = 6 };

struct segment_fit {
    double from_bytes;       // 0 for the first; half-way between two sizes, on a logarithmic scale
    struct interval seconds; // at from_bytes
    struct interval rate;    // bytes per second beyond it
    int first, count;        // its points
};

struct segmented {
    const char *name;
    const struct fit_point *points; // ascending in size
    int point_count;
    struct segment_fit segments[SEGMENT_FITS_MAX];
    int segment_count;
    double residual; // as in a fit
    struct point_notes notes;
};

// BAD_INPUT: no points. A single size gives a rate through zero.
enum status fit_segments(struct segmented *f, const char *name, struct fit_point *points, int count,
                         struct arena *arena, struct error *err);
// Lines with the ranges of `like`, fitted to other points. A range with too few of them keeps
// like's line.
enum status fit_segments_like(struct segmented *f, const struct segmented *like, const char *name,
                              struct fit_point *points, int count, struct arena *arena,
                              struct error *err);
double segmented_seconds(const struct segmented *f, double bytes);
struct interval segmented_latency(const struct segmented *f); // of the smallest message
// What a long message takes besides its bytes at the rate: a protocol's hand-shake, too. Not less
// than the smallest message's latency.
double segmented_start(const struct segmented *f);
struct interval segmented_rate(const struct segmented *f); // of the largest ones

// Weighted linear least squares: minimise the sum over rows of ((observed - design . x) /
// deviation)^2.

struct solution {
    double *x;          // [columns]
    double *covariance; // [columns][columns], taking deviations as true standard deviations
    double chi_square;  // the minimum
};

// design[rows][columns] row by row, rows >= columns >= 1; deviation[rows] > 0. BAD_INPUT if the
// columns are not distinguishable (the design is rank deficient).
enum status least_squares(struct solution *s, int rows, int columns, const double *design,
                          const double *observed, const double *deviation, struct arena *arena,
                          struct error *err);

// The allocator's bytes per requested byte, from runs that failed for lack of memory, runs that
// did not, and measured peaks: the maximum likelihood over factor and spread, and the
// profile-likelihood interval of the factor. docs/FORMULAS.md section 12.

enum memory_sign_kind { SIGN_PEAK, SIGN_FAILED, SIGN_RAN };

// One run: predicted bytes from the allocator, with factor 1, and outside of it; the measured
// peak, or the device's capacity.
struct memory_sign {
    enum memory_sign_kind kind;
    double inside_bytes, outside_bytes, bytes;
};

struct factor_fit {
    double factor, low, high; // 95 %; an end at 1 or FACTOR_MAX is only that limit
    double spread;            // standard deviation of ln(truth / prediction)
    int counts[3];            // by kind
};

#define FACTOR_MAX 10.0 // limit of the costs' allocator_factor, which is at least 1
#define SPREAD_MIN 0.02
#define SPREAD_MAX 0.5

// BAD_INPUT: nothing bounds the factor from below (no run that failed, no peak), or from above.
enum status factor_fit(struct factor_fit *fit, const struct memory_sign *signs, int count,
                       struct error *err);

// Several documents of samples as one: each may have what another lacks.

struct inputs {
    struct samples all; // of all documents, in order; endpoints of equal name are merged. The
                        // machine is that of the first document that measured more than links
    struct samples *documents;
    int document_count;
    int *document_of; // [all.sample_count]
    int *index_in;    // [all.sample_count] in that document
};

// BAD_INPUT: two documents measured devices of different names and `name` (NULL) does not override
// them.
enum status inputs_load(struct inputs *in, const char *const *paths, int count, const char *name,
                        struct arena *arena, struct error *err);
// The same for documents in memory.
enum status inputs_join(struct inputs *in, struct samples *documents, int count, const char *name,
                        struct arena *arena, struct error *err);

// Whether a sample belongs to a fit; context is the caller's.
typedef bool sample_chooser(const struct sample *s, const void *context);
// The chosen samples as points, with the work that `work` returns; messages identify a sample by
// its document and its index there.
typedef double sample_work(const struct sample *s);
enum status inputs_points(struct fit_point **points, int *count, const struct inputs *in,
                          sample_chooser *choose, const void *context, sample_work *work,
                          struct arena *arena, struct error *err);

// "12 samples (00112233aabb, ...)": the documents of the points, by the beginnings of their
// hashes.
const char *inputs_source(const struct inputs *in, const struct fit_point *points, int count,
                          struct arena *arena);

// Kinds of kernels: the samples of each, the definition of their work, and the forms that their
// fits may take.

struct kernel_kind {
    const char *title; // for people
    enum sample_kind kind;
    const char *with, *without; // what an operation's name contains and what not; NULL: any
    enum { UNIT_FLOP, UNIT_BYTES, UNIT_VALUES, UNIT_CALLS } unit;
    enum line forms[3]; // tried by held-out error, those with fewest terms first
    int form_count;
    bool may_own; // may have a traffic rate of its own, where the other fit's rate predicts worse
};

// KERNEL(constant after KERNEL_, the members of struct kernel_kind ...): one for each precision,
// and those that are common to all precisions.
#define PLAIN {LINE_THROUGH_ZERO, LINE_WITH_OVERHEAD}, 2
#define PRODUCT {LINE_THROUGH_ZERO, LINE_WITH_OVERHEAD, LINE_WITH_TRAFFIC}, 3
#define KERNELS_EACH(KERNEL)                                                                       \
    KERNEL(GEMM, "matrix products", SAMPLE_GEMM, NULL, "gradient", UNIT_FLOP, PRODUCT)             \
    KERNEL(GEMM_DATA, "matrix products, gradients of inputs", SAMPLE_GEMM, "data gradient", NULL,  \
           UNIT_FLOP, PLAIN)                                                                       \
    KERNEL(GEMM_WEIGHT, "matrix products, gradients of weights", SAMPLE_GEMM, "weight gradient",   \
           NULL, UNIT_FLOP, PLAIN, true)                                                           \
    KERNEL(ATTENTION, "attention", SAMPLE_ATTENTION, NULL, "backward", UNIT_FLOP, PLAIN)           \
    KERNEL(ATTENTION_BACKWARD, "attention, backward", SAMPLE_ATTENTION, "backward", NULL,          \
           UNIT_FLOP, PLAIN)                                                                       \
    KERNEL(GROUPED, "experts' products", SAMPLE_GROUPED, NULL, "gradient", UNIT_FLOP, PRODUCT)     \
    KERNEL(GROUPED_BACKWARD, "experts' products, both gradients", SAMPLE_GROUPED, "gradient",      \
           NULL, UNIT_FLOP, PRODUCT)                                                               \
    KERNEL(RING, "attention in a step of a ring", SAMPLE_CONTEXT, NULL, "backward", UNIT_FLOP,     \
           PLAIN)                                                                                  \
    KERNEL(RING_BACKWARD, "attention in a step of a ring, backward", SAMPLE_CONTEXT, "backward",   \
           NULL, UNIT_FLOP, PLAIN)                                                                 \
    KERNEL(CAST, "casts to 8 bits", SAMPLE_CAST, NULL, NULL, UNIT_BYTES, PLAIN)                    \
    KERNEL(LOW_RANK, "low-rank compression", SAMPLE_LOW_RANK, NULL, "decompress", UNIT_FLOP,       \
           PRODUCT)                                                                                \
    KERNEL(LOW_RANK_BACK, "low-rank decompression", SAMPLE_LOW_RANK, "decompress", NULL,           \
           UNIT_FLOP, PRODUCT)
#define KERNELS_COMMON(KERNEL)                                                                     \
    KERNEL(ELEMENTWISE, "memory-bound parts", SAMPLE_MEMORY, NULL, "backward", UNIT_BYTES, PLAIN)  \
    KERNEL(ELEMENTWISE_BACKWARD, "memory-bound parts, backward", SAMPLE_MEMORY, "backward", NULL,  \
           UNIT_BYTES, PLAIN)                                                                      \
    KERNEL(NORM, "norms", SAMPLE_MEMORY, "norm", "backward", UNIT_BYTES,                           \
           PLAIN) /* by itself; above are whole layers' parts */                                   \
    KERNEL(NORM_BACKWARD, "norms, backward", SAMPLE_MEMORY, "backward", NULL, UNIT_BYTES, PLAIN)   \
    KERNEL(ACTIVATION, "activations", SAMPLE_MEMORY, "activation", "backward", UNIT_BYTES, PLAIN)  \
    KERNEL(ACTIVATION_BACKWARD, "activations, backward", SAMPLE_MEMORY, "backward", NULL,          \
           UNIT_BYTES, PLAIN)                                                                      \
    KERNEL(COPY, "copies on the device", SAMPLE_MEMORY, "copy", NULL, UNIT_BYTES, PLAIN)           \
    KERNEL(ROTARY, "rotary positions", SAMPLE_ROTARY, NULL, NULL, UNIT_BYTES, PLAIN)               \
    KERNEL(DROPOUT, "dropout", SAMPLE_DROPOUT, NULL, "backward", UNIT_BYTES, PLAIN)                \
    KERNEL(DROPOUT_BACKWARD, "dropout, backward", SAMPLE_DROPOUT, "backward", NULL, UNIT_BYTES,    \
           PLAIN)                                                                                  \
    KERNEL(EMPTY, "calls of empty blocks", SAMPLE_OVERHEAD, NULL, NULL, UNIT_CALLS, PLAIN)         \
    KERNEL(OPTIMIZER, "optimizer steps", SAMPLE_OPTIMIZER, NULL, NULL, UNIT_VALUES, PLAIN)         \
    KERNEL(TO_DEVICE, "host to device, pinned", SAMPLE_TRANSFER, "host to device, pinned", NULL,   \
           UNIT_BYTES, PLAIN)                                                                      \
    KERNEL(TO_HOST, "device to host, pinned", SAMPLE_TRANSFER, "device to host, pinned", NULL,     \
           UNIT_BYTES, PLAIN)                                                                      \
    KERNEL(TOP_K_COMPRESS, "largest values, compress", SAMPLE_TOP_K, "compress", "decompress",     \
           UNIT_VALUES, PLAIN)                                                                     \
    KERNEL(TOP_K_DECOMPRESS, "largest values, decompress", SAMPLE_TOP_K, "decompress", NULL,       \
           UNIT_VALUES, PLAIN)                                                                     \
    KERNEL(QUANTISE_COMPRESS, "fewer bits, compress", SAMPLE_QUANTISE, "compress", "decompress",   \
           UNIT_VALUES, PLAIN)                                                                     \
    KERNEL(QUANTISE_DECOMPRESS, "fewer bits, decompress", SAMPLE_QUANTISE, "decompress", NULL,     \
           UNIT_VALUES, PLAIN)
#define KERNEL_CONSTANT(constant, ...) KERNEL_##constant,
enum kernel {
    KERNELS_EACH(KERNEL_CONSTANT) KERNELS_OF_PRECISION,
    KERNEL_LAST_OF_PRECISION = KERNELS_OF_PRECISION - 1,
    KERNELS_COMMON(KERNEL_CONSTANT) KERNEL_COUNT
};
#undef KERNEL_CONSTANT
extern const struct kernel_kind kernel_kinds[KERNEL_COUNT];

bool kernel_has(enum kernel kernel, const struct sample *s);

// precision PRECISION_COUNT means all. *count 0: there are none, which is no error.
enum status kernel_points(struct fit_point **points, int *count, const struct inputs *in,
                          enum kernel kernel, enum precision precision, struct arena *arena,
                          struct error *err);
// NULL if there are no samples. traffic_bytes_per_s: rate of the operands from another fit; 0:
// unknown.
enum status kernel_fit(struct fit **f, const struct inputs *in, enum kernel kernel,
                       enum precision precision, double traffic_bytes_per_s, struct arena *arena,
                       struct error *err);

// Links and collectives: one fit for every ordered pair of endpoints and every group of ranks,
// their classes with the spread within, and which pairs are outliers. docs/FORMULAS.md section 12.

// One ordered pair, or one group of ranks in one collective.
struct channel {
    const char *operation;
    int from, to;       // endpoints; -1: a collective
    const int *members; // [ranks] of a collective
    int ranks;          // 2 for a pair
    bool between_nodes;
    struct segmented fit;
    // Compared with the median of its class; pairs only.
    bool slow, late; // rate below, latency above what the others' scatter explains
    // Compared with the opposite direction; each pair is named once, by the direction with the
    // lower rate (or higher latency).
    bool asymmetric;
};

// Channels of one operation with so many ranks, within a node or between nodes.
struct channel_class {
    const char *operation;
    int ranks;
    bool pairs, between_nodes;
    int channel_count, *channels;
    struct segmented
        fit; // through the medians over the channels; its intervals are the channels' spread
    double contention;  // median of times with other traffic over those alone; 0: not measured
    const char *source; // samples and hashes
};

struct link_fits {
    const struct endpoint *endpoints;
    int endpoint_count;
    struct channel *channels;
    int channel_count;
    struct channel_class *classes;
    int class_count;
};

// Without links among the samples there are no classes, and no error.
enum status links_fit(struct link_fits *f, const struct inputs *in, struct arena *arena,
                      struct error *err);

// Tables of messages and all-reduces for the costs of `gpu`, one for each class, before those that
// the costs had of other classes. Returns how many are of the fits.
int links_to_costs(struct costs *c, const struct link_fits *f, const char *gpu,
                   struct arena *arena);
// Puts latencies into the cluster's groups with this GPU, measured links between nodes into its
// places, and the share of the nominal bandwidths that a single stream reaches into the costs.
// BAD_INPUT: no group has the GPU.
enum status links_to_cluster(struct cluster *cluster, struct costs *costs,
                             const struct link_fits *f, const char *gpu, struct arena *arena,
                             struct error *err);

const char *channel_name(const struct link_fits *f, const struct channel *c,
                         struct arena *arena); // "a -> b"
const struct channel_class *links_class(const struct link_fits *f, const struct channel *c);

// Times of one GPU's products by shape, fitted to measured products: the numbers of
// docs/FORMULAS.md section 3 with intervals, and their errors on shapes that they were not fitted
// to.

struct product_sample {
    double rows, columns, depth, seconds;
    bool zeros; // all inputs were zeros, which draws less power
};

// The last two describe the measurement and are not in the costs (docs/FORMULAS.md section 10).
// PRODUCT_LONG: the factor by which a FLOP of a long product takes longer than one of a short
// product, which ends before power lowers the clock (not fitted where its interval contains 1).
// PRODUCT_ZEROS: the factor by which a product of zeros is faster.
enum product_number {
    PRODUCT_TILES,
    PRODUCT_SQUARE, // where the costs state it
    PRODUCT_FLOP,
    PRODUCT_BYTES,
    PRODUCT_LAUNCH,
    PRODUCT_LONG,
    PRODUCT_ZEROS,
    PRODUCT_NUMBERS
};

// Measuring conditions of the samples: 1 each where neither applies.
struct product_conditions {
    double long_factor, zeros_factor;
};

// Mean errors |predicted / measured - 1|: of all samples, and of those with at least 1,024 rows.
struct product_errors {
    double all, long_ones;
};

struct product_fit {
    struct estimate numbers[PRODUCT_NUMBERS]; // rounded to four digits; 95 % intervals over shapes;
                                              // value 0: not fitted
    struct product_errors fitted, kept_back;  // kept back: each shape by a fit without it
    int sample_count, shape_count;            // shapes: columns and depth
};

// Enough shapes, and starting values for the search.
bool products_can_fit(const struct product_sample *samples, int count, const struct gpu_costs *gpu,
                      const struct precision_costs *rates, struct arena *arena);
// gpu, rates: starting values, and the number of processors; alone: samples were measured one by
// one, with rests between them. BAD_INPUT: fewer than eight shapes, or a starting value is not
// stated.
enum status products_fit(struct product_fit *fit, const struct product_sample *samples, int count,
                         bool alone, const struct gpu_costs *gpu,
                         const struct precision_costs *rates, struct arena *arena,
                         struct error *err);
struct product_conditions products_conditions(const struct product_fit *fit);

// Errors of a GPU's numbers on these samples.
struct product_errors products_errors(const struct product_sample *samples, int count,
                                      const struct product_conditions *conditions,
                                      const struct gpu_costs *gpu,
                                      const struct precision_costs *rates);

// Puts the fitted numbers into the costs of a GPU: its launch, and the rates of a precision.
void products_put(const struct product_fit *fit, struct gpu_costs *gpu,
                  struct precision_costs *rates, const char *source);
