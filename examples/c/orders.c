/* Prints an id of this moment, its time, and a 64-bit id of node 17. */
#include <stdio.h>
#include <string.h>
#include <txid.h>

int main(void) {
    char id[TXID_LEN];                                  /* 20 bytes, no NUL */

    txid_fill_now(id, txid_clock_ms());                 /* an id of this moment */
    printf("%.*s was made at %lld ms\n", TXID_LEN, id, (long long) txid_ms(id, TXID_LEN));

    char message[TXID_MESSAGE_LEN];                     /* messages are NUL-terminated */
    txid_snowflake *orders;
    const char *layout = "snowflake", *path = "/var/lib/txid/orders";
    if (txid_snowflake_open(layout, strlen(layout), 17, path, strlen(path), 10000, &orders,
        message) != 0) {
        fprintf(stderr, "orders: %s\n", message);
        return 1;
    }
    long long order = txid_snowflake_next(orders, txid_clock_coarse_ms(), message);
    if (order < 0) {
        fprintf(stderr, "orders: %s\n", message);
        return 1;
    }
    printf("order %lld\n", order);
    txid_snowflake_close(orders);
    return 0;
}
