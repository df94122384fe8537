#include "farm.h"
int farm_plan(farm *f)
{
    return app_fail_text(f->app, "plan: not yet");
}
