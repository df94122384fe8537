/// Which glTF extensions Cutis understands, and how far.
#ifndef CUTIS_IO_GLTF_EXTENSIONS_H
#define CUTIS_IO_GLTF_EXTENSIONS_H

#include <stdbool.h>

/// A file that requires it can be read: it changes materials, textures or metadata only, or we
/// implement it.
bool cutis_gltf_extension_readable(const char *name);

/// We know every place where it refers to accessors, views or buffers, so those that nothing refers
/// to may be dropped.
bool cutis_gltf_extension_known(const char *name);

/// Whether an object of type `place` (as the schema names it) may hold the extension. Extensions
/// whose places we do not know may stand anywhere.
bool cutis_gltf_extension_belongs(const char *name, const char *place);

#endif
