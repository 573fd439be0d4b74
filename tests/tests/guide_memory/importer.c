// A program that knows nothing of warpsmith: it shares memory with another process by the driver's calls alone. Its standard input is a Unix
// socket, over which file descriptors travel.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef unsigned long long u64;

// CUmemAllocationProp and CUmemAccessDesc, as cuda.h has them.
struct location { int type, id; };
struct properties { int type, handle_types; struct location location; void *windows; unsigned char flags[8]; };
struct access { struct location location; int flags; };

// The byte of a message that carries a descriptor (`send_descriptor` of the host library).
enum { MESSAGE = 'd' };

enum { DEVICE = 1, PINNED = 1, DESCRIPTOR = 1, READ_WRITE = 3 };

static void *library;

static void *find(const char *name) {
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(2);
    }
    return address;
}

#define CALL(name, types, ...)                                                                                         \
    do {                                                                                                               \
        int result = ((int (*) types)find(#name))(__VA_ARGS__);                                                        \
        if (result != 0) {                                                                                             \
            fprintf(stderr, #name " answered %d\n", result);                                                           \
            exit(3);                                                                                                   \
        }                                                                                                              \
    } while (0)

static int receive(void) {
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(0, &message, 0) < 1 || byte != MESSAGE) exit(4);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head == NULL || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) exit(5);
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
    return descriptor;
}

static void send_over(int descriptor) {
    char byte = MESSAGE, control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    if (sendmsg(0, &message, 0) != 1) exit(6);
}

static u64 mapped(u64 handle, size_t bytes) {
    u64 address;
    struct access access = {{DEVICE, 0}, READ_WRITE};
    CALL(cuMemAddressReserve, (u64 *, size_t, size_t, u64, u64), &address, bytes, 0, 0, 0);
    CALL(cuMemMap, (u64, size_t, size_t, u64, u64), address, bytes, 0, handle, 0);
    CALL(cuMemSetAccess, (u64, size_t, struct access *, size_t), address, bytes, &access, 1);
    return address;
}

static void give_back(u64 address, u64 handle, size_t bytes) {
    CALL(cuMemUnmap, (u64, size_t), address, bytes);
    CALL(cuMemRelease, (u64), handle);
    CALL(cuMemAddressFree, (u64, size_t), address, bytes);
}

// Expects `by * i` and `more` in each word.
static void expect(u64 address, unsigned *words, size_t bytes, unsigned by, unsigned more) {
    CALL(cuMemcpyDtoH_v2, (void *, u64, size_t), words, address, bytes);
    for (unsigned i = 0; i < bytes / sizeof *words; i++) {
        if (words[i] != by * i + more) {
            fprintf(stderr, "word %u is %u\n", i, words[i]);
            exit(7);
        }
    }
}

int main(int count, char **arguments) {
    size_t bytes = count == 2 ? strtoull(arguments[1], NULL, 10) : 0;
    unsigned *words = malloc(bytes);
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL || words == NULL) {
        fprintf(stderr, "%s\n", library == NULL ? dlerror() : "no memory");
        return 1;
    }
    void *context;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0);
    CALL(cuCtxSetCurrent, (void *), context);

    // What the other process has exported: read, and each word is one more.
    u64 handle;
    int descriptor = receive();
    CALL(cuMemImportFromShareableHandle, (u64 *, void *, int), &handle, (void *)(long)descriptor, DESCRIPTOR);
    close(descriptor);
    u64 address = mapped(handle, bytes);
    expect(address, words, bytes, 3, 0);
    for (unsigned i = 0; i < bytes / sizeof *words; i++) words[i] += 1;
    CALL(cuMemcpyHtoD_v2, (u64, const void *, size_t), address, words, bytes);
    CALL(cuCtxSynchronize, (void));
    give_back(address, handle, bytes);

    // Its own memory, for the other process to read, and to add two to each word.
    struct properties properties = {.type = PINNED, .handle_types = DESCRIPTOR, .location = {DEVICE, 0}};
    CALL(cuMemCreate, (u64 *, size_t, struct properties *, u64), &handle, bytes, &properties, 0);
    address = mapped(handle, bytes);
    for (unsigned i = 0; i < bytes / sizeof *words; i++) words[i] = 5 * i;
    CALL(cuMemcpyHtoD_v2, (u64, const void *, size_t), address, words, bytes);
    CALL(cuCtxSynchronize, (void));
    CALL(cuMemExportToShareableHandle, (void *, u64, int, u64), &descriptor, handle, DESCRIPTOR, 0);
    send_over(descriptor);
    close(descriptor);
    char done;
    if (read(0, &done, 1) != 1) return 8;
    expect(address, words, bytes, 5, 2);
    give_back(address, handle, bytes);
    printf("both ways are right\n");
    return 0;
}
