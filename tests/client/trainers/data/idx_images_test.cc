#include "client/trainers/data/idx_images.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <cstdint>
#include <string>
#include <vector>

namespace epsledger::trainers {
namespace {

std::string Word(uint32_t number) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(number >> shift));
  return text;
}

std::string Images(uint32_t count, uint32_t height, uint32_t width, const std::string& pixels) {
  return Word(0x803) + Word(count) + Word(height) + Word(width) + pixels;
}

std::string Labels(uint32_t count, const std::string& labels) {
  return Word(0x801) + Word(count) + labels;
}

absl::StatusOr<LabeledImages> Parse(const std::string& images, const std::string& labels) {
  return ParseIdx(images, labels, 10, {.images = "i", .labels = "l"});
}

TEST(ParseIdx, GivesAColumnARecordRowByRow) {
  const std::string pixels("\x00\x33\x66\x99\xcc\xff\x01\x02\x03\x04\x05\x06", 12);
  const absl::StatusOr<LabeledImages> images =
      Parse(Images(2, 2, 3, pixels), Labels(2, std::string("\x07\x00", 2)));
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(images->channels, 1);
  EXPECT_EQ(images->height, 2);
  EXPECT_EQ(images->width, 3);
  EXPECT_EQ(images->labels, (std::vector<int>{7, 0}));
  ASSERT_EQ(images->pixels.rows(), 6);
  ASSERT_EQ(images->pixels.cols(), 2);
  for (int i = 0; i < 6; ++i) {
    EXPECT_FLOAT_EQ(images->pixels(i, 0), 0.2F * static_cast<float>(i));
    EXPECT_FLOAT_EQ(images->pixels(i, 1), static_cast<float>(i + 1) / 255.0F);
  }
}

struct ErrorCase {
  std::string images;
  std::string labels;
  std::string message;
};

TEST(ParseIdx, SaysWhereWhatItGotAndWhatItWants) {
  const std::string good_images = Images(2, 1, 1, "ab");
  const std::string good_labels = Labels(2, std::string("\x01\x09", 2));
  ASSERT_TRUE(Parse(good_images, good_labels).ok());
  const std::vector<ErrorCase> cases = {
      {"", good_labels, "i: offset 0: header: got the end of the file, want 16 bytes"},
      {good_images.substr(0, 15), good_labels,
       "i: offset 15: header: got the end of the file, want 16 bytes"},
      {good_labels + "12345678", good_labels, "i: offset 0: magic number: got 2049, want 2051"},
      {good_images, good_images, "l: offset 0: magic number: got 2051, want 2049"},
      {good_images, "", "l: offset 0: header: got the end of the file, want 8 bytes"},
      {Images(0, 1, 1, ""), good_labels, "i: offset 4: count: got 0, want at least 1"},
      {Images(1, 0, 1, "a"), good_labels, "i: offset 8: height: got 0, want one in [1, 4096]"},
      {Images(1, 1, 4097, "a"), good_labels,
       "i: offset 12: width: got 4097, want one in [1, 4096]"},
      // The true product overflows 64 bits; in 32 bits it is 0.
      {Images(0xffffffff, 0xffffffff, 0xffffffff, "a"), good_labels,
       "i: offset 8: height: got 4294967295, want one in [1, 4096]"},
      {Images(1U << 20, 4096, 4096, "a"), good_labels,
       "i: offset 4: count: got 1048576 images of 4096 x 4096, want at most 268435456 pixels"},
      {Images(3, 1, 1, "ab"), good_labels,
       "i: offset 18: data: got a file of 18 bytes, want the 19 that its header promises"},
      {good_images + "c", good_labels,
       "i: offset 18: data: got a file of 19 bytes, want the 18 that its header promises"},
      {good_images, Labels(3, "123"), "l: offset 4: count: got 3, want the 2 of i"},
      {good_images, Labels(2, "1"),
       "l: offset 9: data: got a file of 9 bytes, want the 10 that its header promises"},
      {good_images, Labels(2, std::string("\x01\x0a", 2)),
       "l: offset 9: label: got 10, want one in [0, 9]"},
  };
  for (const ErrorCase& each : cases) {
    const absl::StatusOr<LabeledImages> images = Parse(each.images, each.labels);
    ASSERT_FALSE(images.ok()) << each.message;
    EXPECT_EQ(images.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(images.status().message(), each.message);
  }
}

RC_GTEST_PROP(ParseIdx, TakesNoPrefixOfAFile, ()) {
  const std::string images = Images(3, 2, 2, "abcdefghijkl");
  const std::string labels = Labels(3, std::string("\x01\x02\x03", 3));
  const auto cut = *rc::gen::inRange<size_t>(0, images.size());
  RC_ASSERT(!Parse(images.substr(0, cut), labels).ok());
  const auto label_cut = *rc::gen::inRange<size_t>(0, labels.size());
  RC_ASSERT(!Parse(images, labels.substr(0, label_cut)).ok());
}

RC_GTEST_PROP(ParseIdx, WithAnyByteChangedIsRefusedOrStillInRange, ()) {
  std::string images = Images(3, 2, 2, "abcdefghijkl");
  std::string labels = Labels(3, std::string("\x01\x02\x03", 3));
  std::string& file = *rc::gen::arbitrary<bool>() ? images : labels;
  file[*rc::gen::inRange<size_t>(0, file.size())] = *rc::gen::arbitrary<char>();
  const absl::StatusOr<LabeledImages> parsed = Parse(images, labels);
  if (!parsed.ok()) return;
  RC_ASSERT(parsed->pixels.cols() == 3 && parsed->labels.size() == 3U);
  RC_ASSERT(parsed->pixels.rows() == parsed->height * parsed->width);
  RC_ASSERT(parsed->pixels.minCoeff() >= 0 && parsed->pixels.maxCoeff() <= 1);
  for (const int label : parsed->labels) RC_ASSERT(label >= 0 && label < 10);
}

}  // namespace
}  // namespace epsledger::trainers
