// Where each vertex is moved by its four bones, whose turns are quaternions.
struct Bone {
    float turn[4];
    float offset[3];
};

struct Vertex {
    float position[3];
    float weights[4];
    unsigned short bones[4];
};

static __device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

static __device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static __device__ float4 turn_of(const Bone& bone) { return make_float4(bone.turn[0], bone.turn[1], bone.turn[2], bone.turn[3]); }

extern "C" __global__ void skinning(const Vertex* __restrict__ vertices, size_t vertices_len, const Bone* __restrict__ bones,
                                    size_t bones_len, float3* __restrict__ moved, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Vertex& vertex = vertices[i];
    const float3 p = make_float3(vertex.position[0], vertex.position[1], vertex.position[2]);
    const float4 first = turn_of(bones[vertex.bones[0]]);
    float4 turn = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float3 offset = make_float3(0.0f, 0.0f, 0.0f);
    bool is_moved = false;
    for (int j = 0; j < 4; j++) {
        const float weight = vertex.weights[j];
        if (weight > 0.0f) {
            const Bone& bone = bones[vertex.bones[j]];
            const float4 own = turn_of(bone);
            const float by = dot(own, first) < 0.0f ? -weight : weight;
            turn.x += own.x * by;
            turn.y += own.y * by;
            turn.z += own.z * by;
            turn.w += own.w * by;
            offset.x += bone.offset[0] * weight;
            offset.y += bone.offset[1] * weight;
            offset.z += bone.offset[2] * weight;
            is_moved = true;
        }
    }
    if (!is_moved) {
        moved[i] = p;
        return;
    }
    const float scale = 1.0f / sqrtf(dot(turn, turn));
    const float3 axis = make_float3(turn.x * scale, turn.y * scale, turn.z * scale);
    const float scalar = turn.w * scale;
    float3 twice = cross(axis, p);
    twice = make_float3(twice.x * 2.0f, twice.y * 2.0f, twice.z * 2.0f);
    const float3 across = cross(axis, twice);
    moved[i] = make_float3(p.x + twice.x * scalar + across.x + offset.x, p.y + twice.y * scalar + across.y + offset.y,
                           p.z + twice.z * scalar + across.z + offset.z);
}
