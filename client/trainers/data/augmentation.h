#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_AUGMENTATION_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_AUGMENTATION_H_

#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers {

// The largest change of a view: public constants, chosen for digits of 28 x 28.
inline constexpr double kLargestRotation = 0.15;   // radians, about 8.6 degrees
inline constexpr double kLargestScaling = 0.1;     // sizes in [0.9, 1.1]
inline constexpr double kLargestShift = 1.0 / 28;  // of a side, in each direction

// Returns another view of every image: turned, scaled and shifted by amounts that look random. They
// are uniform in the ranges above as far as SHA-256 is, and they are read from the SHA-256 of the
// image's own pixels and of `number`, so each view is a fixed function of its own image. One more
// record changes no bit of another record's view. Equal images have equal views, and a run that
// continues has the same ones. (Draws from one generator for all images would depend on an image's
// place in the set, and so on the other records.)
//
// With (h, w) the middle of the image, angle a, size s and shift (u, v):
//
//   out(y, x) = in(h + (cos(a) (y - h - u) - sin(a) (x - w - v)) / s,
//                  w + (sin(a) (y - h - u) + cos(a) (x - w - v)) / s)
//
// by Keys' cubic in both directions, black outside, cut to [0, 1]. An image with a pixel that is
// not finite becomes NaN. Labels do not change. Cost: about 60 operations a pixel.
LabeledImages AugmentedView(const LabeledImages& images, int number);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_AUGMENTATION_H_
