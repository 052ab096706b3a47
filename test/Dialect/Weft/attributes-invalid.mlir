// Attributes by which phases tell later ones what they decided are verified on whatever op they stand.
// RUN: weft-opt %s -split-input-file -verify-diagnostics

// A result that is a variable's new value has the old one as an argument.
// expected-error @below {{'func.func' op has a 'weft.variable' at result 0 that is that of no argument}}
func.func @no_argument(%x: tensor<4xf32>) -> (tensor<4xf32> {weft.variable = @w}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'weft.variable' at result 0 that is that of argument 0, which is of another type, tensor<3xf32>}}
func.func @other_type(%w: tensor<3xf32> {weft.variable = @w}, %x: tensor<4xf32>) -> (tensor<4xf32> {weft.variable = @w}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'weft.variable' at result 1 that is also that of result 0}}
func.func @twice(%w: tensor<4xf32> {weft.variable = @w}) -> (tensor<4xf32> {weft.variable = @w}, tensor<4xf32> {weft.variable = @w}) {
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{'weft.variable' at argument 1 that is also that of argument 0}}
func.func @two_places(%w: tensor<4xf32> {weft.variable = @w}, %v: tensor<4xf32> {weft.variable = @w}) {
  return
}

// -----

// The buffer of a variable is as large as the variable.
weft.variable @w : tensor<4xf32>
// expected-error @below {{'weft.variable' at argument 0 that says that tensor<400xf32> is the variable @w of type tensor<4xf32>}}
func.func @larger(%w: tensor<400xf32> {weft.variable = @w}) {
  return
}

// -----

// expected-error @below {{'weft.variable' at argument 0 that names @f, which is no weft.variable}}
func.func @f(%w: tensor<4xf32> {weft.variable = @f}) {
  return
}

// -----

// expected-error @below {{'weft.variable' at argument 0 that belongs to a tensor or a buffer of known sizes, but not to tensor<?xf32>}}
func.func @unknown(%w: tensor<?xf32> {weft.variable = @w}) {
  return
}

// -----

// expected-error @below {{'weft.variable' that belongs to an argument or a result of a function}}
func.func @on_function() attributes {weft.variable = @w} {
  return
}

// -----

// expected-error @below {{'weft.output' at argument 0 that must be an i64 that is not negative, but is -1 : i64}}
func.func @output(%x: memref<4xf32> {weft.output = -1 : i64}) {
  return
}

// -----

// A result is copied into its place, which has its dtype and its shape.
// expected-error @below {{'weft.output' at argument 0 that is the number of a result of that dtype and shape, but result 0 is memref<4xf32>}}
func.func @output_of_another_dtype(%x: memref<4xi1> {weft.output = 0 : i64}, %y: memref<4xf32>) -> memref<4xf32> {
  return %y : memref<4xf32>
}

// -----

// expected-error @below {{'weft.output' at argument 0 that is the number of a result of that dtype and shape, but result 0 is memref<4xf32>}}
func.func @output_of_another_shape(%x: memref<f32> {weft.output = 0 : i64}, %y: memref<4xf32>) -> memref<4xf32> {
  return %y : memref<4xf32>
}

// -----

// expected-error @below {{'weft.updated' at argument 0 that goes with 'weft.variable'}}
func.func @updated(%x: memref<4xf32> {weft.updated}) {
  return
}

// -----

// expected-error @below {{'weft.dims' at argument 0 that names a size of the entry for each unknown one}}
func.func @dims(%x: memref<?x?xf32> {weft.dims = array<i64: 0>}) {
  return
}

// -----

// expected-error @below {{'weft.dim_names' at argument 0 that is a text for each axis of the argument}}
func.func @dim_names(%x: tensor<?x?xf32> {weft.dim_names = ["batch"]}) {
  return
}

// -----

// expected-error @below {{'weft.strides' at argument 0 that names a size of the entry for each unknown stride}}
func.func @strides(%x: memref<?x?xf32, strided<[?, 1]>> {weft.strides = array<i64: 0, 1>}) {
  return
}

// -----

// expected-error @below {{'weft.strides' at argument 0 that names a size of the entry for each unknown stride}}
func.func @dense(%x: memref<?x?xf32> {weft.strides = array<i64: 0>}) {
  return
}

// -----

// expected-error @below {{'weft.arena_bytes' that must be an i64 that is not negative, but is "many"}}
func.func @bytes() attributes {weft.arena_bytes = "many"} {
  return
}

// -----

func.func @offset() {
  // expected-error @below {{'weft.arena_offset' that is the place of a memref.alloc, a multiple of 64, but is -64 : i64}}
  %0 = memref.alloc() {weft.arena_offset = -64 : i64} : memref<4xf32>
  return
}

// -----

func.func @offset_of_unknown(%n: index) {
  // expected-error @below {{'weft.arena_offset' that gives a place to a buffer of unknown size}}
  %0 = memref.alloc(%n) {weft.arena_offset = 0 : i64} : memref<?xf32>
  return
}

// -----

func.func @output_of_alloc() {
  // expected-error @below {{'weft.output' that is the number of a result that a memref.alloc of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN or f8E5M2 is}}
  %0 = memref.alloc() {weft.output = 0 : i64} : memref<4xf80>
  return
}

// -----

// expected-error @below {{'weft.runtime' that belongs to a func.func without a body, with at most one result}}
func.func private @runtime() attributes {weft.runtime} {
  return
}

// -----

// expected-error @below {{'weft.context' that goes with 'weft.runtime'}}
func.func private @context() attributes {weft.context}

// -----

func.func private @part(index)
func.func @parallel(%i: index) {
  // expected-error @below {{'weft.parallel' that belongs to a func.call without results whose first three operands are of type index}}
  call @part(%i) {weft.parallel} : (index) -> ()
  return
}

// -----

// expected-error @below {{'weft.saved' that is a list of pairs, array<i64: ...>, on a func.func, or of notes on the module}}
func.func @saved() attributes {weft.saved = array<i64: 1>} {
  return
}

// -----

func.func @reason(%x: memref<4xf32>) {
  // expected-error @below {{'weft.reason' that is a text, but is 1 : i64}}
  memref.copy %x, %x {weft.reason = 1 : i64} : memref<4xf32> to memref<4xf32>
  return
}

// -----

// expected-error @below {{'weft.leave' op must be in a function, whose call it leaves}}
weft.leave shape "m"

// -----

func.func @texts(%c: i1, %n: index) {
  // expected-error @below {{'weft.check_sizes' op has 1 {} in its text for 2 sizes}}
  weft.check_sizes %c, "{} is too many", %n, %n
  return
}

// -----

func.func @kinds(%c: i1, %n: index) {
  // expected-error @below {{'weft.check_sizes' op says no error of sizes: shape, value or bounds}}
  weft.check_sizes %c, "{} is too many", %n as print
  return
}

// -----

func.func @values(%x: memref<4xf32>) {
  // expected-error @below {{'weft.leave' op of kind shape takes sizes alone}}
  weft.leave shape "{}", %x : memref<4xf32>
  return
}

// -----

func.func @printed(%x: memref<4xf80>) {
  // expected-error @below {{'weft.leave' op takes tensors or buffers of i1, i8, i16, i32, i64, ui8, ui16, ui32, ui64, f16, bf16, f32, f64, complex<f32>, complex<f64>, f8E4M3FN or f8E5M2, but not 'memref<4xf80>'}}
  weft.leave print "{}", %x : memref<4xf80>
  return
}

// -----

func.func @indices(%x: memref<4xf32>, %n: index) {
  // expected-error @below {{'weft.leave' op of kind index wants the indices and the size of the axis}}
  weft.leave index "gather", %x, %n : memref<4xf32>, index
  return
}

// -----

func.func @product(%a: memref<2x2xf32>) {
  // expected-error @below {{'weft.bf16_product' that belongs to a linalg.contract of i16}}
  linalg.contract
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %a : memref<2x2xf32>, memref<2x2xf32>) outs(%a : memref<2x2xf32>) {weft.bf16_product}
  return
}

// -----

func.func @wide_product(%a: memref<2x2xf32>) {
  // expected-error @below {{'weft.narrow_product' that belongs to a linalg.generic of two operands of i16 and one of f32}}
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                   affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : memref<2x2xf32>, memref<2x2xf32>) outs(%a : memref<2x2xf32>) attrs = {weft.narrow_product} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    linalg.yield %z : f32
  }
  return
}
