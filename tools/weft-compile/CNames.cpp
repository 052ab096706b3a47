// Lists of names: the words of C and C++, and what the headers of ISO C and POSIX declare.
#include "CNames.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::weft {

using llvm::StringRef;

static const char words[] = R"(
BUFSIZ CLOCKS_PER_SEC DOMAIN EOF EXIT_FAILURE EXIT_SUCCESS HUGE_VAL I INFINITY M_E M_PI NAN NULL
OVERFLOW RAND_MAX SEEK_CUR SEEK_END SEEK_SET SING UNDERFLOW alignas alignof alloca and and_eq asm
assert auto bitand bitor bool break case catch char class compl complex concept const const_cast
constexpr continue decltype default delete do double dynamic_cast else enum environ errno explicit
export extern false float for friend goto i386 if imaginary inline int int32_t int64_t linux long
main mutable namespace new noexcept noreturn not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast requires restrict return short signed signgam sizeof
static static_assert static_cast stderr stdin stdout struct switch template this thread_local
throw true try typedef typeid typename typeof uint8_t union unix unreachable unsigned using
virtual void volatile wchar_t while xor xor_eq
)";

/// Functions that are also there for float and long double, as "sinf" and "sinl".
static const char mathematics[] = R"(
acos acosh asin asinh atan atan2 atanh cabs cacos cacosh canonicalize carg casin casinh catan
catanh cbrt ccos ccosh ceil cexp cimag clog conj copysign cos cosh cpow cproj creal csin csinh
csqrt ctan ctanh drem erf erfc exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmaximum
fmaximum_mag fmaximum_mag_num fmaximum_num fmin fminimum fminimum_mag fminimum_mag_num
fminimum_num fmod frexp fromfp fromfpx gamma hypot ilogb isinf isnan j0 j1 jn ldexp lgamma llogb
llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nextdown
nexttoward nextup pow remainder remquo rint round roundeven scalb scalbln scalbn significand sin
sinh sqrt tan tanh tgamma trunc ufromfp ufromfpx y0 y1 yn
)";

static const char others[] = R"(
FILE a64l abort abs access acct alarm aligned_alloc arc4random arc4random_buf arc4random_uniform
asctime asctime_r at_quick_exit atexit atof atoi atol atoll atomic_flag_clear
atomic_flag_clear_explicit atomic_flag_test_and_set atomic_flag_test_and_set_explicit
atomic_signal_fence atomic_thread_fence basename bcmp bcopy brk bsearch btowc bzero c16rtomb
c32rtomb c8rtomb call_once calloc char16_t char32_t char8_t chdir chmod chown chroot clearenv
clearerr clearerr_unlocked clock clock_getcpuclockid clock_getres clock_gettime clock_nanosleep
clock_settime clock_t close closefrom cnd_broadcast cnd_destroy cnd_init cnd_signal cnd_t
cnd_timedwait cnd_wait confstr creat crypt ctermid ctime ctime_r daddl daemon ddivl dev_t dfmal
difftime div div_t dmull double_t dprintf drand48 drand48_r dsqrtl dsubl dup dup2 duplocale dysize
ecvt ecvt_r endusershell erand48 erand48_r execl execle execlp execv execve execvp exit
explicit_bzero faccessat fadd faddl fchdir fchmod fchmodat fchown fchownat fclose fcntl fcvt
fcvt_r fdatasync fdiv fdivl fdopen feclearexcept fegetenv fegetexceptflag fegetmode fegetround
feholdexcept fenv_t feof feof_unlocked feraiseexcept ferror ferror_unlocked fesetenv fesetexcept
fesetexceptflag fesetmode fesetround fetestexcept fetestexceptflag feupdateenv fexcept_t fexecve
fflush fflush_unlocked ffma ffmal ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgets fgetwc fgetws
fileno fileno_unlocked float_t flockfile fmemopen fmul fmull fopen fork fpathconf fpclassify
fpos_t fprintf fputc fputc_unlocked fputs fputwc fputws fread fread_unlocked free freelocale
freopen fscanf fseek fseeko fsetpos fsqrt fsqrtl fstat fstatat fsub fsubl fsync ftell ftello
ftruncate ftrylockfile funlockfile futimens fwide fwprintf fwrite fwrite_unlocked fwscanf gcvt
getc getc_unlocked getchar getchar_unlocked getcwd getdelim getdomainname getdtablesize getegid
getentropy getenv geteuid getgid getgroups gethostid gethostname getline getloadavg getlogin
getlogin_r getopt getpagesize getpass getpgid getpgrp getpid getppid getsid getsubopt getuid
getusershell getw getwc getwchar getwd gid_t gmtime gmtime_r gsignal id_t imaxabs imaxdiv index
initstate initstate_r ino_t int16_t int8_t intmax_t intptr_t isalnum isalnum_l isalpha isalpha_l
isascii isatty isblank isblank_l iscntrl iscntrl_l isdigit isdigit_l iseqsig isfinite isgraph
isgraph_l isgreater isgreaterequal isless islessequal islessgreater islower islower_l isnormal
isprint isprint_l ispunct ispunct_l issignaling isspace isspace_l issubnormal isunordered isupper
isupper_l iswalnum iswalnum_l iswalpha iswalpha_l iswblank iswblank_l iswcntrl iswcntrl_l iswctype
iswctype_l iswdigit iswdigit_l iswgraph iswgraph_l iswlower iswlower_l iswprint iswprint_l
iswpunct iswpunct_l iswspace iswspace_l iswupper iswupper_l iswxdigit iswxdigit_l isxdigit
isxdigit_l iszero jmp_buf jrand48 jrand48_r key_t kill killpg l64a labs lchmod lchown lcong48
lcong48_r lconv ldiv ldiv_t lgamma_r lgammaf_r lgammal_r link linkat llabs lldiv lldiv_t
localeconv localtime localtime_r lockf longjmp lrand48 lrand48_r lseek lstat malloc max_align_t
mblen mbrlen mbrtoc16 mbrtoc32 mbrtoc8 mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstate_t mbstowcs
mbtowc memccpy memchr memcmp memcpy memmove memset mkdir mkdirat mkdtemp mkfifo mkfifoat mknod
mknodat mkstemp mkstemps mktemp mktime mode_t mrand48 mrand48_r mtx_destroy mtx_init mtx_lock
mtx_t mtx_timedlock mtx_trylock mtx_unlock nanosleep newlocale nice nrand48 nrand48_r nullptr_t
off_t offsetof on_exit once_flag open open_memstream open_wmemstream openat pathconf pause pclose
perror pid_t pipe popen posix_fadvise posix_fallocate posix_memalign pread printf profil pselect
psiginfo psignal pthread_kill pthread_sigmask ptrdiff_t putc putc_unlocked putchar
putchar_unlocked putenv puts putw putwc putwchar pwrite qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort
quad_t quick_exit raise rand rand_r random random_r read readlink readlinkat realloc reallocarray
realpath remove rename renameat revoke rewind rindex rmdir rpmatch sbrk scanf seed48 seed48_r
select setbuf setbuffer setdomainname setegid setenv seteuid setgid sethostid sethostname setjmp
setlinebuf setlocale setlogin setpgid setpgrp setregid setreuid setsid setstate setstate_r setuid
setusershell setvbuf sig_atomic_t sigaction sigaddset sigaltstack sigblock sigdelset sigemptyset
sigfillset siggetmask siginterrupt sigismember sigjmp_buf siglongjmp signal signbit sigpending
sigprocmask sigqueue sigreturn sigset_t sigsetmask sigstack sigsuspend sigtimedwait sigwait
sigwaitinfo size_t sleep snprintf sprintf srand srand48 srand48_r srandom srandom_r sscanf ssignal
ssize_t stat stpcpy stpncpy strcasecmp strcasecmp_l strcat strchr strcmp strcoll strcoll_l strcpy
strcspn strdup strerror strerror_l strerror_r strfromd strfromf strfroml strftime strftime_l
strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strrchr strsep
strsignal strspn strstr strtod strtof strtoimax strtok strtok_r strtol strtold strtoll strtoq
strtoul strtoull strtoumax strtouq strxfrm strxfrm_l swprintf swscanf symlink symlinkat sync
syscall sysconf system tcgetpgrp tcsetpgrp tempnam thrd_create thrd_current thrd_detach thrd_equal
thrd_exit thrd_join thrd_sleep thrd_t thrd_yield time time_t timegm timelocal timer_create
timer_delete timer_getoverrun timer_gettime timer_settime timer_t timespec_get timespec_getres tm
tmpfile tmpnam tmpnam_r toascii tolower tolower_l toupper toupper_l towctrans towctrans_l towlower
towlower_l towupper towupper_l truncate tss_create tss_delete tss_get tss_set tss_t ttyname
ttyname_r ttyslot tzset u_char u_int u_long u_short ualarm uid_t uint uint16_t uint32_t uint64_t
uintmax_t uintptr_t ulong umask ungetc ungetwc unlink unlinkat unsetenv uselocale ushort usleep
utimensat va_arg va_copy va_end va_list va_start valloc vdprintf vfork vfprintf vfscanf vfwprintf
vfwscanf vhangup vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf
wchar_t wcpcpy wcpncpy wcrtomb wcscasecmp wcscasecmp_l wcscat wcschr wcscmp wcscoll wcscoll_l
wcscpy wcscspn wcsdup wcsftime wcslen wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen
wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol wcstold
wcstoll wcstombs wcstoul wcstoull wcstoumax wcsxfrm wcsxfrm_l wctob wctomb wctrans wctrans_l
wctrans_t wctype wctype_l wctype_t wint_t wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf write
wscanf
)";

static llvm::StringSet<> setOf(StringRef list) {
  llvm::SmallVector<StringRef> names;
  llvm::SplitString(list, names);
  llvm::StringSet<> set;
  set.insert(names.begin(), names.end());
  return set;
}

bool isWordOfC(StringRef name) {
  static const llvm::StringSet<> all = setOf(words);
  return all.contains(name);
}

bool isInCLibrary(StringRef name) {
  static const llvm::StringSet<> functions = setOf(mathematics), rest = setOf(others);
  if (functions.contains(name) || rest.contains(name)) return true;
  return (name.ends_with("f") || name.ends_with("l")) && functions.contains(name.drop_back());
}

} // namespace mlir::weft
