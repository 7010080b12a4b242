#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_LABELED_IMAGES_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_LABELED_IMAGES_H_

#include <Eigen/Core>
#include <vector>

namespace epsledger::trainers {

// Images of one shape with their classes. Invariants: pixels.rows() == channels * height * width,
// pixels.cols() == labels.size(), pixels are in [0, 1], labels in [0, the set's class_count).
struct LabeledImages {
  Eigen::Index channels = 0;
  Eigen::Index height = 0;
  Eigen::Index width = 0;
  // One column a record; entry (channel * height + y) * width + x is `channel` at (y, x), the
  // layout of client/trainers/network/shape.h.
  Eigen::MatrixXf pixels;
  std::vector<int> labels;
};

// Images that no training step reads. Evaluation accepts only this type (as HeldOutRows).
struct HeldOutImages {
  LabeledImages images;
};

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_LABELED_IMAGES_H_
