// The status and the size of each line, behind its last quotation mark: the bytes from starts[i] to starts[i + 1].
#define NONE 0xffffffffu

static __device__ bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

// The number of the next word; moves behind it.
static __device__ unsigned next_number(const char* text, int& at, int end) {
    while (at < end && is_blank(text[at])) at++;
    if (at == end) return NONE;
    unsigned number = 0;
    bool is_number = true;
    for (; at < end && !is_blank(text[at]); at++) {
        const char c = text[at];
        if (!is_number) continue;
        const unsigned digit = c - '0';
        if (digit > 9 || number > (0xffffffffu - digit) / 10) {
            is_number = false;
        } else {
            number = number * 10 + digit;
        }
    }
    return is_number ? number : NONE;
}

extern "C" __global__ void log_status(const char* __restrict__ text, size_t text_len, const unsigned* __restrict__ starts,
                                      size_t starts_len, uint2* __restrict__ found, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int start = starts[i], end = starts[i + 1];
    int quote = end - 1;
    while (quote >= start && text[quote] != '"') quote--;
    uint2 numbers = make_uint2(NONE, NONE);
    if (quote >= start) {
        int at = quote + 1;
        numbers.x = next_number(text, at, end);
        numbers.y = next_number(text, at, end);
    }
    found[i] = numbers;
}
