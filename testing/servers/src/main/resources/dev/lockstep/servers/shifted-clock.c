/* Loaded before libc: shows a program the time of day shifted by the nanoseconds in a file. Other clocks stay as they are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long *shift;

__attribute__((constructor)) static void map_shift(void) {
    const char *file = getenv("LOCKSTEP_CLOCK_FILE");
    int fd = file ? open(file, O_RDONLY) : -1;
    if (fd >= 0) {
        void *mapped = mmap(NULL, sizeof(long long), PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
        shift = mapped == MAP_FAILED ? NULL : mapped;
    }
}

int clock_gettime(clockid_t id, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, id, time);
    if (result == 0 && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
        long long nanos = time->tv_sec * 1000000000LL + time->tv_nsec + *shift;
        time->tv_sec = nanos / 1000000000LL;
        time->tv_nsec = nanos % 1000000000LL;
    }
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void) zone;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) {
        *result = now.tv_sec;
    }
    return now.tv_sec;
}
