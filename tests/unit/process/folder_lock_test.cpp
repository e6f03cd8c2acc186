#include "services/common/adapters/process/folder_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "services/common/adapters/process/account.hpp"
#include "tests/support/temporary_folder.hpp"

namespace zbs::process {
namespace {

TEST(FolderLock, TheSecondIsToldWhoHoldsItUntilTheFirstLetsGo) {
    const test::TemporaryFolder folder;
    auto first = FolderLock::take(folder.path());
    ASSERT_TRUE(first) << first.error().message;
    const auto second = FolderLock::take(folder.path());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::kConflict);
    EXPECT_THAT(second.error().message, testing::EndsWith("is in use by process " + std::to_string(getpid())));
    first->reset();
    EXPECT_TRUE(FolderLock::take(folder.path()));
}

TEST(FolderLock, AProgramStartedMeanwhileDoesNotInheritIt) {
    const test::TemporaryFolder folder;
    auto lock = FolderLock::take(folder.path());
    ASSERT_TRUE(lock);
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(gate[0], 0);
        close(gate[0]);
        close(gate[1]);
        execl("/bin/sh", "sh", "-c", "echo; read line", static_cast<char*>(nullptr));
        _exit(127);
    }
    lock->reset();
    bool free = false;
    for (int i = 0; i < 200 && !(free = FolderLock::take(folder.path()).has_value()); ++i)
        usleep(10'000);  // the child may not have become sh yet
    EXPECT_TRUE(free);
    close(gate[0]);
    close(gate[1]);
    waitpid(child, nullptr, 0);
}

TEST(FolderLock, AChildOfAKilledHolderThatHasNotExecutedYetIsWaitedFor) {
    const test::TemporaryFolder folder;
    const pid_t holder = fork();
    if (holder == 0) {
        const auto lock = FolderLock::take(folder.path());
        if (fork() == 0) usleep(300'000);
        _exit(lock ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(holder, &status, 0), holder);
    ASSERT_EQ(status, 0);
    EXPECT_TRUE(FolderLock::take(folder.path()));
}

TEST(FolderLock, AFolderThatIsNotThereIsAnError) {
    const auto lock = FolderLock::take("/nonexistent/state");
    ASSERT_FALSE(lock);
    EXPECT_EQ(lock.error().code, ErrorCode::kUnavailable);
}

TEST(StateFolder, IsMadeAndFilledByItsOwnerOnly) {
    const test::TemporaryFolder folder;
    EXPECT_TRUE(check_owner(folder.path()));
    EXPECT_TRUE(check_owner(folder.path() + "/a/b"));
    if (geteuid() != 0) GTEST_SKIP() << "needs root: a folder of another user";
    ASSERT_EQ(chown(folder.path().c_str(), 65534, 65534), 0);
    const auto theirs = check_owner(folder.path());
    ASSERT_FALSE(theirs);
    EXPECT_EQ(theirs.error().code, ErrorCode::kDenied);
    EXPECT_THAT(theirs.error().message, testing::HasSubstr("belongs to user " + user_name(65534)));
    EXPECT_EQ(theirs.error().pointer, folder.path());
    const auto in_theirs = check_owner(folder.path() + "/a/b");
    ASSERT_FALSE(in_theirs);
    EXPECT_THAT(in_theirs.error().message, testing::StartsWith(folder.path() + ", where"));
    EXPECT_EQ(in_theirs.error().pointer, folder.path() + "/a/b");
}

}  // namespace
}  // namespace zbs::process
