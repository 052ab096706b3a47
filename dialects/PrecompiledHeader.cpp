// Empty: carries the precompiled header that all MLIR code shares.
