# cmake -DOUTPUT=... -DFILES=a.h,b.h -P embed.cmake: C strings from text files, one array each. Bytes, not string
# literals: a compiler need not take literals of more than 4095 characters.
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(table "")
set(number 0)
foreach(file ${files})
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n    " bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${number}[] = {\n    ${bytes} 0\n};\n")
  string(APPEND table "    if (strcmp(name, \"${name}\") == 0) return (const char *)text_${number};\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "// Made by src/kernel/embed.cmake from the kernel texts.
#include \"kernel/embedded.h\"
#include <stddef.h>
#include <string.h>

${arrays}
const char *cutis_kernel_text(const char *name)
{
${table}    (void)name;
    return NULL;
}
")
