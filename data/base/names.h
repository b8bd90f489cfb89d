// Finds the nearest known name to an unknown one.
#ifndef PLUMBLINE_DATA_BASE_NAMES_H
#define PLUMBLINE_DATA_BASE_NAMES_H

// The index of the name that was probably meant; otherwise of the one with the fewest changed
// characters (inserted, left out, replaced; signs between words and case count for less, digits for
// more); -1: there is none.
int name_nearest(const char *name, const char *const *names, int count);

// The name that was probably meant: the first one that starts with these characters; otherwise the
// nearest, if at most a third of the characters are changed; -1: none.
int name_meant(const char *name, const char *const *names, int count);

// The nearest name with at most `changes` changed characters; -1: none.
int name_within(const char *name, const char *const *names, int count, int changes);

#endif
