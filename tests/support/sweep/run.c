// Runs a command's function in a child.
#include "tests/support/sweep/run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/commands.h"
#include "data/base/file.h"
#include "formulate/commands.h"
#include "solve/commands/commands.h"
#include "tests/support/check.h"

enum { WORDS_MAX = 30, LONGEST_S = 60 };

static const struct command *const commands[] = {
    &command_calibrate, &command_check,    &command_clusters, &command_compare, &command_costs,
    &command_formulate, &command_models,   &command_predict,  &command_price,   &command_report,
    &command_solve,     &command_validate, &command_verify,   &command_vipr,
};

static void send_to(const char *file, int where)
{
    int f = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (f < 0 || dup2(f, where) < 0) _exit(99);
    close(f);
}

// What is not linked into the tests runs as the program.
static void be_program(const char *program, char **words)
{
    char *all[WORDS_MAX + 2] = {(char *)(uintptr_t)program};
    int count = 1;
    for (; words[count - 1]; count++) all[count] = words[count - 1];
    execv(program, all);
}

static void be_command(const char *folder, const char *program, char *line)
{
    char *words[WORDS_MAX + 1], *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " ", &rest); word && count < WORDS_MAX;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    words[count] = NULL;
    if (chdir(folder)) _exit(99);
    for (int number = 1; number < 32; number++) signal(number, SIG_DFL); // not the tests' own
    send_to("out", STDOUT_FILENO);
    send_to("err", STDERR_FILENO);
    alarm(LONGEST_S);
    for (size_t i = 0; i < ARRAY_LENGTH(commands); i++)
        if (!strcmp(commands[i]->name, words[0]))
            _exit(command_run("plumbline", words[0], commands[i], count, words));
    be_program(program, words);
    _exit(99);
}

struct answer run_command(const char *folder, const char *line, struct arena *arena)
{
    const char *bin = getenv("BIN") ? getenv("BIN") : "bin";
    char *copy = arena_copy_text(arena, line), here[1000];
    int status;
    assert_non_null(getcwd(here, sizeof here));
    const char *program = arena_print(arena, "%s/%s/plumbline", *bin == '/' ? "" : here, bin);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) be_command(folder, program, copy);
    assert_int_equal(waitpid(child, &status, 0), child);
    struct answer a = {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                       .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                       .out = read_text(folder, "out", arena),
                       .err = read_text(folder, "err", arena)};
    if (a.exit_code == 99) fail_msg("%s: no such command or folder", line);
    return a;
}

const char *read_text(const char *folder, const char *name, struct arena *arena)
{
    const char *text;
    size_t size;
    MUST(file_read(arena_print(arena, "%s/%s", folder, name), &text, &size, arena, &own_err));
    return text;
}

void write_text(const char *folder, const char *name, const char *text, struct arena *arena)
{
    FILE *f = fopen(arena_print(arena, "%s/%s", folder, name), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}
