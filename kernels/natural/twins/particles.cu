// Moves each particle on by dt, under gravity; walls of the box from -1 to 1 throw it back.
struct Particle {
    float position[3];
    float velocity[3];
    float mass;
    unsigned bounces;
};

extern "C" __global__ void particles(float dt, float gravity, Particle* __restrict__ particles, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Particle& particle = particles[i];
    particle.velocity[1] -= gravity * particle.mass * dt;
    for (int j = 0; j < 3; j++) {
        particle.position[j] += particle.velocity[j] * dt;
        if (fabsf(particle.position[j]) > 1.0f) {
            particle.velocity[j] = -particle.velocity[j];
            particle.position[j] = fminf(fmaxf(particle.position[j], -1.0f), 1.0f);
            particle.bounces++;
        }
    }
}
