// Exceptions that functions of the library throw pass through compiled code, and so does what is
// wrong with a program.

#include "Compile.h"

namespace weft::jit {
namespace {

// Compiled frames lie between the throw and the catch: an entry and a function that it calls.
TEST(Exceptions, unwindThroughCompiledFrames) {
  Compiled fail(R"(
    func.func private @weft_rt_index_error(i64, !llvm.ptr, i64, i64) attributes {weft.runtime, weft.context}
    llvm.mlir.global internal constant @op("gather\00")
    func.func private @inner(%x: memref<i64>) {
      %op = llvm.mlir.addressof @op : !llvm.ptr
      %size = arith.constant 3 : i64
      %index = memref.load %x[] : memref<i64>
      call @weft_rt_index_error(%size, %op, %index, %size) : (i64, !llvm.ptr, i64, i64) -> ()
      return
    }
    func.func @f(%x: memref<i64>) {
      call @inner(%x) : (memref<i64>) -> ()
      return
    })");
  std::int64_t index = 7;
  for (int i = 0; i < 3; ++i) {
    try {
      fail({}, &index);
      FAIL() << "nothing was thrown";
    } catch (const IndexError &error) {
      EXPECT_STREQ(error.what(), "gather: index 7 is out of range for an axis of size 3");
    }
  }
}

// Temporaries of unknown size belong to the call, so an exception that leaves it frees them.
TEST(Exceptions, leaveNoTemporaries) {
  Compiled fail(R"(
    func.func private @weft_rt_index_error(i64, !llvm.ptr, i64, i64) attributes {weft.runtime, weft.context}
    llvm.mlir.global internal constant @op("gather\00")
    func.func @f(%x: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      %t = memref.alloc(%n) : memref<?xf32>
      memref.copy %x, %t : memref<?xf32> to memref<?xf32>
      %op = llvm.mlir.addressof @op : !llvm.ptr
      %size = arith.constant 3 : i64
      call @weft_rt_index_error(%size, %op, %size, %size) : (i64, !llvm.ptr, i64, i64) -> ()
      memref.dealloc %t : memref<?xf32>
      return
    })");
  std::vector<float> x(1000);
  for (int i = 0; i < 100; ++i) EXPECT_THROW(fail({1000}, x.data()), IndexError);
}

TEST(Exceptions, unknownFunctionsAreCompileErrors) {
  auto object = objectOf(R"(
    func.func private @no_such_function() attributes {weft.runtime}
    func.func @f() {
      call @no_such_function() : () -> ()
      return
    })",
                         TargetOptions::host());
  ASSERT_TRUE(object.ok());
  auto loaded = loadObject(std::move(*object));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.fault().kind, ErrorKind::compile);
  EXPECT_NE(loaded.fault().message.find("no_such_function"), std::string::npos);
}

TEST(Exceptions, bytesThatAreNoObjectAreCompileErrors) {
  auto loaded = loadObject(llvm::MemoryBuffer::getMemBufferCopy("not an object file"));
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.fault().kind, ErrorKind::compile);
}

} // namespace
} // namespace weft::jit
