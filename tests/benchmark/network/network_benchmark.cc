// One step of the paper's convolution network for MNIST: forward, backward, per-sample norms,
// clipped sum. Prints one JSON object a round; compare_with_torch.py runs it beside PyTorch.
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "client/trainers/network/clipping.h"
#include "client/trainers/network/cross_entropy.h"
#include "client/trainers/network/network.h"

namespace epsledger::trainers::network {
namespace {

double ProcessSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What is left out of the number of a flag "--name=5".
int Flag(int argc, char** argv, const std::string& name, int otherwise) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with(name + "=")) return std::atoi(argument.c_str() + name.size() + 1);
  }
  return otherwise;
}

int Main(int argc, char** argv) {
  const int batch_size = Flag(argc, argv, "--batch", 256);
  const int rounds = Flag(argc, argv, "--rounds", 5);
  auto created = Network<float>::Create(
      {.channels = 1, .height = 28, .width = 28},
      {Convolution{.channels = 32, .kernel = 5, .padding = 2}, Tanh{},
       MaxPool{.window = 2, .stride = 2}, Convolution{.channels = 64, .kernel = 5, .padding = 2},
       Tanh{}, MaxPool{.window = 2, .stride = 2}, FullyConnected{.outputs = 1000}, Tanh{},
       FullyConnected{.outputs = 1000}, Tanh{}, FullyConnected{.outputs = 10}});
  if (!created.ok()) {
    std::cerr << created.status() << "\n";
    return 1;
  }
  Network<float>& net = *created;
  if (!net.set_thread_count(Flag(argc, argv, "--threads", 1)).ok()) return 1;
  net.Initialize(1);
  Matrix<float> images(28 * 28, batch_size);
  std::mt19937 random(1);
  for (float& pixel : images.reshaped()) pixel = static_cast<float>(random() % 256) / 255.0F;
  std::vector<int> labels;
  for (int i = 0; i < batch_size; ++i) labels.push_back(i % 10);

  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = ProcessSeconds();
    auto tape = net.Forward(images);
    if (!tape.ok()) return 1;
    auto losses = CrossEntropy<float>(tape->activations.back(), labels);
    if (!losses.ok() || !net.Backward(losses->gradients, &*tape).ok()) return 1;
    const auto factors = ClipFactors<float>(net.SquaredNorms(*tape), 1.0);
    if (!factors.ok()) return 1;
    const auto sum = net.WeightedGradient(*tape, *factors);
    if (!sum.ok()) return 1;
    const double cpu = ProcessSeconds() - cpu_start;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    std::cout << "{\"parameters\": " << net.parameter_count() << ", \"batch\": " << batch_size
              << ", \"wall_seconds\": " << wall.count() << ", \"cpu_seconds\": " << cpu
              << ", \"sum_norm\": " << sum->norm() << "}" << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace epsledger::trainers::network

int main(int argc, char** argv) { return epsledger::trainers::network::Main(argc, argv); }
