/*
 * For LD_PRELOAD: the third number in the file $REFUSE is how many blocks of memory the process
 * has, and at its end, how many it has left.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The C library's own names of these functions. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* Before the file is open. */
static int32_t  numbers_of_start[3];
static int32_t  *numbers = numbers_of_start;


static void *
given(void *block)
{
    if (block != NULL) {
        __atomic_fetch_add(&numbers[2], 1, __ATOMIC_RELAXED);
    }
    return block;
}


void *
malloc(size_t size)
{
    return given(__libc_malloc(size));
}


void *
calloc(size_t count, size_t size)
{
    return given(__libc_calloc(count, size));
}


void *
aligned_alloc(size_t alignment, size_t size)
{
    return given(__libc_memalign(alignment, size));
}


int
posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = aligned_alloc(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}


void
free(void *block)
{
    if (block != NULL) {
        __atomic_fetch_sub(&numbers[2], 1, __ATOMIC_RELAXED);
    }
    __libc_free(block);
}


void *
realloc(void *block, size_t size)
{
    if (block != NULL && size == 0) {
        free(block);
        return NULL;
    }
    return block == NULL ? malloc(size) : __libc_realloc(block, size);
}


__attribute__((constructor)) static void
open_file(void)
{
    int       file = open(getenv("REFUSE"), O_RDWR);
    int32_t  *shared = mmap(NULL, 3 * sizeof(int32_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    if (shared != MAP_FAILED) {
        shared[2] = numbers[2];
        numbers = shared;
    }
}
