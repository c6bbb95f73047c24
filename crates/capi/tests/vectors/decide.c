/* Decides about requests through txid.h. Each line of standard input has a word and texts in
 * hexadecimal, separated by tabs:
 *
 *     option NAME WORD...    sets an option of the policy
 *     field NAME VALUE       adds a header to the request
 *     peer ADDRESS           decides: prints the verdict and the span as name=value, or what is
 *                            wrong with an option
 *
 * and begins again. */

#include "fields.h"

#define MOST_FIELDS 256
#define LONGEST 65536

static const char *const VERDICTS[] = { "new", "accepted", "invalid" };

static void
print(const char *name, const uint8_t *text, size_t len)
{
    if (len > 0) {
        printf("\t%s=%.*s", name, (int)len, (const char *)text);
    }
}

static void
decide(const txid_policy *policy, const txid_field *fields, size_t count, txid_text address)
{
    txid_peer peer = { .sockaddr = NULL, .text = address };
    txid_request request = { .peer = peer };
    txid_span span;
    txid_decision decision = { .span = &span };
    char text[TXID_SPAN_HEADER_MAX_LEN];

    txid_request_find(policy, fields, count, &request);
    printf("verdict=%s", VERDICTS[txid_decide(policy, txid_clock_ms(), &request,
                                              TXID_WANTS_ID | TXID_WANTS_SPAN, &decision)]);
    print("traceparent", span.traceparent, sizeof span.traceparent);
    print("b3", span.b3, span.b3_len);
    print("x-b3-traceid", span.trace_id, sizeof span.trace_id);
    print("x-b3-spanid", span.span_id, sizeof span.span_id);
    print("x-b3-parentspanid", span.parent_span_id, span.parent_span_id_len);
    print("x-b3-sampled", &span.sampled, span.sampled_len);
    print("x-b3-flags", &span.flags, span.flags_len);
    print("x-amzn-trace-id", (uint8_t *)text, txid_span_header(&span, TXID_SPAN_KIND_AWS, text));
    print("x-cloud-trace-context", (uint8_t *)text,
        txid_span_header(&span, TXID_SPAN_KIND_GCP, text));
    print("uber-trace-id", (uint8_t *)text, txid_span_header(&span, TXID_SPAN_KIND_JAEGER, text));
    print("x-datadog-trace-id", (uint8_t *)text,
        txid_span_header(&span, TXID_SPAN_KIND_DATADOG_TRACE_ID, text));
    print("x-datadog-parent-id", (uint8_t *)text,
        txid_span_header(&span, TXID_SPAN_KIND_DATADOG_PARENT_ID, text));
    print("x-datadog-sampling-priority", (uint8_t *)text,
        txid_span_header(&span, TXID_SPAN_KIND_DATADOG_PRIORITY, text));
    if (!span.is_datadog) {
        print("x-datadog-tags", (uint8_t *)text,
            txid_span_header(&span, TXID_SPAN_KIND_DATADOG_TAGS, text));
    }
    printf("\tcontinued=%s", span.is_continued ? "true" : "false");
    printf("\tpasses_datadog=%s\n", span.is_datadog ? "true" : "false");
}

int
main(void)
{
    static char line[LONGEST];
    char message[TXID_MESSAGE_LEN] = "";
    txid_field fields[MOST_FIELDS];
    size_t count = 0;
    txid_policy *policy = txid_policy_open();

    while (fgets(line, sizeof line, stdin) != NULL) {
        char *rest = strchr(line, '\t') + 1;

        if (strncmp(line, "option", 6) == 0) {
            txid_text name = next_text(&rest), words[MOST_FIELDS];
            size_t words_count = 0;
            while (*rest != '\n') {
                words[words_count++] = next_text(&rest);
            }
            /* A word without characters ends the line. */
            if (rest[-1] == '\t') {
                words[words_count++] = (txid_text){ .len = 0, .data = "" };
            }
            txid_policy_set(policy, name.data, name.len, words, words_count, message);

        } else if (strncmp(line, "field", 5) == 0 && count < MOST_FIELDS) {
            txid_text name = next_text(&rest), value = next_text(&rest);
            fields[count++] = (txid_field){ .name_len = (int32_t)name.len, .name = name.data,
                                            .value_len = (int32_t)value.len, .value = value.data };

        } else {
            if (message[0] != '\0') {
                printf("message=%s\n", message);
            } else {
                decide(policy, fields, count, next_text(&rest));
            }
            txid_policy_close(policy);
            policy = txid_policy_open();
            count = 0;
            message[0] = '\0';
        }
    }
    return 0;
}
