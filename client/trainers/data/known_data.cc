#include "client/trainers/data/known_data.h"

#include <algorithm>

namespace epsledger::trainers {

// The hashes are ContentSha256 of copies whose record counts, class counts and content were
// compared with independent mirrors. UCI's WDBC, Adult, German credit and optdigits are CC BY 4.0;
// a9a and w8a are Platt's binarizations, published on the LIBSVM data page.
const std::vector<KnownData>& AllKnownData() {
  static const auto* const known = new std::vector<KnownData>{
      {.name = "a9a",
       .feature_count = 123,
       .train = {.file_names = {"a9a"},
                 .content_sha256 =
                     "45232e1b205e4d18bf3a71b12320c64237fef85d31e8b43e5ba7ec1082f8bec4",
                 .url = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/a9a"},
       .test = KnownFile{.file_names = {"a9a.t"},
                         .content_sha256 =
                             "6952c231ddef3233b7d5dbcc22ab5b5ce7b803f569fbc18804ab60206f616155",
                         .url = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
                                "a9a.t"}},
      {.name = "wdbc",
       .aliases = {"breast-cancer", "breast_cancer"},
       .feature_count = 30,
       // The LIBSVM page's "breast-cancer" is another, older set of 683 records.
       .train = {.file_names = {"breast-cancer-wdbc.scale", "wdbc.scale", "wdbc"},
                 .content_sha256 =
                     "19cbb05c3d3df5457947210f0da3b5d165fdb5bfac6c9a2075b4186384534cf5"},
       .package_file = "breast_cancer.csv",
       .package_file_is_raw_wdbc = true},
      {.name = "digits",
       .feature_count = 64,
       .train = {.file_names = {"digits8x8.libsvm", "digits"},
                 .content_sha256 =
                     "b82d89c2691202b8add34b5bf633e936062defcf92753a8db0ff078f68214ee0"},
       .package_file = "digits.csv.gz",
       .public_range = 16,
       .positive_class = 8},
      {.name = "german",
       .aliases = {"german.numer"},
       .feature_count = 24,
       .train = {.file_names = {"german.numer_scale", "german"},
                 .content_sha256 =
                     "018693b4a5e42cad34d71a0db56202d68cf5c0cbc79c1b03998d9225d738e221",
                 .url = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/"
                        "german.numer_scale"}},
      {.name = "w8a",
       .feature_count = 300,
       .train = {.file_names = {"w8a"},
                 .content_sha256 =
                     "0874fd594f10b903146742ee36084d66235d111f1227c9875aa982568dca93ce",
                 .url = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/w8a"}},
  };
  return *known;
}

const KnownData* FindKnownData(std::string_view name) {
  for (const KnownData& known : AllKnownData()) {
    if (known.name == name ||
        std::find(known.aliases.begin(), known.aliases.end(), name) != known.aliases.end()) {
      return &known;
    }
  }
  return nullptr;
}

}  // namespace epsledger::trainers
