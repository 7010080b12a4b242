#include "client/trainers/network/convolution.h"

#include <algorithm>

#include "client/trainers/network/initialization.h"
#include "client/trainers/network/matrix_product.h"
#include "client/trainers/network/parallel.h"

namespace epsledger::trainers::network {
namespace {

struct Range {
  Eigen::Index begin;
  Eigen::Index end;
};

// The output coordinates o with 0 <= o * stride + offset < length, out of [0, count).
Range InsideImage(Eigen::Index offset, Eigen::Index stride, Eigen::Index length,
                  Eigen::Index count) {
  const Eigen::Index begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const Eigen::Index end = length > offset ? (length - offset - 1) / stride + 1 : 0;
  return {.begin = std::min(begin, count), .end = std::min(end, count)};
}

// Calls visit(patch entry, pixel, count) for every run of entries of one patch column that lies in
// one image row: `count` entries from `patch entry`, taken from every stride-th pixel.
template <class Visit>
void ForEachRun(const Convolution& options, const Shape& input, const Shape& output,
                const Visit& visit) {
  Eigen::Index column = 0;
  for (Eigen::Index channel = 0; channel < input.channels; ++channel) {
    for (Eigen::Index i = 0; i < options.kernel; ++i) {
      const Range rows =
          InsideImage(i - options.padding, options.stride, input.height, output.height);
      for (Eigen::Index j = 0; j < options.kernel; ++j, ++column) {
        const Range columns =
            InsideImage(j - options.padding, options.stride, input.width, output.width);
        if (columns.begin >= columns.end) continue;
        for (Eigen::Index y = rows.begin; y < rows.end; ++y) {
          const Eigen::Index pixel_row =
              channel * input.height + y * options.stride + i - options.padding;
          visit(column * output.positions() + y * output.width + columns.begin,
                pixel_row * input.width + columns.begin * options.stride + j - options.padding,
                columns.end - columns.begin);
        }
      }
    }
  }
}

}  // namespace

template <class T>
ConvolutionLayer<T>::ConvolutionLayer(const Convolution& options, const Shape& input)
    : options_(options), input_(input), output_(*OutputShape(options, input)) {}

template <class T>
Eigen::Map<const Matrix<T>> ConvolutionLayer<T>::Filters(
    const ConstParameters<T>& parameters) const {
  return Eigen::Map<const Matrix<T>>(parameters.data(), filter_size(), output_.channels);
}

template <class T>
void ConvolutionLayer<T>::Initialize(Initialization initialization, std::mt19937_64& random,
                                     Parameters<T> parameters) const {
  const Fan fan{.in = filter_size(), .out = output_.channels * options_.kernel * options_.kernel};
  DrawWeights<T>(initialization, fan, random, parameters.head(filter_size() * output_.channels));
  parameters.tail(output_.channels).setZero();
}

template <class T>
void ConvolutionLayer<T>::Unroll(const T* sample, Matrix<T>* patches) const {
  patches->setZero(output_.positions(), filter_size());
  T* const to = patches->data();
  const Eigen::Index stride = options_.stride;
  if (stride == 1) {
    ForEachRun(options_, input_, output_,
               [=](Eigen::Index entry, Eigen::Index pixel, Eigen::Index count) {
                 std::copy_n(sample + pixel, count, to + entry);
               });
    return;
  }
  ForEachRun(options_, input_, output_,
             [=](Eigen::Index entry, Eigen::Index pixel, Eigen::Index count) {
               for (Eigen::Index x = 0; x < count; ++x) to[entry + x] = sample[pixel + x * stride];
             });
}

template <class T>
void ConvolutionLayer<T>::AddRolled(const Matrix<T>& patches, T* sample) const {
  const T* const from = patches.data();
  const Eigen::Index stride = options_.stride;
  if (stride == 1) {
    ForEachRun(options_, input_, output_,
               [=](Eigen::Index entry, Eigen::Index pixel, Eigen::Index count) {
                 Eigen::Map<Vector<T>>(sample + pixel, count) +=
                     Eigen::Map<const Vector<T>>(from + entry, count);
               });
    return;
  }
  ForEachRun(options_, input_, output_,
             [=](Eigen::Index entry, Eigen::Index pixel, Eigen::Index count) {
               for (Eigen::Index x = 0; x < count; ++x) {
                 sample[pixel + x * stride] += from[entry + x];
               }
             });
}

template <class T>
Matrix<T> ConvolutionLayer<T>::Forward(ConstParameters<T> parameters,
                                       const Matrix<T>& inputs) const {
  Matrix<T> outputs(output_.size(), inputs.cols());
  InParallel(this->thread_count(), inputs.cols(), [&](Eigen::Index first, Eigen::Index past) {
    Matrix<T> patches;
    for (Eigen::Index i = first; i < past; ++i) {
      Unroll(inputs.col(i).data(), &patches);
      Eigen::Map<Matrix<T>> output(outputs.col(i).data(), output_.positions(), output_.channels);
      SetProduct<T>(patches, Filters(parameters), output);
      output.rowwise() += parameters.tail(output_.channels).transpose();
    }
  });
  return outputs;
}

template <class T>
Matrix<T> ConvolutionLayer<T>::InputGradients(ConstParameters<T> parameters,
                                              const LayerPass<T>& pass) const {
  Matrix<T> gradients(input_.size(), pass.inputs.cols());
  InParallel(this->thread_count(), gradients.cols(), [&](Eigen::Index first, Eigen::Index past) {
    Matrix<T> patches(output_.positions(), filter_size());
    for (Eigen::Index i = first; i < past; ++i) {
      const Eigen::Map<const Matrix<T>> output_gradient(pass.output_gradients.col(i).data(),
                                                        output_.positions(), output_.channels);
      SetProduct<T>(output_gradient, Factor<T>(Filters(parameters)).Transposed(),
                    Eigen::Map<Matrix<T>>(patches.data(), patches.rows(), patches.cols()));
      gradients.col(i).setZero();
      AddRolled(patches, gradients.col(i).data());
    }
  });
  return gradients;
}

template <class T>
Matrix<T> ConvolutionLayer<T>::SampleGradients(const LayerPass<T>& pass) const {
  Matrix<T> gradients(parameter_count(), pass.inputs.cols());
  InParallel(this->thread_count(), gradients.cols(), [&](Eigen::Index first, Eigen::Index past) {
    Matrix<T> patches;
    for (Eigen::Index i = first; i < past; ++i) {
      const Eigen::Map<const Matrix<T>> output_gradient(pass.output_gradients.col(i).data(),
                                                        output_.positions(), output_.channels);
      Unroll(pass.inputs.col(i).data(), &patches);
      SetProduct<T>(
          Factor<T>(patches).Transposed(), output_gradient,
          Eigen::Map<Matrix<T>>(gradients.col(i).data(), filter_size(), output_.channels));
      gradients.col(i).tail(output_.channels) = output_gradient.colwise().sum().transpose();
    }
  });
  return gradients;
}

template <class T>
void ConvolutionLayer<T>::AddSquaredNorms(const LayerPass<T>& pass,
                                          Eigen::ArrayXd* squared_norms) const {
  InParallel(
      this->thread_count(), squared_norms->size(), [&](Eigen::Index first, Eigen::Index past) {
        for (Eigen::Index i = first; i < past; ++i) {
          (*squared_norms)[i] += pass.sample_gradients.col(i).template cast<double>().squaredNorm();
        }
      });
}

template <class T>
void ConvolutionLayer<T>::AddWeightedGradient(const LayerPass<T>& pass, const Vector<T>& weights,
                                              Parameters<T> gradient) const {
  // Threads split the gradient, not the batch, so that each entry is summed in the samples' order.
  InParallel(this->thread_count(), gradient.size(), [&](Eigen::Index first, Eigen::Index past) {
    for (Eigen::Index i = 0; i < weights.size(); ++i) {
      gradient.segment(first, past - first) +=
          weights[i] * pass.sample_gradients.col(i).segment(first, past - first);
    }
  });
}

template class ConvolutionLayer<float>;
template class ConvolutionLayer<double>;

}  // namespace epsledger::trainers::network
