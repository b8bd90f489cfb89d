// How a function of the library runs: it catches exits through an arena, and keeps the program's
// locale.
#include "library/internal.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run_body(call_body *body, struct call *c, void *arguments)
{
    jmp_buf exhausted;
    arena_open(&c->scratch, &exhausted);
    if (c->arena) c->arena->exit = &exhausted;
    if (setjmp(exhausted)) fail(&c->err, SYSTEM, "out of memory");
    else body(c, arguments);
    if (c->arena) c->arena->exit = NULL;
    arena_close(&c->scratch);
}

plumbline_status call_run(call_body *body, struct arena *arena, void *arguments,
                          plumbline_error *error)
{
    struct call c = {.arena = arena, .err = {OK, ""}};
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain) {
        locale_t usual = uselocale(plain);
        run_body(body, &c, arguments);
        uselocale(usual);
        freelocale(plain);
    } else {
        fail(&c.err, SYSTEM, "out of memory");
    }
    if (error) {
        error->status = (plumbline_status)c.err.status;
        snprintf(error->text, sizeof error->text, "%s", c.err.text);
    }
    return (plumbline_status)c.err.status;
}

enum status call_expect(const void *given, const char *what, struct error *err)
{
    return given ? OK : refuse(err, "expected %s, found NULL", what);
}

enum status call_give(char **to, size_t *length, const char *text, size_t size, struct error *err)
{
    char *copy = malloc(size + 1);
    if (!copy) return fail(err, SYSTEM, "out of memory");
    memcpy(copy, text, size);
    copy[size] = '\0';
    *to = copy;
    if (length) *length = size;
    return OK;
}

char **call_words(struct call *c, const char *name, const char *const *words, int *argc)
{
    int count = 0;
    while (words && words[count]) count++;
    char **argv = TAKE(&c->scratch, count + 2, char *);
    argv[0] = arena_copy_text(&c->scratch, name);
    for (int i = 0; i < count; i++) argv[1 + i] = arena_copy_text(&c->scratch, words[i]);
    argv[1 + count] = NULL;
    return *argc = 1 + count, argv;
}
