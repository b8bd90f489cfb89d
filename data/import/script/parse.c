// The tree of a script's commands. Files are posted cut off and with prose around them: what is no
// shell is skipped, and what is not closed ends with the file.
#include <string.h>

#include "data/base/grow.h"
#include "data/import/script/internal.h"

static struct node *parse_list(struct parser *p, const char *const *ends);

static struct node *new_node(struct parser *p, enum node_kind kind)
{
    struct node *n = TAKE(p->arena, 1, struct node);
    n->kind = kind, n->line = p->line;
    return n;
}

static void advance(struct parser *p, const char *to)
{
    for (; p->at < to; p->at++) p->line += *p->at == '\n';
}

static void note(struct parser *p, const char *text)
{
    enum { NOTES_MAX = 4 };
    if (p->note_count++ < NOTES_MAX)
        p->notes = arena_print(p->arena, "%sline %d: %s\n", p->notes, p->line, text);
}

static void skip(struct parser *p, bool lines) { advance(p, script_skip_blanks(p, p->at, lines)); }

static bool is_piece(struct piece w, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(w.end - w.at) == length && !memcmp(w.at, text, length);
}

static struct piece peek(struct parser *p)
{
    return (struct piece){p->at, script_word_end(p, p->at)};
}

static bool take(struct parser *p, const char *text)
{
    struct piece w = peek(p);
    if (!is_piece(w, text)) return false;
    advance(p, w.end);
    return true;
}

static void add_word(struct parser *p, struct node *n, struct piece w)
{
    *GROWN(p->arena, n->words, n->word_count, n->word_capacity, 2) = w;
}

// ---- here-documents

// Reads the bodies of those that the line began: at the line's end.
static void read_here(struct parser *p)
{
    for (int i = 0; i < p->pending_count; i++) {
        struct pending *h = &p->pending[i];
        struct piece word = h->word;
        bool raw = word.at < word.end && strchr("'\"\\", *word.at);
        if (raw && *word.at == '\\') word.at++;
        else if (raw) word.at++, word.end -= word.end > word.at;
        const char *from = p->at;
        while (p->at < p->end) {
            const char *line = p->at, *end = memchr(line, '\n', (size_t)(p->end - line));
            if (!end) end = p->end;
            while (h->tabs && line < end && *line == '\t') line++;
            if (end - line == word.end - word.at && !memcmp(line, word.at, (size_t)(end - line))) {
                h->node->here = (struct piece){from, p->at};
                advance(p, end < p->end ? end + 1 : end);
                break;
            }
            advance(p, end < p->end ? end + 1 : end);
        }
        if (!h->node->here.at) h->node->here = (struct piece){from, p->at};
        h->node->here_raw = raw;
    }
    p->pending_count = 0;
}

static void end_line(struct parser *p)
{
    advance(p, p->at + 1);
    if (p->pending_count) read_here(p);
}

// "< file", "2>&1", "<<EOF", "<<< word"; whether one was here.
static bool take_redirection(struct parser *p, struct node *n)
{
    const char *s = p->at;
    while (s < p->end && *s >= '0' && *s <= '9') s++;
    if (s < p->end && *s == '&' && s + 1 < p->end && s[1] == '>') s++;
    if (s < p->end && script_placeholder_end(p, s)) return false;
    if (s == p->end || (*s != '<' && *s != '>') || (s + 1 < p->end && s[1] == '(')) return false;
    bool string = p->end - s > 2 && !memcmp(s, "<<<", 3);
    bool here = p->end - s > 2 && !memcmp(s, "<<", 2) && s[2] != '<', writes = *s == '>';
    bool tabs = here && s[2] == '-';
    while (s < p->end && strchr("<>&|-", *s)) s++;
    advance(p, s);
    skip(p, false);
    struct piece w = peek(p);
    advance(p, w.end);
    if (here && p->pending_count < (int)ARRAY_LENGTH(p->pending))
        p->pending[p->pending_count++] = (struct pending){.node = n, .word = w, .tabs = tabs};
    if (string) n->string = w;
    if (writes && !n->output.at) n->output = w;
    return true;
}

// ---- commands

static struct node *parse_simple(struct parser *p)
{
    struct node *n = new_node(p, NODE_SIMPLE);
    for (skip(p, false); p->at < p->end; skip(p, false)) {
        if (take_redirection(p, n)) continue;
        if (strchr("\n;|)", *p->at) || *p->at == '&') break;
        if (*p->at == '(') {
            if (n->word_count != 1 || p->end - p->at < 2 || p->at[1] != ')') break;
            advance(p, p->at + 2); // name()
            skip(p, true);
            n->kind = NODE_FUNCTION;
            return n;
        }
        struct piece w = peek(p);
        if (w.end == w.at) w.end++;
        add_word(p, n, w);
        advance(p, w.end);
    }
    return n;
}

static struct node *parse_if(struct parser *p)
{
    static const char *const then[] = {"then", NULL}, *const ends[] = {"elif", "else", "fi", NULL},
                             *const last[] = {"fi", NULL};
    struct node *n = new_node(p, NODE_IF);
    n->first = parse_list(p, then);
    take(p, "then");
    n->second = parse_list(p, ends);
    if (take(p, "elif")) {
        n->third = parse_if(p);
        return n;
    }
    if (take(p, "else")) n->third = parse_list(p, last);
    if (!take(p, "fi")) note(p, "an if without its fi");
    return n;
}

static struct node *parse_case(struct parser *p)
{
    static const char *const ends[] = {"esac", NULL};
    struct node *n = new_node(p, NODE_CASE), **arm = &n->first;
    skip(p, false);
    add_word(p, n, peek(p));
    advance(p, n->words[0].end);
    skip(p, true);
    take(p, "in");
    for (skip(p, true); p->at < p->end && !take(p, "esac"); skip(p, true)) {
        struct node *a = new_node(p, NODE_ARM);
        const char *from = p->at;
        while (p->at < p->end && *p->at != ')' && *p->at != '\n') {
            struct piece w = peek(p);
            if (w.end > w.at) add_word(p, a, w);
            advance(p, w.end > w.at ? w.end : p->at + 1);
            skip(p, false);
        }
        if (p->at < p->end) advance(p, p->at + 1);
        a->first = parse_list(p, ends);
        while (p->at < p->end && strchr(";&", *p->at)) advance(p, p->at + 1);
        *arm = a, arm = &a->next;
        if (p->at == from) break;
    }
    return n;
}

static struct node *parse_do(struct parser *p)
{
    static const char *const start[] = {"do", NULL}, *const ends[] = {"done", NULL};
    skip(p, true);
    if (p->at < p->end && *p->at == ';') advance(p, p->at + 1);
    skip(p, true);
    if (!take(p, "do")) {
        parse_list(p, start);
        take(p, "do");
    }
    struct node *body = parse_list(p, ends);
    if (!take(p, "done")) note(p, "a loop without its done");
    return body;
}

static struct node *parse_for(struct parser *p)
{
    struct node *n = new_node(p, NODE_FOR);
    skip(p, false);
    if (p->end - p->at > 1 && !memcmp(p->at, "((", 2)) {
        const char *end = script_bracket_end(p, p->at + 2, '(', ')'), *from = p->at + 2;
        n->kind = NODE_COUNT;
        for (const char *s = from; end && s < end; s++)
            if (*s == ';' || s == end - 1) {
                add_word(p, n, (struct piece){from, s});
                from = s + 1;
            }
        advance(p, end ? end : p->at + 2);
        if (p->at < p->end && *p->at == ')') advance(p, p->at + 1);
        n->first = parse_do(p);
        return n;
    }
    add_word(p, n, peek(p));
    advance(p, n->words[0].end);
    skip(p, true);
    n->plain = !take(p, "in");
    for (skip(p, false); p->at < p->end && !strchr("\n;", *p->at); skip(p, false)) {
        struct piece w = peek(p);
        if (w.end == w.at) w.end++;
        if (!n->plain) add_word(p, n, w);
        advance(p, w.end);
    }
    n->first = parse_do(p);
    return n;
}

static struct node *parse_while(struct parser *p, bool until)
{
    static const char *const ends[] = {"do", NULL};
    struct node *n = new_node(p, NODE_WHILE);
    n->plain = until;
    n->first = parse_list(p, ends);
    n->second = parse_do(p);
    return n;
}

// [[ ... ]]: words, of which brackets and && are some.
static struct node *parse_test(struct parser *p)
{
    struct node *n = new_node(p, NODE_TEST);
    for (skip(p, true); p->at < p->end; skip(p, true)) {
        struct piece w = peek(p);
        if (w.end == w.at) {
            bool two = p->end - p->at > 1 && strchr("&|", *p->at) && p->at[1] == *p->at;
            w.end += two ? 2 : 1;
        } else if (is_piece(w, "=~")) {
            add_word(p, n, w); // the expression behind it may hold brackets
            advance(p, w.end);
            skip(p, false);
            w.at = w.end = p->at;
            while (w.end < p->end && !strchr(" \t\n", *w.end))
                w.end = strchr("\"'\\$`", *w.end) ? script_word_end(p, w.end) : w.end + 1;
            if (w.end == w.at) w.end = p->at + (p->at < p->end);
        }
        advance(p, w.end);
        if (is_piece(w, "]]")) return n;
        add_word(p, n, w);
    }
    return n;
}

static struct node *parse_group(struct parser *p, const char *close)
{
    const char *const ends[] = {close, NULL};
    struct node *n = new_node(p, NODE_GROUP);
    n->first = parse_list(p, ends);
    if (*close == ')' ? p->at < p->end && *p->at == ')' : is_piece(peek(p), close))
        advance(p, p->at + 1);
    return n;
}

static void trailing_redirections(struct parser *p, struct node *n)
{
    for (skip(p, false); take_redirection(p, n);) skip(p, false);
}

static struct node *parse_command(struct parser *p);

static struct node *parse_compound(struct parser *p)
{
    struct node *n = NULL;
    if (p->end - p->at > 2 && !memcmp(p->at, "((", 2)) {
        const char *end = script_bracket_end(p, p->at + 2, '(', ')');
        if (end && end < p->end && *end == ')') {
            n = new_node(p, NODE_ARITHMETIC);
            add_word(p, n, (struct piece){p->at + 2, end - 1});
            advance(p, end + 1);
            return n;
        }
    }
    if (*p->at == '(') {
        advance(p, p->at + 1);
        return parse_group(p, ")");
    }
    if (take(p, "{")) return parse_group(p, "}");
    if (take(p, "if")) return parse_if(p);
    if (take(p, "case")) return parse_case(p);
    if (take(p, "for") || take(p, "select")) return parse_for(p);
    if (take(p, "while")) return parse_while(p, false);
    if (take(p, "until")) return parse_while(p, true);
    if (take(p, "[[")) return parse_test(p);
    if (take(p, "function")) {
        skip(p, false);
        n = new_node(p, NODE_FUNCTION);
        add_word(p, n, peek(p));
        advance(p, n->words[0].end);
        skip(p, true);
        if (p->end - p->at > 1 && !memcmp(p->at, "()", 2)) advance(p, p->at + 2);
        skip(p, true);
    }
    return n;
}

static struct node *parse_command(struct parser *p)
{
    skip(p, false);
    if (p->at == p->end || ++p->depth > PARSE_DEPTH_MAX) {
        if (p->at < p->end) note(p, "nested too deeply"), advance(p, p->end);
        p->depth -= p->depth > PARSE_DEPTH_MAX;
        return new_node(p, NODE_SIMPLE);
    }
    struct node *n;
    if (take(p, "!")) {
        n = new_node(p, NODE_NOT);
        n->first = parse_command(p);
    } else if (take(p, "time") || take(p, "$")) { // "$": of a prompt
        n = parse_command(p);
    } else {
        n = parse_compound(p);
        if (!n) n = parse_simple(p);
        if (n->kind == NODE_FUNCTION) n->first = parse_command(p);
        else if (n->kind != NODE_SIMPLE) trailing_redirections(p, n);
    }
    p->depth--;
    return n;
}

static bool at_operator(const struct parser *p, const char *two)
{
    return p->end - p->at > 1 && !memcmp(p->at, two, 2);
}

static struct node *join(struct parser *p, enum node_kind kind, struct node *a, struct node *b)
{
    struct node *n = new_node(p, kind);
    n->first = a, n->second = b;
    return n;
}

static struct node *parse_pipe(struct parser *p)
{
    struct node *n = parse_command(p);
    for (skip(p, false); p->at < p->end && *p->at == '|' && !at_operator(p, "||"); skip(p, false)) {
        advance(p, p->at + (at_operator(p, "|&") ? 2 : 1));
        skip(p, !p->pending_count);
        n = join(p, NODE_PIPE, n, parse_command(p));
    }
    return n;
}

static struct node *parse_and_or(struct parser *p)
{
    struct node *n = parse_pipe(p);
    for (skip(p, false); at_operator(p, "&&") || at_operator(p, "||"); skip(p, false)) {
        enum node_kind kind = *p->at == '&' ? NODE_AND : NODE_OR;
        advance(p, p->at + 2);
        skip(p, !p->pending_count);
        n = join(p, kind, n, parse_pipe(p));
    }
    return n;
}

static bool at_end(struct parser *p, const char *const *ends)
{
    struct piece w = peek(p);
    if (at_operator(p, ";;")) return ends != NULL;
    for (int i = 0; ends && ends[i]; i++)
        if (is_piece(w, ends[i]) || (*ends[i] == ')' && *p->at == ')')) return true;
    return false;
}

// Reserved words that end something: without its beginning they are skipped.
static bool is_stray(struct parser *p)
{
    static const char *const words[] = {"then", "elif", "else", "fi", "do", "done", "esac", "}"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (is_piece(peek(p), words[i])) return true;
    return false;
}

static struct node *parse_list(struct parser *p, const char *const *ends)
{
    struct node *list = NULL, **to = &list;
    while (true) {
        skip(p, false);
        if (p->at == p->end || at_end(p, ends)) return list;
        if (*p->at == '\n') {
            end_line(p);
        } else if (strchr(";&|)", *p->at)) {
            advance(p, p->at + 1);
        } else if (is_stray(p)) {
            // A word that ends an outer list ends this one, too.
            if (ends && p->depth > 1) return list;
            note(p, "a word of a branch or loop that has no beginning");
            advance(p, peek(p).end);
        } else {
            const char *from = p->at;
            *to = parse_and_or(p);
            to = &(*to)->next;
            if (p->at == from) advance(p, from + 1);
        }
    }
}

struct node *script_parse(struct parser *p, const char *text, const char *end, int line,
                          struct arena *arena)
{
    *p = (struct parser){.at = text, .end = end, .line = line, .arena = arena, .notes = ""};
    struct node *list = parse_list(p, NULL);
    if (p->pending_count) read_here(p);
    return list;
}
