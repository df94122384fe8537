/// The farm on one machine: workers behind sockets, and no MPI.
#include "farm.h"

#include <errno.h>
#include <poll.h>

enum { RANKS_MOST = 1024 };

typedef struct local_ways {
    farm_worker workers[RANKS_MOST];
    struct pollfd sockets[RANKS_MOST];
    uint32_t next; // where to look first, so that nobody waits long
} local_ways;

static bool send_local(farm_ways *ways, uint32_t rank, const farm_message *message)
{
    const local_ways *local = ways->user;
    return farm_send(local->workers[rank].socket, message, NULL);
}

static int receive_local(farm_ways *ways, int milliseconds, uint32_t *rank, farm_message *message,
                         char **text)
{
    local_ways *local = ways->user;
    *rank = 0;
    const int ready = poll(local->sockets, ways->count, milliseconds);
    if (ready <= 0) return 0; // nothing, or a signal
    for (uint32_t i = 0; i < ways->count; i++) {
        const uint32_t r = (local->next + i) % ways->count;
        if (!local->sockets[r].revents) continue;
        local->next = r + 1;
        *rank = r;
        if (farm_receive(local->sockets[r].fd, message, text)) return 1;
        return app_interrupted() ? 0 : -1;
    }
    return 0;
}

static void name_local(farm_ways *ways, uint32_t rank, char *out, size_t capacity)
{
    (void)ways;
    snprintf(out, capacity, "rank %u", rank);
}

int farm_run_local(farm *f, int (*run)(farm *f, farm_ways *ways))
{
    OWN_MEMORY local_ways *local = calloc(1, sizeof *local);
    farm_ways ways = { .send = send_local, .receive = receive_local, .name = name_local };
    if (!local) return app_fail_text(f->app, "not enough memory");
    if (f->ranks > RANKS_MOST)
        return app_fail_text(f->app, "%u ranks on one machine: at most %d", f->ranks, RANKS_MOST);
    ways.user = local;
    int status = EXIT_GOOD;
    for (; ways.count < f->ranks && status == EXIT_GOOD; ways.count++) {
        status = farm_worker_start(f, ways.count, &local->workers[ways.count]);
        local->sockets[ways.count] =
            (struct pollfd){ .fd = local->workers[ways.count].socket, .events = POLLIN };
    }
    status = status == EXIT_GOOD
                 ? run(f, &ways)
                 : app_fail_text(f->app, "a process cannot be started: %s", strerror(errno));
    for (uint32_t i = 0; i < ways.count; i++) farm_worker_stop(&local->workers[i]);
    return status;
}
