/* libplumbline: plans of large-model training, each with a lower bound on all plans, predictions,
 * and logs explained, from your own program.
 *
 * Every function that can fail returns a plumbline_status and, where `error` is not NULL,
 * describes the reason in one line. Nothing is printed and nothing ends the program: bad input and
 * exhausted memory are statuses. (A contradiction inside the library is a failed assertion, which
 * does end it.) Objects and texts returned through pointers are NULL on failure.
 *
 * Threads: there is no global state, so threads need no locks between objects of their own. A
 * problem may be used by any number of threads at once, a plan by one at a time. An object may be
 * closed by a thread other than the one that opened it, and a problem before its plans. A plan of
 * plumbline_solve keeps the memory of its search until it is closed; saved and opened again it is
 * small. Signal handling is not changed. While a function runs, its thread has the "C" locale; the
 * program's own is unchanged.
 *
 * Processes: with options.processes = 0, the default, all work is done in the caller's thread, and
 * neither processes nor threads are started, but for plumbline_run. Otherwise that many are forked,
 * and they end before plumbline_solve returns; they run the library's code and do not exec. If
 * other threads of the program run at that moment, this is only as safe as the C library makes it
 * (glibc's own allocator is safe; a debugging allocator may not be). Buffered stdio output is
 * flushed first, and a handler of SIGCHLD sees the processes end. The plan is the same either way.
 *
 * Versions: while the number after libplumbline.so stays the same, functions and members of
 * structures are only added. A structure that you pass begins with its own size, which the INIT
 * macros and plumbline_options_init fill in.
 */
#ifndef PLUMBLINE_H
#define PLUMBLINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PLUMBLINE_API __attribute__((visibility("default")))
#else
#define PLUMBLINE_API
#endif

typedef enum plumbline_status {
    PLUMBLINE_OK = 0,
    PLUMBLINE_BAD_INPUT = 1,   /* a document, a path, an argument */
    PLUMBLINE_UNAVAILABLE = 2, /* the machine lacks something requested */
    PLUMBLINE_SYSTEM = 3,      /* memory, processes, the operating system */
    PLUMBLINE_SOLVER = 4       /* the search failed: the judge rejects what it found */
} plumbline_status;

typedef struct plumbline_error {
    plumbline_status status;
    char text[1024]; /* one line: file, path inside it, what was expected */
} plumbline_error;

typedef struct plumbline_problem plumbline_problem;
typedef struct plumbline_plan plumbline_plan;

PLUMBLINE_API const char *plumbline_version(void); /* "0.1.0" */

/* For texts returned by the functions below. */
PLUMBLINE_API void plumbline_free(void *text);

/* ---- problems */

/* The problem file and the four documents that it names. */
PLUMBLINE_API plumbline_status plumbline_problem_open(plumbline_problem **problem, const char *path,
                                                      plumbline_error *error);
/* The same from four documents. Model, cluster and costs may be shipped names ("gpt2-xl"), which
 * are searched under $PLUMBLINE_DATA, where the library was installed, and next to the program. */
PLUMBLINE_API plumbline_status plumbline_problem_compose(plumbline_problem **problem,
                                                         const char *model, const char *cluster,
                                                         const char *costs, const char *job,
                                                         plumbline_error *error);
/* Writes a problem file that names the four documents. A composed problem then belongs to that
 * file, and plans of it that are saved later can be verified from their files alone. No other
 * thread may use the problem meanwhile. */
PLUMBLINE_API plumbline_status plumbline_problem_save(plumbline_problem *problem, const char *path,
                                                      plumbline_error *error);
/* A transformer on a cluster, as `plumbline example gpt WORDS -o FOLDER` writes it, opened:
 * {"--model", "llama-3.1-8b", "--gpu", "h100-80gb", "--nodes", "4", "--layouts", "all", NULL}. With
 * force documents in the folder that have other content are replaced; without they are BAD_INPUT.
 */
PLUMBLINE_API plumbline_status plumbline_problem_make(plumbline_problem **problem,
                                                      const char *folder, const char *const *words,
                                                      int force, plumbline_error *error);
PLUMBLINE_API void plumbline_problem_close(plumbline_problem *problem); /* NULL: no effect */

/* ---- solving */

/* What is known during a search. */
typedef struct plumbline_progress {
    size_t size;
    double seconds;   /* since the search began */
    double best_s;    /* time of the best plan so far; 0: none yet */
    double bound_s;   /* lower bound of every plan, as stated by solve; 0: none yet */
    const char *text; /* the same as a line, valid while the function runs */
} plumbline_progress;

typedef struct plumbline_options {
    size_t size;
    double time_limit_s; /* 0: none */
    double gap;    /* (iteration - bound) / iteration at which the search may end; 0: optimal */
    int processes; /* 0: see above; at most 64 */
    int64_t seed;  /* seed of the search for plans */
    const volatile int *stop; /* turns nonzero, in any thread: the search ends with what it has */
    void (*progress)(void *argument,
                     const plumbline_progress *progress); /* called in the caller's thread
                                                           * from time to time */
    void *argument;
} plumbline_options;

PLUMBLINE_API void plumbline_options_init(plumbline_options *options, size_t size);
#define PLUMBLINE_OPTIONS_INIT(options) plumbline_options_init((options), sizeof *(options))

typedef enum plumbline_outcome {
    PLUMBLINE_OPTIMAL = 0,    /* solved to the requested gap */
    PLUMBLINE_OPEN = 1,       /* a plan, with a wider gap: stopped, or out of time */
    PLUMBLINE_INFEASIBLE = 2, /* stated by solve: there is no plan */
    PLUMBLINE_NO_PLAN = 3     /* none was found so far */
} plumbline_outcome;

/* Key figures of a plan. Set size = sizeof before the call. */
typedef struct plumbline_facts {
    size_t size;
    plumbline_outcome outcome;
    double iteration_s; /* 0: there is no plan */
    double bound_s;     /* no plan takes less, as stated by solve (plumbline_check audits a
                           certificate); 0: none */
    double gap;         /* (iteration - bound) / iteration */
    int stages, micro_batches, tensor, context, pipeline, data;
} plumbline_facts;

/* A plan object is returned whatever the outcome: PLUMBLINE_OK with PLUMBLINE_INFEASIBLE is an
 * answer. A plan with stages has been accepted by the judge. options NULL: the defaults. */
PLUMBLINE_API plumbline_status plumbline_solve(plumbline_plan **plan, plumbline_problem *problem,
                                               const plumbline_options *options,
                                               plumbline_error *error);

PLUMBLINE_API plumbline_status plumbline_plan_open(plumbline_plan **plan, const char *path,
                                                   plumbline_error *error);
/* The document of plumbline solve; "-" is standard output. */
PLUMBLINE_API plumbline_status plumbline_plan_save(const plumbline_plan *plan, const char *path,
                                                   plumbline_error *error);
PLUMBLINE_API plumbline_status plumbline_plan_facts(const plumbline_plan *plan,
                                                    plumbline_facts *facts, plumbline_error *error);
PLUMBLINE_API void plumbline_plan_close(plumbline_plan *plan); /* NULL: no effect */

/* ---- audits; *text (where not NULL) is what the command prints */

/* The independent judge: *accepted is 1 or 0. A plan from a file is compared with the problem file
 * that it names or with `problem_path`; a plan of plumbline_solve with its problem. With a
 * certificate of the problem the bound is judged too; NULL: it is not. */
PLUMBLINE_API plumbline_status plumbline_verify(const plumbline_plan *plan,
                                                const char *problem_path, const char *certificate,
                                                int *accepted, char **text, plumbline_error *error);

/* Audits a certificate against the priced document that it names, or against `against`: a priced
 * document or a problem. A certificate of a space of layouts or about places needs a problem. */
PLUMBLINE_API plumbline_status plumbline_check(const char *certificate, const char *against,
                                               int *proven, char **text, plumbline_error *error);

/* Neither limits its memory: a program that audits untrusted files should limit itself. */

/* ---- reports */

typedef enum plumbline_format {
    PLUMBLINE_TEXT = 0, /* for people */
    PLUMBLINE_JSON = 1, /* the plan's document */
    PLUMBLINE_HTML = 2  /* one page for a browser */
} plumbline_format;

/* *length, where not NULL: bytes without the final '\0'. */
PLUMBLINE_API plumbline_status plumbline_report(const plumbline_plan *plan, plumbline_format format,
                                                char **text, size_t *length,
                                                plumbline_error *error);
/* A run of the plan beside it: what was predicted and what was measured, as text or HTML. A run
 * names the file of its plan: the plan must have been opened from it. */
PLUMBLINE_API plumbline_status plumbline_report_against(const plumbline_plan *plan, const char *run,
                                                        plumbline_format format, char **text,
                                                        size_t *length, plumbline_error *error);

/* ---- commands by their words: an array that ends with NULL, of the operands and options of the
 * command of this name (plumbline help NAME), of which every version keeps all. What the command
 * prints is returned. */

/* `plumbline predict`: time and memory of given configurations, without a search. `table`: rows of
 * comma-separated values, of which the first word is then only the name; NULL: the words name a
 * file or a configuration. *text is the answer (a table, or JSON with "--json"); *notes, where not
 * NULL, what the command says on standard error: columns that nothing reads, for one. */
PLUMBLINE_API plumbline_status plumbline_predict(const char *table, const char *const *words,
                                                 char **text, char **notes, plumbline_error *error);

/* `plumbline explain`: a training log explained, as text and as JSON, each where not NULL. "-o" has
 * the run written as documents, which plumbline_problem_open and plumbline_plan_open read; there is
 * no "--then". */
PLUMBLINE_API plumbline_status plumbline_explain(const char *const *words, char **text, char **json,
                                                 plumbline_error *error);

/* `plumbline compare`: plans side by side. */
PLUMBLINE_API plumbline_status plumbline_compare(const char *const *words, char **text,
                                                 size_t *length, plumbline_error *error);

/* `plumbline run`: starts the processes that carry a plan out, waits for them, and writes the run
 * to the file of "-o". Of the options `stop`, `progress` and `argument` count: 1 in *stop ends the
 * run after its iteration, and what was measured is written; 2 ends it at once. progress->text is a
 * line that a process says. The program's handlers of signals are not changed. */
PLUMBLINE_API plumbline_status plumbline_run(const char *const *words,
                                             const plumbline_options *options,
                                             plumbline_error *error);

#ifdef __cplusplus
}
#endif

#endif
