/// Verbs of a command that is built without pictures (CUTIS_RENDER=OFF; always so on Windows).
#include "app.h"

#define ABSENT(which)                                                                              \
    int verb_##which(cli_app *app)                                                                 \
    {                                                                                              \
        return app_fail_text(app, "%s: not in this build of the command, which makes no pictures", \
                             app->verb->name);                                                     \
    }
const bool cli_pictures = false;
ABSENT(view)
ABSENT(render)
