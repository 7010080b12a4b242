#ifndef EPSLEDGER_TESTS_CLIENT_TRAINERS_DATA_MADE_JPEG_PACK_H_
#define EPSLEDGER_TESTS_CLIENT_TRAINERS_DATA_MADE_JPEG_PACK_H_

#include <cstdint>
#include <cstdio>  // jpeglib.h wants FILE to be declared
#include <cstdlib>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace epsledger::trainers {

inline std::string LittleEndian(uint64_t number, int byte_count) {
  std::string text;
  for (int i = 0; i < byte_count; ++i) text.push_back(static_cast<char>(number >> (8 * i)));
  return text;
}

// Returns a JPEG file of quality 75. `rgb` holds red, green, blue of each position, row by row.
inline std::string EncodeJpeg(int height, int width, const std::vector<unsigned char>& rgb) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 75, TRUE);
  jpeg_start_compress(&info, TRUE);
  std::vector<unsigned char> copy = rgb;
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = &copy[static_cast<size_t>(info.next_scanline) * 3 * static_cast<size_t>(width)];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return file;
}

// Returns the number of bytes from the start of the file to the end of its SOS segment.
inline size_t JpegHeaderSize(const std::string& file) {
  const size_t marker = file.find("\xff\xda");
  return marker + 2 + static_cast<unsigned char>(file[marker + 3]);
}

struct JpegRecord {
  int label = 0;
  std::string file;
};

// Returns the pack of these images. All files must have the same header.
inline std::string MakeJpegPack(const std::vector<JpegRecord>& train,
                                const std::vector<JpegRecord>& test) {
  const size_t header_size = JpegHeaderSize(train.front().file);
  std::string pack = "CJPK" + LittleEndian(train.size(), 4) + LittleEndian(test.size(), 4) +
                     LittleEndian(header_size, 2) + train.front().file.substr(0, header_size);
  for (const std::vector<JpegRecord>* part : {&train, &test}) {
    for (const JpegRecord& record : *part) {
      pack += LittleEndian(static_cast<uint64_t>(record.label), 1) +
              LittleEndian(record.file.size() - header_size, 2) + record.file.substr(header_size);
    }
  }
  return pack;
}

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_TESTS_CLIENT_TRAINERS_DATA_MADE_JPEG_PACK_H_
