// Where each point is after so many steps of dt, by Lorenz's equations and the method of Runge and Kutta.
static __device__ float3 slope(float3 p, float rho) {
    return make_float3(10.0f * (p.y - p.x), p.x * (rho - p.z) - p.y, p.x * p.y - 8.0f / 3.0f * p.z);
}

static __device__ float3 along(float3 p, float by, float3 s) { return make_float3(p.x + by * s.x, p.y + by * s.y, p.z + by * s.z); }

extern "C" __global__ void lorenz(const float3* __restrict__ points, size_t points_len, const float* __restrict__ constants,
                                  size_t constants_len, float dt, unsigned steps, float3* __restrict__ last, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float rho = constants[i];
    float3 p = points[i];
    for (int step = 0; step < steps; step++) {
        const float3 a = slope(p, rho);
        const float3 b = slope(along(p, dt / 2.0f, a), rho);
        const float3 c = slope(along(p, dt / 2.0f, b), rho);
        const float3 d = slope(along(p, dt, c), rho);
        p.x += dt / 6.0f * (a.x + 2.0f * b.x + 2.0f * c.x + d.x);
        p.y += dt / 6.0f * (a.y + 2.0f * b.y + 2.0f * c.y + d.y);
        p.z += dt / 6.0f * (a.z + 2.0f * b.z + 2.0f * c.z + d.z);
    }
    last[i] = p;
}
