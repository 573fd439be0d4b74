// The samples of each block of 36 bytes of sound packed to four bits a sample (IMA ADPCM), whose head has the sample before and the first
// step.
static __constant__ int STEPS[89] = {
    7,    8,    9,    10,   11,   12,   13,   14,   16,   17,   19,   21,   23,    25,    28,    31,    34,    37,
    41,   45,   50,   55,   60,   66,   73,   80,   88,   97,   107,  118,  130,   143,   157,   173,   190,   209,
    230,  253,  279,  307,  337,  371,  408,  449,  494,  544,  598,  658,  724,   796,   876,   963,   1060,  1166,
    1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026,  4428,  4871,  5358,  5894,  6484,
    7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};
static __constant__ int MOVES[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

struct Decoder {
    int sample, step;

    __device__ short next(int code) {
        const int size = STEPS[step];
        int difference = size >> 3;
        if (code & 1) difference += size >> 2;
        if (code & 2) difference += size >> 1;
        if (code & 4) difference += size;
        if (code & 8) difference = -difference;
        sample = min(max(sample + difference, -32768), 32767);
        step = min(max(step + MOVES[code & 7], 0), 88);
        return sample;
    }
};

extern "C" __global__ void adpcm(const unsigned char* __restrict__ bytes, size_t bytes_len, short (*__restrict__ samples)[64], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* block = bytes + (size_t)i * 36;
    Decoder decoder;
    decoder.sample = (short)(block[0] | block[1] << 8);
    decoder.step = min((int)block[2], 88);
    for (int j = 0; j < 32; j++) {
        const int codes = block[4 + j];
        samples[i][2 * j] = decoder.next(codes & 15);
        samples[i][2 * j + 1] = decoder.next(codes >> 4);
    }
}
