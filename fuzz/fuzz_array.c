// Arrays: NumPy's .npy and .pc2.
#include "target.h"

static void target(const uint8_t *data, size_t size)
{
    run_array(data, size);
}
