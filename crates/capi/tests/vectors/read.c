/* Reads ids through txid.h. Each line of standard input has the name of a format, a text in
 * hexadecimal, and for snowflake a layout, separated by tabs. Prints a line for each: name=value,
 * separated by tabs. */

#include "txid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t
read_as(const char *format, const char *text, size_t len, char *message)
{
    txid_parts parts;
    int32_t code = txid_read(format, strlen(format), text, len, &parts, message);

    if (code != 0) {
        return code;
    }
    if (parts.ms != INT64_MIN) {
        printf("ms=%" PRId64 "\t", parts.ms);
    }
    for (size_t i = 0; i < parts.count; i++) {
        const txid_part *part = &parts.list[i];
        if (part->value == TXID_VALUE_NUMBER) {
            printf("%.*s=%" PRIu64 "\t", (int)part->name.len, part->name.data, part->number);
        } else {
            printf("%.*s=%.*s\t", (int)part->name.len, part->name.data, part->text_len, part->text);
        }
    }
    return 0;
}

/* The txid has functions of its own as well. */
static void
read_txid(const char *text, size_t len, int32_t code)
{
    uint8_t bytes[TXID_BYTES_LEN];
    char written[TXID_LEN];
    int64_t ms = txid_ms(text, len);

    if (txid_to_bytes(text, len, bytes) != code || (ms < 0 ? ms : 0) != code) {
        printf("differs=%" PRId64 "\t", ms);
    }
    if (code == 0) {
        txid_from_bytes(bytes, written);
        printf("written=%.*s\tbits=", TXID_LEN, written);
        for (size_t i = 0; i < sizeof bytes; i++) {
            printf("%02x", bytes[i]);
        }
    }
}

static int32_t
read_snowflake(const char *text, size_t len, const char *layout, char *message)
{
    txid_snowflake *generator;
    txid_snowflake_parts parts;
    int64_t id = txid_snowflake_parse(text, len);
    int32_t code = (int32_t)id;

    if (txid_snowflake_open(layout, "0", NULL, 0, &generator, message) < 0) {
        fprintf(stderr, "%s: %s\n", layout, message);
        exit(1);
    }
    if (id >= 0) {
        code = txid_snowflake_decode(generator, id, &parts);
    }
    if (code == 0) {
        printf("ms=%" PRId64 "\tnode=%" PRId64 "\tsequence=%" PRId64, parts.ms, parts.node,
            parts.sequence);
    }
    txid_snowflake_close(generator);
    return code;
}

static void
print_bounds(const char *ms)
{
    char first[TXID_LEN], last[TXID_LEN];

    txid_first(first, strtoll(ms, NULL, 10));
    txid_last(last, strtoll(ms, NULL, 10));
    printf("first=%.*s\tlast=%.*s\n", TXID_LEN, first, TXID_LEN, last);
}

/* Takes the field before the next tab, or before the end of the line. */
static char *
next_field(char **line)
{
    char *field = *line;
    size_t len = strcspn(field, "\t\n");

    *line = field + len + (field[len] != '\0');
    field[len] = '\0';
    return field;
}

int
main(void)
{
    char line[1024], message[TXID_MESSAGE_LEN], text[512];

    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = line, *format = next_field(&rest), *digits = next_field(&rest),
            *layout = next_field(&rest);
        size_t len = strlen(digits) / 2;
        int32_t code;

        if (strcmp(format, "bounds") == 0) {
            print_bounds(digits);
            continue;
        }
        for (size_t i = 0; i < len; i++) {
            unsigned byte;
            sscanf(digits + 2 * i, "%2x", &byte);
            text[i] = (char)byte;
        }

        message[0] = '\0';
        if (strcmp(format, "snowflake") == 0) {
            code = read_snowflake(text, len, layout, message);
        } else {
            code = read_as(format, text, len, message);
        }
        if (strcmp(format, "txid") == 0) {
            read_txid(text, len, code);
        }
        if (code != 0) {
            printf("code=%d\tmessage=%s", code, message);
        }
        printf("\n");
    }
    return 0;
}
