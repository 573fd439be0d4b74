// A program that knows nothing of warpsmith: it finds the CUDA driver by dlopen, as any does, and adds two vectors.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*proc_address_t)(const char *, void **, int, unsigned long long, int *);

static void *library;
static proc_address_t proc_address;

static void *find(const char *name, int version) {
    void *address = NULL;
    int status = -1;
    if (proc_address(name, &address, version, 0, &status) != 0 || status != 0 || address == NULL) {
        fprintf(stderr, "cuGetProcAddress found no %s (status %d)\n", name, status);
        exit(2);
    }
    return address;
}

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int result = (call);                                                                                           \
        if (result != 0) {                                                                                             \
            fprintf(stderr, "%s answered %d\n", #call, result);                                                        \
            exit(3);                                                                                                   \
        }                                                                                                              \
    } while (0)

static const char *PTX =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>;\n  .reg .b32 %r<6>;\n  .reg .f32 %f<4>;\n  .reg .b64 %rd<11>;\n"
    "  ld.param.u64 %rd1, [a];\n  ld.param.u64 %rd2, [b];\n  ld.param.u64 %rd3, [c];\n  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %p1, %r5, %r1;\n  @%p1 bra DONE;\n"
    "  mul.wide.u32 %rd4, %r5, 4;\n  add.s64 %rd5, %rd1, %rd4;\n  add.s64 %rd6, %rd2, %rd4;\n  add.s64 %rd7, %rd3, %rd4;\n"
    "  ld.global.f32 %f1, [%rd5];\n  ld.global.f32 %f2, [%rd6];\n  add.f32 %f3, %f1, %f2;\n  st.global.f32 [%rd7], %f3;\n"
    "DONE:\n  ret;\n}\n";

int main(void) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    proc_address = (proc_address_t)dlsym(library, "cuGetProcAddress_v2");
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(library, "cuInit");
    int (*versioned)(unsigned long long *, size_t) = (int (*)(unsigned long long *, size_t))dlsym(library, "cuMemAlloc_v2");
    if (proc_address == NULL || init == NULL || versioned == NULL || find("cuMemAlloc", 12000) == NULL) {
        return 1;
    }
    CHECK(init(0));
    void *context, *module, *function, *stream;
    CHECK(((int (*)(void **, unsigned, int))find("cuCtxCreate", 3020))(&context, 0, 0));
    CHECK(((int (*)(void **, const void *))find("cuModuleLoadData", 2000))(&module, PTX));
    CHECK(((int (*)(void **, void *, const char *))find("cuModuleGetFunction", 2000))(&function, module, "add"));
    CHECK(((int (*)(void **, unsigned))find("cuStreamCreate", 2000))(&stream, 1));

    unsigned count = 1000;
    size_t bytes = count * sizeof(float);
    float *host[3];
    unsigned long long device[3];
    for (int i = 0; i < 3; i++) {
        host[i] = malloc(bytes);
        for (unsigned k = 0; k < count; k++) host[i][k] = i == 2 ? -1.0f : (float)(k * (i + 1));
        CHECK(versioned(&device[i], bytes));
        CHECK(((int (*)(unsigned long long, const void *, size_t))find("cuMemcpyHtoD", 3020))(device[i], host[i], bytes));
    }
    void *arguments[] = {&device[0], &device[1], &device[2], &count};
    typedef int (*launch_t)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    CHECK(((launch_t)find("cuLaunchKernel", 4000))(function, 4, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
    CHECK(((int (*)(void *))find("cuStreamSynchronize", 2000))(stream));
    CHECK(((int (*)(void *, unsigned long long, size_t))find("cuMemcpyDtoH", 3020))(host[2], device[2], bytes));
    for (unsigned k = 0; k < count; k++) {
        if (host[2][k] != (float)(3 * k)) {
            fprintf(stderr, "element %u is %f\n", k, host[2][k]);
            return 4;
        }
    }
    // What is not implemented says so, by code and by name.
    int (*missing)(void) = (int (*)(void))dlsym(library, "cuGreenCtxCreate");
    if (missing == NULL || missing() != 801) return 5;
    printf("%u sums are right\n", count);
    return 0;
}
