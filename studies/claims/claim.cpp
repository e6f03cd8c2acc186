#include "studies/claims/claim.hpp"

#include <algorithm>
#include <cmath>

namespace zbs::claims {

std::string_view to_string(Verdict verdict) {
    switch (verdict) {
        case Verdict::kHolds:
            return "holds";
        case Verdict::kHoldsWithRemark:
            return "holds with remark";
        case Verdict::kGap:
            return "gap";
        case Verdict::kContested:
            return "contested";
        case Verdict::kFails:
            break;
    }
    return "fails";
}

Claim judged(Claim claim, bool holds, std::string_view remark, std::string_view reason) {
    if (holds)
        claim.verdict = remark.empty() ? Verdict::kHolds : Verdict::kHoldsWithRemark;
    else
        claim.verdict = reason.empty() ? Verdict::kFails : Verdict::kGap;
    claim.remark = holds ? remark : reason;
    return claim;
}

std::int64_t Effort::scaled(std::int64_t count, std::int64_t least) const {
    return std::max(least, static_cast<std::int64_t>(std::llround(static_cast<double>(count) * length)));
}

}  // namespace zbs::claims
