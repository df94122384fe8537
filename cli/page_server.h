/// A small web server for this machine only: a fixed set of files from memory, below a secret path.
///
/// Nothing is read from the disk while it runs, so nothing else can be reached. It listens on
/// 127.0.0.1 and answers only requests that name it so (a page elsewhere cannot use a name of its
/// own that leads here), with the token as first step of the path.
#ifndef CUTIS_CLI_PAGE_SERVER_H
#define CUTIS_CLI_PAGE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct page_file {
    const char *path; ///< below the token: "index.html", "models/biped.glb"
    const char *type; ///< Content-Type
    const void *data;
    size_t size;
} page_file;

typedef struct page_server page_server;

/// Starts to serve; the first free port from `port` on (of 64; then any).
/// @param files borrowed until the server stops; "index.html" is also what "/TOKEN/" gives
/// @return NULL with errno set
page_server *page_server_start(const page_file *files, uint32_t file_count, uint16_t port);
/// "http://127.0.0.1:PORT/TOKEN/"; owned by the server.
const char *page_server_address(const page_server *server);
void page_server_stop(page_server *server); ///< NULL is fine

#endif
