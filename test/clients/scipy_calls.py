"""Calls of SciPy's functions that take arrays of the standard where SCIPY_ARRAY_API is 1."""

from __future__ import annotations

import scipy.cluster.hierarchy as hierarchy
import scipy.cluster.vq as vq
import scipy.constants as constants
import scipy.differentiate as differentiate
import scipy.fft as fft
import scipy.integrate as integrate
import scipy.interpolate as interpolate
import scipy.linalg as linalg
import scipy.ndimage as ndimage
import scipy.optimize.elementwise as elementwise
import scipy.signal as signal
import scipy.spatial.transform as transform
import scipy.special as special
import scipy.stats as stats
from calls import call

# Special functions.
for name in ("expit", "log_ndtr", "ndtr", "erf", "erfc", "i0", "i0e", "i1", "i1e", "gammaln", "exp1"):
    call(f"special.{name}", lambda a, f=getattr(special, name): f(a.positive))
for name in ("logit", "ndtri", "entr"):
    call(f"special.{name}", lambda a, f=getattr(special, name): f(a.shares))
for name in ("xlogy", "rel_entr", "kl_div", "chdtrc", "gammainc", "gammaincc"):
    call(f"special.{name}", lambda a, f=getattr(special, name): f(a.positive, a.shares))
call("special.betainc", lambda a: special.betainc(a.positive, a.positive, a.shares))
call("special.poch", lambda a: special.poch(a.positive, a.shares))
call("special.logsumexp", lambda a: special.logsumexp(a.x, axis=1))
call("special.logsumexp weights", lambda a: special.logsumexp(a.x, b=a.positive, axis=0, keepdims=True))
call("special.softmax", lambda a: special.softmax(a.x, axis=1))
call("special.log_softmax", lambda a: special.log_softmax(a.x, axis=-1))
call("special.stdtr", lambda a: special.stdtr(a.positive, a.x))

# Statistics.
for name in ("skew", "kurtosis", "moment", "describe", "variation", "sem", "zscore", "gzscore", "gmean", "hmean"):
    function = getattr(stats, name)
    call(f"stats.{name}", lambda a, f=function: f(a.positive))
    call(f"stats.{name} axis", lambda a, f=function: f(a.positive, axis=1))
call("stats.pmean", lambda a: stats.pmean(a.positive, 3))
call("stats.kstat", lambda a: stats.kstat(a.v, 3))
call("stats.kstatvar", lambda a: stats.kstatvar(a.v, 2))
call("stats.circmean", lambda a: stats.circmean(a.x, axis=0))
call("stats.circvar", lambda a: stats.circvar(a.x))
call("stats.circstd", lambda a: stats.circstd(a.x, axis=1))
call("stats.trim_mean", lambda a: stats.trim_mean(a.v, 0.1))
call("stats.tmean", lambda a: stats.tmean(a.v, (-1, 1)))
call("stats.tvar", lambda a: stats.tvar(a.v, (-1, 1)))
call("stats.tstd", lambda a: stats.tstd(a.v, (-1, 1)))
call("stats.tsem", lambda a: stats.tsem(a.v, (-1, 1)))
call("stats.tmin", lambda a: stats.tmin(a.v, -0.5))
call("stats.tmax", lambda a: stats.tmax(a.v, 0.5))
call("stats.zmap", lambda a: stats.zmap(a.x, a.y))
call("stats.entropy", lambda a: stats.entropy(a.positive, a.shares))
call("stats.ttest_1samp", lambda a: stats.ttest_1samp(a.x, 0.1))
call("stats.ttest_ind", lambda a: stats.ttest_ind(a.x, a.y))
call("stats.ttest_ind welch", lambda a: stats.ttest_ind(a.x, a.y, equal_var=False))
call("stats.ttest_rel", lambda a: stats.ttest_rel(a.x, a.y))
call("stats.pearsonr", lambda a: tuple(stats.pearsonr(a.v, a.w)))
call("stats.chisquare", lambda a: stats.chisquare(a.of([16.0, 18.0, 16.0, 14.0, 12.0, 12.0])))
call("stats.power_divergence", lambda a: stats.power_divergence(a.of([16.0, 18, 16, 14, 12, 12]), lambda_=0))
call("stats.skewtest", lambda a: stats.skewtest(a.v))
call("stats.kurtosistest", lambda a: stats.kurtosistest(a.target))
call("stats.normaltest", lambda a: stats.normaltest(a.target))
call("stats.jarque_bera", lambda a: stats.jarque_bera(a.v))
call("stats.bartlett", lambda a: stats.bartlett(a.v, a.w))
call("stats.levene", lambda a: stats.levene(a.v, a.w))
call("stats.f_oneway", lambda a: stats.f_oneway(a.v, a.w, a.line))
call("stats.combine_pvalues", lambda a: stats.combine_pvalues(a.of([0.1, 0.3, 0.6])))
call("stats.directional_stats", lambda a: stats.directional_stats(a.x).mean_direction)
call("stats.linregress", lambda a: tuple(stats.linregress(a.line, a.v)))
call("stats.rankdata", lambda a: stats.rankdata(a.v))
call("stats.spearmanrho", lambda a: tuple(stats.spearmanrho(a.v, a.w)))
call("stats.siegelslopes", lambda a: tuple(stats.siegelslopes(a.v, a.line)))
call("stats.theilslopes", lambda a: tuple(stats.theilslopes(a.v, a.line))[:2])
call("stats.quantile", lambda a: stats.quantile(a.x, 0.3, axis=0))
call("stats.iqr", lambda a: stats.iqr(a.v))
call("stats.differential_entropy", lambda a: stats.differential_entropy(a.target))
call("stats.mannwhitneyu", lambda a: tuple(stats.mannwhitneyu(a.v, a.w, method="asymptotic")))
call("stats.wilcoxon", lambda a: tuple(stats.wilcoxon(a.v, a.w, method="approx")))
call("stats.monte_carlo_test", lambda a: stats.lmoment(a.v))
call("stats.boxcox_llf", lambda a: stats.boxcox_llf(0.5, a.positive[:, 0]))
call("stats.yeojohnson_llf", lambda a: stats.yeojohnson_llf(0.5, a.v))

# Signals.
call("signal.detrend", lambda a: signal.detrend(a.x, axis=0))
call("signal.detrend constant", lambda a: signal.detrend(a.x, type="constant"))
call("signal.fftconvolve", lambda a: signal.fftconvolve(a.v, a.w))
call("signal.oaconvolve", lambda a: signal.oaconvolve(a.v, a.w, mode="same"))
call("signal.convolve", lambda a: signal.convolve(a.v, a.w))
call("signal.correlate", lambda a: signal.correlate(a.v, a.w, mode="same"))
call("signal.convolve2d", lambda a: signal.convolve2d(a.x, a.y))
call("signal.hilbert", lambda a: signal.hilbert(a.v))
call("signal.resample", lambda a: signal.resample(a.v, 7))
call("signal.resample_poly", lambda a: signal.resample_poly(a.v, 3, 2))
call("signal.lfilter", lambda a: signal.lfilter(a.of([0.2, 0.3]), a.of([1.0, -0.4]), a.v))
call("signal.filtfilt", lambda a: signal.filtfilt(a.of([0.2, 0.3]), a.of([1.0, -0.4]), a.target))
call("signal.sosfilt", lambda a: signal.sosfilt(a.of([[0.2, 0.3, 0.1, 1.0, -0.4, 0.2]]), a.v))
call("signal.savgol_filter", lambda a: signal.savgol_filter(a.v, 5, 2))
call("signal.medfilt", lambda a: signal.medfilt(a.v, 3))
call("signal.wiener", lambda a: signal.wiener(a.x, (3, 3)))
call("signal.periodogram", lambda a: signal.periodogram(a.v))
call("signal.welch", lambda a: signal.welch(a.target, nperseg=8))
call("signal.csd", lambda a: signal.csd(a.target, a.guess, nperseg=8))
call("signal.coherence", lambda a: signal.coherence(a.target, a.guess, nperseg=8))
call("signal.spectrogram", lambda a: signal.spectrogram(a.target, nperseg=8))
call("signal.stft", lambda a: signal.stft(a.target, nperseg=8))
call("signal.czt", lambda a: signal.czt(a.v))
call("signal.upfirdn", lambda a: signal.upfirdn(a.of([1.0, 2.0, 1.0]), a.v, 2, 3))
call("signal.envelope", lambda a: signal.envelope(a.v))
call("signal.vectorstrength", lambda a: signal.vectorstrength(a.v, 1.3))
call("signal.decimate", lambda a: signal.decimate(a.target, 2, ftype="fir"))
call("signal.windows.hann", lambda a: signal.windows.hann(8, xp=a.xp))
call("signal.windows.kaiser", lambda a: signal.windows.kaiser(8, 3.0, xp=a.xp))
call("signal.windows.taylor", lambda a: signal.windows.taylor(8, xp=a.xp))
call("signal.get_window", lambda a: signal.get_window("blackman", 8, xp=a.xp))

# Transforms.
for name in ("fft", "ifft", "rfft", "hfft", "ihfft", "fft2", "rfft2", "fftn", "rfftn", "dct", "idct", "dst", "idst"):
    call(f"fft.{name}", lambda a, f=getattr(fft, name): f(a.x))
for name in ("irfft", "irfft2", "irfftn"):
    call(f"fft.{name}", lambda a, f=getattr(fft, name): f(a.z))
call("fft.fftshift", lambda a: fft.fftshift(a.x))
call("fft.ifftshift", lambda a: fft.ifftshift(a.x, axes=1))
call("fft.fftfreq", lambda a: fft.fftfreq(8, 0.5, xp=a.xp))
call("fft.rfftfreq", lambda a: fft.rfftfreq(8, 0.5, xp=a.xp))
call("fft.dctn", lambda a: fft.dctn(a.x))
call("fft.fht", lambda a: fft.fht(a.v, 0.1, 0.5))

# Clusters.
call("cluster.vq.whiten", lambda a: vq.whiten(a.points))
call("cluster.vq.vq", lambda a: vq.vq(a.points, a.points[:3, :]))
call("cluster.vq.kmeans2", lambda a: vq.kmeans2(a.points, a.of([[0.0, 0.0], [8.0, 8.0]]), minit="matrix"))
call("cluster.linkage", lambda a: hierarchy.linkage(a.points, "ward"))
call("cluster.fcluster", lambda a: hierarchy.fcluster(hierarchy.linkage(a.points, "single"), 2, "maxclust"))
call("cluster.cophenet", lambda a: hierarchy.cophenet(hierarchy.linkage(a.points, "average")))
call("cluster.leaves_list", lambda a: hierarchy.leaves_list(hierarchy.linkage(a.points, "average")))
call("cluster.is_valid_linkage", lambda a: hierarchy.is_valid_linkage(hierarchy.linkage(a.points, "average")))
call("cluster.num_obs_linkage", lambda a: hierarchy.num_obs_linkage(hierarchy.linkage(a.points, "average")))
call("cluster.maxdists", lambda a: hierarchy.maxdists(hierarchy.linkage(a.points, "average")))

# Numbers and curves.
call("constants.convert_temperature", lambda a: constants.convert_temperature(a.x, "Celsius", "Kelvin"))
call("constants.lambda2nu", lambda a: constants.lambda2nu(a.positive))
call("integrate.trapezoid", lambda a: integrate.trapezoid(a.x, dx=0.5, axis=0))
call("integrate.trapezoid at", lambda a: integrate.trapezoid(a.v, a.line))
call("integrate.cumulative_trapezoid", lambda a: integrate.cumulative_trapezoid(a.v, a.line, initial=0))
call("integrate.simpson", lambda a: integrate.simpson(a.v, x=a.line))
call("integrate.cumulative_simpson", lambda a: integrate.cumulative_simpson(a.v, x=a.line))
call("integrate.romb", lambda a: integrate.romb(a.v[:9]))
call("integrate.qmc_quad", lambda a: integrate.tanhsinh(lambda t: t * t, a.of(0.0), a.of(1.0)).integral)
call("integrate.cubature", lambda a: integrate.cubature(lambda t: a.xp.sum(t * t, axis=-1), a.of([0.0]), a.of([1.0])).estimate)
call("differentiate.derivative", lambda a: differentiate.derivative(lambda t: t**3, a.positive).df)
call("differentiate.jacobian", lambda a: differentiate.jacobian(lambda t: t**2, a.v[:3]).df)
call("optimize.elementwise.find_root", lambda a: elementwise.find_root(lambda t, c: t**2 - c, (a.of(0.0), a.of(9.0)), args=(a.positive,)).x)
call("optimize.elementwise.find_minimum", lambda a: elementwise.find_minimum(lambda t, c: (t - c) ** 2, (a.of(-9.0), a.of(0.1), a.of(9.0)), args=(a.v[:3],)).x)
call("optimize.elementwise.bracket_root", lambda a: elementwise.bracket_root(lambda t, c: t**2 - c, a.of(0.1), args=(a.positive,)).bracket)
call("interpolate.AAA", lambda a: interpolate.AAA(a.line, a.xp.exp(a.line))(a.line))
call("interpolate.Akima1DInterpolator", lambda a: interpolate.Akima1DInterpolator(a.line, a.v)(a.line))
call("interpolate.PchipInterpolator", lambda a: interpolate.PchipInterpolator(a.line, a.v)(a.line))
call("interpolate.CubicSpline", lambda a: interpolate.CubicSpline(a.line, a.v)(a.line))
call("interpolate.make_interp_spline", lambda a: interpolate.make_interp_spline(a.line, a.v)(a.line))
call("interpolate.BarycentricInterpolator", lambda a: interpolate.BarycentricInterpolator(a.line, a.v)(a.line))
call("interpolate.RegularGridInterpolator", lambda a: interpolate.RegularGridInterpolator((a.line,), a.v)(a.line[:3]))
call("linalg.bandwidth", lambda a: linalg.bandwidth(a.square))
call("linalg.issymmetric", lambda a: linalg.issymmetric(a.definite))
call("linalg.solve", lambda a: linalg.solve(a.square, a.v[:4]))
call("linalg.expm", lambda a: linalg.expm(a.square))
call("ndimage.gaussian_filter", lambda a: ndimage.gaussian_filter(a.x, 1.0))
call("ndimage.uniform_filter", lambda a: ndimage.uniform_filter(a.x, 3))
call("ndimage.sobel", lambda a: ndimage.sobel(a.x))
call("ndimage.label", lambda a: ndimage.label(a.b))
call("ndimage.center_of_mass", lambda a: ndimage.center_of_mass(a.positive))
call("ndimage.zoom", lambda a: ndimage.zoom(a.x, 2))

# Rotations.
call("transform.Rotation.as_matrix", lambda a: transform.Rotation.from_quat(a.x).as_matrix())
call("transform.Rotation.apply", lambda a: transform.Rotation.from_rotvec(a.v[:3]).apply(a.x[:, :3]))
call("transform.Rotation.as_euler", lambda a: transform.Rotation.from_quat(a.x).as_euler("xyz"))
call("transform.Rotation.mul", lambda a: (transform.Rotation.from_quat(a.x) * transform.Rotation.from_quat(a.y)).as_quat())
