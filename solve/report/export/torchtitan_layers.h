// Between the files of torchtitan's layers in classes of their own.
#ifndef PLUMBLINE_SOLVE_REPORT_EXPORT_TORCHTITAN_LAYERS_H
#define PLUMBLINE_SOLVE_REPORT_EXPORT_TORCHTITAN_LAYERS_H

#include "solve/report/export/torchtitan.h"

// A class on one of torchtitan's, with a configuration of its own. more: its further fields.
void titan_put_class(const struct export *e, const char *name, const char *base, const char *does,
                     const char *more);

// Whether feed-forward parts have no gate; then these put what the functions in torchtitan.h put:
// classes, what ranks have of a layer and of the model's ends, and the configurations of the model
// and of a layer.
bool titan_is_plain(const struct model *m);
void titan_put_plain_imports(const struct export *e);
void titan_put_plain_classes(const struct export *e, const struct known_model *known);
void titan_put_plain_shares(const struct export *e);
void titan_put_plain_ends(const struct export *e);
void titan_put_plain_model(const struct export *e, const struct known_model *known);
void titan_put_plain_layer(const struct export *e, const struct known_model *known);

#endif
