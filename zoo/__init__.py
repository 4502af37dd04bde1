"""Training programs in plain PyTorch: what the examples, the tests and the benchmarks train."""
