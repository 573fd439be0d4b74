// The texts, numbers, words and the depth of each line of JSON, the bytes from starts[i] to starts[i + 1]; 0xffffffff where it is wrong.
enum State { BETWEEN, TEXT, ESCAPE, NUMBER, WORD };

static __device__ bool is_digit(char c) { return c >= '0' && c <= '9'; }
static __device__ bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

static __device__ bool tokens(const char* text, int at, int end, uint4& counts) {
    State state = BETWEEN;
    unsigned texts = 0, numbers = 0, words = 0, depth = 0, deepest = 0;
    for (; at < end; at++) {
        const char c = text[at];
        if (state == TEXT) {
            if (c == '\\') state = ESCAPE;
            else if (c == '"') state = BETWEEN;
            continue;
        }
        if (state == ESCAPE) {
            state = TEXT;
            continue;
        }
        if (state == NUMBER && (is_digit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-')) continue;
        if (state == WORD && is_letter(c)) continue;
        if (c == '"') {
            texts++;
            state = TEXT;
        } else if (c == '-' || is_digit(c)) {
            numbers++;
            state = NUMBER;
        } else if (is_letter(c)) {
            words++;
            state = WORD;
        } else {
            state = BETWEEN;
            switch (c) {
                case '{':
                case '[':
                    depth++;
                    deepest = max(deepest, depth);
                    break;
                case '}':
                case ']':
                    if (depth == 0) return false;
                    depth--;
                    break;
                case ' ':
                case '\t':
                case '\r':
                case '\n':
                case ',':
                case ':':
                    break;
                default:
                    return false;
            }
        }
    }
    counts = make_uint4(texts, numbers, words, deepest);
    return depth == 0 && state != TEXT && state != ESCAPE;
}

extern "C" __global__ void json_tokens(const char* __restrict__ text, size_t text_len, const unsigned* __restrict__ starts,
                                       size_t starts_len, unsigned (*__restrict__ counts)[4], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 own;
    if (!tokens(text, starts[i], starts[i + 1], own)) own = make_uint4(0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff);
    counts[i][0] = own.x;
    counts[i][1] = own.y;
    counts[i][2] = own.z;
    counts[i][3] = own.w;
}
