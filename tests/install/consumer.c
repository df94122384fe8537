// Built by test_install.sh against an installed Cutis, as C and as C++.
#include <cutis/cutis.h>
#include <cutis/io.h>
#include <stdio.h>

int main(void)
{
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_result result = cutis_context_create(NULL, &context);
    if (result == CUTIS_OK) result = cutis_model_read(context, "no such file.glb", NULL, &model);
    printf("%s %s\n", cutis_version(), cutis_result_name(result));
    cutis_context_destroy(context);
    return result == CUTIS_FILE_NOT_FOUND ? 0 : 1;
}
