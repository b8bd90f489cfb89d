// Which of its kernels OpenBLAS takes.
#pragma once

// A processor newer than the library counts as one of 2004 (Prescott), whose kernels are several
// times as slow as those that it could run. Then the program begins again, with the kernels of the
// newest known kind whose instructions it has, unless OPENBLAS_CORETYPE says which. Before anything
// else is done.
void core_choose(char **argv);

// The kind of kernels for a processor with these flags, separated by spaces, where the library
// takes those of `core`; NULL: these are right.
const char *core_better(const char *core, const char *flags);
