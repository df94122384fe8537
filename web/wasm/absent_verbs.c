/// Verbs of the command that the engine leaves out: the page has no server, and measures elsewhere.
#include "app.h"

#define ABSENT(which)                                                                              \
    int verb_##which(cli_app *app)                                                                 \
    {                                                                                              \
        return app_fail_text(app,                                                                  \
                             "%s: not in this build of the command, which runs in a web page",     \
                             app->verb->name);                                                     \
    }
ABSENT(view)
ABSENT(bench)
ABSENT(reproduce)
ABSENT(demo)
ABSENT(render)
