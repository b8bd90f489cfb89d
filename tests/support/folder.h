// A test's own folder, under TMPDIR.
#pragma once

enum { FOLDER_SIZE = 64 };

int folder_make(
    char folder[FOLDER_SIZE]); // both return 0, or 1 on failure, as cmocka's fixtures require
int folder_remove(const char *folder); // with what is in it

// Fixtures of a group or of a test, which do not change *state.
extern char own_folder[FOLDER_SIZE];
const char *own_path(const char *name); // in it
int folder_open(void **state);
int folder_close(void **state);
