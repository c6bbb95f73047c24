/* Calls every function of txid.h and txid-internal.h with buffers on the heap that have exactly the
 * size that the header names, so that AddressSanitizer sees an access beyond them. Parses every
 * sample, and every text that differs from one in a few bytes. */

#define TXID_NGINX
#include "txid-internal.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const int64_t TIMES[] = { INT64_MIN, -1, 0, 1522545688552, INT64_C(1) << 42,
    INT64_C(1) << 48, INT64_MAX };

static void
require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "txid: %s\n", what);
        abort();
    }
}

static void *
exactly(size_t len)
{
    void *memory = malloc(len);
    require(memory != NULL, "no memory");
    memset(memory, 0xa5, len);
    return memory;
}

static char *
copy_of(const char *bytes, size_t len)
{
    return memcpy(exactly(len), bytes, len);
}

static bool
untouched(const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0xa5) {
            return false;
        }
    }
    return true;
}

/*
 * Functions that make ids. `used` is how many characters they write; all must be of an id's
 * alphabet.
 */

static void
check_text(const char *text, size_t used, size_t len, const char *name)
{
    require(used <= len, name);
    for (size_t i = 0; i < used; i++) {
        require(text[i] > ' ' && text[i] < 0x7f, name);
    }
    require(untouched((const unsigned char *)text + used, len - used), name);
}

#define MAKE(name, size, call)                                                                     \
    do {                                                                                           \
        char *buf = exactly(size);                                                                 \
        call;                                                                                      \
        check_text(buf, size, size, name);                                                         \
        free(buf);                                                                                 \
    } while (0)

static void
make(int64_t ms)
{
    MAKE("txid_fill", TXID_LEN, txid_fill(buf, ms));
    MAKE("txid_fill_now", TXID_LEN, txid_fill_now(buf, ms));
    MAKE("txid_first", TXID_LEN, txid_first(buf, ms));
    MAKE("txid_last", TXID_LEN, txid_last(buf, ms));
    MAKE("txid_uuid_v4", TXID_UUID_LEN, txid_uuid_v4(buf));
    MAKE("txid_uuid_v7", TXID_UUID_LEN, txid_uuid_v7(buf, ms));
    MAKE("txid_uuid_v7_now", TXID_UUID_LEN, txid_uuid_v7_now(buf, ms));
    char *name = copy_of((const char *)&ms, sizeof ms);
    MAKE("txid_uuid_of_name", TXID_UUID_LEN,
        require(txid_uuid_of_name(5, "url", 3, name, sizeof ms, buf) == 0, "a UUID of a name"));
    free(name);

    uint8_t *bytes = (uint8_t *)copy_of((const char *)&ms, sizeof ms);
    bytes = realloc(bytes, TXID_BYTES_LEN);
    require(bytes != NULL, "no memory");
    memset(bytes + sizeof ms, 0xff, TXID_BYTES_LEN - sizeof ms);
    MAKE("txid_from_bytes", TXID_LEN, txid_from_bytes(bytes, buf));
    free(bytes);
}

/* Functions that parse. */

static const char *const SAMPLES[] = {
    "4om9qi54la8ffr4bd9sg",
    "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",
    "000001VKvYLi2kP2ENqkCH",
    "WsAzWAoAAAcAAAAqAAEAAAAHAAA",
    "Ws@zWAoAAAcAAAAqAAEAAAAH",
    "b13f65bff40000010123456789abcdef",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "42-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff-more",
    "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1-05e3ac9a4f6e3b90",
    "64fe8b2a57d3eff7-e457b5a2e4d86bd1",
    "d",
    "0ad1348f1403169275002100356696",
    "0123456789abcdef0123456789abcdef.57.15225456885520001",
    "ffffffffffffffffffffffffffffffff.4294967295.18446744073709551615",
    "9223372036854775807",
    "c232ab00-9414-11ec-b3c8-9f6bdeced846",
    "919108f7-52d1-4320-9bac-f847db4148a8",
    "1ec9414c-232a-6b00-b3c8-9f6bdeced846",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "0ujsswThIGTUYm2K8FjOOfXtY1K",
    "9m4e2mr0ui3e8a215n4g",
    "V1StGXR8_Z5jdHi6B-myT",
    "507f1f77bcf86cd799439011",
    "prefix_01h455vb4pex5vsknk084sn02q",
    "cjld2cjxh0000qzrmn831i7rn",
    "00f067aa0ba902b7",
    "1-5759e988-bd862e3fe1be46a994272793",
    "5759e98800000000be46a994272793aa",
    "2f6fc0a117664640013612345e",
};

/* The names of all formats that are read, and how many texts could be read as each. */
#define MOST_FORMATS 64
static char names[TXID_MESSAGE_LEN];
static const char *formats[MOST_FORMATS];
static size_t format_count, texts_of[MOST_FORMATS];

static void
find_formats(void)
{
    txid_parts parts;

    require(txid_read("", 0, "", 0, &parts, sizeof parts, names) == TXID_ERROR_OPTION,
        "a format without a name");
    char *rest = strstr(names, "these are ") + strlen("these are ");
    for (char *name = strtok(rest, ", "); name != NULL; name = strtok(NULL, ", ")) {
        require(format_count < MOST_FORMATS, "many formats");
        formats[format_count++] = name;
    }
}

static size_t
read_bytes(const char *bytes, size_t len)
{
    size_t accepted = 0;
    char *text = copy_of(bytes, len);

    for (size_t i = 0; i < format_count; i++) {
        txid_parts *parts = exactly(sizeof *parts);
        char *message = exactly(TXID_MESSAGE_LEN), *name = copy_of(formats[i], strlen(formats[i]));
        int32_t code = txid_read(name, strlen(formats[i]), text, len, parts, sizeof *parts,
            message);
        require(code <= 0, "txid_read");
        if (code == 0) {
            accepted++;
            texts_of[i]++;
            require(parts->count <= TXID_PARTS_MAX, "many parts");
            for (size_t j = 0; j < parts->count; j++) {
                txid_part *part = &parts->list[j];
                require(part->name.len > 0 && part->value <= TXID_VALUE_FLAG
                    && part->text_len <= TXID_PART_LEN, "a part");
                check_text(part->text, part->text_len, part->text_len, formats[i]);
            }
            require(untouched((unsigned char *)message, TXID_MESSAGE_LEN), "a message");
        } else {
            require(untouched((unsigned char *)parts, sizeof *parts)
                && memchr(message, 0, TXID_MESSAGE_LEN) != NULL, "txid_read says why");
        }
        free(name);
        free(message);
        free(parts);
    }
    unsigned char *bytes_out = exactly(TXID_BYTES_LEN);
    int32_t code = txid_to_bytes(text, len, bytes_out);
    require(code == 0 || (code < 0 && untouched(bytes_out, TXID_BYTES_LEN)), "txid_to_bytes");
    free(bytes_out);
    accepted += txid_ms(text, len) >= 0;
    accepted += txid_snowflake_parse(text, len) >= 0;
    txid_reading *readings = exactly(TXID_READINGS_MAX * sizeof *readings);
    size_t count = txid_readings(text, len, 1522545688552, readings, sizeof *readings,
        TXID_READINGS_MAX);
    require(count <= TXID_READINGS_MAX, "txid_readings");
    for (size_t i = 0; i < count; i++) {
        require(readings[i].format.len > 0 && readings[i].format.data[0] >= 'a',
            "the name of a format");
    }
    free(readings);
    free(text);
    return accepted;
}

static size_t
read_all(void)
{
    static const char BYTES[] = { 0, ' ', '-', '.', '0', '9', ':', '@', 'G', 'Z', '_', 'a', 'g',
        'v', 'z', 0x7f, (char)0xff };
    size_t accepted = 0;

    for (size_t i = 0; i < COUNT(SAMPLES); i++) {
        size_t len = strlen(SAMPLES[i]);
        accepted += read_bytes(SAMPLES[i], len);
        for (size_t at = 0; at < len; at++) {
            char changed[128];
            accepted += read_bytes(SAMPLES[i], at);
            memcpy(changed, SAMPLES[i], len);
            for (size_t byte = 0; byte < sizeof BYTES; byte++) {
                changed[at] = BYTES[byte];
                accepted += read_bytes(changed, len);
            }
        }
    }
    return accepted;
}

/* 64-bit ids. */

static int32_t
open_one(const char *layout, int64_t node, const char *path, txid_snowflake **generator)
{
    char *message = exactly(TXID_MESSAGE_LEN);
    size_t len = strlen(layout), path_len = path ? strlen(path) : 0;
    char *args[2] = { copy_of(layout, len), path ? copy_of(path, path_len) : NULL };
    txid_snowflake **out = exactly(sizeof *out);

    *out = NULL;
    int32_t code = txid_snowflake_open(args[0], len, node, args[1], path_len, 10000, out, message);
    require(code <= 0 && (code == 0) == (*out != NULL), "txid_snowflake_open");
    require(code == 0 || memchr(message, 0, TXID_MESSAGE_LEN) != NULL,
        "txid_snowflake_open says why");
    *generator = *out;
    free(out);
    for (size_t i = 0; i < COUNT(args); i++) {
        free(args[i]);
    }
    free(message);
    return code;
}

static void
use(txid_snowflake *generator, int64_t clock_ms)
{
    char *message = exactly(TXID_MESSAGE_LEN);
    int64_t id = txid_snowflake_next(generator, clock_ms, message);
    require(id >= 0 || memchr(message, 0, TXID_MESSAGE_LEN) != NULL, "txid_snowflake_next");

    char *buf = exactly(TXID_SNOWFLAKE_LEN);
    int32_t len = txid_snowflake_fill(generator, clock_ms, buf, message);
    check_text(buf, len > 0 ? (size_t)len : 0, TXID_SNOWFLAKE_LEN, "txid_snowflake_fill");

    txid_snowflake_parts *parts = exactly(sizeof *parts);
    int32_t code = txid_snowflake_decode(generator, id >= 0 ? id : clock_ms, parts,
        sizeof *parts);
    require(code == 0 || untouched((unsigned char *)parts, sizeof *parts), "txid_snowflake_decode");

    txid_snowflake_counters *counters = exactly(sizeof *counters);
    txid_snowflake_stats(generator, counters, sizeof *counters);
    free(counters);
    free(parts);
    free(buf);
    free(message);
}

static void
snowflakes(const char *directory)
{
    static const char *const LAYOUTS[] = {
        "snowflake", "sonyflake", "uid", "leaf", "snowflake53", "none", "",
        "time_bits=63,node_bits=0,sequence_bits=0,epoch=-9007199254740992",
        "time_bits=1,node_bits=0,sequence_bits=0",
    };
    static atomic_int count;
    char path[256];
    char *longest = exactly(100000);
    txid_snowflake *generator;

    for (size_t i = 0; i < COUNT(LAYOUTS); i++) {
        for (int in_file = 0; in_file < 2; in_file++) {
            snprintf(path, sizeof path, "%s/%d", directory, atomic_fetch_add(&count, 1));
            if (open_one(LAYOUTS[i], 0, in_file ? path : NULL, &generator) != 0) {
                continue;
            }
            use(generator, txid_clock_coarse_ms());
            for (size_t time = 0; time < COUNT(TIMES); time++) {
                use(generator, TIMES[time]);
            }
            txid_snowflake_close(generator);
            unlink(path);
        }
    }
    /* A long value must not make the message longer than it may be. */
    memset(longest, 'x', 99999);
    longest[99999] = 0;
    require(open_one(longest, 0, NULL, &generator) < 0, "a layout of 100 KB");
    char *message = exactly(TXID_MESSAGE_LEN);
    require(txid_snowflake_node("snowflake", 9, longest, 99999, message) < 0,
        "a node of 100 KB");
    require(open_one("snowflake", 0, longest, &generator) < 0, "a path of 100 KB");
    memset(longest, 0xff, 99999);
    require(txid_snowflake_node("snowflake", 9, longest, 99999, NULL) < 0,
        "a node that is no text");
    free(message);
    require(open_one("snowflake", 0, "/", &generator) < 0, "a path without a name");
    txid_snowflake_close(NULL);
    free(longest);
}

/* Ranges of numbers. */

static int32_t
open_segment(const char *path, txid_segment **segment)
{
    char *message = exactly(TXID_MESSAGE_LEN);
    size_t len = strlen(path);
    char *copy = copy_of(path, len);
    txid_segment **out = exactly(sizeof *out);

    *out = NULL;
    int32_t code = txid_segment_open(copy, len, out, message);
    require(code <= 0 && (code == 0) == (*out != NULL), "txid_segment_open");
    require(code == 0 || memchr(message, 0, TXID_MESSAGE_LEN) != NULL,
        "txid_segment_open says why");
    *segment = *out;
    free(out);
    free(copy);
    free(message);
    return code;
}

/* `path` names the page of a segment whose agent has ended: it still has some numbers. */
static void
segments(const char *path)
{
    char *message = exactly(TXID_MESSAGE_LEN);
    char *buf = exactly(TXID_SEGMENT_LEN);
    char *longest = exactly(100000);
    txid_segment_counters *counters = exactly(sizeof *counters);
    txid_segment *segment;
    int64_t number, last = 0;

    require(open_segment(path, &segment) == 0, "the page of a segment");
    txid_segment_stats(segment, counters, sizeof *counters);
    int32_t len = txid_segment_fill(segment, buf, message);
    require(len > 0, "a segment's first number");
    check_text(buf, (size_t)len, TXID_SEGMENT_LEN, "txid_segment_fill");
    while ((number = txid_segment_next(segment, message)) >= 0) {
        require(number > last, "a segment's numbers grow");
        last = number;
    }
    require(last > 1, "a segment's numbers");
    require(memchr(message, 0, TXID_MESSAGE_LEN) != NULL, "txid_segment_next says why");
    require(txid_segment_fill(segment, buf, message) < 0, "a segment that is used up");
    txid_segment_stats(segment, counters, sizeof *counters);
    txid_segment_close(segment);

    memset(longest, 'x', 99999);
    longest[99999] = 0;
    require(open_segment(longest, &segment) < 0, "a path of 100 KB");
    require(open_segment("/", &segment) < 0, "a path without a name");
    txid_segment_close(NULL);
    free(counters);
    free(longest);
    free(buf);
    free(message);
}

/* Requests: every option, headers that are none, one or several, and peers of every family. */

static txid_text
text_of(const char *bytes)
{
    size_t len = strlen(bytes);

    return (txid_text) { len, copy_of(bytes, len) };
}

static int32_t
set(txid_policy *policy, const char *option, const char *first, const char *second, char *message)
{
    size_t count = second ? 2 : 1;
    txid_text name = text_of(option), *words = exactly(count * sizeof *words);

    words[0] = text_of(first);
    if (second) {
        words[1] = text_of(second);
    }
    int32_t code = txid_policy_set(policy, name.data, name.len, words, count, message);
    for (size_t i = 0; i < count; i++) {
        free((char *) words[i].data);
    }
    free(words);
    free((char *) name.data);
    return code;
}

/* Reads a header that has to change. */
static int
read_change(void *count, const char *name, size_t name_len, const char *value, size_t value_len,
    const void *values, size_t values_len, int replaces, const char **message)
{
    (void) values, (void) values_len, (void) replaces, (void) message;
    free(copy_of(name, name_len));
    free(copy_of(value ? value : "", value_len));
    return ++*(size_t *) count % 2 ? 0 : -5;
}

/* Reads all of them. */
static void
read_changes(const txid_changed_headers *changed)
{
    size_t count = 0;

    require(changed->count <= TXID_PLACES, "too many changes");
    require(txid_change_headers(changed, &count, read_change) && count == changed->count,
        "txid_change_headers");
}

/* The one call, for one thing at a time and for all. */
static void
decide_once(const txid_policy *policy, const txid_field *fields, size_t count,
    const txid_peer *peer, int32_t expected, txid_span *span)
{
    txid_request *request = exactly(sizeof *request);
    txid_decision *decision = exactly(sizeof *decision);
    txid_text *name = exactly(sizeof *name), share = text_of("1%");

    memset(request, 0, offsetof(txid_request, values));
    request->peer = *peer;
    txid_request_find(policy, fields, count, request);
    decision->span = span;
    decision->changes = exactly(sizeof *decision->changes);
    for (uint32_t wants = 0; wants < 2 * TXID_WANTS_CHANGES; wants++) {
        decision->id.len = 0;
        txid_span_start(policy, 0, decision->span);
        int32_t verdict = txid_decide(policy, 0, request, wants, decision);
        require(verdict == (wants & TXID_WANTS_ID ? expected : TXID_VERDICT_NEW), "txid_decide");
        require((decision->id.len != 0) == (verdict == TXID_VERDICT_ACCEPTED), "the id");
        if (wants & TXID_WANTS_CHANGES) {
            read_changes(decision->changes);
        }
    }
    request->share = txid_share(share.data, share.len);
    require(request->share > 0 && txid_share("off", 3) == 0 && txid_share("", 0) == -1
        && txid_share(share.data, 1) == -1, "txid_share");
    require(txid_request_trust(policy, request) == (request->trust == 1), "txid_request_trust");
    txid_decide(policy, 0, request, TXID_WANTS_SPAN | TXID_WANTS_CHANGES, decision);
    read_changes(decision->changes);
    for (size_t place = 0; place < TXID_PLACES; place++) {
        txid_policy_header(policy, place, name);
        free(copy_of(name->data, name->len));
    }
    free((char *) share.data);
    free(name);
    free(decision->changes);
    free(decision);
    free(request);
}

static void
decide(const txid_policy *policy, const txid_field *fields, size_t count, txid_verdict expected)
{
    txid_span *span = exactly(sizeof *span);
    txid_peer *peer = exactly(sizeof *peer);
    struct sockaddr_in *v4 = exactly(sizeof *v4);
    struct sockaddr_in6 *v6 = exactly(sizeof *v6);
    sa_family_t *unknown = exactly(sizeof *unknown);

    v4->sin_family = AF_INET;
    v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    v6->sin6_family = AF_INET6;
    v6->sin6_addr = in6addr_loopback;
    *unknown = AF_UNSPEC;

    const void *addresses[] = { v4, v6, unknown, NULL };
    for (size_t i = 0; i < COUNT(addresses); i++) {
        peer->sockaddr = addresses[i];
        peer->text = text_of("127.0.0.1");
        bool is_outside = addresses[i] == v6 || addresses[i] == unknown;
        int32_t verdict = is_outside ? TXID_VERDICT_NEW : (int32_t) expected;
        decide_once(policy, fields, count, peer, verdict, span);
        check_text((char *) span->traceparent + 3, TXID_TRACE_ID_LEN, TXID_TRACE_ID_LEN, "a span");
        free((char *) peer->text.data);
    }
    for (int32_t kind = TXID_SPAN_KIND_AWS; kind <= TXID_SPAN_KIND_TRACE_SAMPLED; kind++) {
        char *text = exactly(TXID_SPAN_HEADER_MAX_LEN);
        size_t len = txid_span_header(span, kind, text);
        /* Datadog's and tracestate have nothing to say of some spans. */
        require(len <= TXID_SPAN_HEADER_MAX_LEN && (len > 0 || kind > TXID_SPAN_KIND_JAEGER),
            "a header");
        check_text(text, len, len, "txid_span_header");
        free(text);
    }
    require(txid_span_header(span, -1, NULL) == 0, "no kind");
    txid_attribute route = { text_of("http.route"), text_of("/\"\n") };
    txid_span_texts texts = { .path = route.value, .attributes = &route, .attribute_count = 1 };
    char *line = exactly(TXID_SPAN_LINE_MAX_LEN);
    size_t line_len = txid_span_line(span, &texts, line);
    require(line_len <= TXID_SPAN_LINE_MAX_LEN, "txid_span_line");
    check_text(line, line_len, line_len, "txid_span_line");
    free(line);
    free((char *) route.key.data);
    free((char *) route.value.data);
    txid_span_start(policy, 0, span);
    txid_span_start(NULL, 0, span);
    free(unknown);
    free(v6);
    free(v4);
    free(peer);
    free(span);
}

static void
requests(void)
{
    static const char *const NAMES[] = { "x-request-id", "x-trace-id", "traceparent", "b3",
        "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-b3-flags",
        "x-amzn-trace-id", "x-cloud-trace-context", "uber-trace-id", "x-datadog-trace-id",
        "x-datadog-tags", "x-correlation-id", "tracestate", "other", "" };
    static const char *const VALUES[] = { "7f3a",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
        "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "1", "" };
    char *message = exactly(TXID_MESSAGE_LEN);

    for (size_t at = 0; at <= TXID_PLACES; at++) {
        char *name = exactly(TXID_TRACE_HEADER_MAX_LEN);
        size_t len = txid_trace_header(at, name);
        require((len == 0) == (at <= TXID_IDS || at == TXID_PLACES), "a header without a name");
        check_text(name, len, len, "txid_trace_header");
        free(name);
    }

    txid_terms *terms = exactly(sizeof *terms);
    txid_policy *policy = txid_policy_open(), *child = txid_policy_open();

    txid_policy_terms(policy, terms);
    require(terms->trusts_nobody && !terms->rejects && !terms->traces, "no options");
    require(set(policy, "accept", "127.0.0.0/8", "unix:", message) == 0, "accept");
    require(set(policy, "accept", "all", NULL, message) == TXID_ERROR_OPTION_TWICE,
        "accept, twice");
    require(set(policy, "trace", "traceparent", "b3", message) == 0, "trace");
    require(set(policy, "trace_id_header", "X-Trace-Id", NULL, message) == 0, "trace_id_header");
    require(set(policy, "trace_ids", "sorted", "epoch=2020-01-01", message) == 0, "trace_ids");
    require(set(policy, "on_invalid", "reject", NULL, message) == 0, "on_invalid");
    require(set(child, "header", "X Id", NULL, message) == TXID_ERROR_OPTION && strlen(message) > 0,
        "header");
    require(set(child, "", "", NULL, message) == TXID_ERROR_OPTION, "no option");
    txid_policy_inherit(child, policy);
    txid_policy_terms(child, terms);
    require(!terms->trusts_nobody && terms->rejects && terms->traces, "inherited");
    require(txid_policy_check(child, true, message) == 0, "options that go together");
    txid_policy_close(policy);
    policy = txid_policy_open();
    require(txid_policy_check(policy, true, message) == TXID_ERROR_OPTION && strlen(message) > 0,
            "options that do not");
    txid_policy_close(policy);

    for (size_t i = 0; i < COUNT(VALUES); i++) {
        size_t count = COUNT(NAMES);
        txid_field *fields = exactly(2 * count * sizeof *fields);
        for (size_t j = 0; j < 2 * count; j++) {
            txid_text field = text_of(NAMES[j % count]),
                value = text_of(VALUES[(i + j) % COUNT(VALUES)]);
            fields[j] = (txid_field) { (int32_t) field.len, field.data, (int32_t) value.len,
                value.data };
        }
        decide(child, fields, 0, TXID_VERDICT_NEW);
        decide(child, fields, count, VALUES[i][0] ? TXID_VERDICT_ACCEPTED : TXID_VERDICT_INVALID);
        decide(child, fields, 2 * count, TXID_VERDICT_INVALID);
        for (size_t j = 0; j < 2 * count; j++) {
            free((char *) fields[j].name);
            free((char *) fields[j].value);
        }
        free(fields);
    }
    txid_policy_close(child);
    txid_policy_close(NULL);

    char *header = copy_of("Content-Length", 14);
    require(txid_check_header_name(header, 14, message) < 0
        && txid_check_header_name(header, 3, message) == 0, "a header");
    free(header);
    free(terms);
    free(message);
}

static void
makers(void)
{
    char *message = exactly(TXID_MESSAGE_LEN), *buf = exactly(TXID_MAX_LEN);
    bool *guessable = exactly(sizeof *guessable);
    txid_text *words = exactly(2 * sizeof *words);
    txid_maker *maker;

    words[0] = text_of("unique_id_short");
    words[1] = text_of("address=10.0.0.7");
    for (int is_trial = 0; is_trial < 2; is_trial++) {
        require(txid_maker_open(words, 2, is_trial, &maker, message) == 0, "txid_maker_open");
        require(txid_maker_fill(maker, 1522545688552, buf, guessable, message) == 24,
            "txid_maker_fill");
        require(txid_maker_fill_at(maker, INT64_MIN, buf, guessable, message) == 24,
            "txid_maker_fill_at");
        txid_maker_close(maker);
    }
    require(txid_maker_open(words + 1, 1, false, &maker, message) < 0 && strlen(message) > 0,
        "no format");
    require(txid_maker_open(words, 0, false, &maker, message) < 0 && strlen(message) > 0,
        "no name");
    free((char *) words[0].data);
    free((char *) words[1].data);
    free(words);
    /* All that need no option; some have no ids for some times. */
    for (size_t i = 0; i < format_count; i++) {
        char *name = copy_of(formats[i], strlen(formats[i]));
        if (txid_maker_named(name, strlen(formats[i]), &maker, message) == 0) {
            for (size_t time = 0; time < COUNT(TIMES); time++) {
                int32_t len = txid_maker_fill(maker, TIMES[time], buf, guessable, message);
                check_text(buf, len > 0 ? len : 0, len > 0 ? len : 0, formats[i]);
                len = txid_maker_fill_at(maker, TIMES[time], buf, guessable, message);
                check_text(buf, len > 0 ? len : 0, len > 0 ? len : 0, formats[i]);
            }
            txid_maker_close(maker);
        }
        free(name);
    }
    char *format = copy_of("skywalking", 10);
    require(txid_maker_named(format, 10, &maker, message) == 0, "txid_maker_named");
    require(txid_maker_fill(maker, INT64_MAX, buf, guessable, message) > 0, "a long id");
    require(txid_maker_fill_at(maker, 0, buf, guessable, message) < 0 && strlen(message) > 0,
        "an id without a time");
    txid_maker_close(maker);
    txid_maker_close(NULL);
    free(format);
    free(guessable);
    free(buf);
    free(message);
}

/* Numbers as their images, and every image with one other character. */

static void
hidden(void)
{
    char path[] = "/tmp/txid-asan-key-XXXXXX";
    const char *key = "85962d72415d32da4f2c574c02c44ed9\n";
    int file = mkstemp(path);
    require(file >= 0 && write(file, key, strlen(key)) == (ssize_t) strlen(key), "no key file");
    close(file);

    char *message = exactly(TXID_MESSAGE_LEN), *buf = exactly(TXID_HIDDEN_LEN);
    uint64_t *number = exactly(sizeof *number);
    txid_hidden *hidden;
    char option[64];
    txid_text *words = exactly(4 * sizeof *words);
    snprintf(option, sizeof option, "key=%s", path);
    words[0] = text_of(option);
    words[1] = text_of("name=orders");
    words[3] = text_of("check");
    for (uint32_t digits = 5; digits <= 20; digits++) {
        snprintf(option, sizeof option, "digits=%u", digits);
        words[2] = text_of(option);
        int32_t code = txid_hidden_open(words, 3 + digits % 2, &hidden, message);
        free((char *) words[2].data);
        if (digits < 6 || digits > 19) {
            require(code < 0 && strlen(message) > 0, "too few digits, or too many");
            continue;
        }
        require(code >= 0, message);
        int32_t len = txid_hidden_hide(hidden, 42, buf, message);
        require(len == (int32_t) (digits + digits % 2), "txid_hidden_hide");
        char *text = copy_of(buf, (size_t) len);
        require(txid_hidden_reveal(hidden, text, (size_t) len, number, message) == 0
            && *number == 42, "txid_hidden_reveal");
        for (int32_t at = 0; at < len; at++) {
            char before = text[at];
            for (int byte = 0; byte < 256; byte++) {
                text[at] = (char) byte;
                txid_hidden_reveal(hidden, text, (size_t) len, number, message);
            }
            text[at] = before;
        }
        require(txid_hidden_hide(hidden, UINT64_MAX, buf, message) < 0 && strlen(message) > 0,
            "a number that is too large");
        free(text);
        text = copy_of("42", 2);
        require(txid_hidden_hide_text(hidden, text, 2, buf, message) == len,
            "txid_hidden_hide_text");
        require(txid_hidden_reveal(hidden, text, 2, number, message) < 0, "a short image");
        free(text);
        text = copy_of(buf, (size_t) len);
        require(txid_hidden_reveal_text(hidden, text, (size_t) len, buf, message) == 2
            && memcmp(buf, "42", 2) == 0, "txid_hidden_reveal_text");
        free(text);
        txid_hidden_close(hidden);
    }

    words[2] = text_of("uuid");
    require(txid_hidden_open(words, 3, &hidden, message) == 0, message);
    txid_hidden_is_locked(hidden, message);
    free((char *) words[2].data);
    char *id = copy_of("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 36);
    require(txid_hidden_hide_text(hidden, id, 36, buf, message) == 36, "a UUID");
    char *image = copy_of(buf, 36);
    for (int32_t at = 0; at < 36; at++) {
        char before = image[at];
        for (int byte = 0; byte < 256; byte++) {
            image[at] = (char) byte;
            txid_hidden_hide_text(hidden, image, 36, buf, message);
            txid_hidden_reveal_text(hidden, image, 36, buf, message);
        }
        image[at] = before;
    }
    require(txid_hidden_reveal_text(hidden, image, 36, buf, message) == 36
        && memcmp(buf, id, 36) == 0, "its image");
    require(txid_hidden_hide(hidden, 42, buf, message) < 0, "a number of UUIDs");
    require(txid_hidden_reveal(hidden, image, 36, number, message) < 0, "a number of a UUID");
    require(txid_hidden_reveal_text(hidden, image, 35, buf, message) < 0, "a short UUID");
    free(id);
    free(image);
    txid_hidden_close(hidden);
    require(txid_hidden_open(words, 2, &hidden, message) < 0, "no length");
    txid_hidden_close(NULL);
    free((char *) words[0].data);
    free((char *) words[1].data);
    free((char *) words[3].data);
    free(words);
    free(number);
    free(buf);
    free(message);
    unlink(path);
}

/* A request as nginx begins it, and its list of what to clean up. */
typedef struct cleanup {
    void (*handler)(void *data);
    void *data;
    struct cleanup *next;
} cleanup;

typedef struct {
    uint32_t signature;
    void *connection;
    cleanup *list;
} request;

static void *
add_cleanup(void *of, size_t size)
{
    request *asked = of;
    cleanup *new = exactly(sizeof *new);

    *new = (cleanup) { .data = size ? exactly(size) : NULL, .next = asked->list };
    asked->list = new;
    return new;
}

/* Until a request shows that this is a known nginx. */
static void
unknown_layout(void)
{
    request *unknown = exactly(sizeof *unknown);

    *unknown = (request) { .signature = 1, .connection = unknown };
    require(txid_kept_start(unknown, add_cleanup, false) == NULL, "an unknown layout");
    free(unknown);
}

/* More requests at once than the table has lists. */
static void
kept(void)
{
    enum { REQUESTS = 5000 };
    static const char ID[] = "0123456789012345678901234567890123456789";
    request *all = exactly(REQUESTS * sizeof *all);

    require(txid_kept_of(NULL) == NULL, "kept for no request");
    for (size_t i = 0; i < REQUESTS; i++) {
        all[i] = (request) { .signature = 0x50545448, .connection = &all[i] };
        require(txid_kept_of(&all[i]) == NULL, "kept too early");
        txid_kept *it = txid_kept_start(&all[i], add_cleanup, i == 0);
        require(it != NULL && it->id.data == NULL && it->span == NULL, "not new");
        char *id = copy_of(ID, i % sizeof ID);
        require(txid_kept_set_id(it, id, i % sizeof ID), "txid_kept_set_id");
        free(id);
        it->span = txid_kept_span_place(it);
        txid_span_start(NULL, 0, it->span);
        require(txid_kept_start(&all[i], add_cleanup, i == 0) == it, "kept twice");
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        txid_kept *it = txid_kept_of(&all[i]);
        require((it == NULL) == (i == 0), "txid_kept_of");
        cleanup *list = all[i].list;
        all[i].list = NULL;
        for (cleanup *next = list; next; next = next->next) {
            if (next->handler) {
                next->handler(next->data);
            }
        }
        require(txid_kept_of(&all[i]) == NULL, "kept for too long");
        txid_kept *late = txid_kept_start(&all[i], add_cleanup, true);
        require(late->id.len == i % sizeof ID && memcmp(late->id.data, ID, late->id.len) == 0
                    && (it == NULL || late == it), "not there in the log phase");
        /* However often it is asked for, it is found first. */
        require(all[i].list->handler && all[i].list->data == late
                    && txid_kept_start(&all[i], add_cleanup, true) == late, "looked for again");
        /* A new entry has the data that are kept. */
        while (list) {
            cleanup *first = list;
            list = first->next;
            free(first->handler ? NULL : first->data);
            free(first);
        }
        for (list = all[i].list; list;) {
            cleanup *first = list;
            list = first->next;
            free(list && list->data == first->data ? NULL : first->data);
            free(first);
        }
    }
    free(all);
}

/* What the nginx modules make, and read. */

static void
for_nginx(void)
{
    char *id = exactly(TXID_LEN), *time = exactly(TXID_TIME_LEN);

    txid_generator *generator = txid_generator_open();
    txid_generator_fill(generator, 1522545688552, id);
    check_text(id, TXID_LEN, TXID_LEN, "txid_generator_fill");
    char *uuid = copy_of("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", TXID_UUID_LEN);
    require(txid_time_in(NULL, uuid, TXID_UUID_LEN, true, time) == TXID_TIME_LEN
                && memcmp(time, "2022-02-22T19:22:22.000Z", TXID_TIME_LEN) == 0
                && txid_time_in(NULL, uuid, TXID_UUID_LEN, false, time) == 13
                && memcmp(time, "1645557742000", 13) == 0
                && txid_time_in(NULL, uuid, 3, true, time) == 0, "txid_time_in");

    char *message = exactly(TXID_MESSAGE_LEN);
    txid_text formats[] = { text_of("txid"), text_of("snowflake(layout=discord)") };
    txid_times *times;
    for (int is_only = 0; is_only < 2; is_only++) {
        require(txid_times_open(formats, 2, is_only, &times, message) == 0, "txid_times_open");
        require((txid_time_in(times, uuid, TXID_UUID_LEN, false, time) == 0) == is_only
                    && txid_time_in(times, "175928847299117063", 18, false, time) == 13
                    && memcmp(time, "1462015105796", 13) == 0, "times of formats");
        txid_times_close(times);
    }
    formats[0].len = 3;
    require(txid_times_open(formats, 2, true, &times, message) == TXID_ERROR_OPTION
                && strlen(message) > 0, "no format");
    formats[0].len = 4;
    txid_times_close(NULL);
    free((char *) formats[0].data);
    free((char *) formats[1].data);
    free(message);
    free(uuid);
    txid_generator_close(generator);
    txid_generator_close(NULL);
    free(time);
    free(id);
}

static void *
everything(void *directory)
{
    for (size_t i = 0; i < COUNT(TIMES); i++) {
        make(TIMES[i]);
    }
    make(txid_clock_ms());
    snowflakes(directory);
    requests();
    makers();
    hidden();
    kept();
    for_nginx();
    return NULL;
}

int
main(int count, char **arguments)
{
    require(count == 2, "one argument: the page of a segment");
    segments(arguments[1]);
    require(txid_abi_version() == TXID_ABI_VERSION, "another ABI version");
    require(txid_internal_version() == TXID_INTERNAL_VERSION, "another internal version");
    require(!txid_entropy_degraded(), "no randomness");
    for (int32_t code = -1000; code < 10; code++) {
        require(strlen(txid_strerror(code)) > 0, "txid_strerror");
    }

    find_formats();
    /* How many texts were accepted: shows a parser that refuses everything. */
    size_t accepted = read_all();
    require(accepted > 1000, "hardly anything can be read");
    for (size_t i = 0; i < format_count; i++) {
        require(texts_of[i] > 0, formats[i]);
    }

    char directory[] = "/tmp/txid-asan-XXXXXX";
    require(mkdtemp(directory) != NULL, "no directory");
    unknown_layout();
    everything(directory);
    pthread_t threads[2];
    for (size_t i = 0; i < COUNT(threads); i++) {
        require(pthread_create(&threads[i], NULL, everything, directory) == 0, "no thread");
    }
    for (size_t i = 0; i < COUNT(threads); i++) {
        pthread_join(threads[i], NULL);
    }
    int status;
    pid_t child = fork();
    if (child == 0) {
        everything(directory);
        exit(0);
    }
    require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child fails");
    require(rmdir(directory) == 0, "something is left");
    printf("every function of txid.h keeps to its buffers; %zu texts were read\n", accepted);
    return 0;
}
