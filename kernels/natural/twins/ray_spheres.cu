// How far the nearest sphere is at each pixel; 0 where there is none.
struct Sphere {
    float3 centre;
    float radius;
};

struct Ray {
    float3 origin, direction;
};

__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// How far along the ray it meets the sphere first; false where it misses.
__device__ bool hit(const Sphere& sphere, const Ray& ray, float& distance) {
    const float3 to_origin = make_float3(ray.origin.x - sphere.centre.x, ray.origin.y - sphere.centre.y, ray.origin.z - sphere.centre.z);
    const float a = dot(ray.direction, ray.direction);
    const float half_b = dot(to_origin, ray.direction);
    const float c = dot(to_origin, to_origin) - sphere.radius * sphere.radius;
    const float discriminant = half_b * half_b - a * c;
    if (discriminant < 0.0f) return false;
    const float root = sqrtf(discriminant);
    const float near = (-half_b - root) / a;
    const float far = (-half_b + root) / a;
    distance = near > 0.0f ? near : far;
    return distance > 0.0f;
}

extern "C" __global__ void ray_spheres(const Sphere* __restrict__ spheres, size_t count, float* __restrict__ depths, unsigned rows,
                                       unsigned columns, unsigned stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= columns) return;
    const float x = (float)column / columns - 0.5f;
    const float y = (float)row / rows - 0.5f;
    const Ray ray = {make_float3(0.0f, 0.0f, -3.0f), make_float3(x, y, 1.0f)};
    float nearest = INFINITY;
    for (int s = 0; s < count; s++) {
        float distance;
        if (hit(spheres[s], ray, distance) && distance < nearest) nearest = distance;
    }
    depths[(size_t)row * stride + column] = nearest == INFINITY ? 0.0f : nearest;
}
