// What the planner reads of a priced document the checker reads, too, and what one of them refuses
// of its options and of what they have in tiers the other refuses: else a plan could be made whose
// certificate is refused.
//
//   test_refused_alike [DOCUMENTS] [SEED]      make test runs 3000
#include <unistd.h>

#include "data/base/file.h"
#include "solve/checker/read/problem.h"
#include "tests/support/check.h"
#include "tests/support/random_priced.h"
#include "tests/support/trials/check_trials.h"

static int document_count = 3000;
static uint64_t first_seed;

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

static void change_option(struct compression_option *x, uint64_t *state)
{
    static const char *const names[] = {NULL, "near", "other"}, *const tiers[] = {NULL, "host"};
    switch (below(state, 6)) {
    case 0: x->forgets = !x->forgets; break;
    case 1: x->activations = tiers[below(state, 2)]; break;
    case 2: x->tier_option = names[below(state, 3)]; break;
    case 3: x->across_passes = !x->across_passes; break;
    case 4: x->quality_cost = below(state, 3); break;
    default:
        x->form.method = (enum compression_method)below(state, COMPRESSION_METHOD_COUNT);
        x->form.amount = x->form.method == COMPRESS_LOW_RANK ? below(state, 2) : 1;
        break;
    }
}

static void change_boundary(struct compression_option *x, uint64_t *state)
{
    change_option(x, state);
    x->activations = x->tier_option = NULL, x->across_passes = false;
    if (!below(state, 4)) x->epilogue_only = !x->epilogue_only;
}

static void change_number(int64_t *number, uint64_t *state)
{
    if (number) *number += 2 * below(state, 2) - 1;
}

// Of a run with an option, on a group and in a pass; where there is one, also on excluded groups.
static void change_entry(struct priced *p, uint64_t *state)
{
    struct priced_run *r = &p->runs[below(state, p->run_count)];
    int passes = p->slice_count * p->group_count, g = below(state, p->group_count);
    if (!r->tiered_count) return;
    struct priced_tiered *t = &r->tiered[below(state, r->tiered_count)];
    int64_t **of_passes[] = {&t->forward_ns, &t->backward_ns},
            **of_groups[] = {&t->optimizer_ns, &t->away_ns,  &t->back_ns,
                             &t->energy_uj,    &t->again_uj, &t->swap_uj};
    int what = below(state, 11), pass = below(state, passes);
    if (what == 0) change_number(&t->weight_bytes, state);
    if (what == 1) change_number(&t->buffer_bytes, state);
    if (what == 2) change_number(&t->optimizer_bytes, state);
    if (what == 3 || what == 4)
        if (*of_passes[what - 3]) change_number(&(*of_passes[what - 3])[pass], state);
    if (what > 4 && *of_groups[what - 5]) change_number(&(*of_groups[what - 5])[g], state);
}

static void exclude_some(struct priced *p, uint64_t *state)
{
    int g = below(state, p->group_count);
    if (p->group_count > 1 && !below(state, 3)) p->groups[g].excluded = "for this test";
}

TEST(options_and_tiers_are_refused_alike)
{
    int refused = 0, read = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < document_count; arena_reset(arena, mark)) {
        struct check_trial t;
        struct check_problem *checked = TAKE(arena, 1, struct check_problem);
        struct priced p, loaded;
        uint64_t state = 0x9e3779b97f4a7c15u * (first_seed + (uint64_t)i) + 5;
        if (!check_trial_draw(&t, first_seed + (uint64_t)i++, arena)) continue;
        p = t.priced;
        if (below(&state, 3)) priced_draw_tiers(&p, &state, arena);
        exclude_some(&p, &state);
        for (int changes = below(&state, 3); changes >= 0; changes--) {
            int what = below(&state, 3);
            if (what == 0)
                change_option(&p.gradient_options[below(&state, p.gradient_option_count)], &state);
            if (what == 1)
                change_boundary(&p.boundary_options[below(&state, p.boundary_option_count)],
                                &state);
            if (what == 2) change_entry(&p, &state);
        }
        const char *path = arena_print(arena, "build/refused.%ld.json", (long)getpid());
        MUST(priced_save(&p, path, arena, &own_err));
        struct error of_planner = {OK, ""}, of_checker = {OK, ""};
        struct check_text text = {"priced.json", NULL, 0};
        MUST(file_read(path, &text.text, &text.size, arena, &own_err));
        enum status planner = priced_load(&loaded, path, arena, &of_planner),
                    checker = check_read_problem(checked, &text, arena, &of_checker);
        unlink(path);
        if (planner != checker)
            fail_msg("document %d: the planner: %s; the checker: %s", i - 1,
                     planner == OK ? "read" : of_planner.text,
                     checker == OK ? "read" : of_checker.text);
        refused += planner != OK, read += planner == OK;
    }
    print_message("%d read by both, %d refused by both\n", read, refused);
    assert_true(read > document_count / 10 && refused > document_count / 10);
}

ARGUMENT(document_count)
ARGUMENT(first_seed)
