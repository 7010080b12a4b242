#include "client/trainers/data/jpeg_pack.h"

#include <rapidcheck/gtest.h>
#include "gtest/gtest.h"

#include <string>
#include <vector>

#include "tests/client/trainers/data/made_jpeg_pack.h"

namespace epsledger::trainers {
namespace {

constexpr JpegPackShape kShape = {.height = 16, .width = 24, .class_count = 10};

// The left half of one color, the right half of another.
std::string TwoColors(const std::vector<unsigned char>& left,
                      const std::vector<unsigned char>& right, int height = 16, int width = 24) {
  std::vector<unsigned char> rgb;
  for (int i = 0; i < height * width; ++i) {
    const std::vector<unsigned char>& color = i % width < width / 2 ? left : right;
    rgb.insert(rgb.end(), color.begin(), color.end());
  }
  return EncodeJpeg(height, width, rgb);
}

std::string SmallPack() {
  return MakeJpegPack(
      {{3, TwoColors({255, 0, 0}, {255, 0, 0})}, {9, TwoColors({0, 0, 255}, {0, 0, 255})}},
      {{0, TwoColors({20, 120, 220}, {20, 120, 220})}});
}

TEST(ParseJpegPack, GivesRedGreenAndBluePlanesOfEachImage) {
  const absl::StatusOr<JpegPack> pack = ParseJpegPack(SmallPack(), kShape, "p");
  ASSERT_TRUE(pack.ok()) << pack.status();
  EXPECT_EQ(pack->train.labels, (std::vector<int>{3, 9}));
  EXPECT_EQ(pack->test.labels, (std::vector<int>{0}));
  const auto expect_color = [](const LabeledImages& images, int column,
                               const std::vector<float>& color) {
    ASSERT_EQ(images.channels, 3);
    ASSERT_EQ(images.height, 16);
    ASSERT_EQ(images.width, 24);
    ASSERT_EQ(images.pixels.rows(), 3 * 16 * 24);
    for (Eigen::Index i = 0; i < images.pixels.rows(); ++i) {
      // Flat colors lose only what the color transform rounds, and the quantizer of quality 75 in
      // the mean of a block: at most 4 / 255 here.
      EXPECT_NEAR(images.pixels(i, column), color[static_cast<size_t>(i / (16 * 24))] / 255,
                  4.0 / 255);
    }
  };
  expect_color(pack->train, 0, {255, 0, 0});
  expect_color(pack->train, 1, {0, 0, 255});
  expect_color(pack->test, 0, {20, 120, 220});
}

TEST(ParseJpegPack, PutsRowsAndColumnsWhereTheyBelong) {
  const std::string gray = TwoColors({30, 30, 30}, {200, 200, 200});
  const absl::StatusOr<JpegPack> pack =
      ParseJpegPack(MakeJpegPack({{1, gray}}, {{1, gray}}), kShape, "p");
  ASSERT_TRUE(pack.ok()) << pack.status();
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 24; ++x) {
      if (x == 11 || x == 12) continue;  // the edge rings
      EXPECT_NEAR(pack->train.pixels(y * 24 + x, 0), (x < 12 ? 30.0 : 200.0) / 255, 16.0 / 255)
          << y << " " << x;
    }
  }
}

struct ErrorCase {
  std::string bytes;
  std::string message;
};

TEST(ParseJpegPack, SaysWhereWhatItGotAndWhatItWants) {
  const std::string good = SmallPack();
  const std::string header_end =
      std::to_string(14 + JpegHeaderSize(TwoColors({1, 1, 1}, {1, 1, 1})));
  const auto patched = [&good](size_t offset, const std::string& bytes) {
    std::string pack = good;
    return pack.replace(offset, bytes.size(), bytes);
  };
  const size_t first_label = std::stoul(header_end);
  const std::vector<ErrorCase> cases = {
      {"", "p: offset 0: magic: got the 0 bytes before the end of the file, want 4"},
      {patched(0, "CJPX"), "p: offset 0: magic: got other bytes, want \"CJPK\""},
      {patched(4, LittleEndian(0, 4)), "p: offset 4: count: got 0, want at least 1"},
      {patched(8, LittleEndian(0xffffffff, 4)),
       "p: offset 8: count: got 4294967295, want at most " +
           std::to_string((good.size() - 12) / 5) + " in a file of " + std::to_string(good.size()) +
           " bytes and 268435456 samples"},
      {good.substr(0, 20),
       "p: offset 14: header: got the 6 bytes before the end of the file, want " +
           std::to_string(first_label - 14)},
      {patched(first_label, "\x0a"),
       "p: offset " + header_end + ": label: got 10, want one in [0, 9]"},
      {good + "?",
       "p: offset " + std::to_string(good.size()) + ": end: got 1 more bytes, want none"},
      {MakeJpegPack({{1, TwoColors({0, 0, 0}, {0, 0, 0}, 24, 16)}},
                    {{1, TwoColors({0, 0, 0}, {0, 0, 0}, 24, 16)}}),
       "p: offset " + std::to_string(first_label + 3) +
           ": scan: got a JPEG image of 16 x 24 with 3 channels, want 24 x 16 with 3"},
  };
  for (const ErrorCase& each : cases) {
    const absl::StatusOr<JpegPack> pack = ParseJpegPack(each.bytes, kShape, "p");
    ASSERT_FALSE(pack.ok()) << each.message;
    EXPECT_EQ(pack.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(pack.status().message(), each.message);
  }
}

TEST(ParseJpegPack, RefusesAnImageThatTheDecoderWouldMend) {
  JpegRecord cut{.label = 1, .file = TwoColors({10, 200, 30}, {255, 0, 255})};
  const JpegRecord whole = cut;
  // The scan loses its last data; the end marker stays.
  cut.file.erase(cut.file.size() - 12, 10);
  const absl::StatusOr<JpegPack> pack = ParseJpegPack(MakeJpegPack({cut}, {whole}), kShape, "p");
  ASSERT_FALSE(pack.ok());
  EXPECT_NE(pack.status().message().find("got bytes that are no whole JPEG image"),
            std::string::npos)
      << pack.status();
}

RC_GTEST_PROP(ParseJpegPack, TakesNoPrefixOfAFile, ()) {
  const std::string good = SmallPack();
  const auto cut = *rc::gen::inRange<size_t>(0, good.size());
  RC_ASSERT(!ParseJpegPack(good.substr(0, cut), kShape, "p").ok());
}

RC_GTEST_PROP(ParseJpegPack, WithAnyBytesChangedIsRefusedOrStillInRange, ()) {
  std::string bytes = SmallPack();
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
  }
  const absl::StatusOr<JpegPack> pack = ParseJpegPack(bytes, kShape, "p");
  if (!pack.ok()) return;
  for (const LabeledImages* images : {&pack->train, &pack->test}) {
    RC_ASSERT(images->pixels.rows() == 3 * 16 * 24);
    RC_ASSERT(images->pixels.minCoeff() >= 0 && images->pixels.maxCoeff() <= 1);
    for (const int label : images->labels) RC_ASSERT(label >= 0 && label < 10);
  }
}

}  // namespace
}  // namespace epsledger::trainers
