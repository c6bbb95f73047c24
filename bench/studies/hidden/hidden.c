/*
 * hidden.c: what it costs to hide, in nanoseconds and in units of the ten AES calls that FF1 makes.
 * Rounds are interleaved, so that other load affects all rows. With an argument, one row alone
 * runs, for a tool that counts instructions. It is for x86-64 with AES instructions.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <txid.h>
#include <wmmintrin.h>

#define ROUNDS 301
#define CALLS 20000

static txid_hidden *numbers, *uuids;
static __m128i schedule[11];
static char message[TXID_MESSAGE_LEN], buf[TXID_HIDDEN_LEN];
static char image[TXID_HIDDEN_LEN], shown[TXID_HIDDEN_LEN];
static char id[] = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
static uint64_t number;

static void
check(int32_t code)
{
    if (code < 0) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
}

/* Ten blocks, of which each needs the one before: FF1 can have no less. */
__attribute__((target("aes"), noinline)) static void
ten_blocks(void)
{
    static __m128i block;

    for (int round = 0; round < 10; round++) {
        block = _mm_xor_si128(block, schedule[0]);
        for (int at = 1; at < 10; at++) {
            block = _mm_aesenc_si128(block, schedule[at]);
        }
        block = _mm_aesenclast_si128(block, schedule[10]);
    }
}

static void
hide_number(void)
{
    check(txid_hidden_hide(numbers, number++, buf, message));
}

static void
reveal_number(void)
{
    check(txid_hidden_reveal(numbers, image, 10, &number, message));
}

static void
hide_uuid(void)
{
    id[35] = "0123456789abcdef"[number++ & 15];
    check(txid_hidden_hide_text(uuids, id, 36, buf, message));
}

static void
reveal_uuid(void)
{
    check(txid_hidden_reveal_text(uuids, shown, 36, buf, message));
}

static const struct {
    const char *name;
    void (*call)(void);
} rows[] = {
    { "ten AES blocks", ten_blocks },
    { "hide a number, 10 digits", hide_number },
    { "reveal it", reveal_number },
    { "hide a UUID", hide_uuid },
    { "reveal it", reveal_uuid },
};

#define ROWS (sizeof rows / sizeof *rows)

static double taken[ROWS][ROUNDS], share[ROWS][ROUNDS];

static double
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static int
by_value(const void *one, const void *other)
{
    double difference = *(const double *) one - *(const double *) other;

    return (difference > 0) - (difference < 0);
}

static txid_hidden *
series(const char *key, const char *kind)
{
    txid_text words[] = { { strlen(key), key }, { 11, "name=orders" }, { strlen(kind), kind } };
    txid_hidden *opened;

    check(txid_hidden_open(words, 3, &opened, message));
    return opened;
}

int
main(int argc, char **argv)
{
    const char *key = getenv("KEY");

    numbers = series(key, "digits=10");
    uuids = series(key, "uuid");
    check(txid_hidden_hide(numbers, 42, image, message));
    check(txid_hidden_hide_text(uuids, id, 36, shown, message));
    if (argc > 1) {
        for (int call = 0; call < CALLS; call++) {
            rows[atoi(argv[1])].call();
        }
        return 0;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t row = 0; row < ROWS; row++) {
            double begin = now_ns();

            for (int call = 0; call < CALLS; call++) {
                rows[row].call();
            }
            taken[row][round] = (now_ns() - begin) / CALLS;
            share[row][round] = taken[row][round] / taken[0][round];
        }
    }
    for (size_t row = 0; row < ROWS; row++) {
        qsort(taken[row], ROUNDS, sizeof(double), by_value);
        qsort(share[row], ROUNDS, sizeof(double), by_value);
        printf("%-26s %7.1f %7.1f %7.2f\n", rows[row].name, taken[row][0],
               taken[row][ROUNDS / 2], share[row][ROUNDS / 2]);
    }
    return 0;
}
