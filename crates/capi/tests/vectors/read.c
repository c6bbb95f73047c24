/* Reads ids through txid.h. Each line of standard input has the name of a format, a text in
 * hexadecimal, and for snowflake a layout, separated by tabs. Prints a line for each: name=value,
 * separated by tabs. */

#include "txid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct {
    const char *name;
    int32_t format;
} FORMATS[] = {
    { "txid", TXID_FORMAT_TXID },
    { "uuid", TXID_FORMAT_UUID },
    { "uuid_v1", TXID_FORMAT_UUID },
    { "uuid_v4", TXID_FORMAT_UUID },
    { "uuid_v6", TXID_FORMAT_UUID },
    { "uuid_v7", TXID_FORMAT_UUID },
    { "flake", TXID_FORMAT_FLAKE },
    { "unique_id", TXID_FORMAT_UNIQUE_ID },
    { "unique_id_short", TXID_FORMAT_UNIQUE_ID },
    { "trace_id", TXID_FORMAT_TRACE_ID },
    { "trace_host_id", TXID_FORMAT_TRACE_ID },
    { "sofa", TXID_FORMAT_SOFA },
    { "skywalking", TXID_FORMAT_SKYWALKING },
    { "traceparent", TXID_FORMAT_TRACEPARENT },
    { "b3", TXID_FORMAT_B3 },
};

static const char *const VARIANTS[] = { "ncs", "rfc9562", "microsoft", "future" };

static void
print_hex(const char *name, const uint8_t *bytes, size_t len, const char *separator)
{
    printf("\t%s=", name);
    for (size_t i = 0; i < len; i++) {
        printf("%s%02x", i == 0 ? "" : separator, bytes[i]);
    }
}

static void
print_address(const char *name, uint32_t word)
{
    printf("\t%s=%u.%u.%u.%u", name, word >> 24, word >> 16 & 255, word >> 8 & 255, word & 255);
}

static int32_t
read_txid(const char *text, size_t len)
{
    uint8_t bytes[TXID_BYTES_LEN], random[7];
    char written[TXID_LEN];
    int64_t ms = txid_ms(text, len);
    int32_t code = txid_to_bytes(text, len, bytes);

    if (ms < 0 || code < 0) {
        return ms < 0 && code < 0 ? code : 1;
    }
    memcpy(random, bytes + 5, sizeof random);
    random[0] &= 0x3f;
    txid_from_bytes(bytes, written);
    printf("ms=%" PRId64 "\twritten=%.*s", ms, TXID_LEN, written);
    print_hex("random", random, sizeof random, "");
    print_hex("bits", bytes, sizeof bytes, "");
    return 0;
}

static int32_t
read_uuid(const char *text, size_t len)
{
    txid_uuid_parts parts;
    int32_t code = txid_uuid_read(text, len, &parts);

    if (code == 0) {
        printf("version=%u\tvariant=%s", parts.version, VARIANTS[parts.variant]);
        if (parts.ms != INT64_MIN) {
            printf("\tms=%" PRId64, parts.ms);
        }
    }
    return code;
}

static int32_t
read_flake(const char *text, size_t len)
{
    txid_flake_parts parts;
    int32_t code = txid_flake_read(text, len, &parts);

    if (code == 0) {
        printf("ms=%" PRIu64 "\tsequence=%u", parts.ms, parts.sequence);
        print_hex("node", parts.node, sizeof parts.node, ":");
    }
    return code;
}

static int32_t
read_unique_id(const char *text, size_t len)
{
    txid_unique_id_parts parts;
    int32_t code = txid_unique_id_read(text, len, &parts);

    if (code == 0) {
        printf("ms=%" PRId64 "\tcounter=%u\tthread=%u", parts.ms, parts.counter, parts.thread);
        if (len == TXID_UNIQUE_ID_SHORT_LEN) {
            print_address("address", parts.ipv4);
            printf("\tpid=%u", parts.pid);
        } else {
            print_hex("random", parts.random, sizeof parts.random, "");
        }
    }
    return code;
}

static int32_t
read_trace_id(const char *text, size_t len, bool has_host)
{
    txid_trace_id_parts parts;
    int32_t code = txid_trace_id_read(text, len, &parts);

    if (code == 0) {
        printf("ms=%" PRId64 "\tsequence=%u", parts.ms, parts.sequence);
        if (has_host) {
            print_address("host", parts.host);
            printf("\trandom=%08x", parts.random);
        } else {
            printf("\trandom=%08x%08x", parts.host, parts.random);
        }
    }
    return code;
}

static int32_t
read_sofa(const char *text, size_t len)
{
    txid_sofa_parts parts;
    int32_t code = txid_sofa_read(text, len, &parts);

    if (code == 0) {
        printf("ms=%" PRId64 "\tsequence=%u\tpid=%u", parts.ms, parts.sequence, parts.pid);
        print_address("address", parts.ipv4);
    }
    return code;
}

static int32_t
read_skywalking(const char *text, size_t len)
{
    txid_skywalking_parts parts;
    int32_t code = txid_skywalking_read(text, len, &parts);

    if (code == 0) {
        printf("ms=%" PRId64 "\tinstance=%.32s\tthread=%u\tsequence=%u", parts.ms, parts.instance,
            parts.thread,
               parts.sequence);
    }
    return code;
}

static int32_t
read_traceparent(const char *text, size_t len)
{
    txid_traceparent_parts parts;
    int32_t code = txid_traceparent_read(text, len, &parts);

    if (code == 0) {
        printf("trace_id=%.32s\tspan_id=%.16s\tsampled=%s\trandom=%s", parts.trace_id,
            parts.span_id,
               parts.sampled ? "true" : "false", parts.random ? "true" : "false");
    }
    return code;
}

static int32_t
read_b3(const char *text, size_t len)
{
    txid_b3_parts parts;
    int32_t code = txid_b3_read(text, len, &parts);

    if (code == 0) {
        /* Missing parts are NULs, where %s ends. */
        printf("trace_id=%.32s\tspan_id=%.16s\tparent_span_id=%.16s\tsampled=%.1s", parts.trace_id,
            parts.span_id,
               parts.parent_span_id, &parts.sampled);
    }
    return code;
}

static int32_t
read_snowflake(const char *text, size_t len, const char *layout)
{
    char message[TXID_MESSAGE_LEN];
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

static int32_t
explained(const char *format, const char *text, size_t len, char *message)
{
    for (size_t i = 0; i < COUNT(FORMATS); i++) {
        if (strcmp(FORMATS[i].name, format) == 0) {
            return txid_explain(FORMATS[i].format, text, len, message);
        }
    }
    return 0;
}

static int32_t
read_as(const char *format, const char *text, size_t len, const char *layout)
{
    if (strcmp(format, "txid") == 0) {
        return read_txid(text, len);
    }
    if (strncmp(format, "uuid", 4) == 0) {
        return read_uuid(text, len);
    }
    if (strcmp(format, "flake") == 0) {
        return read_flake(text, len);
    }
    if (strncmp(format, "unique_id", 9) == 0) {
        return read_unique_id(text, len);
    }
    if (strcmp(format, "trace_id") == 0 || strcmp(format, "trace_host_id") == 0) {
        return read_trace_id(text, len, strcmp(format, "trace_host_id") == 0);
    }
    if (strcmp(format, "sofa") == 0) {
        return read_sofa(text, len);
    }
    if (strcmp(format, "skywalking") == 0) {
        return read_skywalking(text, len);
    }
    if (strcmp(format, "traceparent") == 0) {
        return read_traceparent(text, len);
    }
    if (strcmp(format, "b3") == 0) {
        return read_b3(text, len);
    }
    if (strcmp(format, "snowflake") == 0) {
        return read_snowflake(text, len, layout);
    }
    fprintf(stderr, "there is no reader of %s here\n", format);
    exit(1);
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

        if (strcmp(format, "bounds") == 0) {
            print_bounds(digits);
            continue;
        }
        for (size_t i = 0; i < len; i++) {
            unsigned byte;
            sscanf(digits + 2 * i, "%2x", &byte);
            text[i] = (char)byte;
        }

        int32_t code = read_as(format, text, len, layout);
        message[0] = '\0';
        int32_t explanation = explained(format, text, len, message);
        if (code != 0) {
            printf("code=%d\tmessage=%s", code, message);
        }
        if (explanation != code && strcmp(format, "snowflake") != 0) {
            printf("\ttxid_explain=%d", explanation);
        }
        printf("\n");
    }
    return 0;
}
