/*
 * For LD_AUDIT: makes nginx refuse memory to our modules. The file $REFUSE has two numbers: how
 * many more times memory is given before it is refused once, and how often it was asked for. If the
 * first number is negative, memory is given.
 */

#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static volatile int32_t  *numbers;

/*
 * The functions of nginx that return NULL, or -1, without memory: as many arguments as any of them
 * has.
 */
typedef intptr_t (*function)(intptr_t, intptr_t, intptr_t, intptr_t);

static int
refused(void)
{
    numbers[1]++;
    return numbers[0] >= 0 && numbers[0]-- == 0;
}

#define refusing(name, without)                                                                    \
    static function  next_ ## name;                                                                \
    static intptr_t refuse_ ## name(intptr_t a, intptr_t b, intptr_t c, intptr_t d)                \
    {                                                                                              \
        return refused() ? without : next_ ## name(a, b, c, d);                                    \
    }

refusing(ngx_palloc, 0)
refusing(ngx_pnalloc, 0)
refusing(ngx_pcalloc, 0)
refusing(ngx_pool_cleanup_add, 0)
refusing(ngx_array_push, 0)
refusing(ngx_list_push, 0)
refusing(ngx_http_add_variable, 0)
refusing(ngx_http_get_variable_index, -1)
refusing(ngx_http_get_indexed_variable, 0)
refusing(ngx_stream_add_variable, 0)
refusing(ngx_stream_get_variable_index, -1)
refusing(ngx_stream_get_indexed_variable, 0)

#define entry(name)  { #name, &next_ ## name, refuse_ ## name }

static const struct {
    const char  *name;
    function    *next;
    function     refuse;
} functions[] = {
    entry(ngx_palloc), entry(ngx_pnalloc), entry(ngx_pcalloc), entry(ngx_pool_cleanup_add),
        entry(ngx_array_push),
    entry(ngx_list_push), entry(ngx_http_add_variable), entry(ngx_http_get_variable_index),
    entry(ngx_http_get_indexed_variable), entry(ngx_stream_add_variable),
        entry(ngx_stream_get_variable_index),
    entry(ngx_stream_get_indexed_variable),
};


unsigned int
la_version(unsigned int version)
{
    int  file = open(getenv("REFUSE"), O_RDWR);

    numbers = mmap(NULL, 2 * sizeof(int32_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return numbers == MAP_FAILED ? 0 : LAV_CURRENT;
}


unsigned int
la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
    *cookie = strstr(map->l_name, "_txid_module.so") != NULL;
    return *cookie ? LA_FLG_BINDFROM : LA_FLG_BINDTO;
}


uintptr_t
la_symbind64(Elf64_Sym *sym, unsigned int index, uintptr_t *from, uintptr_t *to,
    unsigned int *flags, const char *name)
{
    size_t  i;

    for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(name, functions[i].name) == 0) {
            *functions[i].next = (function) sym->st_value;
            return (uintptr_t) functions[i].refuse;
        }
    }
    return sym->st_value;
}
