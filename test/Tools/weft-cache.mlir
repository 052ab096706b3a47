// The cache's tool on an empty folder, on one with an entry, on damage; wrong calls are errors.
// RUN: rm -rf %t && mkdir %t
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache list | FileCheck %s --check-prefix=EMPTY
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache explain %s | FileCheck %s --check-prefix=NONE
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c WEFT_LOG=1 weft-run %s --arg='dense<[3.0, 5.0]> : tensor<2xf32>' --print > %t/cold 2>&1
// RUN: FileCheck %s --check-prefixes=VALUE,COLD < %t/cold
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c WEFT_LOG=1 weft-run %s --arg='dense<[3.0, 5.0]> : tensor<2xf32>' --print > %t/warm 2>&1
// RUN: FileCheck %s --check-prefixes=VALUE,WARM < %t/warm
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache list | FileCheck %s --check-prefix=ONE
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache list --full | FileCheck %s --check-prefix=FULL
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache explain %s | FileCheck %s --check-prefix=HIT
// RUN: sed -e s/weft.add/weft.multiply/ %s > %t/other.mlir
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache explain %t/other.mlir | FileCheck %s --check-prefix=OTHER
// RUN: echo garbage > %t/c/0123456789abcdef.code && chmod 600 %t/c/0123456789abcdef.code
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache list | FileCheck %s --check-prefix=BAD
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache clear | FileCheck %s --check-prefix=CLEAR
// RUN: env WEFT_CACHE=on WEFT_CACHE_DIR=%t/c weft-cache list | FileCheck %s --check-prefix=EMPTY
// RUN: not weft-cache list 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: not weft-cache lsit 2>&1 | FileCheck %s --check-prefix=VERB
// RUN: not weft-cache explain 2>&1 | FileCheck %s --check-prefix=NOFILE

// EMPTY: /c: 0 entries, 0 B of 1.0 GiB
// NONE: miss: no entry is of this program, nor of a function of its names
// COLD: cache miss: step: [[KEY:[0-9a-f]+]]...
// WARM: cache hit: step: [[KEY:[0-9a-f]+]]... in {{.*}} ms instead of {{.*}} ms
// VALUE: step: 1 result
// VALUE: tensor([6, 10], shape=(2,), dtype=f32)
// ONE: /c: 1 entry, {{.*}} KiB of 1.0 GiB
// ONE-NEXT: entry{{ +}}size{{ +}}used{{ +}}compiled in{{ +}}function{{ +}}features
// ONE-NEXT: {{^[0-9a-f]{12}\.\.\. +[0-9.]+ KiB +[0-9]+ s ago +[0-9.]+ ms +step +as this CPU$}}
// FULL: {{^[0-9a-f]{64} }}
// FULL-NEXT: pipeline cpu, build {{[0-9a-f]+-[0-9a-f]+}}
// FULL-NEXT: features {{.*}}sse4.2
// HIT: hit: the entry {{[0-9a-f]+}}... holds the code of this program, which was @step
// OTHER: miss: no entry is of this program; the nearest is {{.*}}... by the name @step:
// OTHER-NEXT: program: {{.*}}... there, {{.*}}... here
// BAD: 0123456789ab... {{.*}}is a file of another kind
// CLEAR: /c: 2 entries removed
// OFF: error: the cache is off, by WEFT_CACHE or for want of a home folder
// VERB: error: 'lsit' is none of list, explain, clear
// NOFILE: error: explain needs a FILE.mlir

func.func @step(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = weft.add %x, %x : tensor<2xf32>, tensor<2xf32>
  return %y : tensor<2xf32>
}
