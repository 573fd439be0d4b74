// The number of each field: the bytes from starts[i] to starts[i + 1]; -1e9 where there is none.
static __device__ bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

static __device__ bool parse(const char* text, int at, int end, float& number) {
    while (at < end && is_blank(text[at])) at++;
    while (at < end && is_blank(text[end - 1])) end--;
    bool is_negative = false;
    if (at < end && (text[at] == '-' || text[at] == '+')) is_negative = text[at++] == '-';
    if (at == end) return false;
    unsigned value = 0;
    float scale = 1.0f;
    bool has_point = false;
    for (; at < end; at++) {
        const char c = text[at];
        if (c >= '0' && c <= '9') {
            const unsigned digit = c - '0';
            if (value > (0xffffffffu - digit) / 10) return false;
            value = value * 10 + digit;
            if (has_point) scale *= 10.0f;
        } else if (c == '.' && !has_point) {
            has_point = true;
        } else {
            return false;
        }
    }
    number = value / scale;
    if (is_negative) number = -number;
    return true;
}

extern "C" __global__ void parse_numbers(const char* __restrict__ text, size_t text_len, const unsigned* __restrict__ starts,
                                         size_t starts_len, float* __restrict__ numbers, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float number;
    numbers[i] = parse(text, starts[i], starts[i + 1], number) ? number : -1e9f;
}
