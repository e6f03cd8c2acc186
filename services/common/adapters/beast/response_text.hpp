#pragma once
#include <string>

#include "services/common/http/reply.hpp"

namespace zbs::beast {

/// The bytes of an HTTP/1.1 response, head and body in one piece: one buffer to encrypt and one to send costs half of
/// what Beast's own message takes. Headers whose value has control bytes are left out. `is_head`: the reply is to a
/// HEAD request; its body is left out but counted in Content-Length. Of a reply with a stream the end of the
/// connection is the end of the body.
std::string response_text(const http::Reply& reply, bool keep_alive, bool is_head);

}  // namespace zbs::beast
