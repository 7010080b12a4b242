#ifndef EPSLEDGER_CLIENT_TRAINERS_DATA_DESKEW_H_
#define EPSLEDGER_CLIENT_TRAINERS_DATA_DESKEW_H_

#include "client/trainers/data/labeled_images.h"

namespace epsledger::trainers {

// Shears and shifts every image so that its content is upright and centered. The images must show
// something bright on black, such as digits [LBBH98]. Each result is a fixed function of the
// image's own pixels, by operations that do not depend on the other images or on their number. One
// more record changes no bit of another record, so a mechanism that is private for the result is
// private for the input, at the same charge.
//
// With p(y, x) the sum over the channels, m its total, (cy, cx) its centroid and mu_ab its central
// moments (a over x, b over y): alpha = mu11 / mu02, cut to [-1.2, 1.2], and
//
//   sheared(i, x) = in(i, x - w + cx + alpha (i - cy)),    (h, w) the middle of the image,
//   out(y, x)     = sheared(y - h + cy, x),
//
// by Keys' cubic (a = -1/2) within a row, then linear between rows, black outside, cut to [0, 1].
// So the result has its centroid in the middle and mu11 = 0 where nothing is cut. A black image
// does not change; an image whose sum is not finite becomes NaN. Labels do not change. Cost: about
// 20 operations a pixel.
//
// [LBBH98] LeCun, Bottou, Bengio, Haffner, "Gradient-based learning applied to document
// recognition": the deskewed variant of the digits.
void Deskew(LabeledImages& images);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_DATA_DESKEW_H_
