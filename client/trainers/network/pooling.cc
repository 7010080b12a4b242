#include "client/trainers/network/pooling.h"

#include "client/trainers/network/parallel.h"

namespace epsledger::trainers::network {
namespace {

// Calls visit(output entry, input entry of the window's first pixel) for every window of a sample.
template <class Visit>
void ForEachWindow(Eigen::Index stride, const Shape& input, const Shape& output,
                   const Visit& visit) {
  Eigen::Index entry = 0;
  for (Eigen::Index channel = 0; channel < output.channels; ++channel) {
    for (Eigen::Index y = 0; y < output.height; ++y) {
      const Eigen::Index row = channel * input.height + y * stride;
      for (Eigen::Index x = 0; x < output.width; ++x, ++entry) {
        visit(entry, row * input.width + x * stride);
      }
    }
  }
}

// Without branches: the position of the largest entry is practically random.
template <class T>
inline Eigen::Index LargestEntry(const T* sample, Eigen::Index first, Eigen::Index window,
                                 Eigen::Index width) {
  Eigen::Index largest = first;
  for (Eigen::Index i = 0; i < window; ++i) {
    for (Eigen::Index j = 0; j < window; ++j) {
      const Eigen::Index entry = first + i * width + j;
      const T value = sample[entry];
      const bool is_larger = (value > sample[largest]) | (value != value);  // a NaN stays
      largest = is_larger ? entry : largest;
    }
  }
  return largest;
}

}  // namespace

template <class T>
AveragePoolLayer<T>::AveragePoolLayer(const AveragePool& options, const Shape& input)
    : options_(options), input_(input), output_(*OutputShape(options, input)) {}

template <class T>
Matrix<T> AveragePoolLayer<T>::Forward(ConstParameters<T>, const Matrix<T>& inputs) const {
  Matrix<T> outputs(output_.size(), inputs.cols());
  const T share = T{1} / static_cast<T>(options_.window * options_.window);
  for (Eigen::Index sample = 0; sample < inputs.cols(); ++sample) {
    const T* const from = inputs.col(sample).data();
    T* const to = outputs.col(sample).data();
    ForEachWindow(options_.stride, input_, output_, [&](Eigen::Index entry, Eigen::Index first) {
      T sum = 0;
      for (Eigen::Index i = 0; i < options_.window; ++i) {
        for (Eigen::Index j = 0; j < options_.window; ++j)
          sum += from[first + i * input_.width + j];
      }
      to[entry] = sum * share;
    });
  }
  return outputs;
}

template <class T>
Matrix<T> AveragePoolLayer<T>::InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const {
  Matrix<T> gradients = Matrix<T>::Zero(input_.size(), pass.inputs.cols());
  const T share = T{1} / static_cast<T>(options_.window * options_.window);
  for (Eigen::Index sample = 0; sample < gradients.cols(); ++sample) {
    const T* const from = pass.output_gradients.col(sample).data();
    T* const to = gradients.col(sample).data();
    ForEachWindow(options_.stride, input_, output_, [&](Eigen::Index entry, Eigen::Index first) {
      const T gradient = from[entry] * share;
      for (Eigen::Index i = 0; i < options_.window; ++i) {
        for (Eigen::Index j = 0; j < options_.window; ++j)
          to[first + i * input_.width + j] += gradient;
      }
    });
  }
  return gradients;
}

template <class T>
MaxPoolLayer<T>::MaxPoolLayer(const MaxPool& options, const Shape& input)
    : options_(options), input_(input), output_(*OutputShape(options, input)) {}

template <class T>
Matrix<T> MaxPoolLayer<T>::Forward(ConstParameters<T>, const Matrix<T>& inputs) const {
  Matrix<T> outputs(output_.size(), inputs.cols());
  InParallel(this->thread_count(), inputs.cols(), [&](Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index sample = begin; sample < end; ++sample) {
      const T* const from = inputs.col(sample).data();
      T* const to = outputs.col(sample).data();
      const auto keep_largest = [&](Eigen::Index window) {
        ForEachWindow(options_.stride, input_, output_,
                      [=, this](Eigen::Index entry, Eigen::Index first) {
                        to[entry] = from[LargestEntry(from, first, window, input_.width)];
                      });
      };
      // The usual window is a constant, so that the compiler can optimize it.
      options_.window == 2 ? keep_largest(2) : keep_largest(options_.window);
    }
  });
  return outputs;
}

template <class T>
Matrix<T> MaxPoolLayer<T>::InputGradients(ConstParameters<T>, const LayerPass<T>& pass) const {
  Matrix<T> gradients(input_.size(), pass.inputs.cols());
  InParallel(this->thread_count(), gradients.cols(), [&](Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index sample = begin; sample < end; ++sample) {
      const T* const inputs = pass.inputs.col(sample).data();
      const T* const from = pass.output_gradients.col(sample).data();
      gradients.col(sample).setZero();
      T* const to = gradients.col(sample).data();
      const auto add_to_largest = [&](Eigen::Index window) {
        ForEachWindow(options_.stride, input_, output_,
                      [=, this](Eigen::Index entry, Eigen::Index first) {
                        to[LargestEntry(inputs, first, window, input_.width)] += from[entry];
                      });
      };
      options_.window == 2 ? add_to_largest(2) : add_to_largest(options_.window);
    }
  });
  return gradients;
}

template class AveragePoolLayer<float>;
template class AveragePoolLayer<double>;
template class MaxPoolLayer<float>;
template class MaxPoolLayer<double>;

}  // namespace epsledger::trainers::network
