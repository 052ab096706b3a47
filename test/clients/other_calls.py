"""Calls of array-api-extra, array-api-compat, xarray, einops and opt_einsum."""

from __future__ import annotations

import array_api_compat as compat
import array_api_extra as extra
import einops
import opt_einsum
import xarray
from calls import call

# array-api-extra.
call("extra.atleast_nd", lambda a: extra.atleast_nd(a.v, ndim=3))
call("extra.broadcast_shapes", lambda a: extra.broadcast_shapes(a.x.shape, (4,)))
call("extra.cov", lambda a: extra.cov(a.x))
call("extra.create_diagonal", lambda a: extra.create_diagonal(a.v))
call("extra.expand_dims", lambda a: extra.expand_dims(a.x, axis=(0, 2)))
call("extra.isclose", lambda a: extra.isclose(a.x, a.x + 1e-9))
call("extra.kron", lambda a: extra.kron(a.square, a.definite))
call("extra.nunique", lambda a: extra.nunique(a.i))
call("extra.one_hot", lambda a: extra.one_hot(a.labels, 3))
call("extra.pad", lambda a: extra.pad(a.x, 2, constant_values=1.5))
call("extra.setdiff1d", lambda a: extra.setdiff1d(a.labels, a.of([1, 5])))
call("extra.union1d", lambda a: extra.union1d(a.labels, a.of([1, 5])))
call("extra.isin", lambda a: extra.isin(a.i, a.of([1, 3])))
call("extra.sinc", lambda a: extra.sinc(a.x))
call("extra.nan_to_num", lambda a: extra.nan_to_num(a.gaps))
call("extra.angle", lambda a: extra.angle(a.z))
call("extra.partition", lambda a: a.xp.sort(extra.partition(a.v, 4)))
call("extra.apply_where", lambda a: extra.apply_where(a.x > 0, a.positive, a.xp.log, fill_value=0.0))
call("extra.at.set", lambda a: extra.at(a.x, 1).set(3.0))
call("extra.at.add", lambda a: extra.at(a.x)[2, :].add(1.0))
call("extra.at mask", lambda a: extra.at(a.x, a.x > 0).multiply(2.0))
call("extra.default_dtype", lambda a: str(extra.default_dtype(a.xp, "integral") is not None))
call("extra.searchsorted", lambda a: extra.searchsorted(a.sorted, a.v))
call("extra.argpartition", lambda a: a.v[extra.argpartition(a.v, 3)][3])

# array-api-compat.
call("compat.size", lambda a: compat.size(a.x))
call("compat.is_array_api_obj", lambda a: compat.is_array_api_obj(a.x))
call("compat.array_namespace", lambda a: compat.array_namespace(a.x).sum(a.x))
call("compat.to_device", lambda a: compat.to_device(a.x, compat.device(a.x)))
call("compat.device", lambda a: compat.array_namespace(a.x).asarray([1.0, 2.0], device=compat.device(a.x)))

# xarray.
AXES = ("time", "place")


def data(a, x=None):
    """A labelled array of the operand."""
    return xarray.DataArray(a.x if x is None else x, dims=AXES, coords={"time": list(range(6))})


for name in ("sum", "mean", "std", "var", "min", "max", "prod", "median", "cumsum", "argmax", "argmin", "count"):
    call(f"xarray.{name}", lambda a, n=name: getattr(data(a), n)("time").data)
call("xarray.arithmetic", lambda a: (data(a) * 2 + data(a, a.y)).data)
call("xarray.broadcast", lambda a: (data(a) - data(a).mean("place")).data)
call("xarray.comparison", lambda a: (data(a) > 0).data)
call("xarray.isel", lambda a: data(a).isel(time=slice(1, 4)).data)
call("xarray.isel one", lambda a: data(a).isel(time=2).data)
call("xarray.sel", lambda a: data(a).sel(time=[1, 3]).data)
call("xarray.transpose", lambda a: data(a).transpose("place", "time").data)
call("xarray.where", lambda a: data(a).where(data(a) > 0, 0.0).data)
call("xarray.where nan", lambda a: data(a).where(data(a) > 0).data)
call("xarray.fillna", lambda a: data(a, a.gaps).fillna(0.0).data)
call("xarray.isnull", lambda a: data(a, a.gaps).isnull().data)
call("xarray.sum skipna", lambda a: data(a, a.gaps).sum("time").data)
call("xarray.mean skipna", lambda a: data(a, a.gaps).mean("time").data)
call("xarray.astype", lambda a: data(a).astype("float32").data)
call("xarray.concat", lambda a: xarray.concat([data(a), data(a)], "time").data)
call("xarray.stack", lambda a: data(a).stack(z=AXES).data)
call("xarray.squeeze", lambda a: data(a).expand_dims("one").squeeze("one").data)
call("xarray.roll", lambda a: data(a).roll(time=2).data)
call("xarray.shift", lambda a: data(a).shift(time=1).data)
call("xarray.diff", lambda a: data(a).diff("time").data)
call("xarray.pad", lambda a: data(a).pad(time=1, constant_values=0.0).data)
call("xarray.dot", lambda a: xarray.dot(data(a), data(a, a.y), dim="time").data)
call("xarray.clip", lambda a: data(a).clip(-0.5, 0.5).data)
call("xarray.round", lambda a: data(a).round(1).data)
call("xarray.apply_ufunc", lambda a: xarray.apply_ufunc(lambda x: x * x, data(a)).data)
call("xarray.groupby", lambda a: data(a).groupby(xarray.DataArray([0, 0, 1, 1, 2, 2], dims="time", name="g")).mean().data)
call("xarray.coarsen", lambda a: data(a).coarsen(time=2).mean().data)
call("xarray.ones_like", lambda a: xarray.ones_like(data(a)).data)
call("xarray.zeros_like", lambda a: xarray.zeros_like(data(a)).data)
call("xarray.Dataset", lambda a: xarray.Dataset({"x": data(a), "y": data(a, a.y)}).mean("time")["y"].data)
call("xarray.repr", lambda a: str(data(a).shape) + repr(data(a))[:9])
call("xarray.equals", lambda a: data(a).equals(data(a)))
call("xarray.quantile", lambda a: data(a).quantile(0.3, "time").data)
call("xarray.assign_coords", lambda a: data(a).assign_coords(place=[1, 2, 3, 4]).sel(place=3).data)
call("xarray.interp", lambda a: data(a).interp(time=[0.5, 1.5]).data)
call("xarray.rolling", lambda a: data(a).rolling(time=3).mean().data)

# einops.
call("einops.rearrange", lambda a: einops.rearrange(a.image, "b h w c -> b (c h w)"))
call("einops.rearrange split", lambda a: einops.rearrange(a.image, "b (h p) (w q) c -> (b h w) (p q) c", p=2, q=3))
call("einops.rearrange list", lambda a: einops.rearrange([a.x, a.y], "b h w -> h b w"))
call("einops.reduce mean", lambda a: einops.reduce(a.image, "b h w c -> b c", "mean"))
call("einops.reduce max", lambda a: einops.reduce(a.image, "b (h 2) (w 2) c -> b h w c", "max"))
call("einops.reduce sum", lambda a: einops.reduce(a.image, "b h w c -> h", "sum"))
call("einops.reduce prod", lambda a: einops.reduce(a.x, "a b -> a", "prod"))
call("einops.reduce any", lambda a: einops.reduce(a.b, "a b -> a", "any"))
call("einops.repeat", lambda a: einops.repeat(a.x, "h w -> h (w 3) 2"))
call("einops.einsum", lambda a: einops.einsum(a.x, a.y, "i k, j k -> i j"))
call("einops.pack", lambda a: einops.pack([a.x, a.v[:6]], "i *")[0])
call("einops.unpack", lambda a: einops.unpack(a.x, [(2,), (2,)], "i *"))
call("einops.parse_shape", lambda a: einops.parse_shape(a.image, "b h w c"))
call("einops.asnumpy", lambda a: einops.asnumpy(a.x))

# opt_einsum.
call("opt_einsum.contract", lambda a: opt_einsum.contract("ij,kj,kl->il", a.x, a.y, a.x))
call("opt_einsum.contract diagonal", lambda a: opt_einsum.contract("ii->i", a.square))
call("opt_einsum.contract trace", lambda a: opt_einsum.contract("ii,jk->", a.square, a.x))
call("opt_einsum.contract batch", lambda a: opt_einsum.contract("bij,bik->bjk", a.cube, a.cube))
call("opt_einsum.contract outer", lambda a: opt_einsum.contract("i,j->ij", a.v, a.w))
call("opt_einsum.contract_expression", lambda a: opt_einsum.contract_expression("ij,kj->ik", (6, 4), (6, 4))(a.x, a.y))
call("opt_einsum.contract constants", lambda a: opt_einsum.contract_expression("ij,kj->ik", a.x, (6, 4), constants=[0])(a.y))
call("opt_einsum.shared", lambda a: opt_einsum.contract("ab,bc,cd,de->ae", a.square, a.square, a.definite, a.square, optimize="dp"))
