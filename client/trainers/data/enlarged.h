#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_ENLARGED_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_ENLARGED_H_

#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers {

// Returns the images on black squares of `side`, with their content enlarged to 5/7 of it: the
// digits of 8 x 8 as MNIST shows its own, which are 20 pixels in 28. Between pixels by Keys' cubic,
// cut to [0, 1]; each image by itself. REQUIRES: side >= 7, square images, finite pixels.
LabeledImages Enlarged(const LabeledImages& images, Eigen::Index side);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_ENLARGED_H_
