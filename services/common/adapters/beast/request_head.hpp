#pragma once
#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <string>

#include "services/common/http/call.hpp"

namespace zbs::beast {

/// True for text that could break out of its line.
bool has_control_bytes(boost::beast::string_view text);

/// The number that a caller's rate is counted by: its address, of IPv6 the network (/64), because one host has all of
/// it.
std::string origin_of(const boost::asio::ip::address& address);

/// The checks of a head that Beast leaves to its user, to be made before the body is read. Refuses framing that two
/// readers could take differently, and each transfer coding but `chunked` (RFC 9112, 6.3), which Beast takes for no
/// body at all. Returns method, path, query and headers of the call, without its identity.
Result<http::Call> read_head(const boost::beast::http::request<boost::beast::http::string_body>& request);

/// Plain connections only: who the caller says it is, if it shows `token`. Anonymous without the header. Errors:
/// kUnauthenticated (wrong token, no name of a user or operator).
Result<PeerIdentity> read_local_identity(const boost::beast::http::request<boost::beast::http::string_body>& request,
                                         const std::string& token);

}  // namespace zbs::beast
