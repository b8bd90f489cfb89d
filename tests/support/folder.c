// See folder.h.
#include "tests/support/folder.h"
#include "tests/support/check.h"

int folder_make(char folder[FOLDER_SIZE])
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, FOLDER_SIZE, "%.40s/plumbline-XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : 1;
}

int folder_remove(const char *folder)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command) ? 1 : 0;
}

char own_folder[FOLDER_SIZE];

const char *own_path(const char *name)
{
    return arena_print(&own_arena, "%s/%s", own_folder, name);
}

int folder_open(void **state)
{
    (void)state;
    return folder_make(own_folder);
}

int folder_close(void **state)
{
    (void)state;
    return folder_remove(own_folder);
}
