// The budget is checked between rounds, and a round is never cut: a pair measured in half of the
// rounds would have seen other conditions than the rest. One round is always taken.
#include "measure/links/assembly.h"

#include "data/base/grow.h"
#include "data/numbers/intervals.h"
#include "measure/sampling/backend.h"
#include "measure/sampling/host.h"
#include "data/base/random.h"

// A launcher may be between a rank and the terminal: any output other than a terminal gets whole
// lines, and fewer of them.
static const double progress_every_s = 0.2, progress_lines_every_s = 10;

struct run {
    struct ranks *ranks;
    struct joint *joint;
    const struct joint_settings *settings;
    struct joint_result *result;
    uint64_t order_seed, number;
    double *times;          // [cell_count + 1] of this round; the last: whether a signal came
    unsigned char *is_open; // [step_count]
    double begin_s, printed_s;
    int turns_taken;
};

static void shuffle(int *order, int first, int count, uint64_t *seed)
{
    for (int i = 0; i < count; i++) order[i] = first + i;
    for (int i = count - 1; i > 0; i--) {
        int j = random_below(seed, i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

// The remaining time: at least that of the mandatory round, at most the rest of the budget.
static double seconds_left(const struct run *run, double elapsed_s)
{
    const struct joint_settings *s = run->settings;
    int needed = (s->warm_ups + 1) * run->joint->turn_count;
    double least_s =
        run->turns_taken < needed ? elapsed_s / run->turns_taken * (needed - run->turns_taken) : 0;
    double budget_s = s->budget_s - elapsed_s;
    return budget_s > least_s ? budget_s : least_s;
}

static void print_progress(struct run *run)
{
    const struct joint_settings *s = run->settings;
    double elapsed_s = clock_s() - run->begin_s;
    double every_s = s->progress == PROGRESS_TERMINAL ? progress_every_s : progress_lines_every_s;
    if (s->progress == PROGRESS_NONE || ranks_self(run->ranks) ||
        elapsed_s - run->printed_s < every_s)
        return;
    run->printed_s = elapsed_s;
    fprintf(stderr, "%s%6.1f s, round %d, %d of %d operations narrow enough, at most %.0f s left%s",
            s->progress == PROGRESS_TERMINAL ? "\r" : "", elapsed_s, run->result->rounds + 1,
            run->result->done, run->joint->cell_count, seconds_left(run, elapsed_s),
            s->progress == PROGRESS_TERMINAL ? " " : "\n");
    fflush(stderr);
}

static enum status take_turn(struct run *run, const struct turn *turn, int *order,
                             joint_function *repeat, void *context, struct error *err)
{
    bool open = false;
    for (int i = 0; i < turn->count; i++) open = open || run->is_open[turn->first + i];
    if (!open) return OK;
    shuffle(order, turn->first, turn->count, &run->order_seed);
    ranks_meet(run->ranks);
    for (int i = 0; i < turn->count; i++) {
        const struct step *step = &run->joint->steps[order[i]];
        if (!run->is_open[order[i]]) continue;
        for (int c = step->first; c < step->first + step->count; c++) {
            double seconds = -1;
            TRY(repeat(context, &run->joint->cells[c].sample, ++run->number, &seconds, err));
            run->times[c] = seconds;
        }
    }
    run->turns_taken++;
    print_progress(run);
    return OK;
}

static enum status take_round(struct run *run, joint_function *repeat, void *context,
                              struct arena *arena, struct error *err)
{
    const struct joint *j = run->joint;
    struct arena_mark mark = arena_set_mark(arena);
    int *turns = TAKE(arena, j->turn_count, int), *steps = TAKE(arena, j->step_count, int);
    for (int i = 0; i < j->cell_count; i++) run->times[i] = -1;
    shuffle(turns, 0, j->turn_count, &run->order_seed);
    for (int i = 0; i < j->turn_count; i++)
        TRY(take_turn(run, &j->turns[turns[i]], steps, repeat, context, err));
    arena_reset(arena, mark);
    run->times[j->cell_count] = interrupts_came();
    ranks_maximum(run->ranks, run->times, j->cell_count + 1);
    return OK;
}

static void append(struct joint_cell *cell, double seconds, const struct joint_settings *settings,
                   struct arena *arena)
{
    struct sample *s = &cell->sample;
    GROW(arena, s->seconds, s->repetitions, cell->capacity, 2 * settings->repetitions_min);
    s->seconds[s->repetitions++] = seconds;
    if (s->repetitions >= settings->repetitions_min && look_is_at(s->repetitions))
        cell->done = sample_is_narrow(s, settings->width, arena);
}

// Rank 0: stores the round's times, and closes the steps that need no more.
static void judge_round(struct run *run, bool is_warm_up, struct arena *arena)
{
    struct joint *j = run->joint;
    run->result->interrupted = run->times[j->cell_count] > 0;
    bool spent = clock_s() - run->begin_s >= run->settings->budget_s;
    int done = 0;
    for (int i = 0; i < j->step_count; i++) {
        bool wanted = false;
        for (int c = j->steps[i].first; c < j->steps[i].first + j->steps[i].count; c++) {
            struct joint_cell *cell = &j->cells[c];
            if (run->is_open[i] && is_warm_up) cell->sample.warm_ups++;
            else if (run->is_open[i])
                append(cell, run->times[c], run->settings, arena), run->result->repetitions++;
            int taken = cell->sample.repetitions;
            wanted = wanted || !taken ||
                     (!spent && (taken < run->settings->repetitions_min ||
                                 (!cell->done && taken < run->settings->repetitions_max)));
            done += cell->done;
        }
        run->is_open[i] = wanted && !run->result->interrupted;
    }
    run->result->done = done;
}

enum status joint_run(struct joint_result *result, struct ranks *ranks, struct joint *joint,
                      const struct joint_settings *settings, joint_function *repeat, void *context,
                      struct arena *arena, struct error *err)
{
    *result = (struct joint_result){0};
    struct run run = {
        .ranks = ranks,
        .joint = joint,
        .settings = settings,
        .result = result,
        .order_seed = settings->seed,
        .number = settings->seed << 32,
        .times = TAKE(arena, joint->cell_count + 1, double),
        .is_open = TAKE(arena, joint->step_count, unsigned char),
        .begin_s = clock_s(),
    };
    for (int i = 0; i < joint->step_count; i++) run.is_open[i] = true;
    bool open = true;
    for (int round = -settings->warm_ups; open; round++) {
        TRY(take_round(&run, repeat, context, arena, err));
        if (!ranks_self(ranks)) judge_round(&run, round < 0, arena);
        ranks_share(ranks, run.is_open, joint->step_count);
        open = false;
        for (int i = 0; i < joint->step_count; i++) open = open || run.is_open[i];
        result->rounds = round + 1 > 0 ? round + 1 : 0;
    }
    for (int i = 0; i < joint->cell_count; i++) {
        struct sample *s = &joint->cells[i].sample;
        s->stopped_by = joint->cells[i].done  ? "width"
                        : result->interrupted ? "interrupted"
                                              : "budget";
        sample_flag_outliers(s, arena);
        result->outliers += s->outlier_count;
    }
    result->elapsed_s = clock_s() - run.begin_s;
    if (settings->progress == PROGRESS_TERMINAL && !ranks_self(ranks)) fputs("\r\033[K", stderr);
    return OK;
}
