#include "studies/claims/claim.hpp"

#include <algorithm>
#include <cmath>

#include "studies/claims/samples.hpp"

namespace zbs::claims {

namespace {

JudgingHook& judging_hook() {
    static JudgingHook hook;
    return hook;
}

}  // namespace

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
        case Verdict::kInput:
            return "input";
        case Verdict::kNotTestable:
            return "not testable";
        case Verdict::kFails:
            break;
    }
    return "fails";
}

bool Conditions::all() const { return std::ranges::all_of(each, std::identity{}); }
bool Conditions::any() const { return std::ranges::any_of(each, std::identity{}); }

void set_judging_hook(JudgingHook hook) { judging_hook() = std::move(hook); }

Claim judged(Claim claim, Conditions conditions, std::string_view remark, const Reason& reason) {
    if (judging_hook()) judging_hook()(claim, conditions.each);
    claim.conditions = conditions.each;
    claim.remark = remark;
    if (conditions.all()) {
        claim.verdict = remark.empty() ? Verdict::kHolds : Verdict::kHoldsWithRemark;
        return claim;
    }
    if (claim.ours.find(kUndefined) != std::string::npos) {
        claim.verdict = Verdict::kNotTestable;
        claim.remark = "the run is too short for some of the figures";
        return claim;
    }
    claim.verdict = Verdict::kFails;
    if (!reason.evaluate) return claim;
    const Evidence evidence = reason.evaluate();
    claim.reason_test = ReasonTest{reason.name, evidence.figures, evidence.passes};
    if (!evidence.passes) return claim;
    claim.verdict = reason.verdict;
    claim.remark = reason.statement + (remark.empty() ? "" : "; " + std::string(remark));
    return claim;
}

Claim judged_input(Claim claim, Conditions conditions, std::string_view remark) {
    claim = judged(std::move(claim), std::move(conditions), remark);
    if (claim.verdict <= Verdict::kHoldsWithRemark) claim.verdict = Verdict::kInput;
    return claim;
}

std::int64_t Effort::scaled(std::int64_t count, std::int64_t least) const {
    return std::max(least, static_cast<std::int64_t>(std::llround(static_cast<double>(count) * length)));
}

}  // namespace zbs::claims
