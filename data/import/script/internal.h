// What the files of this room share: the tree of commands, and the state while it is followed.
#pragma once

#include <stdint.h>

#include "data/import/script/script.h"

// ---- the tree

struct piece { // of the source: a word with its quotes
    const char *at, *end;
};

enum node_kind {
    NODE_SIMPLE,     // words, here
    NODE_AND,        // first && second
    NODE_OR,         // first || second
    NODE_NOT,        // ! first
    NODE_PIPE,       // first | second
    NODE_IF,         // first: condition, second: then, third: else
    NODE_CASE,       // words[0]; arms: first, linked by next, each NODE_ARM
    NODE_ARM,        // words: patterns, first: body
    NODE_FOR,        // words[0]: name, then values; first: body. plain: over the arguments
    NODE_COUNT,      // words: the three expressions; first: body
    NODE_WHILE,      // first: condition (plain: until), second: body
    NODE_FUNCTION,   // words[0]: name, first: body
    NODE_GROUP,      // first: list
    NODE_ARITHMETIC, // words[0]: between (( and ))
    NODE_TEST        // words: between [[ and ]]
};

struct node {
    enum node_kind kind;
    bool plain;
    int line;
    struct node *first, *second, *third, *next;
    struct piece *words;
    int word_count, word_capacity;
    struct piece here;   // body of a here-document; at NULL: none
    bool here_raw;       // without expansion
    struct piece string; // behind <<<
    struct piece output; // of > or >>: the file's name
};

struct parser {
    const char *at, *end;
    int line, depth;
    bool open_single, open_double, open_back, open_round, open_brace; // not closed any more
    struct pending {
        struct node *node;
        struct piece word;
        bool tabs;
    } pending[8];
    int pending_count;
    struct arena *arena;
    const char *notes;
    int note_count;
};
enum { PARSE_DEPTH_MAX = 48 };

// The list of commands; what is no shell is skipped, with a note.
struct node *script_parse(struct parser *p, const char *text, const char *end, int line,
                          struct arena *arena);

// words.c: the end of what begins at `at`: a word; quotes and brackets.
const char *script_word_end(struct parser *p, const char *at);
// Behind <PATH TO WORDS>, which stands for a word that a reader is to fill in; NULL: none is here.
const char *script_placeholder_end(const struct parser *p, const char *at);
// Behind the bracket that closes the one before `at`; quotes count.
const char *script_bracket_end(struct parser *p, const char *at, char open, char close);
const char *script_skip_blanks(struct parser *p, const char *at, bool lines);

// ---- the state

struct variable {
    const char *name, *refers; // refers: to another one (declare -n); NULL: it does not
    bool array, pinned, unset, command, exported; // command: open since a command's answer is
    const char **items, **keys;                   // keys: of an associative array, or NULL
    int count, capacity;
    int line; // of its last assignment
};

struct part { // that grows
    char *s;
    size_t length, capacity;
    bool fields;  // blanks of unquoted expansions separate fields
    bool pattern; // a backslash stands before quoted characters
    bool quoted;  // something was in quotes: the field exists even if empty
};
#define FIELD '\3' // separates fields

enum truth { NO, YES, UNKNOWN };

struct follow {
    struct script *script;
    struct arena *arena;
    struct variable *variables;
    int variable_count, variable_capacity;
    const char **arguments;
    int argument_count;
    struct function {
        const char *name;
        struct node *body;
    } * functions;
    int function_count, function_capacity;
    int steps, depth, calls, references,
        left;             // calls of functions; left: loops still to be left by break
    bool launched, ended; // a command with many flags was seen; exit after it
    size_t bytes;
    bool large;                       // a file that was asked for is too large to be read
    bool over, skip, again, returned; // skip: to the end of a loop, which goes on again or not
    bool empty_list;                  // the last word held a list without elements
    struct part *capture;             // of what echo prints, inside $( ); NULL: outside
    bool capture_unknown;             // something else was printed, too
    int line;
    struct parser words; // for finding the ends of words
    // The file that is followed, $0, the current folder (NULL: open) and the first one; that of the
    // script, and the uppermost one in which files are looked for.
    const char *file, *zero, *folder, *start, *home, *root;
};
enum { FOLLOW_DEPTH_MAX = 40, LOOP_MAX = 2000, ENDLESS_MAX = 32 };

// run.c
void script_run_list(struct follow *f, struct node *list);
enum truth script_run(struct follow *f, struct node *node);
bool script_step(struct follow *f); // false: enough
void script_keep_processes(struct follow *f);
void script_run_text(struct follow *f, const char *text, int line);
void script_choose(struct follow *f, const char *open, const char *value);

// builtins.c: YES: done, it was the shell's own command; NO: done, and its answer is no; UNKNOWN:
// another command.
enum truth script_builtin(struct follow *f, struct node *node, const char **words, int count);
void script_assign(struct follow *f, struct piece word);
bool script_is_assignment(struct piece word);

// files.c: the absolute path, NULL: open; another current folder; where the script is.
const char *script_path(struct follow *f, const char *path);
void script_go(struct follow *f, const char *path);
void script_set_place(struct follow *f);
// A file's text and path; NULL: it is not here.
const char *script_file(struct follow *f, const char *name, const char **text);
// A file that is read in or run and is not here has settings, too.
void script_keep_source(struct follow *f, const char *name);
// source FILE ...; bash FILE ...: whether it was followed (and launched something).
bool script_source(struct follow *f, const char **words, int count);
bool script_call(struct follow *f, const char **words, int count);

// filters.c: the text behind a command; NULL: open. yq.c: whether it printed.
const char *script_filtered(struct follow *f, const char **words, int count, const char *text);
bool script_yq(struct follow *f, const char **words, int count);

// slurm.c
void script_take_directives(struct follow *f, const char *text);

// variables.c
struct variable *script_variable(struct follow *f, const char *name, size_t length, bool create);
void script_set(struct follow *f, const char *name, size_t length, const char *value, bool add);
void script_set_item(struct follow *f, struct variable *v, const char *key, const char *value,
                     bool add);
const char *script_value(struct follow *f, const char *name, size_t length); // NULL: unset
const char *script_open(struct follow *f, const char *name, size_t length);
size_t script_name_length(const char *s, const char *end);

// expand.c
void part_add(struct follow *f, struct part *t, const char *s, size_t length);
void part_put(struct follow *f, struct part *t, char c);
void script_expand(struct follow *f, struct part *t, struct piece word, bool quoted);
// As one text; as a pattern; as fields, which are added to words.
const char *script_expanded(struct follow *f, struct piece word);
const char *script_pattern(struct follow *f, struct piece word);
int script_fields(struct follow *f, struct piece word, const char ***words, int *capacity,
                  int count);
void script_add_value(struct follow *f, struct part *t, const char *value, bool quoted);
// parameters.c: what stands between ${ and }.
void script_parameter(struct follow *f, struct part *t, struct piece inside, bool quoted);

// conditions.c
enum truth script_test(struct follow *f, const char **words, int count, bool patterns);
// patterns.c: '*', '?', [...]; a backslash before a character takes it as it is.
bool script_matches(const char *pattern, const char *text);

// arithmetic.c: false: not a number, *open its first open name, or NULL.
bool script_arithmetic(struct follow *f, const char *text, int64_t *value, const char **open);
