"""Options of layers, losses, metrics, optimizers and schedules, which C++ says once: signatures, defaults, variables, pickles."""

import base64
import inspect
import pickle
import zlib

import pytest

import weft as wf

# Objects by a version whose parameters were written by hand, pickled there.
PICKLED = (
    'c-rk%U1%It6yD8llFjC~go4JD7F3!F-8O4!K(cpRH)V@!5=mkRh>mw>?(Phoof+@UY*Hm{Rhl1rsYxBBt>BBag2eVIXe2u-`1>NFr65?WNug9<'
    '?1QNIQ_sxKPS!^1t3uDR%<ehop7Y)Fopa_$_~kpI0aqTkx>(aV$r-VNDws0SEf(P@$(oXESTBLG-Zd(U#cKPAq7zU~g1XjJBty3{H7tsGLn>lJ'
    'Qo$!oiEP3{!3AQmpkSGhV1R|4AP{*JQwe8fCy1}}vI(F|MFO5!tUf2J*tkCqDUMpx){r&B>V#NU!n*s9Oj-s!#85TD)|9Fg<9#C(E4rroSnG3e'
    '8A1VVh&3J{R3S2_OHUIAeO;carUs@UYZfHgy#`0I0mfh^I90|kwu$Yjra+Zc;|o>rZRDNw0%uh6{|nsk!^0!}WsG7Z6J|}67$#LX-Ei{H_^BTZ'
    '1OtKM;u$pEol9(g?z(+XUk^HY;x#n%`@LxM$5(r$H}<0o`vb|ycT1%$Td$y&g;x@zS6?qZmAkyW^v&^-w&VNWXU?8WY`JsH?hN)La%Q}A5uHRE'
    'mye>vdl#1%7Kaln@ARYJ&JCiw?KwL%`Boyfx;gpSrT0q{hu*X|%|DM$eG*M>?VPs{D`V)xJ=Y$1^~n$Hp0@|lu?tbuogPL@qs(sD$)P{H=TYnU'
    '`NZPNc<Cd0qm=w?Cz`A~j=uW!P-6azV@SA9TkiR}9oaP_%b)L>Ks!=@l<Lm2MAxMgy&ds)?Qa)eus?m`uF_d)F7e{NFVRn{U!#3|O|rV;;Y{0<'
    'SMv^8Hwqk2WI09&Z&FGWgDZ3Fdbrf>39OSN$-jSZE!D}}Ds;E3rM@-K4QZ#x22@(`8q#mN8dgs<U6NsR(&)-Bi!-a@b(i)5FA!^VqsXeRJEOU2'
    'Si@8&Dd>;9N+ll4De9OMgR0s=h`#MvH$ej>g2{U$Ss+-k#71!pW=+)`rS3X4=BQfWWHs*$@+@nX@`?)QI2mW5cn{qGG0p5v2x>($OQ<uyRehXy'
    'h8|SqMZ)o_CON+CrlLvw0U2UCc?&Rd?#Wiy%~yeEc&~sf#c7rari!HG%VX$ybC~AM0$dcl>kC*QT-LcSYjLeQFA{HiHSwx0DTEUUj}Ka1>EzNW'
    'M^0yibcM}K$p2}$tg+fGF>tq)PF^cJn^T}27?=cWR;25b)Qw|WFf}-E*$Wx{C$|k`LQ@q0En#^*ps0U(whUvs+_56tuvRz?RuaLcyNcJvZyj=I'
    'CWFc&YhM1<*09y2lO4NPe&|eX&jfrk<aB2va@vKn<PX^HUDh@S$L!5aILh?lAHAUPsdT#c{vZZ)B%liIeKh5988t*obWxQBX!ba(g#j%BrEMC_'
    's-(NC7OEo4(4H)WP2OF%?#i1B25!rLOsYC06EAPUSr#pN?{qHiFWlSg{a@MhUOOcA7k*}~dH'
)


def test_objects_of_older_versions_are_unpickled():
    dense, conv, lstm, norm, loss, huber, gelu, adam, warmup, plateau, auc = pickle.loads(
        zlib.decompress(base64.b85decode(PICKLED))
    )
    assert repr(dense) == "Dense(units=2, activation='relu', name='d')"
    assert conv.get_config() == {"filters": 3, "kernel_size": 2, "groups": 1, "dilation_rate": (1, 1)}
    assert len(lstm(wf.ones((2, 5, 3)))) == 3
    assert norm.get_config() == {"groups": 2, "epsilon": 1e-5}
    assert repr(loss) == "<weft.losses.SparseCategoricalCrossentropy>"
    assert float(loss([0, -1], [[0.5, 0.5], [0.1, 0.9]])) == pytest.approx(0.6931472)
    assert huber is wf.losses.huber and gelu is wf.nn.gelu
    assert repr(adam.get_config()["learning_rate"]) == "cosine_decay(0.1, 100, 0.0, 3, 0.0)"
    assert adam.get_config()["beta1"] == 0.8
    assert repr(warmup) == "warmup(0.5, 10, exponential_decay(0.1, 10, 0.5, False))"
    assert [plateau.update(1.0) for _ in range(3)] == [False, False, True]
    assert auc.name == "auc" and auc.get_config()["curve"] == "precision_recall"


@pytest.mark.parametrize(
    "value, text",
    [
        (
            wf.nn.GroupNorm,
            "(groups=32, *, epsilon=0.001, center=True, scale=True, dtype='float32', name=None, input_shape=None)",
        ),
        (
            wf.nn.Embedding,
            "(input_dim, output_dim, embeddings_initializer='uniform', *, dtype='float32', name=None, "
            "input_shape=None)",
        ),
        (wf.nn.Bidirectional, "(layer, merge='concatenate', *, input_shape=None)"),
        (wf.metrics.F1, "(*, average='macro', threshold=None, name=None)"),
        (
            wf.optimizers.Lion,
            "(variables=None, learning_rate=0.001, *, beta1=0.9, beta2=0.99, weight_decay=0.0, no_decay=(), "
            "clip_value=None, clip_norm=None, clip_global_norm=None, average=None, accumulate=1, name=None)",
        ),
        (wf.schedules.exponential_decay, "(initial, steps, rate, staircase=False)"),
        (
            wf.losses.ctc,
            "(labels, logits, *, label_lengths=None, logit_lengths=None, blank=0, impossible_is_infinite=False, "
            "weights=None, mask=None, reduction='mean')",
        ),
    ],
)
def test_signatures_are_those_of_the_options(value, text):
    assert str(inspect.signature(value)) == text
    assert text not in value.__doc__


def test_defaults_are_those_of_the_signature():
    """Each parameter by itself, given what it is anyway, changes nothing but what get_config has."""
    classes = [getattr(wf.nn, n) for n in ("Dense", "Conv2D", "BatchNorm", "LSTM", "MaxPooling2D", "Embedding")]
    classes += [wf.metrics.AUC, wf.metrics.Perplexity, wf.optimizers.Adam, wf.optimizers.AdamW]
    for cls in classes:
        parameters = inspect.signature(cls).parameters.values()
        first = {p.name: 2 for p in parameters if p.default is p.empty}
        for p in parameters:
            if p.default is not p.empty:
                one = cls(**first, **{p.name: p.default})
                assert one.get_config().get(p.name, p.default) == p.default
                assert type(one).from_config(one.get_config()).get_config() == one.get_config()


def test_variables_are_properties():
    norm = wf.nn.BatchNorm(center=False)
    assert norm.gamma is None and norm.beta is None
    norm(wf.ones((2, 3)))
    assert norm.gamma.shape == (3,) and norm.beta is None and norm.moving_mean.shape == (3,)
    with pytest.raises(AttributeError):
        norm.gamma = norm.moving_mean


def test_from_config_takes_a_dict():
    with pytest.raises(TypeError, match="config is a list: a dict of arguments is wanted"):
        wf.nn.Dense.from_config([])
    with pytest.raises(TypeError, match="unexpected argument 'unit'; did you mean 'units'"):
        wf.nn.Dense.from_config({"unit": 3})


def test_masked_sequences_of_ctc():
    """The mask is an option that C++ has: it came with the others."""
    labels, logits = [[1], [1]], wf.zeros((2, 2, 2))
    both = wf.losses.ctc(labels, logits, reduction="none")
    one = wf.losses.ctc(labels, logits, mask=wf.tensor([True, False]), reduction="none")
    assert one.numpy().tolist() == [float(both[0]), 0.0]


def test_a_number_beside_numpys_dtypes_of_losses():
    import numpy as np

    result = wf.losses.huber(np.array([0.0, 0.0]), [0.5, 3.0], weights=[1, 2], reduction="none")
    assert result.dtype == wf.float64 and result.numpy().tolist() == [0.125, 5.0]
