// Selects a command by its name; help and completion words of a table of commands.
#include "data/base/commands.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/base/names.h"
#include "data/base/command_text.h"

static const struct command *find(const struct command *t, const char *name)
{
    for (int i = 0; i < t->kind_count; i++)
        if (!strcmp(name, t->kinds[i]->name)) return t->kinds[i];
    return NULL;
}

static enum status refuse_word(const struct command *t, const char *name, struct arena *arena,
                               struct error *err)
{
    const char **names = TAKE(arena, t->kind_count, const char *), *known = "";
    for (int i = 0; i < t->kind_count; i++) {
        names[i] = t->kinds[i]->name;
        known = arena_print(arena, "%s%s%s", known, i ? ", " : "", names[i]);
    }
    if (!*name) return refuse(err, "a %s is missing: expected one of %s", t->what, known);
    int meant = name_meant(name, names, t->kind_count);
    const char *what = *name == '-' ? "option" : t->what;
    if (meant < 0) return refuse(err, "unknown %s '%s': expected one of %s", what, name, known);
    return refuse(err, "unknown %s '%s', did you mean %s? %s --help lists all", what, name,
                  names[meant], t->program);
}

static void print_list(FILE *to, const struct command *t)
{
    for (int i = 0; i < t->kind_count; i++)
        fprintf(to, "  %-12s %s\n", t->kinds[i]->name, t->kinds[i]->text);
}

// ---- manual pages

// A page or section. A command that reads its words itself may hand over to another program, so it
// prints them in a process of its own.
static void print_part(const struct command *c, const char *part, struct arena *arena)
{
    char *words[] = {arena_copy_text(arena, c->name), arena_copy_text(arena, part),
                     arena_copy_text(arena, c->about ? c->about : ""), NULL};
    struct error err = {OK, ""};
    int exit_code = 0;
    fflush(stdout);
    pid_t child = c->words ? fork() : 0;
    if (child > 0) waitpid(child, NULL, 0);
    if (child) return;
    if (command_call(c, 3, words, &exit_code, arena, &err) != OK) man_text(err.text);
    fflush(stdout);
    if (c->words) _exit(0);
}

static void print_sections(const struct command *t, const char *about, struct arena *arena)
{
    man_opening(t->usage, about, false);
    for (int i = 0; i < t->kind_count; i++) {
        const struct command *c = t->kinds[i];
        printf(".SH \"%s %s\"\n", t->program, c->name);
        man_text(c->text);
        puts(".PP");
        print_part(c, HELP_SECTION, arena);
    }
}

// ---- one command

static void complete(const struct command *t, const char *begun)
{
    for (int i = 0; i < t->kind_count; i++)
        print_completion(begun, t->kinds[i]->name, t->kinds[i]->text);
    if (*begun == '-') print_completion(begun, "--help", "list the commands");
}

static bool is_help(const char *word)
{
    return !strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help");
}

static enum status run_kind(const struct command *t, int argc, char **argv, int *exit_code,
                            struct arena *arena, struct error *err)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool completing = argc > 2 && !strcmp(argv[argc - 1], HELP_COMPLETE);
    const struct command *c = find(t, name);
    if (completing && (argc == 3 || (argc == 4 && is_help(name)))) {
        complete(t, argv[argc - 2]);
    } else if (c) {
        return command_call(c, argc - 1, argv + 1, exit_code, arena, err);
    } else if (!strcmp(name, HELP_PAGE)) {
        print_sections(t, argc > 2 ? argv[2] : "", arena);
    } else if (is_help(name) && argc > 2) {
        const struct command *asked = find(t, argv[2]);
        if (!asked) return refuse_word(t, argv[2], arena, err);
        char **words = TAKE(arena, argc, char *);
        for (int i = 2; i < argc; i++) words[i - 2] = argv[i];
        words[argc - 2] = arena_copy_text(arena, "--help");
        return command_call(asked, argc - 1, words, exit_code, arena, err);
    } else if (is_help(name)) {
        printf("usage: %s\n", t->usage);
        print_list(stdout, t);
    } else if (!completing) {
        return refuse_word(t, name, arena, err);
    }
    return OK;
}

// ---- programs

static int usage(const struct command *p, FILE *to, int exit_code)
{
    const struct command *t = p;
    fprintf(to, "%s " PLUMBLINE_VERSION ": %s\n\nusage: %s; %s help NAME lists its options\n\n",
            p->executable, t->text, t->usage, t->program);
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

static void print_tail(const struct command *p)
{
    puts(".SH \"EXIT STATUS\"");
    for (int i = 0; i < p->exit_count; i++) man_item(p->exits[i].code, "", p->exits[i].text);
    puts(".SH \"SEE ALSO\"");
    for (int i = 0; i < p->kind_count; i++)
        printf(".BR %s\\-%s (1)%s\n", p->program, p->kinds[i]->name,
               i + 1 < p->kind_count ? "," : "");
}

static void print_own_page(const struct command *p, struct arena *arena)
{
    const struct command *t = p;
    print_title(t->program, "", t->text, arena);
    man_opening(t->usage, t->about, false);
    puts(".SH COMMANDS");
    for (int i = 0; i < t->kind_count; i++) man_item(t->kinds[i]->name, "", t->kinds[i]->text);
}

static enum status print_page(const struct command *p, const char *name, struct arena *arena,
                              struct error *err)
{
    const struct command *c = find(p, name);
    if (*name && !c) return refuse_word(p, name, arena, err);
    if (c) {
        print_title(p->program, name, c->text, arena);
        print_part(c, HELP_PAGE, arena);
    } else {
        print_own_page(p, arena);
    }
    print_tail(p);
    return OK;
}

// The words of a program that are no command; *done: it was one.
static enum status run_own_word(const struct command *p, int argc, char **argv, bool *done,
                                struct arena *arena, struct error *err)
{
    bool json = argc > 2 && !strcmp(argv[2], "--json");
    *done = true;
    if (is_help(argv[1]) && argc > 2 && !strcmp(argv[2], "--man"))
        return print_page(p, argc > 3 ? argv[3] : "", arena, err);
    *done = !strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version");
    if (*done && argc > 2 && !json)
        return refuse(err, "%s: expected --json or nothing after it, found '%s'", argv[1], argv[2]);
    if (*done)
        printf(json ? "{\"name\": \"%s\", \"version\": \"%s\"}\n" : "%s %s\n", p->executable,
               PLUMBLINE_VERSION);
    return OK;
}

int program_main(const struct command *p, int argc, char **argv)
{
    if (argc < 2) return usage(p, stderr, 2);
    if (is_help(argv[1]) && argc == 2) return usage(p, stdout, 0);
    return command_run(p->program, find(p, argv[1]) ? argv[1] : NULL, p, argc, argv);
}

enum status commands_run(const struct command *t, int argc, char **argv, int *exit_code,
                         struct arena *arena, struct error *err)
{
    bool done = false;
    if (t->executable && argc > 1) TRY(run_own_word(t, argc, argv, &done, arena, err));
    return done ? OK : run_kind(t, argc, argv, exit_code, arena, err);
}
