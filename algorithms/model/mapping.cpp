#include "algorithms/model/mapping.hpp"

namespace zbs {

std::ostream& operator<<(std::ostream& out, const Mapping& mapping) {
    out << '{';
    for (std::size_t i = 0; i < mapping.processor_of.size(); ++i) {
        out << (i ? "," : "") << '(' << i << ',' << mapping.processor_of[i] << ')';
    }
    return out << '}';
}

}  // namespace zbs
