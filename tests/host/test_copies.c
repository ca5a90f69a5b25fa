/* SPDX-License-Identifier: MIT */
/* rows: H08 H13 H07
 * Copies in one and two dimensions, fills. */
#include "check.h"

/* A byte that depends on its place. */
static unsigned char byte_at(size_t i)
{
    return (unsigned char)(i * 167 + (i >> 8) * 59 + 13);
}

static void one_dimension(void **state)
{
    enum { N = 70000, ROOM = N + 64 };
    static const size_t sizes[] = { 1, 2, 3, 7, 8, 15, 16, 17, 63, 255, 4097, 65536, N };
    unsigned char *source = host_memory(ROOM), *seen = host_memory(ROOM), *a = device_memory(ROOM),
                  *b = device_memory(ROOM);
    (void)state;
    for (size_t i = 0; i < ROOM; i++)
        source[i] = byte_at(i);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        for (size_t shift = 0; shift < 3; shift++) {
            size_t n = sizes[i], from = shift * 5, to = shift * 3; /* pointers of every alignment */
            check_ok(cgx_fill_u8(test_queue, a, 1, ROOM));
            check_ok(cgx_fill_u8(test_queue, b, 2, ROOM));
            memset(seen, 3, ROOM);
            check_ok(cgx_copy(test_queue, a + to, source + from, n)); /* host to device, on the device, back */
            check_ok(cgx_copy(test_queue, b + from, a + to, n));
            check_ok(cgx_copy(test_queue, seen, b, ROOM));
            check_ok(cgx_queue_wait(test_queue));
            for (size_t k = 0; k < ROOM; k++) {
                int expected = k >= from && k < from + n ? source[k] : 2;
                if (seen[k] != expected)
                    fail_msg("%zu bytes: byte %zu is %d, not %d", n, k, seen[k], expected);
            }
        }
    memset(seen, 0, ROOM); /* host to host */
    check_ok(cgx_copy(test_queue, seen, source, N));
    check_ok(cgx_queue_wait(test_queue));
    assert_memory_equal(seen, source, N);
    free(source);
    free(seen);
    device_free(a);
    device_free(b);
}

static void two_dimensions(void **state)
{
    static const struct {
        size_t width, height, source_pitch, destination_pitch;
    } rows[] = {
        { 1, 1, 1, 1 },       { 16, 8, 16, 16 },  { 16, 8, 32, 16 },
        { 16, 8, 16, 24 },    { 13, 9, 17, 29 },  { 1, 100, 3, 5 },
        { 200, 2, 256, 512 }, { 64, 64, 64, 64 }, { 7, 1, 0, 0 } /* one row has no pitch */,
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t w = rows[i].width, h = rows[i].height, sp = rows[i].source_pitch, dp = rows[i].destination_pitch;
        size_t room = (sp > dp ? sp : dp) * h + w;
        unsigned char *source = host_memory(room), *seen = host_memory(room);
        unsigned char *a = device_memory(room), *b = device_memory(room);
        for (size_t k = 0; k < room; k++)
            source[k] = byte_at(k);
        check_ok(cgx_fill_u8(test_queue, b, 9, room));
        check_ok(cgx_copy_2d(test_queue, a, sp, source, sp, w, h));
        check_ok(cgx_copy_2d(test_queue, b, dp, a, sp, w, h));
        check_ok(cgx_copy(test_queue, seen, b, room));
        check_ok(cgx_queue_wait(test_queue));
        for (size_t k = 0; k < room; k++) {
            size_t row = dp ? k / dp : 0, column = dp ? k % dp : k;
            int expected = row < h && column < w ? source[row * sp + column] : 9;
            if (seen[k] != expected)
                fail_msg("case %zu: byte %zu is %d, not %d", i, k, seen[k], expected);
        }
        free(source);
        free(seen);
        device_free(a);
        device_free(b);
    }
}

static void copies_of_nothing(void **state)
{
    char byte = 5;
    cgx_device *device = NULL;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_ok(cgx_copy(test_queue, NULL, NULL, 0));
    check_ok(cgx_copy(test_queue, &byte, NULL, 0));
    check_ok(cgx_copy_2d(test_queue, NULL, 0, NULL, 0, 0, 5));
    check_ok(cgx_copy_2d(test_queue, NULL, 0, NULL, 0, 5, 0));
    check_ok(cgx_copy_2d(test_queue, NULL, 1, NULL, 1, 0, SIZE_MAX));
    check_ok(cgx_copy_peer(test_queue, NULL, NULL, device, 0));
    check_ok(cgx_fill(test_queue, NULL, &byte, 1, 0));
    check_ok(cgx_fill_u8(test_queue, NULL, 0, 0));
    check_ok(cgx_fill_f64(test_queue, NULL, 0, 0));
    check_finished();
    assert_int_equal(byte, 5);
}

static void bad_copies(void **state)
{
    char a[64] = { 0 }, b[64] = { 0 };
    cgx_device *device = NULL;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_says(cgx_copy(test_queue, NULL, b, 1), CGX_ERROR_INVALID, "cgx_copy", "destination", "NULL");
    check_says(cgx_copy(test_queue, a, NULL, 1), CGX_ERROR_INVALID, "cgx_copy", "source", "NULL");
    check_says(cgx_copy_2d(test_queue, a, 8, b, 7, 8, 2), CGX_ERROR_INVALID, "cgx_copy_2d", "8 bytes", "8 and 7",
               "pitch");
    check_says(cgx_copy_2d(test_queue, a, 7, b, 8, 8, 2), CGX_ERROR_INVALID, "cgx_copy_2d", "7 and 8", "pitch");
    check_says(cgx_copy_2d(test_queue, a, 0, b, 0, 1, 2), CGX_ERROR_INVALID, "pitch");
    check_says(cgx_copy_2d(test_queue, a, SIZE_MAX / 2, b, 8, 8, 4), CGX_ERROR_INVALID, "cgx_copy_2d", "addresses");
    check_says(cgx_copy_2d(test_queue, a, 8, b, SIZE_MAX / 2, 8, 4), CGX_ERROR_INVALID, "addresses");
    check_says(cgx_copy_2d(test_queue, a, SIZE_MAX, b, SIZE_MAX, SIZE_MAX, 2), CGX_ERROR_INVALID, "addresses");
    check_says(cgx_copy_2d(test_queue, a, 8, b, 8, 8, SIZE_MAX), CGX_ERROR_INVALID, "addresses");
    check_says(cgx_copy_peer(test_queue, NULL, b, device, 1), CGX_ERROR_INVALID, "cgx_copy_peer", "NULL");
    check_says(cgx_copy_peer(test_queue, a, NULL, device, 1), CGX_ERROR_INVALID, "cgx_copy_peer", "NULL");
    check_says(cgx_copy_peer(test_queue, a, b, NULL, 1), CGX_ERROR_INVALID, "cgx_copy_peer", "NULL");
    check_ok(cgx_queue_wait(test_queue));
    for (size_t i = 0; i < sizeof a; i++)
        assert_int_equal(a[i], 0);
}

/* Between all pairs of devices there are, through whatever way there is. */
static void copies_between_devices(void **state)
{
    enum { N = 10001 };
    unsigned char *host = host_memory(N), *seen = host_memory(N);
    (void)state;
    for (size_t i = 0; i < N; i++)
        host[i] = byte_at(i);
    for (int i = 0; i < cgx_backend_count(); i++)
        for (int j = 0; j < cgx_backend_count(); j++) {
            cgx_backend_info from = CGX_BACKEND_INFO_INIT, to = CGX_BACKEND_INFO_INIT;
            check_ok(cgx_backend_get_info(i, &from));
            check_ok(cgx_backend_get_info(j, &to));
            for (int k = 0; k < from.device_count; k++)
                for (int l = 0; l < to.device_count; l++) {
                    cgx_device *source = NULL, *destination = NULL;
                    cgx_queue *sq = NULL, *dq = NULL;
                    void *s = NULL, *d = NULL;
                    check_ok(cgx_device_get(from.name, k, &source));
                    check_ok(cgx_device_get(to.name, l, &destination));
                    check_ok(cgx_queue_create(source, &sq));
                    check_ok(cgx_queue_create(destination, &dq));
                    check_ok(cgx_alloc(sq, N, CGX_MEM_DEVICE, &s));
                    check_ok(cgx_alloc(dq, N, CGX_MEM_DEVICE, &d));
                    check_ok(cgx_copy(sq, s, host, N));
                    check_ok(cgx_queue_wait(sq));
                    cgx_status status = cgx_copy_peer(dq, d, s, source, N);
                    if (status == CGX_ERROR_UNSUPPORTED) { /* says which two, and the way round */
                        check_says(status, CGX_ERROR_UNSUPPORTED, from.name, to.name, "host memory");
                    } else {
                        check_ok(status);
                        memset(seen, 0, N);
                        check_ok(cgx_copy(dq, seen, d, N));
                        check_ok(cgx_queue_wait(dq));
                        assert_memory_equal(seen, host, N);
                    }
                    check_ok(cgx_free(sq, s));
                    check_ok(cgx_free(dq, d));
                    check_ok(cgx_queue_close(&sq));
                    check_ok(cgx_queue_close(&dq));
                }
        }
    free(host);
    free(seen);
}

static void patterns(void **state)
{
    enum { ROOM = 70000 };
    static const size_t bytes[] = { 1, 2, 4, 8, 16 }, counts[] = { 1, 2, 3, 5, 255, 256, 257, 1000, 4095, 4096, 4097 };
    unsigned char *device = device_memory(ROOM), *seen = host_memory(ROOM);
    (void)state;
    for (size_t p = 0; p < COUNT_OF(bytes); p++)
        for (size_t c = 0; c < COUNT_OF(counts); c++) {
            unsigned char pattern[16];
            size_t n = bytes[p] * counts[c], at = 16; /* aligned to the pattern */
            for (size_t i = 0; i < sizeof pattern; i++)
                pattern[i] = (unsigned char)(byte_at(i + 100 * p) | 1);
            check_ok(cgx_fill_u8(test_queue, device, 0, ROOM));
            check_ok(cgx_fill(test_queue, device + at, pattern, bytes[p], counts[c]));
            unsigned char kept[16];
            memcpy(kept, pattern, sizeof kept);
            memset(pattern, 0, sizeof pattern); /* it was read before the call returned */
            fetch(seen, device, ROOM);
            for (size_t i = 0; i < ROOM; i++) {
                int expected = i >= at && i < at + n ? kept[(i - at) % bytes[p]] : 0;
                if (seen[i] != expected)
                    fail_msg("%zu x %zu bytes: byte %zu is %d, not %d", counts[c], bytes[p], i, seen[i], expected);
            }
        }
    free(seen);
    device_free(device);
}

static void typed_fills(void **state)
{
    enum { N = 1001 };
    double *device = device_memory((N + 1) * sizeof *device);
    void *seen = host_memory((N + 1) * sizeof *device);
    (void)state;
#define CASE(suffix, T, value)                                                  \
    do {                                                                        \
        const T *at = seen;                                                     \
        check_ok(cgx_fill_u8(test_queue, device, 0, (N + 1) * sizeof *device)); \
        check_ok(cgx_fill_##suffix(test_queue, device, value, N));              \
        fetch(seen, device, (N + 1) * sizeof *device);                          \
        for (int i = 0; i < N; i++)                                             \
            assert_true(at[i] == (value));                                      \
        assert_true(at[N] == 0);                                                \
    } while (0)
    CASE(u8, uint8_t, 0xfe);
    CASE(i32, int32_t, -123456789);
    CASE(i64, int64_t, -1234567890123456789);
    CASE(f32, float, -1.5e-30f);
    CASE(f64, double, 3.141592653589793e200);
#undef CASE
    free(seen);
    device_free(device);
}

static void bad_fills(void **state)
{
    static const size_t bad[] = { 0, 3, 5, 6, 7, 9, 12, 15, 17, 32, SIZE_MAX };
    char memory[64] = { 0 }, pattern[64] = { 1 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        check_says(cgx_fill(test_queue, memory, pattern, bad[i], 1), CGX_ERROR_INVALID, "cgx_fill",
                   "1, 2, 4, 8 and 16");
    check_says(cgx_fill(test_queue, NULL, pattern, 4, 1), CGX_ERROR_INVALID, "cgx_fill", "NULL");
    check_says(cgx_fill(test_queue, memory, NULL, 4, 1), CGX_ERROR_INVALID, "cgx_fill", "NULL");
    check_says(cgx_fill(test_queue, memory, pattern, 2, SIZE_MAX / 2 + 1), CGX_ERROR_INVALID, "addresses");
    check_says(cgx_fill(test_queue, memory, pattern, 16, SIZE_MAX / 8), CGX_ERROR_INVALID, "addresses");
    check_says(cgx_fill_f64(test_queue, memory, 1, SIZE_MAX), CGX_ERROR_INVALID, "addresses");
    check_ok(cgx_queue_wait(test_queue));
    for (size_t i = 0; i < sizeof memory; i++)
        assert_int_equal(memory[i], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_dimension),
        cmocka_unit_test(two_dimensions),
        cmocka_unit_test(copies_of_nothing),
        cmocka_unit_test(bad_copies),
        cmocka_unit_test(copies_between_devices),
        cmocka_unit_test(patterns),
        cmocka_unit_test(typed_fills),
        cmocka_unit_test(bad_fills),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("copies", tests, NULL, NULL));
}
