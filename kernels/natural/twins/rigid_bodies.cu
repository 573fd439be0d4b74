// Moves each rigid body on by dt, a thread a body; inertia is that of turns about each axis.
struct Quaternion {
    float w, x, y, z;
};

struct Body {
    float3 position, velocity;
    Quaternion orientation;
    float3 spin;
};

static __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
static __device__ float3 operator*(float3 a, float by) { return make_float3(a.x * by, a.y * by, a.z * by); }
static __device__ float3 operator*(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }

static __device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static __device__ Quaternion operator*(Quaternion a, Quaternion b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static __device__ Quaternion operator+(Quaternion a, Quaternion b) { return {a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z}; }

static __device__ Quaternion normalised(Quaternion q) {
    const float scale = 1.0f / sqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return {q.w * scale, q.x * scale, q.y * scale, q.z * scale};
}

extern "C" __global__ void rigid_bodies(float dt, float3 gravity, float3 inertia, Body* __restrict__ bodies, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Body body = bodies[i];
    body.velocity = body.velocity + gravity * dt;
    body.position = body.position + body.velocity * dt;

    const float3 torque = cross(body.spin * inertia, body.spin);
    body.spin = body.spin + torque * make_float3(1.0f / inertia.x, 1.0f / inertia.y, 1.0f / inertia.z) * dt;
    const float3 half = body.spin * (0.5f * dt);
    const Quaternion turn = {0.0f, half.x, half.y, half.z};
    body.orientation = normalised(body.orientation + turn * body.orientation);
    bodies[i] = body;
}
