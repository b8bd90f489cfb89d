// Selects a command by its name; help and completion words of a table of commands.
#include "data/base/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/base/names.h"
#include "data/base/options_text.h"

static const struct command *find(const struct command_table *t, const char *name)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(name, t->commands[i].name)) return &t->commands[i];
    return NULL;
}

static enum status refuse(const struct command_table *t, const char *name, struct arena *arena,
                          struct error *err)
{
    const char **names = TAKE(arena, t->count, const char *), *known = "";
    for (int i = 0; i < t->count; i++) {
        names[i] = t->commands[i].name;
        known = arena_print(arena, "%s%s%s", known, i ? ", " : "", names[i]);
    }
    if (!*name) return fail(err, BAD_INPUT, "a %s is missing: expected one of %s", t->what, known);
    int meant = name_meant(name, names, t->count);
    const char *what = *name == '-' ? "option" : t->what;
    if (meant < 0)
        return fail(err, BAD_INPUT, "unknown %s '%s': expected one of %s", what, name, known);
    return fail(err, BAD_INPUT, "unknown %s '%s', did you mean %s? %s --help lists all", what, name,
                names[meant], t->program);
}

static void print_list(FILE *to, const struct command_table *t)
{
    for (int i = 0; i < t->count; i++)
        fprintf(to, "  %-12s %s\n", t->commands[i].name, t->commands[i].text);
}

static const char *usage_of(const struct command_table *t, struct arena *arena)
{
    return arena_print(arena, "%s %s", t->program, t->usage);
}

// ---- manual pages

// A section of the page, printed by a separate process, because some commands hand over to another
// program.
static void print_part(command_function *run, const char *name, const char *part, const char *about,
                       struct arena *arena)
{
    fflush(stdout);
    pid_t child = fork();
    if (child > 0) waitpid(child, NULL, 0);
    if (child) return;
    char *words[] = {arena_copy_text(arena, name), arena_copy_text(arena, part),
                     arena_copy_text(arena, about), NULL};
    struct error err = {OK, ""};
    int exit_code = 0;
    if (run(3, words, &exit_code, arena, &err) != OK) man_text(err.text);
    fflush(stdout);
    _exit(0);
}

static void print_sections(const struct command_table *t, const char *about, struct arena *arena)
{
    man_opening(usage_of(t, arena), about, false);
    for (int i = 0; i < t->count; i++) {
        const struct command *c = &t->commands[i];
        printf(".SH \"%s %s\"\n", t->program, c->name);
        man_text(c->text);
        puts(".PP");
        print_part(c->run, c->name, HELP_SECTION, c->about ? c->about : "", arena);
    }
}

// ---- one command

static void complete(const struct command_table *t, const char *begun)
{
    for (int i = 0; i < t->count; i++)
        print_completion(begun, t->commands[i].name, t->commands[i].text);
    if (*begun == '-') print_completion(begun, "--help", "list the commands");
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

enum status commands_run(const struct command_table *t, int argc, char **argv, int *exit_code,
                         struct arena *arena, struct error *err)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool completing = argc > 2 && !strcmp(argv[argc - 1], HELP_COMPLETE);
    const struct command *c = find(t, name);
    if (completing && (argc == 3 || (argc == 4 && is_help(name)))) {
        complete(t, argv[argc - 2]);
    } else if (c) {
        return c->run(argc - 1, argv + 1, exit_code, arena, err);
    } else if (!strcmp(name, HELP_PAGE)) {
        print_sections(t, argc > 2 ? argv[2] : "", arena);
    } else if (is_help(name) && argc > 2) {
        const struct command *asked = find(t, argv[2]);
        if (!asked) return refuse(t, argv[2], arena, err);
        char **words = TAKE(arena, argc, char *);
        for (int i = 2; i < argc; i++) words[i - 2] = argv[i];
        words[argc - 2] = arena_copy_text(arena, "--help");
        return asked->run(argc - 1, words, exit_code, arena, err);
    } else if (is_help(name)) {
        printf("usage: %s\n", usage_of(t, arena));
        print_list(stdout, t);
    } else if (!completing) {
        return refuse(t, name, arena, err);
    }
    return OK;
}

// ---- programs

static int usage(const struct program *p, FILE *to, int exit_code)
{
    const struct command_table *t = &p->table;
    fprintf(to, "%s " PLUMBLINE_VERSION ": %s\n\nusage: %s %s; %s help NAME lists its options\n\n",
            p->name, p->text, t->program, t->usage, t->program);
    print_list(to, t);
    fprintf(to, "\nexit codes:\n");
    for (int i = 0; i < p->exit_count; i++)
        fprintf(to, "  %-4s %s\n", p->exits[i].code, p->exits[i].text);
    return command_flushed() ? exit_code : 2;
}

static void print_title(const char *program, const char *name, const char *text,
                        struct arena *arena)
{
    const char *page = arena_print(arena, "%s%s%s", program, *name ? "-" : "", name);
    printf(".TH ");
    for (const char *c = page; *c; c++) putchar(toupper((unsigned char)*c));
    puts(" 1 " PLUMBLINE_DATE " \"plumbline " PLUMBLINE_VERSION "\"\n.SH NAME");
    man_text(page);
    printf("\\- ");
    man_text(text);
    puts(".ad l");
}

static void print_tail(const struct program *p)
{
    puts(".SH \"EXIT STATUS\"");
    for (int i = 0; i < p->exit_count; i++) man_item(p->exits[i].code, "", p->exits[i].text);
    puts(".SH \"SEE ALSO\"");
    for (int i = 0; i < p->table.count; i++)
        printf(".BR %s\\-%s (1)%s\n", p->table.program, p->table.commands[i].name,
               i + 1 < p->table.count ? "," : "");
}

static void print_own_page(const struct program *p, struct arena *arena)
{
    const struct command_table *t = &p->table;
    print_title(t->program, "", p->text, arena);
    man_opening(usage_of(t, arena), p->about, false);
    puts(".SH COMMANDS");
    for (int i = 0; i < t->count; i++) man_item(t->commands[i].name, "", t->commands[i].text);
}

static enum status print_page(const struct program *p, const char *name, struct arena *arena,
                              struct error *err)
{
    const struct command *c = find(&p->table, name);
    if (*name && !c) return refuse(&p->table, name, arena, err);
    if (c) {
        print_title(p->table.program, name, c->text, arena);
        print_part(c->run, name, HELP_PAGE, c->about ? c->about : "", arena);
    } else {
        print_own_page(p, arena);
    }
    print_tail(p);
    return OK;
}

enum status program_run(const struct program *p, int argc, char **argv, int *exit_code,
                        struct arena *arena, struct error *err)
{
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version")) {
        bool json = argc > 2 && !strcmp(argv[2], "--json");
        if (argc > 2 && !json)
            return fail(err, BAD_INPUT, "%s: expected --json or nothing after it, found '%s'",
                        argv[1], argv[2]);
        printf(json ? "{\"name\": \"%s\", \"version\": \"%s\"}\n" : "%s %s\n", p->name,
               PLUMBLINE_VERSION);
        return OK;
    }
    if (is_help(argv[1]) && argc > 2 && !strcmp(argv[2], "--man"))
        return print_page(p, argc > 3 ? argv[3] : "", arena, err);
    return commands_run(&p->table, argc, argv, exit_code, arena, err);
}

int program_main(const struct program *p, command_function *run, int argc, char **argv)
{
    if (argc < 2) return usage(p, stderr, 2);
    if (is_help(argv[1]) && argc == 2) return usage(p, stdout, 0);
    const char *name = find(&p->table, argv[1]) ? argv[1] : NULL;
    return command_run(p->table.program, name, run, argc, argv);
}
