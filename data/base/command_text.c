// Help, manual sections and completion words of a command's rows.
#include "data/base/command_text.h"

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
    [OPTION_INT] = {"N", NULL},
    [OPTION_COUNT] = {"N", NULL},
    [OPTION_NUMBER] = {"X", NULL},
    [OPTION_NAME] = {"NAME", NULL},
};

const struct option_row *command_row(const struct command *c, int i)
{
    if (i < c->options.count) return &c->options.rows[i];
    i -= c->options.count;
    for (size_t k = 0; k < ARRAY_LENGTH(c->shared) && c->shared[k].table; k++) {
        if (i < c->shared[k].table->count) return &c->shared[k].table->rows[i];
        i -= c->shared[k].table->count;
    }
    return NULL;
}

const struct option_row *command_find(const struct command *c, const char *name, size_t length)
{
    const struct option_row *row;
    for (int i = 0; (row = command_row(c, i)); i++)
        if (strlen(row->name) == length && !strncmp(row->name, name, length)) return row;
    return NULL;
}

// ---- help

static int print_head(const struct option_row *row)
{
    int width = printf("  %s", row->name);
    if (row->type == OPTION_FLAG || *row->name != '-') return width;
    if (row->type != OPTION_NAME) return width + printf(" %s", kinds[row->type].value);
    for (int k = 0; row->names[k]; k++) width += printf("%s%s", k ? "|" : " ", row->names[k]);
    return width;
}

static void print_help(const struct command *c)
{
    const struct option_row *row;
    printf("usage: %s\n", c->usage);
    for (int i = 0; (row = command_row(c, i)); i++) {
        if (!row->help) continue;
        int width = print_head(row);
        printf("%*s  %s\n", width < 28 ? 28 - width : 0, "", row->help);
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

static void print_page(const struct command *c, bool section)
{
    const struct option_row *row;
    man_opening(c->usage, c->about, section);
    if (!section && command_row(c, 0)) puts(".SH OPTIONS");
    for (int i = 0; (row = command_row(c, i)); i++) {
        if (!row->help) continue;
        man_item(row->name, *row->name == '-' ? kinds[row->type].value : "", row->help);
        if (row->type == OPTION_NAME) print_choice(row->names);
    }
    for (int i = 0; i < c->variant_count; i++) {
        printf(".SH \"Options with %s\"\n", c->variants[i]->name);
        print_page(c->variants[i], true);
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
static void print_values(const struct option_row *o, const char *before, const char *begun)
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

static const struct option_row *first_operand(const struct command *c)
{
    const struct option_row *row;
    for (int i = 0; (row = command_row(c, i)); i++)
        if (*row->name != '-') return row;
    return NULL;
}

// The word `begun` after `before`.
static void complete(const struct command *c, const char *before, const char *begun)
{
    const struct option_row *o = command_find(c, before, strlen(before));
    if (o && o->type != OPTION_FLAG && *o->name == '-') {
        print_values(o, "", begun);
        return;
    }
    const char *equals = *begun == '-' ? strchr(begun, '=') : NULL;
    if (equals && (o = command_find(c, begun, (size_t)(equals - begun)))) {
        char name[64];
        snprintf(name, sizeof name, "%s=", o->name);
        print_values(o, name, begun);
    } else if (*begun == '-') {
        for (int i = 0; (o = command_row(c, i)); i++)
            if (*o->name == '-') print_completion(begun, o->name, o->help);
        print_completion(begun, "--help", "list the options");
    } else if ((o = first_operand(c))) {
        print_values(o, "", begun);
    } else {
        puts(COMPLETE_FILES);
    }
}

bool command_helped(const struct command *c, char **argv, int at)
{
    const char *word = argv[at];
    bool section = !strcmp(word, HELP_SECTION);
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) print_help(c);
    else if (at == 1 && (section || !strcmp(word, HELP_PAGE))) print_page(c, section);
    else return false;
    return true;
}

bool command_completed(const struct command *c, int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[argc - 1], HELP_COMPLETE)) return false;
    complete(c, argv[argc - 3], argv[argc - 2]);
    return true;
}
