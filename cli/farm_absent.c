/// The farm where there is none: it needs processes as POSIX has them.
#include "app.h"

int verb_farm(cli_app *app)
{
    return app_fail_text(app, "farm: not in this build of the command: it needs Linux");
}
