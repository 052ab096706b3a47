"""Calls of scikit-learn's estimators and metrics that dispatch by the array API."""

from __future__ import annotations

from typing import Any

import sklearn
from calls import call
from sklearn import decomposition, discriminant_analysis, linear_model, metrics, mixture, preprocessing
from sklearn.metrics import pairwise

sklearn.set_config(array_api_dispatch=True)

# Of labels.
for name in ("accuracy_score", "zero_one_loss", "confusion_matrix", "hamming_loss", "balanced_accuracy_score"):
    call(f"metrics.{name}", lambda a, f=getattr(metrics, name): f(a.labels, a.guesses))
for name in ("f1_score", "precision_score", "recall_score", "jaccard_score"):
    call(f"metrics.{name}", lambda a, f=getattr(metrics, name): f(a.two, a.twos))
    call(f"metrics.{name} macro", lambda a, f=getattr(metrics, name): f(a.labels, a.guesses, average="macro"))
call("metrics.fbeta_score", lambda a: metrics.fbeta_score(a.two, a.twos, beta=2.0))
call("metrics.cohen_kappa_score", lambda a: metrics.cohen_kappa_score(a.labels, a.guesses))
call("metrics.matthews_corrcoef", lambda a: metrics.matthews_corrcoef(a.two, a.twos))
call("metrics.multilabel_confusion_matrix", lambda a: metrics.multilabel_confusion_matrix(a.labels, a.guesses))
call("metrics.class_likelihood_ratios", lambda a: metrics.class_likelihood_ratios(a.two, a.twos))
call("metrics.brier_score_loss", lambda a: metrics.brier_score_loss(a.two[:24], a.xp.reshape(a.shares, (-1,))))
call("metrics.log_loss", lambda a: metrics.log_loss(a.two[:24], a.xp.reshape(a.shares, (-1,))))
call("metrics.roc_curve", lambda a: metrics.roc_curve(a.two, a.guess)[:2])
call("metrics.roc_auc_score", lambda a: metrics.roc_auc_score(a.two, a.guess))
call("metrics.average_precision_score", lambda a: metrics.average_precision_score(a.two, a.guess))
call("metrics.precision_recall_curve", lambda a: metrics.precision_recall_curve(a.two, a.guess)[:2])
call("metrics.det_curve", lambda a: metrics.det_curve(a.two, a.guess)[:2])
call("metrics.confusion_matrix_at_thresholds", lambda a: metrics.confusion_matrix_at_thresholds(a.two, a.guess))

# Of numbers.
for name in (
    "mean_squared_error", "root_mean_squared_error", "mean_absolute_error", "median_absolute_error", "max_error", "r2_score",
    "explained_variance_score", "mean_absolute_percentage_error", "mean_pinball_loss", "d2_absolute_error_score",
    "d2_pinball_score", "d2_tweedie_score", "mean_tweedie_deviance",
):  # fmt: skip
    call(f"metrics.{name}", lambda a, f=getattr(metrics, name): f(a.target, a.guess))
for name in ("mean_gamma_deviance", "mean_poisson_deviance", "mean_squared_log_error", "root_mean_squared_log_error"):
    call(f"metrics.{name}", lambda a, f=getattr(metrics, name): f(a.xp.abs(a.target) + 0.1, a.xp.abs(a.guess) + 0.1))
call("metrics.mean_squared_error of several", lambda a: metrics.mean_squared_error(a.x, a.y, multioutput="raw_values"))
call("metrics.ndcg_score", lambda a: metrics.ndcg_score(a.positive, a.x))

# Of pairs.
for name in (
    "cosine_similarity", "cosine_distances", "euclidean_distances", "linear_kernel", "polynomial_kernel", "sigmoid_kernel",
    "rbf_kernel", "laplacian_kernel", "manhattan_distances", "paired_cosine_distances", "paired_euclidean_distances",
    "paired_manhattan_distances",
):  # fmt: skip
    call(f"pairwise.{name}", lambda a, f=getattr(pairwise, name): f(a.x, a.y))
for name in ("chi2_kernel", "additive_chi2_kernel"):
    call(f"pairwise.{name}", lambda a, f=getattr(pairwise, name): f(a.positive, a.shares))
call("pairwise.pairwise_distances", lambda a: pairwise.pairwise_distances(a.x, a.y, metric="euclidean"))


def fitted(estimator: Any, a: Any, *target: Any) -> Any:
    """What an estimator gives that was fitted to the features."""
    estimator.fit(a.features, *target)
    return estimator.transform(a.features) if hasattr(estimator, "transform") else estimator.predict(a.features)


call("preprocessing.StandardScaler", lambda a: fitted(preprocessing.StandardScaler(), a))
call("preprocessing.MinMaxScaler", lambda a: fitted(preprocessing.MinMaxScaler(), a))
call("preprocessing.MaxAbsScaler", lambda a: fitted(preprocessing.MaxAbsScaler(), a))
call("preprocessing.KernelCenterer", lambda a: preprocessing.KernelCenterer().fit_transform(a.definite))
call("preprocessing.Normalizer", lambda a: fitted(preprocessing.Normalizer(), a))
call("preprocessing.Binarizer", lambda a: fitted(preprocessing.Binarizer(), a))
call("preprocessing.PolynomialFeatures", lambda a: fitted(preprocessing.PolynomialFeatures(2), a))
call("preprocessing.LabelEncoder", lambda a: preprocessing.LabelEncoder().fit_transform(a.labels))
call("preprocessing.LabelBinarizer", lambda a: preprocessing.LabelBinarizer().fit_transform(a.labels))
call("preprocessing.normalize", lambda a: preprocessing.normalize(a.x, norm="l1"))
call("preprocessing.scale", lambda a: preprocessing.maxabs_scale(a.x))
call("decomposition.PCA", lambda a: a.xp.abs(fitted(decomposition.PCA(3, svd_solver="full"), a)))
call("decomposition.PCA eigh", lambda a: a.xp.abs(fitted(decomposition.PCA(3, svd_solver="covariance_eigh"), a)))
call("linear_model.Ridge", lambda a: fitted(linear_model.Ridge(solver="svd"), a, a.target))
call("linear_model.RidgeCV", lambda a: fitted(linear_model.RidgeCV(), a, a.target))
call("linear_model.RidgeClassifier", lambda a: fitted(linear_model.RidgeClassifier(solver="svd"), a, a.labels))
call("discriminant_analysis.LDA", lambda a: discriminant_analysis.LinearDiscriminantAnalysis().fit(a.features, a.labels).predict(a.features))
call("mixture.GaussianMixture", lambda a: mixture.GaussianMixture(
    2, random_state=0, init_params="random", means_init=a.of([[0.0, 0.0], [8.0, 8.0]])).fit(a.points).predict(a.points))  # fmt: skip
