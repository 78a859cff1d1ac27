/*
 * Makes a process see another wall clock, a full disk and a slow one. Loaded into it by LD_PRELOAD, and controlled by a
 * file, which LOCKSTEP_HOST_FAULTS names and which is shared memory for all processes that have it open: three numbers,
 * by how many nanoseconds the clock is off, whether the disk is full, and how many nanoseconds later a write is safe.
 * Clocks that measure intervals do not change.
 *
 * Needs no header and no start-up files, so that any C compiler will do.
 */
struct timespec { long tv_sec, tv_nsec; };
struct timeval { long tv_sec, tv_usec; };
struct iovec { void *iov_base; unsigned long iov_len; };

extern long syscall(long number, ...);
extern char *getenv(const char *name);
extern int *__errno_location(void);

#if defined(__x86_64__)
enum { OPENAT = 257, MMAP = 9, CLOSE = 3, CLOCK_GETTIME = 228, NANOSLEEP = 35, FSTAT = 5, LSEEK = 8, FCNTL = 72 };
enum { WRITE = 1, WRITEV = 20, PWRITE = 18, PWRITEV = 296, FALLOCATE = 285, FSYNC = 74, FDATASYNC = 75 };
enum { MODE = 6 };
#elif defined(__aarch64__)
enum { OPENAT = 56, MMAP = 222, CLOSE = 57, CLOCK_GETTIME = 113, NANOSLEEP = 101, FSTAT = 80, LSEEK = 62, FCNTL = 25 };
enum { WRITE = 64, WRITEV = 66, PWRITE = 68, PWRITEV = 70, FALLOCATE = 47, FSYNC = 82, FDATASYNC = 83 };
enum { MODE = 4 };
#else
#error "unknown processor"
#endif
enum { HERE = -100, READ_ONLY = 0, READABLE = 1, SHARED = 1, REALTIME = 0, REALTIME_COARSE = 5, NO_SPACE = 28 };
enum { GET_FLAGS = 3, APPENDS = 02000, FROM_HERE = 1, KIND = 0170000, FILE = 0100000 };

static const long none[3];
static const volatile long *volatile faults;

static const volatile long *settings(void) {
  if (!faults) {
    const char *name = getenv("LOCKSTEP_HOST_FAULTS");
    long file = name ? syscall(OPENAT, HERE, name, READ_ONLY) : -1;
    long page = file < 0 ? -1 : syscall(MMAP, 0L, sizeof none, READABLE, SHARED, file, 0L);
    if (file >= 0) {
      syscall(CLOSE, file);
    }
    faults = page == -1 ? none : (const long *)page;
  }
  return faults;
}

int clock_gettime(int clock, struct timespec *time) {
  int failed = (int)syscall(CLOCK_GETTIME, clock, time);
  if (!failed && (clock == REALTIME || clock == REALTIME_COARSE)) {
    long nanos = time->tv_nsec + settings()[0] % 1000000000;
    time->tv_sec += settings()[0] / 1000000000 + (nanos < 0 ? -1 : nanos / 1000000000);
    time->tv_nsec = nanos < 0 ? nanos + 1000000000 : nanos % 1000000000;
  }
  return failed;
}

int gettimeofday(struct timeval *time, void *zone) {
  struct timespec now;
  int failed = clock_gettime(REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return failed;
}

long time(long *copy) {
  struct timespec now;
  clock_gettime(REALTIME, &now);
  if (copy) {
    *copy = now.tv_sec;
  }
  return now.tv_sec;
}

/* Data on a full disk can be overwritten; no file can grow. Connections are not on the disk. */
static int has_room(int file, long at, long count) {
  long status[32]; /* larger than the kernel's; the size is its seventh number */
  if (!settings()[1] || syscall(FSTAT, file, status) || (((unsigned int *)status)[MODE] & KIND) != FILE) {
    return 1;
  }
  if (at < 0) { /* wherever the file is at */
    at = syscall(FCNTL, file, GET_FLAGS) & APPENDS ? status[6] : syscall(LSEEK, file, 0L, FROM_HERE);
  }
  if (at + count <= status[6]) {
    return 1;
  }
  *__errno_location() = NO_SPACE;
  return 0;
}

static long length(const struct iovec *parts, int count) {
  long sum = 0;
  for (int i = 0; i < count; i++) {
    sum += (long)parts[i].iov_len;
  }
  return sum;
}

long write(int file, const void *bytes, unsigned long count) {
  return has_room(file, -1, (long)count) ? syscall(WRITE, file, bytes, count) : -1;
}

long writev(int file, const struct iovec *parts, int count) {
  return has_room(file, -1, length(parts, count)) ? syscall(WRITEV, file, parts, (long)count) : -1;
}

long pwrite64(int file, const void *bytes, unsigned long count, long at) {
  return has_room(file, at, (long)count) ? syscall(PWRITE, file, bytes, count, at) : -1;
}

long pwrite(int file, const void *bytes, unsigned long count, long at) {
  return pwrite64(file, bytes, count, at);
}

long pwritev64(int file, const struct iovec *parts, int count, long at) {
  return has_room(file, at, length(parts, count)) ? syscall(PWRITEV, file, parts, (long)count, at, 0L) : -1;
}

long pwritev(int file, const struct iovec *parts, int count, long at) {
  return pwritev64(file, parts, count, at);
}

int fallocate64(int file, int mode, long at, long count) {
  return has_room(file, at, count) ? (int)syscall(FALLOCATE, file, mode, at, count) : -1;
}

int fallocate(int file, int mode, long at, long count) {
  return fallocate64(file, mode, at, count);
}

int posix_fallocate64(int file, long at, long count) {
  return fallocate64(file, 0, at, count) ? *__errno_location() : 0;
}

int posix_fallocate(int file, long at, long count) {
  return posix_fallocate64(file, at, count);
}

static void delay(void) {
  struct timespec time = {settings()[2] / 1000000000, settings()[2] % 1000000000};
  if (time.tv_sec || time.tv_nsec) {
    syscall(NANOSLEEP, &time, 0L);
  }
}

int fsync(int file) {
  delay();
  return (int)syscall(FSYNC, file);
}

int fdatasync(int file) {
  delay();
  return (int)syscall(FDATASYNC, file);
}
