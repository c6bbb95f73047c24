#include <stdio.h>
#include <time.h>
#include <txid.h>

enum { COUNT = 5000000 };

static double
cpu_ns(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return spent.tv_sec * 1e9 + spent.tv_nsec;
}

int
main(int argc, char **argv)
{
    char path[4096], text[TXID_LEN], message[TXID_MESSAGE_LEN];
    txid_snowflake *orders;
    txid_segment *invoices;
    double start;

    (void) argc;
    snprintf(path, sizeof path, "%s/orders", argv[1]);
    if (txid_snowflake_open("snowflake", "lease", path, 10000, &orders, message) < 0) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    snprintf(path, sizeof path, "%s/invoices.segment", argv[1]);
    if (txid_segment_open(path, &invoices, message) < 0) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }

    start = cpu_ns();
    for (int i = 0; i < COUNT; i++) {
        txid_fill_now(text, txid_clock_ms());
    }
    printf("c txid %f\n", (cpu_ns() - start) / COUNT);
    start = cpu_ns();
    for (int i = 0; i < COUNT; i++) {
        txid_snowflake_next(orders, txid_clock_coarse_ms(), message);
    }
    printf("c snowflake %f\n", (cpu_ns() - start) / COUNT);
    start = cpu_ns();
    for (int i = 0; i < COUNT; i++) {
        txid_segment_next(invoices, message);
    }
    printf("c segment %f\n", (cpu_ns() - start) / COUNT);
    return 0;
}
