// Names that are not known are answered with the nearest one that is.
#ifndef PLUMBLINE_DATA_BASE_NAMES_H
#define PLUMBLINE_DATA_BASE_NAMES_H

// The index of the name with the fewest changes of a character (inserted, left out, replaced; case
// counts for less); -1: there is none.
int name_nearest(const char *name, const char *const *names, int count);

#endif
