#include "reproduce.h"
cutis_result reproduce_handles(reproduce_job *job)
{
    (void)job;
    return CUTIS_OK;
}
