#ifndef EPSLEDGER_TESTS_ACCOUNTING_PLD_TENSOR_ROWS_H_
#define EPSLEDGER_TESTS_ACCOUNTING_PLD_TENSOR_ROWS_H_

// Trade-off functions of compositions. Laplace: the n-fold delta(epsilon) in closed form with
// mpmath and its convex conjugate. The others: contour integrals in 80-bit arithmetic, self-checked
// to 1e-12 or better. No other accountant computed any of them.

namespace epsledger::accounting {

// count uses of laplace with noise multiplier 1 / theta.
struct LaplaceTensorRow {
  double theta;
  int count;
  double type_one_error;
  double value;
};
inline constexpr LaplaceTensorRow kLaplaceTensorRows[] = {
    {0.5, 2, 1e-06, 0.9999972817181716},  {0.5, 2, 0.001, 0.997281718171541},
    {0.5, 2, 0.01, 0.9728171817154095},   {0.5, 2, 0.05, 0.8640859085770477},
    {0.5, 2, 0.2, 0.5603297490667105},    {0.5, 2, 0.5, 0.2581633246407918},
    {0.5, 2, 0.9, 0.03678794411714422},   {0.5, 5, 1e-06, 0.9999878175060393},
    {0.5, 5, 0.001, 0.9878175060392965},  {0.5, 5, 0.01, 0.9066984870420337},
    {0.5, 5, 0.05, 0.7285216304857887},   {0.5, 5, 0.2, 0.421531472997766},
    {0.5, 5, 0.5, 0.1524010307202375},    {0.5, 5, 0.9, 0.011132368258883953},
    {0.1, 20, 1e-06, 0.9999935411378759}, {0.1, 20, 0.001, 0.9961711862026137},
    {0.1, 20, 0.01, 0.9707210342362237},  {0.1, 20, 0.05, 0.8866538183108015},
    {0.1, 20, 0.2, 0.6552560000851807},   {0.1, 20, 0.5, 0.3288482289034779},
    {0.1, 20, 0.9, 0.04276424986052575},
};

struct TensorPoint {
  double type_one_error;
  double value;
};
// One release of 1-GDP and one laplace with noise multiplier 2.
inline constexpr TensorPoint kGaussianAndLaplaceRows[] = {
    {1e-06, 0.9998839273090763}, {0.001, 0.9773661710900491}, {0.01, 0.8907940018982426},
    {0.05, 0.7066437273238063},  {0.2, 0.39611716929187524},  {0.5, 0.13474453519005447},
    {0.9, 0.008734946359828534},
};
// One release of 0.5-GDP and four that are (0.3, 0)-DP.
inline constexpr TensorPoint kGaussianAndPureRows[] = {
    {1e-06, 0.9999754735334196}, {0.001, 0.9905666958344853}, {0.01, 0.9410267595681274},
    {0.05, 0.8074379734663518},  {0.2, 0.5226006104023636},   {0.5, 0.21615762139699993},
    {0.9, 0.02015467581697762},
};

// `count` uses of a Poisson-sampled Gaussian, not symmetrized. The mixture is the output with the
// record: T(N0^n, mix^n) is the function of REMOVE, and T(mix^n, N0^n) that of ADD.
struct SampledTensorRow {
  bool mixture_first;
  double sampling_probability;
  double noise_multiplier;
  int count;
  double type_one_error;
  double value;
};
inline constexpr SampledTensorRow kSampledTensorRows[] = {
    {true, 0.05, 2.0, 500, 1e-06, 0.9999863086670396},
    {true, 0.05, 2.0, 500, 0.001, 0.9941335187967734},
    {true, 0.05, 2.0, 500, 0.01, 0.9600322565429079},
    {true, 0.05, 2.0, 500, 0.1, 0.757766310099832},
    {true, 0.05, 2.0, 500, 0.5, 0.27714601149847956},
    {false, 0.1, 1.0, 100, 1e-06, 0.9995307627079899},
    {false, 0.1, 1.0, 100, 0.001, 0.9612184218529731},
    {false, 0.1, 1.0, 100, 0.01, 0.8539455418096747},
    {false, 0.1, 1.0, 100, 0.1, 0.5308138727350439},
    {false, 0.1, 1.0, 100, 0.5, 0.13025450965633598},
    {true, 0.1, 1.0, 100, 1e-06, 0.9999360632872741},
    {true, 0.1, 1.0, 100, 0.001, 0.981288713341559},
    {true, 0.1, 1.0, 100, 0.01, 0.89867083926333},
    {true, 0.1, 1.0, 100, 0.1, 0.5659966462230993},
    {true, 0.1, 1.0, 100, 0.5, 0.11526984702460147},
    {false, 0.01, 4.0, 10000, 1e-06, 0.9999965715145702},
    {false, 0.01, 4.0, 10000, 0.001, 0.9977118216445116},
    {false, 0.01, 4.0, 10000, 0.01, 0.9808578831960123},
    {false, 0.01, 4.0, 10000, 0.1, 0.8478705365227783},
    {false, 0.01, 4.0, 10000, 0.5, 0.39982844083487923},
    {true, 0.01, 4.0, 10000, 1e-06, 0.9999966197228272},
    {true, 0.01, 4.0, 10000, 0.001, 0.9977255962640857},
    {true, 0.01, 4.0, 10000, 0.01, 0.9809245450017622},
    {true, 0.01, 4.0, 10000, 0.1, 0.8480472924294051},
    {true, 0.01, 4.0, 10000, 0.5, 0.39979653961602246},
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_TESTS_ACCOUNTING_PLD_TENSOR_ROWS_H_
