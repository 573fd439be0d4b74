// How far the ray through each pixel goes until it meets a scene: a block with a ball cut out and a ball beside it, on a floor.
static __device__ float ball(float3 p, float3 centre, float radius) {
    const float3 d = make_float3(p.x - centre.x, p.y - centre.y, p.z - centre.z);
    return sqrtf(d.x * d.x + d.y * d.y + d.z * d.z) - radius;
}

static __device__ float block(float3 p, float3 centre, float3 size, float round) {
    const float x = fabsf(p.x - centre.x) - size.x, y = fabsf(p.y - centre.y) - size.y, z = fabsf(p.z - centre.z) - size.z;
    const float inside = fmaxf(fmaxf(x, y), z);
    const float px = fmaxf(x, 0.0f), py = fmaxf(y, 0.0f), pz = fmaxf(z, 0.0f);
    return sqrtf(px * px + py * py + pz * pz) + fminf(inside, 0.0f) - round;
}

static __device__ float blend(float a, float b, float width) {
    const float part = fminf(fmaxf(0.5f + 0.5f * (b - a) / width, 0.0f), 1.0f);
    return b + (a - b) * part - width * part * (1.0f - part);
}

static __device__ float scene(float3 p) {
    const float whole = block(p, make_float3(-0.8f, 0.0f, 4.0f), make_float3(0.7f, 0.6f, 0.8f), 0.1f);
    const float hole = ball(p, make_float3(-0.5f, 0.5f, 3.4f), 0.6f);
    const float both = blend(fmaxf(whole, -hole), ball(p, make_float3(0.9f, 0.1f, 3.5f), 0.8f), 0.4f);
    return blend(p.y + 1.0f, both, 0.3f);
}

extern "C" __global__ void ray_march(float* __restrict__ distances, unsigned rows, unsigned columns, unsigned stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    const float width = columns, height = rows;
    float x = (column - width / 2.0f) / width, y = (height / 2.0f - row) / width, z = 1.0f;
    const float size = sqrtf(x * x + y * y + z * z);
    x /= size;
    y /= size;
    z /= size;
    float way = 0.0f;
    for (int step = 0; step < 64; step++) {
        const float distance = scene(make_float3(x * way, y * way, z * way));
        way += distance;
        if (distance < 1e-5f || way > 20.0f) break;
    }
    distances[(size_t)row * stride + column] = fminf(way, 20.0f);
}
