// The formulas of optimizers, written once for whole tensors and for vectors in registers.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data and templates on the caller's own types only: no inline function, no standard template
// whose code the linker could pick.
#pragma once

namespace weft::optimizers {

/// A formula has a `step` that changes a weight `w` and its slots by the gradient `g`, where
/// `numbers` are those of its rule, the learning rate first, or what `rate` makes of it and of the
/// number of the update, from 1. `slots` names what is kept for a weight, which starts with 0 or
/// `initial`.
struct SGDFormula {
  double momentum;
  bool nesterov;

  template <class Names>
  void slots(Names &names) const {
    if (momentum != 0) names.push_back("momentum");
  }
  /// Whether it is w -= rate g, so that rows without a gradient stay.
  template <class = void>
  bool is_plain() const {
    return momentum == 0;
  }
  template <class V>
  void step(V &w, const V &g, V *slots, const V *numbers) const {
    const V &rate = numbers[0];
    if (momentum == 0) {
      w -= g * rate;
      return;
    }
    V &m = slots[0];
    m *= momentum;
    m -= g * rate;
    if (nesterov) {
      w += m * momentum;
      w -= g * rate;
    } else {
      w += m;
    }
  }
};

struct AdamFormula {
  double beta1, beta2, epsilon;
  bool amsgrad;

  template <class Names>
  void slots(Names &names) const {
    names.push_back("m");
    names.push_back("v");
    if (amsgrad) names.push_back("vmax");
  }
  // Both bias corrections folded into the step size (section 2 of the paper), in f64, as 1 - beta2
  // is a small difference.
  template <class T>
  T rate(const T &given, const T &t) const {
    return given * sqrt(1 - power(beta2, t)) / (1 - power(beta1, t));
  }
  template <class V>
  void step(V &w, const V &g, V *slots, const V *numbers) const {
    V &m = slots[0], &v = slots[1];
    m += (g - m) * (1 - beta1);
    v += (g * g - v) * (1 - beta2);
    if (amsgrad) slots[2].set_to(maximum(slots[2], v));
    w -= m * numbers[0] / (sqrt(amsgrad ? slots[2] : v) + epsilon);
  }
};

struct RMSpropFormula {
  double rho, momentum, epsilon;
  bool centered;

  template <class Names>
  void slots(Names &names) const {
    names.push_back("v");
    if (centered) names.push_back("mean");
    if (momentum > 0) names.push_back("momentum");
  }
  template <class V>
  void step(V &w, const V &g, V *slots, const V *numbers) const {
    V &v = slots[0];
    v *= rho;
    v += g * g * (1 - rho);
    if (!centered) return move(w, g * numbers[0] / sqrt(v + epsilon), slots + 1);
    V &mean = slots[1];
    mean *= rho;
    mean += g * (1 - rho);
    move(w, g * numbers[0] / sqrt(v - mean * mean + epsilon), slots + 2);
  }

private:
  template <class V>
  void move(V &w, const V &by, V *m) const {
    if (momentum > 0) {
      *m *= momentum;
      *m += by;
      w -= *m;
    } else {
      w -= by;
    }
  }
};

struct AdagradFormula {
  double initial_accumulator, epsilon;

  template <class Names>
  void slots(Names &names) const {
    names.push_back("accumulator");
  }
  template <class = void>
  double initial() const {
    return initial_accumulator;
  }
  template <class V>
  void step(V &w, const V &g, V *slots, const V *numbers) const {
    slots[0] += g * g;
    w -= g * numbers[0] / sqrt(slots[0] + epsilon);
  }
};

struct AdadeltaFormula {
  double rho, epsilon;

  template <class Names>
  void slots(Names &names) const {
    names.push_back("accumulator");
    names.push_back("delta");
  }
  template <class V>
  void step(V &w, const V &g, V *slots, const V *numbers) const {
    V &a = slots[0], &s = slots[1];
    a *= rho;
    a += g * g * (1 - rho);
    const V delta = sqrt(s + epsilon) * g / sqrt(a + epsilon);
    s *= rho;
    s += delta * delta * (1 - rho);
    w -= delta * numbers[0];
  }
};

struct LionFormula {
  double beta1, beta2;

  template <class Names>
  void slots(Names &names) const {
    names.push_back("m");
  }
  template <class V>
  void step(V &w, const V &g, V *slots, const V *numbers) const {
    V &m = slots[0];
    w -= sign(m * beta1 + g * (1 - beta1)) * numbers[0];
    m *= beta2;
    m += g * (1 - beta2);
  }
};

/// What an update takes besides the gradient; null where it has no such part.
template <class V>
struct Numbers {
  const V *scale = nullptr;     ///< of the gradient
  const double *clip = nullptr; ///< the gradient's largest size, where it has no scale
  const V *decay = nullptr;     ///< share of the weight that goes
  const V *average = nullptr;   ///< share of the difference that the average follows by
  const V *rule = nullptr;
};

/// One update of one weight: what is done to its gradient, decay, `step(w, g)`, the average, if it
/// has one.
template <class V, class Step>
void advance(V &w, const V &gradient, V *average, const Numbers<V> &numbers, const Step &step) {
  const auto with = [&](const V &g) {
    if (numbers.decay) w -= w * *numbers.decay;
    step(w, g);
    if (average) *average += (w - *average) * *numbers.average;
  };
  if (numbers.scale) with(gradient * *numbers.scale);
  else if (numbers.clip) with(maximum(minimum(gradient, *numbers.clip), -*numbers.clip));
  else with(gradient);
}

} // namespace weft::optimizers
