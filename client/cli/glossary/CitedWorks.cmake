# epsledger_cited_works(<README.md> <template> <source>)
#
# Makes the source from the template: @CITED_WORKS@ becomes an entry of the glossary for each row
# "| key | source |" of the page whose key ends in a year: letters, then two digits.
function(epsledger_cited_works page template source)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${page}")
  file(STRINGS "${page}" rows REGEX "^[|] [A-Za-z+]+[0-9][0-9] [|] .* [|]$" ENCODING UTF-8)
  set(CITED_WORKS "")
  foreach(row IN LISTS rows)
    if(row MATCHES "^[|] ([A-Za-z+]+[0-9][0-9]) [|] (.*) [|]$")
      set(key "${CMAKE_MATCH_1}")
      string(REPLACE "\\" "\\\\" text "${CMAKE_MATCH_2}")
      string(REPLACE "\"" "\\\"" text "${text}")
      string(APPEND CITED_WORKS "      {kWork, \"${key}\", \"${text}.\", \"\", \"\"},\n")
    endif()
  endforeach()
  configure_file("${template}" "${source}" @ONLY)
endfunction()
