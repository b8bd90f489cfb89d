// Help, manual sections and completion words of a table of options.
#include "data/base/options_text.h"

#include <stdio.h>
#include <string.h>

#include "data/base/shipped.h"

// The placeholder of an option's value, and the folder of the shipped documents that it may name.
static const struct {
    const char *value, *folder;
} kinds[] = {
    [OPTION_FLAG] = {"", NULL},
    [OPTION_TEXT] = {"TEXT", NULL},
    [OPTION_PATH] = {"PATH", NULL},
    [OPTION_MODEL] = {"MODEL", "models"},
    [OPTION_CLUSTER] = {"CLUSTER", "clusters"},
    [OPTION_COSTS] = {"COSTS", "costs"},
    [OPTION_GPU] = {"GPU", NULL},
    [OPTION_TEXTS] = {"TEXT", NULL},
    [OPTION_INT] = {"N", NULL},
    [OPTION_NUMBER] = {"X", NULL},
    [OPTION_NAME] = {"NAME", NULL},
};

// ---- help

static int print_head(const struct option *o)
{
    int width = printf("  %s", o->name);
    if (o->type == OPTION_FLAG || *o->name != '-') return width;
    if (o->type != OPTION_NAME) return width + printf(" %s", kinds[o->type].value);
    for (int k = 0; o->names[k]; k++) width += printf("%s%s", k ? "|" : " ", o->names[k]);
    return width;
}

static void print_help(const struct options_table *table)
{
    printf("usage: %s\n", table->usage);
    for (size_t i = 0; i < table->count; i++) {
        int width = print_head(&table->options[i]);
        printf("%*s  %s\n", width < 28 ? 28 - width : 0, "", table->options[i].help);
    }
}

// ---- manual pages

enum { LINE_COLUMNS = 76 };

static int print_escaped(const char *word, int length)
{
    int width = 0;
    for (int i = 0; i < length; i++, width++) switch (word[i]) {
        case '\\': width += printf("\\e"); break;
        case '-': width += printf("\\-"); break;
        case '\'': width += printf("\\(aq"); break;
        default: putchar(word[i]);
        }
    return width;
}

void man_text(const char *text)
{
    for (int column = 0, length; *(text += strspn(text, " ")); text += length) {
        length = (int)strcspn(text, " \n");
        if (column && column + length > LINE_COLUMNS) putchar('\n'), column = 0;
        if (column) putchar(' ');
        else if (*text == '.' || *text == '\'') printf("\\&");
        column += 1 + print_escaped(text, length);
        if (text[length] == '\n') printf("\n.br\n"), column = 0, length++;
    }
    putchar('\n');
}

void man_opening(const char *usage, const char *description, bool section)
{
    if (!section) puts(".SH SYNOPSIS");
    man_text(usage);
    if (!description || !*description) return;
    puts(section ? ".PP" : ".SH DESCRIPTION");
    man_text(description);
}

void man_item(const char *name, const char *value, const char *text)
{
    printf(".TP\n\\fB");
    print_escaped(name, (int)strlen(name));
    printf("\\fR%s%s%s\n", *value ? " \\fI" : "", value, *value ? "\\fR" : "");
    man_text(text);
}

static void print_choice(const char *const *names)
{
    puts(".br\nOne of");
    for (int k = 0; names[k]; k++) {
        print_escaped(names[k], (int)strlen(names[k]));
        puts(names[k + 1] ? "," : ".");
    }
}

static void print_page(const struct options_table *table, const char *description, bool section)
{
    man_opening(table->usage, description, section);
    if (!section && table->count) puts(".SH OPTIONS");
    for (size_t i = 0; i < table->count; i++) {
        const struct option *o = &table->options[i];
        man_item(o->name, *o->name == '-' ? kinds[o->type].value : "", o->help);
        if (o->type == OPTION_NAME) print_choice(o->names);
    }
}

// ---- completion

void print_completion(const char *begun, const char *word, const char *text)
{
    if (!strncmp(word, begun, strlen(begun))) printf("%s\t%s\n", word, text);
}

typedef enum status shipped_lister(const char *const **names, int *count, const char *folder,
                                   struct arena *arena, struct error *err);

static void print_shipped(const char *before, const char *begun, shipped_lister *list,
                          const char *folder)
{
    struct arena arena;
    struct error unknown = {OK, ""};
    jmp_buf exhausted;
    const char *const *names;
    int count;
    arena_open(&arena, &exhausted);
    if (!setjmp(exhausted) && list(&names, &count, folder, &arena, &unknown) == OK)
        for (int i = 0; i < count; i++)
            print_completion(begun, arena_print(&arena, "%s%s", before, names[i]), "shipped");
    arena_close(&arena);
}

// before: "--option=", if the value follows it in the same word.
static void print_values(const struct option *o, const char *before, const char *begun)
{
    if (o->type == OPTION_NAME)
        for (int k = 0; o->names[k]; k++) {
            char word[128];
            snprintf(word, sizeof word, "%s%s", before, o->names[k]);
            print_completion(begun, word, "");
        }
    const char *folder = kinds[o->type].folder;
    if (folder) print_shipped(before, begun, shipped_list, folder);
    if (o->type == OPTION_GPU) print_shipped(before, begun, shipped_gpus, "clusters");
    if (folder || o->type == OPTION_PATH) puts(COMPLETE_FILES);
}

const struct option *options_find(const struct options_table *t, const char *word, size_t length)
{
    for (size_t i = 0; i < t->count; i++)
        if (strlen(t->options[i].name) == length && !strncmp(t->options[i].name, word, length))
            return &t->options[i];
    return NULL;
}

// The word `begun` after `before`.
static void complete(const struct options_table *t, const char *before, const char *begun)
{
    const struct option *o = options_find(t, before, strlen(before));
    if (o && o->type != OPTION_FLAG) {
        print_values(o, "", begun);
        return;
    }
    const char *equals = *begun == '-' ? strchr(begun, '=') : NULL;
    if (equals && (o = options_find(t, begun, (size_t)(equals - begun)))) {
        char name[64];
        snprintf(name, sizeof name, "%s=", o->name);
        print_values(o, name, begun);
    } else if (*begun == '-') {
        for (size_t i = 0; i < t->count; i++)
            if (*t->options[i].name == '-')
                print_completion(begun, t->options[i].name, t->options[i].help);
        print_completion(begun, "--help", "list the options");
    } else if (t->count && *t->options[0].name != '-') {
        print_values(&t->options[0], "", begun);
    } else {
        puts(COMPLETE_FILES);
    }
}

bool options_told(const struct options_table *table, int argc, char **argv, int at)
{
    const char *word = argv[at];
    bool section = !strcmp(word, HELP_SECTION);
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) print_help(table);
    else if (at == 1 && (section || !strcmp(word, HELP_PAGE)))
        print_page(table, argc > 2 ? argv[2] : NULL, section);
    else return false;
    return true;
}

bool options_completed(const struct options_table *table, int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[argc - 1], HELP_COMPLETE)) return false;
    complete(table, argv[argc - 3], argv[argc - 2]);
    return true;
}
