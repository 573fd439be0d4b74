// The acceleration of each body; a body is its place and, as w, its mass.
extern "C" __global__ void __launch_bounds__(256) nbody(const float4* __restrict__ bodies, size_t n, float3* __restrict__ accelerations,
                                                        size_t out_len) {
    __shared__ float4 tile[256];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 sum = make_float3(0, 0, 0);
    for (int start = 0; start < n; start += 256) {
        const int j = start + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            const float4 other = tile[k];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
            const float force = other.w * inverse * inverse * inverse;
            sum.x += force * dx;
            sum.y += force * dy;
            sum.z += force * dz;
        }
    }
    if (i < out_len) accelerations[i] = sum;
}
