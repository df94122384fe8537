// Teams of half a warp, as the rungs' kernel has them.
#define TEAM_LANES 16
#include "test_patches_teams.c"
