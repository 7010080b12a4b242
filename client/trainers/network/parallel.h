#ifndef EPSLEDGER_CLIENT_TRAINERS_NETWORK_PARALLEL_H_
#define EPSLEDGER_CLIENT_TRAINERS_NETWORK_PARALLEL_H_

#include <Eigen/Core>
#include <algorithm>
#include <thread>
#include <vector>

namespace epsledger::trainers::network {

// Calls work(first, past) for consecutive parts of [0, count), one a thread, and waits for all. The
// result for an index must not depend on the parts: then the number of threads changes no bit.
template <class Work>
void InParallel(int thread_count, Eigen::Index count, const Work& work) {
  const Eigen::Index parts = std::max<Eigen::Index>(1, std::min<Eigen::Index>(thread_count, count));
  std::vector<std::thread> threads;
  for (Eigen::Index part = 1; part < parts; ++part) {
    threads.emplace_back(
        [&work, part, parts, count] { work(count * part / parts, count * (part + 1) / parts); });
  }
  work(Eigen::Index{0}, count / parts);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace epsledger::trainers::network

#endif  // EPSLEDGER_CLIENT_TRAINERS_NETWORK_PARALLEL_H_
