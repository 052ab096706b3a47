"""Products of float32 that may be of tf32."""


def test_tf32_rounds_factors_of_products_where_it_was_asked_for(on_gpu):
    on_gpu(
        """
    random = np.random.default_rng(1)
    a, b = (wf.tensor(random.normal(size=(64, 64)).astype(np.float32)) for _ in range(2))
    exact = a.numpy().astype(np.float64) @ b.numpy().astype(np.float64)

    def error(**options):
        product = wf.function(lambda x, y: wf.matmul(x, y), **options)
        return np.abs(product(a.to("gpu:0"), b.to("gpu:0")).numpy() - exact).max()

    assert error() < 1e-4 < error(tf32=True) < 64 * 2**-11
    plain = wf.function(lambda x, y: wf.matmul(x, y))
    assert "tf32" not in plain.ir(a.to("gpu:0"), b.to("gpu:0"), phase="ptx")
    """
    )
