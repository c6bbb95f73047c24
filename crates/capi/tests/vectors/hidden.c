/* Hides and reveals through txid.h. Each line of standard input has texts in hexadecimal, separated
 * by tabs: what to do with the text (hide or reveal), the text, and the options of a series. Prints
 * text=RESULT, or code=CODE. */

#include "fields.h"

#define LONGEST 4096
#define MOST_WORDS 8

int
main(void)
{
    static char line[LONGEST];
    char message[TXID_MESSAGE_LEN], buf[TXID_HIDDEN_LEN];

    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = line;
        txid_text texts[2 + MOST_WORDS];
        size_t count = 0;
        txid_hidden *series;
        int32_t code;

        while (*rest != '\n') {
            texts[count++] = next_text(&rest);
        }
        code = txid_hidden_open(texts + 2, count - 2, &series, message);
        if (code < 0) {
            fprintf(stderr, "%s\n", message);
            return 1;
        }
        if (texts[0].len == 4) {
            code = txid_hidden_hide_text(series, texts[1].data, texts[1].len, buf, message);
        } else {
            code = txid_hidden_reveal_text(series, texts[1].data, texts[1].len, buf, message);
        }
        if (code < 0) {
            printf("code=%d\n", code);
        } else {
            printf("text=%.*s\n", (int)code, buf);
        }
        txid_hidden_close(series);
        for (size_t i = 0; i < count; i++) {
            free((char *)texts[i].data);
        }
    }
    return 0;
}
