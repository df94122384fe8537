/// libmicrohttpd on the loopback address. See page_server.h for what it promises.
#include "page_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { TOKEN_BYTES = 16, TOKEN_LENGTH = 2 * TOKEN_BYTES, PORT_TRIES = 64 };

struct page_server {
    struct MHD_Daemon *daemon;
    const page_file *files;
    uint32_t file_count;
    uint16_t port;
    char token[TOKEN_LENGTH + 1];
    char address[64 + TOKEN_LENGTH];
};

// What the page itself says in its <meta>, and what only a header can say. No inline script or
// style, no other origin, no frame around it; isolated, so that its clock is fine enough to
// measure.
static const struct {
    const char *name, *value;
} HEADERS[] = {
    { "Content-Security-Policy",
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src "
      "'self'; font-src 'self'; img-src 'self' blob: data:; connect-src 'self' blob:; base-uri "
      "'none'; form-action 'none'; frame-ancestors 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
    { "Cross-Origin-Opener-Policy", "same-origin" },
    { "Cross-Origin-Embedder-Policy", "require-corp" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Cache-Control", "no-store" },
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const void *data,
                              size_t size, const char *type, const char *location)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(size, (void *)data, MHD_RESPMEM_PERSISTENT);
    if (!response) return MHD_NO;
    for (size_t i = 0; i < sizeof HEADERS / sizeof HEADERS[0]; i++)
        MHD_add_response_header(response, HEADERS[i].name, HEADERS[i].value);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (location) MHD_add_response_header(response, MHD_HTTP_HEADER_LOCATION, location);
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
    return answer(connection, status, text, strlen(text), "text/plain; charset=utf-8", NULL);
}

/// Is the request meant for us by address? A foreign name that resolves to 127.0.0.1 is not.
static bool host_is_ours(const page_server *server, struct MHD_Connection *connection)
{
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    char wanted[2][32];
    snprintf(wanted[0], sizeof wanted[0], "127.0.0.1:%u", server->port);
    snprintf(wanted[1], sizeof wanted[1], "localhost:%u", server->port);
    return host && (strcasecmp(host, wanted[0]) == 0 || strcasecmp(host, wanted[1]) == 0);
}

/// In a time that does not tell how much of it is right.
static bool token_matches(const page_server *server, const char *text)
{
    unsigned char difference = 0;
    if (strnlen(text, TOKEN_LENGTH) < TOKEN_LENGTH) return false;
    for (int i = 0; i < TOKEN_LENGTH; i++)
        difference |= (unsigned char)(text[i] ^ server->token[i]);
    return difference == 0;
}

static enum MHD_Result handle(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    const page_server *server = user;
    (void)version, (void)upload, (void)state;
    if (*upload_size) { // nothing is taken
        *upload_size = 0;
        return MHD_YES;
    }
    if (!host_is_ours(server, connection))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "not for this name\n");
    if (url[0] != '/' || !token_matches(server, url + 1))
        return refuse(connection, MHD_HTTP_NOT_FOUND, "not found\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
    const char *path = url + 1 + TOKEN_LENGTH;
    if (path[0] == 0)
        return answer(connection, MHD_HTTP_MOVED_PERMANENTLY, "", 0, "text/plain", server->address);
    path = path[0] == '/' && path[1] == 0 ? "index.html" : path + 1;
    for (uint32_t i = 0; i < server->file_count; i++)
        if (strcmp(server->files[i].path, path) == 0)
            return answer(connection, MHD_HTTP_OK, server->files[i].data, server->files[i].size,
                          server->files[i].type, NULL);
    return refuse(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}

/// Paths are compared as they are sent: nothing we serve needs an escape.
static size_t keep_escapes(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user, (void)connection;
    return strlen(text);
}

static bool make_token(char *token)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (int i = 0; i < TOKEN_BYTES; i++) snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool start_at(page_server *server, uint16_t port)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(port) };
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, port, NULL, NULL, handle, server,
                         MHD_OPTION_SOCK_ADDR, &here, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes,
                         NULL, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_END);
    if (!server->daemon) return false;
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
    server->port = info && info->port ? info->port : port;
    return true;
}

page_server *page_server_start(const page_file *files, uint32_t file_count, uint16_t port)
{
    page_server *server = calloc(1, sizeof *server);
    if (!server) return NULL;
    server->files = files;
    server->file_count = file_count;
    bool started = make_token(server->token);
    if (started) {
        started = false;
        for (uint32_t i = 0; i < PORT_TRIES && !started && port + i <= UINT16_MAX; i++)
            started = start_at(server, (uint16_t)(port + i));
        if (!started) started = start_at(server, 0);
    }
    if (!started) {
        int reason = errno;
        free(server);
        errno = reason;
        return NULL;
    }
    snprintf(server->address, sizeof server->address, "http://127.0.0.1:%u/%s/", server->port,
             server->token);
    return server;
}

const char *page_server_address(const page_server *server)
{
    return server->address;
}

void page_server_stop(page_server *server)
{
    if (!server) return;
    MHD_stop_daemon(server->daemon);
    free(server);
}
