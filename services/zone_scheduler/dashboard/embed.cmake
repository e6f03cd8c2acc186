# Writes the built pages as C++: cmake -D DIST=... -D OUTPUT=... -P embed.cmake. DIST has index.html and perhaps assets/.
function(bytes_of path out)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" text "${hex}")
  string(REGEX REPLACE "((\\\\x..)(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?(\\\\x..)?)" "\"\\1\" " text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

bytes_of(${DIST}/index.html page)
file(SIZE ${DIST}/index.html page_size)
set(rows "")
set(count 0)
file(GLOB assets LIST_DIRECTORIES false ${DIST}/assets/*)
list(SORT assets)
foreach(asset IN LISTS assets)
  get_filename_component(name ${asset} NAME)
  if(name MATCHES "\\.js$")
    set(type "text/javascript; charset=utf-8")
  elseif(name MATCHES "\\.css$")
    set(type "text/css; charset=utf-8")
  elseif(name MATCHES "\\.svg$")
    set(type "image/svg+xml")
  else()
    message(FATAL_ERROR "${name}: say in embed.cmake which content type it has")
  endif()
  bytes_of(${asset} bytes)
  file(SIZE ${asset} size)
  string(APPEND rows "    File{\"${name}\", \"${type}\", std::string_view(${bytes}, ${size})},\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"services/zone_scheduler/dashboard/bundle.hpp\"

#include <array>

namespace zbs::dashboard {

std::string_view page() { return std::string_view(${page}, ${page_size}); }

std::span<const File> files() {
  static constexpr std::array<File, ${count}> kFiles{{
${rows}  }};
  return kFiles;
}

}  // namespace zbs::dashboard
")
