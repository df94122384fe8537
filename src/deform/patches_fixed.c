#include "deform/patches_bound.h"
cutis_result cutis_patches_bind_fixed(cutis_patches *patches, const patch_body *body,
                                      const patch_parts *parts, const patch_pack *pack)
{
    (void)patches;(void)body;(void)parts;(void)pack;
    return CUTIS_OK;
}
