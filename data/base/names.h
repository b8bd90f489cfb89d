// Names that are not known are answered with the nearest one that is.
#ifndef PLUMBLINE_DATA_BASE_NAMES_H
#define PLUMBLINE_DATA_BASE_NAMES_H

// The index of the name that was probably meant, else of that with the fewest changes of a
// character (inserted, left out, replaced; signs between words and case count for less, digits for
// more); -1: there is none.
int name_nearest(const char *name, const char *const *names, int count);

// The name that was probably meant: the first that begins with these characters, else the nearest
// where no more than a third of them is changed; -1: none.
int name_meant(const char *name, const char *const *names, int count);

// The nearest one where at most so many characters are changed; -1: none.
int name_within(const char *name, const char *const *names, int count, int changes);

#endif
