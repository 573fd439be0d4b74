// The largest errors of a GPU's approximate functions, over every operand: what `recorder/src/bounds.rs` allows.
//
//   nvcc -O3 -arch=sm_90 -o approximate_errors approximate_errors.cu && ./approximate_errors
//
// A result is compared with the function in double precision, rounded once to the result's type (what the simulator computes):
// `ulps` is their distance in representable values, `absolute` and `relative` the distance from the unrounded value. A line is one
// function over one range of operands. `other` counts results of another class: NaN, infinity, zero or sign against another.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#define CHECK(call)                                                                                                                \
  do {                                                                                                                             \
    cudaError_t error = call;                                                                                                      \
    if (error != cudaSuccess) {                                                                                                    \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                                               \
      return 1;                                                                                                                    \
    }                                                                                                                              \
  } while (0)

struct Worst {
  unsigned long long ulps, differ, other, count;
  unsigned long long ulps_at, other_at;
  unsigned long long absolute, relative; // Bits of non-negative doubles, which are ordered as integers.
};

__device__ float flush(float x) { return fabsf(x) < 1.17549435e-38f ? copysignf(0.0f, x) : x; }

#define UNARY(NAME, TEXT, FTZ, EXACT)                                                                                              \
  struct NAME {                                                                                                                    \
    static const char *name() { return TEXT; }                                                                                     \
    static __device__ float approximate(float x) {                                                                                 \
      float y;                                                                                                                     \
      asm(TEXT " %0, %1;" : "=f"(y) : "f"(x));                                                                                     \
      return y;                                                                                                                    \
    }                                                                                                                              \
    static __device__ double exact(double x) { return EXACT; }                                                                     \
    static constexpr bool ftz = FTZ;                                                                                               \
  };

UNARY(Rcp, "rcp.approx.f32", false, 1.0 / x)
UNARY(RcpFtz, "rcp.approx.ftz.f32", true, 1.0 / x)
UNARY(Sqrt, "sqrt.approx.f32", false, sqrt(x))
UNARY(SqrtFtz, "sqrt.approx.ftz.f32", true, sqrt(x))
UNARY(Rsqrt, "rsqrt.approx.f32", false, 1.0 / sqrt(x))
UNARY(RsqrtFtz, "rsqrt.approx.ftz.f32", true, 1.0 / sqrt(x))
UNARY(Ex2, "ex2.approx.f32", false, exp2(x))
UNARY(Ex2Ftz, "ex2.approx.ftz.f32", true, exp2(x))
UNARY(Lg2, "lg2.approx.f32", false, log2(x))
UNARY(Lg2Ftz, "lg2.approx.ftz.f32", true, log2(x))
UNARY(Sin, "sin.approx.f32", false, sin(x))
UNARY(SinFtz, "sin.approx.ftz.f32", true, sin(x))
UNARY(Cos, "cos.approx.f32", false, cos(x))
UNARY(CosFtz, "cos.approx.ftz.f32", true, cos(x))
UNARY(Tanh, "tanh.approx.f32", false, tanh(x))

__device__ void compare(Worst &worst, float found, double exact, bool ftz, unsigned long long at) {
  float rounded = (float)exact;
  if (ftz) rounded = flush(rounded);
  worst.count++;
  bool numbers = !isnan(found) && !isnan(rounded);
  uint32_t a = __float_as_uint(found), b = __float_as_uint(rounded);
  if (!numbers || isinf(found) || isinf(rounded)) {
    // Beyond the largest number the next one is an infinity: a distance, where the signs agree.
    if (!(isnan(found) && isnan(rounded)) && a != b) {
      worst.differ++;
      if (!numbers || (a ^ b) >> 31) {
        worst.other++;
        worst.other_at = at;
        return;
      }
    } else {
      return;
    }
  }
  if (a == b) {
    if (!isinf(rounded)) {
      unsigned long long error = __double_as_longlong(fabs((double)found - exact));
      if (error > worst.absolute) worst.absolute = error;
    }
    return;
  }
  worst.differ++;
  if ((a ^ b) >> 31 && (a << 1) != 0 && (b << 1) != 0) {
    worst.other++;
    worst.other_at = at;
  }
  unsigned long long distance = (a ^ b) >> 31 ? (unsigned long long)(a & 0x7fffffff) + (b & 0x7fffffff) : (a > b ? a - b : b - a);
  if (distance > worst.ulps) {
    worst.ulps = distance;
    worst.ulps_at = at;
  }
  if (isinf(found) || isinf(rounded)) return;
  unsigned long long absolute = __double_as_longlong(fabs((double)found - exact));
  if (absolute > worst.absolute) worst.absolute = absolute;
  if (exact != 0.0) {
    unsigned long long relative = __double_as_longlong(fabs(((double)found - exact) / exact));
    if (relative > worst.relative) worst.relative = relative;
  }
}

__device__ void publish(Worst *all, const Worst &own) {
  if (atomicMax(&all->ulps, own.ulps) < own.ulps) all->ulps_at = own.ulps_at;
  atomicAdd(&all->differ, own.differ);
  if (atomicAdd(&all->other, own.other) == 0 && own.other) all->other_at = own.other_at;
  atomicAdd(&all->count, own.count);
  atomicMax(&all->absolute, own.absolute);
  atomicMax(&all->relative, own.relative);
}

// Operands whose magnitude has its bits in [first, last), of both signs.
template <class F> __global__ void unary(Worst *all, uint32_t first, uint32_t last) {
  Worst own = {};
  uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x + first; i < last; i += step) {
    for (uint32_t sign = 0; sign < 2; sign++) {
      float x = __uint_as_float((uint32_t)i | sign << 31);
      float operand = F::ftz ? flush(x) : x;
      compare(own, F::approximate(x), F::exact((double)operand), F::ftz, (uint32_t)i | sign << 31);
    }
  }
  publish(all, own);
}

__device__ uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

#define QUOTIENT(NAME, TEXT, FTZ)                                                                                                  \
  struct NAME {                                                                                                                    \
    static const char *name() { return TEXT; }                                                                                     \
    static __device__ float approximate(float x, float y) {                                                                        \
      float z;                                                                                                                     \
      asm(TEXT " %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));                                                                         \
      return z;                                                                                                                    \
    }                                                                                                                              \
    static constexpr bool ftz = FTZ;                                                                                               \
  };

QUOTIENT(DivApprox, "div.approx.f32", false)
QUOTIENT(DivApproxFtz, "div.approx.ftz.f32", true)
QUOTIENT(DivFull, "div.full.f32", false)
QUOTIENT(DivFullFtz, "div.full.ftz.f32", true)

// Every significand of the divisor with random dividends; the divisor's exponent lies in [least, most].
template <class F> __global__ void quotient(Worst *all, int least, int most, uint64_t pairs) {
  Worst own = {};
  uint64_t step = (uint64_t)gridDim.x * blockDim.x;
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += step) {
    uint64_t random = mix(i);
    uint32_t exponent = (uint32_t)(127 + least) + (uint32_t)(mix(random) % (uint64_t)(most - least + 1));
    float y = __uint_as_float((uint32_t)(i & 0x7fffff) | exponent << 23);
    // A dividend whose quotient is a normal number.
    uint32_t of = (uint32_t)(mix(random + 1) % 254) + 1;
    float x = __uint_as_float((uint32_t)(random & 0x807fffff) | of << 23);
    double exact = (double)x / (double)y;
    if (fabs(exact) < 2.4e-38 || fabs(exact) > 1.6e38) continue;
    compare(own, F::approximate(x, y), exact, F::ftz, (unsigned long long)__float_as_uint(x) << 32 | __float_as_uint(y));
  }
  publish(all, own);
}

double value(unsigned long long bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

void print(const char *name, const char *range, const Worst &w) {
  printf("| `%s` | %s | %llu | %.2f %% | %llu (0x%llx) | 2^%.2f | 2^%.2f | %llu (0x%llx) |\n", name, range, w.count,
         100.0 * w.differ / w.count, w.ulps, w.ulps_at, log2(value(w.absolute)), log2(value(w.relative)), w.other, w.other_at);
}

Worst *cell;

template <class F> int one(const char *range, uint32_t first, uint32_t last) {
  CHECK(cudaMemset(cell, 0, sizeof(Worst)));
  unary<F><<<132 * 8, 256>>>(cell, first, last);
  CHECK(cudaGetLastError());
  Worst worst;
  CHECK(cudaMemcpy(&worst, cell, sizeof worst, cudaMemcpyDeviceToHost));
  print(F::name(), range, worst);
  return 0;
}

template <class F> int all() {
  return one<F>("subnormal", 0, 0x00800000) || one<F>("normal", 0x00800000, 0x7f800000) || one<F>("infinity, NaN", 0x7f800000, 0x80000000);
}

template <class F> int angles() {
  return one<F>("up to pi", 0, 0x40490fdc) || one<F>("pi to 2 pi", 0x40490fdc, 0x40c90fdc) || one<F>("2 pi to 100 pi", 0x40c90fdc, 0x439d1464) ||
         one<F>("beyond", 0x439d1464, 0x7f800000);
}

template <class F> int divide(const char *range, int least, int most) {
  CHECK(cudaMemset(cell, 0, sizeof(Worst)));
  quotient<F><<<132 * 8, 256>>>(cell, least, most, 1ull << 34);
  CHECK(cudaGetLastError());
  Worst worst;
  CHECK(cudaMemcpy(&worst, cell, sizeof worst, cudaMemcpyDeviceToHost));
  print(F::name(), range, worst);
  return 0;
}

int main() {
  CHECK(cudaMalloc(&cell, sizeof(Worst)));
  puts("| function | operands | how many | differ | ulps (at) | absolute | relative | other (at) |\n| --- | --- | --- | --- | --- | --- | --- | --- |");
  if (all<Rcp>() || all<RcpFtz>() || all<Sqrt>() || all<SqrtFtz>() || all<Rsqrt>() || all<RsqrtFtz>()) return 1;
  if (all<Ex2>() || all<Ex2Ftz>() || all<Tanh>()) return 1;
  if (one<Lg2>("below 0.5, above 2", 0, 0x3f000000) || one<Lg2>("0.5 to 2", 0x3f000000, 0x40000000) || one<Lg2>("above 2", 0x40000000, 0x7f800000)) return 1;
  if (one<Lg2Ftz>("below 0.5", 0, 0x3f000000) || one<Lg2Ftz>("0.5 to 2", 0x3f000000, 0x40000000) || one<Lg2Ftz>("above 2", 0x40000000, 0x7f800000)) return 1;
  if (angles<Sin>() || angles<SinFtz>() || angles<Cos>() || angles<CosFtz>()) return 1;
  if (divide<DivApprox>("divisor of 2^-126 to 2^126", -126, 125) || divide<DivApproxFtz>("divisor of 2^-126 to 2^126", -126, 125)) return 1;
  if (divide<DivFull>("divisor of 2^-126 to 2^126", -126, 125) || divide<DivFullFtz>("divisor of 2^-126 to 2^126", -126, 125)) return 1;
  if (divide<DivApprox>("divisor beyond 2^126", 126, 127) || divide<DivFull>("divisor beyond 2^126", 126, 127)) return 1;
  return 0;
}
