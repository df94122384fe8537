/// Verbs of the command that the engine leaves out: the page has no server, and measures elsewhere.
#include "app.h"

static int refuse(cli_app *app)
{
    return app_fail_text(app, "%s: not in this build of the command, which runs in a web page",
                         app->verb->name);
}

#define ABSENT(name)                                                                               \
    int verb_##name(cli_app *app)                                                                  \
    {                                                                                              \
        return refuse(app);                                                                        \
    }
ABSENT(view)
ABSENT(bench)
ABSENT(reproduce)
ABSENT(demo)
ABSENT(render)
