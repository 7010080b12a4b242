#ifndef EPSLEDGER_ACCOUNTING_EVENT_MATRIX_MECHANISM_H_
#define EPSLEDGER_ACCOUNTING_EVENT_MATRIX_MECHANISM_H_

#include <cstdint>
#include <string>
#include <vector>

namespace epsledger::accounting {

// The matrix C of a matrix mechanism. Numbers as in proto/epsledger/v1/mechanism.proto, stored in
// ledgers: never renumber.
enum class MatrixStrategy : uint8_t {
  kMatrix = 1,            // `entries`, row by row
  kToeplitz = 2,          // C_ts = coefficients[t - s], lower triangular
  kBufferedToeplitz = 3,  // Toeplitz: 1, then sum_i output_scales[i] decays[i]^(t - 1)
  kSquareRoot = 4,        // Toeplitz: the first `bands` coefficients of (1 - x)^(-1/2)
  kBinaryTree = 5,        // the sum of every dyadic block of steps that is complete
  kIdentity = 6,
};

// "MATRIX", "TOEPLITZ", ...; "KIND_UNSPECIFIED" for 0 and the number for any other value.
std::string MatrixStrategyName(MatrixStrategy strategy);

// Releases C G + Z: row s of G is the sum of the contributions to step s, of norm <= contribution
// each, and the entries of Z are independent N(0, (noise_multiplier * contribution)^2). One privacy
// unit takes part in at most max_participations of `steps` steps, any two of them at least
// min_separation apart. One event is the whole run (accounting/matrix/README.md).
struct MatrixMechanism {
  static constexpr uint8_t kTag = 35;
  static constexpr const char* kName = "matrix_mechanism";
  double noise_multiplier = 0;
  MatrixStrategy strategy{};
  int64_t steps = 0;
  int64_t max_participations = 0;
  int64_t min_separation = 0;
  std::vector<double> entries = {};        // of kMatrix, a multiple of `steps`
  std::vector<double> coefficients = {};   // of kToeplitz, at most `steps`
  std::vector<double> output_scales = {};  // of kBufferedToeplitz
  std::vector<double> decays = {};         // as many
  int64_t bands = 0;                       // of kSquareRoot, in [1, steps]
  template <class S, class V>
  static void Fields(S& s, V&& v) {
    v("noise_multiplier", s.noise_multiplier);
    v("strategy", s.strategy);
    v("steps", s.steps);
    v("max_participations", s.max_participations);
    v("min_separation", s.min_separation);
    v("entries", s.entries);
    v("coefficients", s.coefficients);
    v("output_scales", s.output_scales);
    v("decays", s.decays);
    v("bands", s.bands);
  }
};

}  // namespace epsledger::accounting

#endif  // EPSLEDGER_ACCOUNTING_EVENT_MATRIX_MECHANISM_H_
