#include "services/common/messages/profile.hpp"

namespace zbs {

ProfileSummary summary_of(const Profile& profile) {
    return {profile.id,
            profile.application,
            profile.at,
            profile.model.program,
            profile.model.graph.task_count(),
            profile.model.complete,
            profile.digest,
            profile.arguments,
            profile.predicted,
            profile.measured,
            profile.model.unseen};
}

}  // namespace zbs
