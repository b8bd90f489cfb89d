// Each name that an export can write is one that the framework's source takes, as recorded in
// tests/report/names/: not only those that some plan needs.
#include "data/frameworks/setting.h"
#include "tests/support/check.h"

#include "data/base/file.h"

// The names of a file between blanks; " name" or " name=" is in it.
static const char *names_of(const char *file, struct arena *arena)
{
    const char *text;
    size_t length;
    MUST(file_read(arena_print(arena, "tests/report/names/%s.txt", file), &text, &length, arena,
                   &own_err));
    char *names = arena_copy_text(arena, strchr(text, '\n'));
    for (char *c = names; *c; c++)
        if (*c == '\n') *c = ' ';
    return names;
}

static bool has(const char *names, const char *name, char behind, struct arena *arena)
{
    return strstr(names, arena_print(arena, " %s%c", name, behind)) != NULL;
}

static bool is_written(const struct setting_row *row, size_t unless)
{
    return row->use != ONLY_READ && !(row->when && row->when == unless);
}

TEST(flags_of_megatron)
{
    const char *names = names_of("megatron-lm", arena);
    struct setting_rows rows = setting_rows_of(&megatron_rows, arena);
    for (int i = 0; i < rows.count; i++) {
        const char *flag = arena_print(arena, "--%s", rows.rows[i].key);
        if (is_written(&rows.rows[i], 0) && !has(names, flag, '=', arena))
            fail_msg("Megatron-LM has no flag %s", flag);
    }
}

TEST(fields_of_nemo)
{
    const char *names = names_of("megatron-bridge", arena);
    struct setting_rows rows = setting_rows_of(&nemo_rows, arena);
    for (int i = 0; i < rows.count; i++) {
        const char *key = rows.rows[i].key;
        bool class = !strcmp(key, "model._target_"); // no field: what instantiate makes of them
        if (is_written(&rows.rows[i], 0) && !class && !has(names, key, ' ', arena))
            fail_msg("Megatron Bridge has no field %s", key);
    }
}

// Sections may be named by their text, which the record has as a single word.
TEST(keys_of_deepspeed)
{
    const char *names = names_of("deepspeed", arena);
    struct setting_rows rows = setting_rows_of(&deepspeed_rows, arena);
    for (int i = 0; i < rows.count; i++) {
        const char *key = rows.rows[i].key;
        size_t length;
        if (!is_written(&rows.rows[i], 0) || !strncmp(key, "plumbline.", 10)) continue;
        for (; *key; key += length + (key[length] == '.')) {
            length = strcspn(key, ".");
            if (!has(names, arena_print(arena, "%.*s", (int)length, key), ' ', arena))
                fail_msg("DeepSpeed has no key %.*s of %s", (int)length, key, rows.rows[i].key);
        }
    }
}

TEST(keys_of_torchtitan)
{
    const char *toml = names_of("torchtitan-0.2", arena);
    const char *python = names_of("torchtitan-0.3", arena);
    struct setting_rows rows = setting_rows_of(&torchtitan_rows, arena);
    for (int i = 0; i < rows.count; i++) {
        const struct setting_row *row = &rows.rows[i];
        bool both = !strncmp(row->key, "parallelism.", 12) || !strncmp(row->key, "training.", 9);
        if (is_written(row, offsetof(struct run, python)) && !has(toml, row->key, ' ', arena))
            fail_msg("torchtitan 0.2 has no key %s", row->key);
        if (both && is_written(row, offsetof(struct run, toml)) &&
            !has(python, row->key, ' ', arena) && !strstr(row->key, "expert_tensor"))
            fail_msg("torchtitan 0.3 has no key %s", row->key);
    }
}

TEST(flavors_and_recipes_of_torchtitan)
{
    const char *toml = names_of("torchtitan-0.2", arena), *python = names_of("torchtitan", arena);
    for (const struct torchtitan_flavor *f = torchtitan_flavors; f->model; f++) {
        const char *flavor = arena_print(arena, "flavor=%s.%s", f->model, f->name),
                   *recipe = arena_print(arena, "recipe=%s.%s", f->model, f->recipe);
        if ((!f->only || !strcmp(f->only, "0.2")) && !has(toml, flavor, ' ', arena))
            fail_msg("torchtitan 0.2 has no %s", flavor);
        if (f->only && !strcmp(f->only, "0.2")) continue;
        if (!has(python, flavor, ' ', arena)) fail_msg("torchtitan has no %s", flavor);
        if (f->recipe && !has(python, recipe, ' ', arena)) fail_msg("torchtitan has no %s", recipe);
    }
}
