// A program that knows nothing of warpsmith: two processes, each of which loads a CUDA driver and NCCL, and calls most of its functions.
// With `-` for the driver: one process, which leaves loading the driver to NCCL.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { char internal[128]; } id_t128;
typedef void *comm_t;
typedef void *stream_t;
enum { INT32 = 2, FLOAT32 = 7, SUM = 0, AVG = 4 };

static void *driver, *nccl;

static void *find(void *library, const char *name) {
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "there is no %s\n", name);
        exit(2);
    }
    return address;
}

#define CUDA(name, ...) ((int (*)(__VA_ARGS__))find(driver, #name))
#define NCCL(name, ...) ((int (*)(__VA_ARGS__))find(nccl, #name))
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int result = (call);                                                                                           \
        if (result != 0) {                                                                                             \
            fprintf(stderr, "line %d: %s answered %d: %s\n", __LINE__, #call, result, last_error());                   \
            exit(3);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition);                                            \
            exit(4);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char *last_error(void) {
    return ((const char *(*)(comm_t))find(nccl, "ncclGetLastError"))(NULL);
}

static void *load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return library;
}

#define COUNT 4
static void *memory[2];
static stream_t stream;

static void put(int which, const void *values) {
    CHECK(CUDA(cuMemcpyHtoD_v2, unsigned long long, const void *, size_t)((unsigned long long)memory[which], values, 4 * COUNT));
}

static void get(int which, void *values) {
    CHECK(CUDA(cuStreamSynchronize, stream_t)(stream));
    CHECK(CUDA(cuMemcpyDtoH_v2, void *, unsigned long long, size_t)(values, (unsigned long long)memory[which], 4 * COUNT));
}

static void expect(int which, const int *wanted) {
    int got[COUNT];
    get(which, got);
    EXPECT(memcmp(got, wanted, sizeof got) == 0);
}

static int rank_of_this_process(int rank, int pipe[2], const char *driver_path, const char *nccl_path) {
    driver = load(driver_path);
    nccl = load(nccl_path);
    void *context;
    CHECK(CUDA(cuInit, unsigned)(0));
    CHECK(CUDA(cuDevicePrimaryCtxRetain, void **, int)(&context, rank));
    CHECK(CUDA(cuCtxSetCurrent, void *)(context));
    CHECK(CUDA(cuStreamCreate, stream_t *, unsigned)(&stream, 1));

    id_t128 id;
    if (rank == 0) {
        CHECK(NCCL(ncclGetUniqueId, id_t128 *)(&id));
        EXPECT(write(pipe[1], &id, sizeof id) == sizeof id);
    } else {
        EXPECT(read(pipe[0], &id, sizeof id) == sizeof id);
    }
    comm_t comm;
    int number;
    CHECK(NCCL(ncclCommInitRank, comm_t *, int, id_t128, int)(&comm, 2, id, rank));
    CHECK(NCCL(ncclCommCount, comm_t, int *)(comm, &number));
    EXPECT(number == 2);
    CHECK(NCCL(ncclCommUserRank, comm_t, int *)(comm, &number));
    EXPECT(number == rank);
    CHECK(NCCL(ncclCommCuDevice, comm_t, int *)(comm, &number));
    EXPECT(number == rank);
    for (int i = 0; i < 2; i++) CHECK(NCCL(ncclMemAlloc, void **, size_t)(&memory[i], 4 * COUNT));

    // The sum of both ranks, and the same of elements that each rank multiplies before.
    int own[COUNT] = {rank + 1, 10, 20, 30 + rank};
    put(0, own);
    CHECK(NCCL(ncclAllReduce, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], COUNT, INT32, SUM, comm, stream));
    expect(1, (int[]){3, 20, 40, 61});
    int factor = rank + 2, op;
    CHECK(NCCL(ncclRedOpCreatePreMulSum, int *, void *, int, int, comm_t)(&op, &factor, INT32, 1, comm));
    CHECK(NCCL(ncclAllReduce, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], COUNT, INT32, op, comm, stream));
    CHECK(NCCL(ncclRedOpDestroy, int, comm_t)(op, comm));
    expect(1, (int[]){2 + 6, 50, 100, 60 + 93});
    put(1, (int[]){rank + 2, 0, 0, 0});
    CHECK(NCCL(ncclRedOpCreatePreMulSum, int *, void *, int, int, comm_t)(&op, memory[1], INT32, 0, comm));
    CHECK(NCCL(ncclAllReduce, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[0], COUNT, INT32, op, comm, stream));
    expect(0, (int[]){2 + 6, 50, 100, 60 + 93});
    CHECK(NCCL(ncclRedOpDestroy, int, comm_t)(op, comm));
    EXPECT(NCCL(ncclRedOpDestroy, int, comm_t)(op, comm) == 4);

    // To the other rank and from it.
    put(0, own);
    CHECK(NCCL(ncclGroupStart, void)());
    CHECK(NCCL(ncclSend, const void *, size_t, int, int, comm_t, stream_t)(memory[0], COUNT, INT32, 1 - rank, comm, stream));
    CHECK(NCCL(ncclRecv, void *, size_t, int, int, comm_t, stream_t)(memory[1], COUNT, INT32, 1 - rank, comm, stream));
    CHECK(NCCL(ncclGroupEnd, void)());
    expect(1, (int[]){2 - rank, 10, 20, 31 - rank});
    CHECK(NCCL(ncclAlltoAll, const void *, void *, size_t, int, comm_t, stream_t)(memory[0], memory[1], 2, INT32, comm, stream));
    expect(1, rank == 0 ? (int[]){1, 10, 2, 10} : (int[]){20, 30, 20, 31});
    put(1, (int[]){0, 0, 0, 0});
    CHECK(NCCL(ncclGather, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], 2, INT32, 1, comm, stream));
    expect(1, rank == 1 ? (int[]){1, 10, 2, 10} : (int[]){0, 0, 0, 0});
    CHECK(NCCL(ncclScatter, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], 2, INT32, 0, comm, stream));
    expect(1, rank == 0 ? (int[]){1, 10, 0, 0} : (int[]){20, 30, 2, 10});
    CHECK(NCCL(ncclReduceScatter, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], 2, INT32, SUM, comm, stream));
    CHECK(NCCL(ncclAllGather, const void *, void *, size_t, int, comm_t, stream_t)(memory[1], memory[0], 2, INT32, comm, stream));
    expect(0, (int[]){3, 20, 40, 61});
    put(0, own);
    CHECK(NCCL(ncclReduce, const void *, void *, size_t, int, int, int, comm_t, stream_t)(memory[0], memory[0], COUNT, INT32, AVG, 1, comm, stream));
    expect(0, rank == 1 ? (int[]){1, 10, 20, 30} : own);
    CHECK(NCCL(ncclBcast, void *, size_t, int, int, comm_t, stream_t)(memory[0], COUNT, INT32, 0, comm, stream));
    CHECK(NCCL(ncclBroadcast, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], COUNT, INT32, 1, comm, stream));
    expect(1, (int[]){1, 10, 20, 30});

    // The other way round, and one rank alone.
    comm_t turned, alone;
    CHECK(NCCL(ncclCommSplit, comm_t, int, int, comm_t *, void *)(comm, 7, -rank, &turned, NULL));
    CHECK(NCCL(ncclCommUserRank, comm_t, int *)(turned, &number));
    EXPECT(number == 1 - rank);
    CHECK(NCCL(ncclCommSplit, comm_t, int, int, comm_t *, void *)(comm, rank == 0 ? 0 : -1, 0, &alone, NULL));
    EXPECT((alone != NULL) == (rank == 0));
    put(0, own);
    CHECK(NCCL(ncclBroadcast, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], COUNT, INT32, 0, turned, stream));
    expect(1, (int[]){2, 10, 20, 31});

    // What is wrong is told.
    EXPECT(NCCL(ncclCommSplit, comm_t, int, int, comm_t *, void *)(comm, -2, 0, &alone, NULL) == 4);
    EXPECT(strstr(last_error(), "-2 is no color") != NULL);
    EXPECT(NCCL(ncclAllReduce, const void *, void *, size_t, int, int, comm_t, stream_t)(memory[0], memory[1], COUNT, INT32, 99, comm, stream) == 4);
    EXPECT(strcmp(((const char *(*)(int))find(nccl, "ncclGetErrorString"))(4), "invalid argument") == 0);
    int state = -1;
    CHECK(NCCL(ncclCommGetAsyncError, comm_t, int *)(comm, &state));
    EXPECT(state == 0);

    CHECK(NCCL(ncclCommFinalize, comm_t)(turned));
    CHECK(NCCL(ncclCommDestroy, comm_t)(turned));
    CHECK(NCCL(ncclCommDestroy, comm_t)(comm));
    EXPECT(NCCL(ncclCommCount, comm_t, int *)(comm, &number) == 4);
    for (int i = 0; i < 2; i++) CHECK(NCCL(ncclMemFree, void *)(memory[i]));
    printf("rank %d is right\n", rank);
    return 0;
}

int main(int count, char **arguments) {
    EXPECT(count == 3);
    if (strcmp(arguments[1], "-") == 0) {
        nccl = load(arguments[2]);
        int version = 0;
        CHECK(NCCL(ncclGetVersion, int *)(&version));
        EXPECT(version >= 21800);
        comm_t comm;
        int result = NCCL(ncclCommInitAll, comm_t *, int, const int *)(&comm, 1, NULL);
        // The driver is there, and has not been initialised.
        int found = strstr(last_error(), "CUDA_ERROR_NOT_INITIALIZED") != NULL;
        if (result != 1 || !found) {
            printf("ncclCommInitAll answered %d: %s\n", result, last_error());
            return 5;
        }
        printf("a driver was found\n");
        return 0;
    }
    int ends[2];
    EXPECT(pipe(ends) == 0);
    pid_t ranks[2];
    for (int rank = 0; rank < 2; rank++) {
        ranks[rank] = fork();
        if (ranks[rank] == 0) return rank_of_this_process(rank, ends, arguments[1], arguments[2]);
    }
    int failed = 0;
    for (int rank = 0; rank < 2; rank++) {
        int status;
        waitpid(ranks[rank], &status, 0);
        failed |= status;
    }
    return failed != 0;
}
