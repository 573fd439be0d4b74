// The nearest triangle of each ray (Möller and Trumbore).
struct Ray {
    float3 origin, direction;
};

struct Hit {
    unsigned triangle;
    float distance;
};

struct Triangle {
    float3 a, b, c;
};

static __device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static __device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static __device__ float3 minus(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }

static __device__ bool meet(const Ray& ray, const Triangle& triangle, float& distance) {
    const float3 ab = minus(triangle.b, triangle.a), ac = minus(triangle.c, triangle.a);
    const float3 p = cross(ray.direction, ac);
    const float determinant = dot(ab, p);
    if (fabsf(determinant) < 1e-6f) return false;
    const float inverse = 1.0f / determinant;
    const float3 from = minus(ray.origin, triangle.a);
    const float u = dot(from, p) * inverse;
    if (u < 0.0f || u > 1.0f) return false;
    const float3 q = cross(from, ab);
    const float v = dot(ray.direction, q) * inverse;
    if (v < 0.0f || u + v > 1.0f) return false;
    distance = dot(ac, q) * inverse;
    return distance > 0.0f;
}

extern "C" __global__ void ray_triangles(const Ray* __restrict__ rays, size_t rays_len, const Triangle* __restrict__ triangles,
                                         size_t count, Hit* __restrict__ hits, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Ray ray = rays[i];
    Hit nearest = {0xffffffffu, INFINITY};
    for (int number = 0; number < count; number++) {
        float distance;
        if (meet(ray, triangles[number], distance) && distance < nearest.distance) {
            nearest.triangle = number;
            nearest.distance = distance;
        }
    }
    hits[i] = nearest;
}
