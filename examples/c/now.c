/* Prints an id of this moment. With libtxid installed:
 * cc now.c $(pkg-config --cflags --libs txid) -o now && ./now */
#include <stdio.h>
#include <txid.h>

int main(void) {
    char id[TXID_LEN];
    txid_fill_now(id, txid_clock_ms());
    printf("%.*s\n", TXID_LEN, id);
    return 0;
}
