# cmake -DFOLDER=dist -DOUTPUT=packed_dashboard.cc -P pack_files.cmake: writes the compressed
# files below FOLDER as C++. Without FOLDER: no files.
set(rows "")
if(FOLDER)
  file(GLOB_RECURSE files RELATIVE "${FOLDER}" "${FOLDER}/*.gz")
  list(SORT files)
  foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.gz$" "" path "${file}")
    file(READ "${FOLDER}/${file}" bytes HEX)
    string(LENGTH "${bytes}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "(................................................................)" "\\1\"\n     \"" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
    string(APPEND rows "    {\"${path}\",\n     {\"${bytes}\",\n      ${size}}},\n")
  endforeach()
endif()
file(WRITE "${OUTPUT}.new" "#include \"client/dashboard/packed_dashboard.h\"

namespace epsledger {

std::vector<PackedFile> PackedDashboard() {
  return {
${rows}  };
}

}  // namespace epsledger
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
