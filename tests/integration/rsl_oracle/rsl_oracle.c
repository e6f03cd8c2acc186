/* Reads one RSL request on standard input and prints it as libglobus-rsl understands it: parsed, names in canonical
 * form, unparsed. Exit code 1 where the library refuses it. */
#include <globus_common.h>
#include <globus_rsl.h>
#include <globus_rsl_assist.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    size_t size = 0, room = 1 << 16;
    char* text = malloc(room + 1);
    for (size_t n; text && (n = fread(text + size, 1, room - size, stdin)) > 0;) {
        size += n;
        if (size == room) text = realloc(text, (room *= 2) + 1);
    }
    if (!text) return 2;
    text[size] = '\0';
    globus_module_activate(GLOBUS_COMMON_MODULE);
    globus_rsl_t* tree = globus_rsl_parse(text);
    if (!tree) return 1;
    globus_rsl_assist_attributes_canonicalize(tree);
    char* canonical = globus_rsl_unparse(tree);
    if (!canonical) return 2;
    fputs(canonical, stdout);
    return 0;
}
