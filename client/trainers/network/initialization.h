#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_INITIALIZATION_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_INITIALIZATION_H_

#include <Eigen/Core>
#include <cmath>
#include <random>

#include "client/trainers/network/layer.h"

namespace epsledger::trainers::network {

struct Fan {
  Eigen::Index in = 1;
  Eigen::Index out = 1;
};

// Fills `weights` with independent uniform draws on [-limit, limit). Not
// std::uniform_real_distribution, which differs between standard libraries.
template <class T>
void DrawWeights(Initialization initialization, Fan fan, std::mt19937_64& random,
                 Parameters<T> weights) {
  const Eigen::Index terms = initialization == Initialization::kXavier ? fan.in + fan.out : fan.in;
  const double limit = std::sqrt(6.0 / static_cast<double>(terms));
  for (T& weight : weights) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;  // in [0, 1)
    weight = static_cast<T>(limit * (2 * unit - 1));
  }
}

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_INITIALIZATION_H_
