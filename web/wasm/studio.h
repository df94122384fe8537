/// What the files of the flat interface share.
#ifndef STUDIO_H
#define STUDIO_H

#include <cutis/cutis.h>

/// Before a function's parameters: the page calls it by this name.
#define EXPORT(name) __attribute__((export_name(#name), used)) name

/// Is it CUTIS_OK? If not, the reason is kept for studio_error.
bool good(cutis_result result);

/// Computes every bit as the command does.
cutis_device *exact_device(void);

#endif
