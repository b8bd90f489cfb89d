// Writes programs in the format given by the ending of the name.
#include "formulate/program/formulate.h"

enum status milp_check_name(const char *path, const char *option, struct error *err)
{
    TRY(file_check_place(path, err));
    if (path_ends_with(path, ".mps") || path_ends_with(path, ".lp")) return OK;
    return refuse(err, "%s: expected a name that ends in .mps or .lp, found '%s'", option, path);
}

enum status milp_write(const struct milp *m, const char *path, struct arena *arena,
                       struct error *err)
{
    return path_ends_with(path, ".mps") ? milp_write_mps(m, path, arena, err)
                                        : milp_write_lp(m, path, arena, err);
}
