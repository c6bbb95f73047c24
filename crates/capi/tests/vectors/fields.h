/* Fields of a line, in hexadecimal and separated by tabs. */

#include "txid-internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the field before the next tab, or before the end of the line. Returns a copy. */
static txid_text
next_text(char **line)
{
    size_t len = strcspn(*line, "\t\n") / 2;
    char *data = malloc(len + 1);

    for (size_t i = 0; i < len; i++) {
        unsigned byte;
        sscanf(*line + 2 * i, "%2x", &byte);
        data[i] = (char)byte;
    }
    *line += 2 * len;
    *line += **line == '\t';
    return (txid_text){ .len = len, .data = data };
}
