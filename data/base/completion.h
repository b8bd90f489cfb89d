// Scripts that let a shell complete the command lines of plumbline: each asks the program itself,
// by `plumbline completion words`, so that they hold for every version.
#ifndef PLUMBLINE_DATA_BASE_COMPLETION_H
#define PLUMBLINE_DATA_BASE_COMPLETION_H

extern const char completion_bash[], completion_zsh[], completion_fish[];

#endif
