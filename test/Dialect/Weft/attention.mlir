// Attention and its gradients: their text on tensors and on buffers, and what they do not admit.
// RUN: weft-opt %s --split-input-file --verify-diagnostics | weft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @tensors
// CHECK: weft.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} into %{{.*}}, %{{.*}} {causal = "top_left", format = bf16, queries = 8 : i64, scale = 2.500000e-01 : f64} :
func.func @tensors(%q: tensor<2x16x32xbf16>, %k: tensor<2x20x32xbf16>, %m: tensor<16x1xi1>, %y: tensor<2x16x32xbf16>, %l: tensor<2x16x1xf32>) -> tensor<2x16x32xbf16> {
  %0:2 = weft.attention %q, %k, %k mask %m into %y, %l {causal = "top_left", format = bf16, queries = 8 : i64, scale = 0.25 : f64}
      : (tensor<2x16x32xbf16>, tensor<2x20x32xbf16>, tensor<2x20x32xbf16>, tensor<16x1xi1>, tensor<2x16x32xbf16>, tensor<2x16x1xf32>) -> (tensor<2x16x32xbf16>, tensor<2x16x1xf32>)
  return %0#0 : tensor<2x16x32xbf16>
}

// CHECK-LABEL: func.func @buffers
// CHECK: weft.attention %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} {
func.func @buffers(%q: memref<2x16x32xi16>, %k: memref<2x20x32xi16>, %y: memref<2x16x32xi16>, %l: memref<2x16x1xf32>) {
  weft.attention %q, %k, %k into %y, %l {causal = "no", format = f16, queries = 16 : i64, scale = 0.25 : f64}
      : (memref<2x16x32xi16>, memref<2x20x32xi16>, memref<2x20x32xi16>, memref<2x16x32xi16>, memref<2x16x1xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @gradients
// CHECK: weft.attention_gradients %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} by %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} {causal = "top_left", format = bf16, queries = 8 : i64, scale = 2.500000e-01 : f64} :
func.func @gradients(%q: tensor<2x16x32xbf16>, %k: tensor<2x20x32xbf16>, %m: tensor<16x1xi1>, %l: tensor<2x16x1xf32>) -> tensor<2x20x32xbf16> {
  %0:3 = weft.attention_gradients %q, %k, %k mask %m by %l, %l, %q into %q, %k, %k {causal = "top_left", format = bf16, queries = 8 : i64, scale = 0.25 : f64}
      : (tensor<2x16x32xbf16>, tensor<2x20x32xbf16>, tensor<2x20x32xbf16>, tensor<16x1xi1>, tensor<2x16x1xf32>, tensor<2x16x1xf32>, tensor<2x16x32xbf16>, tensor<2x16x32xbf16>, tensor<2x20x32xbf16>, tensor<2x20x32xbf16>)
      -> (tensor<2x16x32xbf16>, tensor<2x20x32xbf16>, tensor<2x20x32xbf16>)
  return %0#1 : tensor<2x20x32xbf16>
}

// CHECK-LABEL: func.func @gradients_in_buffers
// CHECK: weft.attention_gradients %{{.*}}, %{{.*}}, %{{.*}} by %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} {
func.func @gradients_in_buffers(%q: memref<16x32xi16>, %l: memref<16x1xf32>, %x: memref<16x32xi16>, %y: memref<16x32xi16>, %z: memref<16x32xi16>) {
  weft.attention_gradients %q, %q, %q by %l, %l, %q into %x, %y, %z {causal = "no", format = f16, queries = 16 : i64, scale = 0.25 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x1xf32>, memref<16x1xf32>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>) -> ()
  return
}

// -----

func.func @format(%q: memref<16x32xf32>, %l: memref<16x1xf32>) {
  // expected-error @+1 {{'weft.attention' op has format bf16 or f16, but it is 'f32'}}
  weft.attention %q, %q, %q into %q, %l {causal = "no", format = f32, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xf32>, memref<16x32xf32>, memref<16x32xf32>, memref<16x32xf32>, memref<16x1xf32>) -> ()
  return
}

// -----

func.func @element(%q: memref<16x32xf32>, %l: memref<16x1xf32>) {
  // expected-error @+1 {{'weft.attention' op has numbers of 'bf16', but is given 'f32'}}
  weft.attention %q, %q, %q into %q, %l {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xf32>, memref<16x32xf32>, memref<16x32xf32>, memref<16x32xf32>, memref<16x1xf32>) -> ()
  return
}

// -----

func.func @mixed(%q: memref<16x32xi16>, %k: tensor<16x32xi16>, %l: memref<16x1xi16>) {
  // expected-error @+1 {{'weft.attention' op is on tensors or on buffers, but meets 'memref<16x32xi16>' and 'tensor<16x32xi16>'}}
  weft.attention %q, %k, %q into %q, %l {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, tensor<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x1xi16>) -> ()
  return
}

// -----

func.func @places(%q: memref<16x32xi16>) {
  // expected-error @+1 {{'weft.attention' op writes over means and logarithms, but is given 1 places}}
  weft.attention %q, %q, %q into %q {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>) -> ()
  return
}

// -----

func.func @results(%q: tensor<16x32xi16>, %l: tensor<16x1xi16>) {
  // expected-error @+1 {{'weft.attention' op gives what it writes over, where that is tensors}}
  weft.attention %q, %q, %q into %q, %l {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (tensor<16x32xi16>, tensor<16x32xi16>, tensor<16x32xi16>, tensor<16x32xi16>, tensor<16x1xi16>) -> ()
  return
}

// -----

func.func @keys(%q: memref<16x32xi16>, %k: memref<20x32xi16>, %l: memref<16x1xi16>) {
  // expected-error @+1 {{'weft.attention' op key and value are (batch.., keys, depth) of the query's batch and depth, but there are 'memref<16x32xi16>', 'memref<20x32xi16>' and 'memref<16x32xi16>'}}
  weft.attention %q, %k, %q into %q, %l {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<20x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x1xi16>) -> ()
  return
}

// -----

func.func @logs(%q: memref<16x32xi16>, %l: memref<16xi16>) {
  // expected-error @+1 {{'weft.attention' op means are of the query's shape, and logarithms, of f32, have 1 in the place of its last size}}
  weft.attention %q, %q, %q into %q, %l {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16xi16>) -> ()
  return
}

// -----

func.func @mask(%q: memref<16x32xi16>, %m: memref<8x16xi1>, %l: memref<16x1xi16>) {
  // expected-error @+1 {{'weft.attention' op the mask broadcasts with (batch.., rows, keys), but is 'memref<8x16xi1>'}}
  weft.attention %q, %q, %q mask %m into %q, %l {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<8x16xi1>, memref<16x32xi16>, memref<16x1xi16>) -> ()
  return
}

// -----

func.func @causal(%q: memref<16x32xi16>, %l: memref<16x1xi16>) {
  // expected-error @+1 {{'weft.attention' op causal is no, top_left or bottom_right, but it is left}}
  weft.attention %q, %q, %q into %q, %l {causal = "left", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x1xi16>) -> ()
  return
}

// -----

func.func @queries(%q: memref<16x32xi16>, %l: memref<16x1xi16>) {
  // expected-error @+1 {{'weft.attention' op queries divides the rows, but it is 5 of 'memref<16x32xi16>'}}
  weft.attention %q, %q, %q into %q, %l {causal = "no", format = bf16, queries = 5 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x1xi16>) -> ()
  return
}

// -----

func.func @gradient_places(%q: memref<16x32xi16>, %l: memref<16x1xf32>) {
  // expected-error @+1 {{'weft.attention_gradients' op writes over gradients by query, key and value, but is given 2 places}}
  weft.attention_gradients %q, %q, %q by %l, %l, %q into %q, %q {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x1xf32>, memref<16x1xf32>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>) -> ()
  return
}

// -----

func.func @gradient_shapes(%q: memref<16x32xi16>, %k: memref<20x32xi16>, %l: memref<16x1xf32>) {
  // expected-error @+1 {{'weft.attention_gradients' op gradients are of the shapes of query, key and value, but these are 'memref<16x32xi16>', 'memref<20x32xi16>', 'memref<16x32xi16>'}}
  weft.attention_gradients %q, %k, %k by %l, %l, %q into %q, %k, %q {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<20x32xi16>, memref<20x32xi16>, memref<16x1xf32>, memref<16x1xf32>, memref<16x32xi16>, memref<16x32xi16>, memref<20x32xi16>, memref<16x32xi16>) -> ()
  return
}

// -----

func.func @cotangent(%q: memref<16x32xi16>, %k: memref<20x32xi16>, %l: memref<16x1xf32>) {
  // expected-error @+1 {{'weft.attention_gradients' op the cotangent is of the query's shape, but it is 'memref<20x32xi16>'}}
  weft.attention_gradients %q, %k, %k by %l, %l, %k into %q, %k, %k {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<20x32xi16>, memref<20x32xi16>, memref<16x1xf32>, memref<16x1xf32>, memref<20x32xi16>, memref<16x32xi16>, memref<20x32xi16>, memref<20x32xi16>) -> ()
  return
}

// -----

func.func @along(%q: memref<16x32xi16>, %l: memref<16x1xf32>, %a: memref<16x1xi16>) {
  // expected-error @+1 {{'weft.attention_gradients' op logs and along are (batch.., rows, 1) of f32, but there is 'memref<16x1xi16>'}}
  weft.attention_gradients %q, %q, %q by %l, %a, %q into %q, %q, %q {causal = "no", format = bf16, queries = 16 : i64, scale = 1.0 : f64}
      : (memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x1xf32>, memref<16x1xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>, memref<16x32xi16>) -> ()
  return
}

// -----

// expected-error @+1 {{'func.func' op has a 'weft.one_kernel' that is a dictionary with the name of an op, 'op', but is "attention"}}
func.func private @kernel() attributes {weft.one_kernel = "attention"}

// -----

// expected-error @+1 {{'func.func' op has a 'weft.one_kernel' that belongs to a private func.func}}
func.func @kernel() attributes {weft.one_kernel = {op = "attention"}} {
  return
}
