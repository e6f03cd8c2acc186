#pragma once
#include <cstddef>

/// Every limit on what comes from outside, in one place; tests try each at the limit and one over it.
namespace zbs::limits {

inline constexpr std::size_t kMaxHeaderBytes = 16 * 1024;
inline constexpr std::size_t kMaxBodyBytes = 16 * 1024 * 1024;      ///< a request; holds a model of about 500,000 edges
inline constexpr std::size_t kMaxPieceBodyBytes = 2 * 1024 * 1024;  ///< a request with a piece of a file, in base64
/// A request of any other kind, and each request of a caller without an identity.
inline constexpr std::size_t kMaxSmallBodyBytes = 256 * 1024;
inline constexpr std::size_t kMaxReplyBytes = 32 * 1024 * 1024;  ///< what a client accepts from a service
inline constexpr int kMaxJsonDepth = 16;
inline constexpr int kMaxRanks = 1'000'000;
inline constexpr int kMaxOvercommit = 64;  ///< ranks on one processor
inline constexpr int kMaxArguments = 900;  ///< MPICH 4.0.2's mpiexec crashes at about 1,000
inline constexpr std::size_t kMaxArgumentBytes = 64 * 1024;
inline constexpr std::size_t kMaxJobNameBytes = 256;
inline constexpr int kMaxEnvironment = 2'048;
inline constexpr std::size_t kMaxOptionBytes = 4'096;  ///< one option of a launcher's proxy; Open MPI's name all nodes
inline constexpr std::size_t kMaxPathBytes = 4'096;
inline constexpr long long kMaxWalltimeSeconds = 366LL * 24 * 3600;
inline constexpr double kMaxGraceSeconds = 3'600;  ///< between the signal that stops a job and its kill
inline constexpr double kMaxRunSeconds = 1e9;      ///< of a predicted or measured run
inline constexpr std::size_t kMaxArgumentClassBytes = 512;
/// Start windows in one answer about capacity; those between are merged.
inline constexpr int kMaxStartWindows = 64;
/// Beside the first one, in one request for capacity.
inline constexpr std::size_t kMaxOtherQuestions = 64;
inline constexpr int kMaxPartsInQueue = 10'000;
inline constexpr std::size_t kMaxMatchParts = 200;  ///< [[part]] in one file of 'zbs-zone match'
inline constexpr std::size_t kMaxQueueLogBytes = std::size_t{1} << 30;
inline constexpr int kMaxZonesInRegistry = 10'000;
inline constexpr std::size_t kMaxZonesPerPage = 1'000;         ///< one reply of the registry's list, at most
inline constexpr std::size_t kMaxPageBytes = 8 * 1024 * 1024;  ///< texts in one such reply, beside one entry at least
inline constexpr int kMaxUnfinishedPerUser = 10'000;
inline constexpr std::size_t kMaxApplicationRows = 1'000;       ///< one reply of the list of applications
inline constexpr std::size_t kMaxLogChunkBytes = 1024 * 1024;   ///< one reply of the log route
inline constexpr std::size_t kMaxFileChunkBytes = 1024 * 1024;  ///< of a staged file, in one message
inline constexpr std::size_t kMaxStagedNameBytes = 1'024;       ///< with its folders
inline constexpr std::size_t kMaxStagedNameSegmentBytes = 200;  ///< of each folder, and of the file
inline constexpr std::size_t kMaxStagedInputs = 256;            ///< of one application
inline constexpr std::size_t kMaxResultPatterns = 64;           ///< of one application
inline constexpr std::size_t kMaxResultFiles = 1'000;           ///< of one part; of an application as many of each part
inline constexpr std::size_t kMaxStagingNotes = 64;             ///< about results
inline constexpr long long kMaxStagedMiB = 1024 * 1024;         ///< largest that a limit of `[staging]` can be
inline constexpr int kMaxConnections = 4'096;
inline constexpr std::size_t kMaxEventStreams = 2'048;  ///< open at one time; half of the connections
inline constexpr std::size_t kMaxEventStreamsPerUser = 256;
inline constexpr std::size_t kMaxRateBuckets = 16'384;          ///< callers whose rate is remembered at one time
inline constexpr std::size_t kMaxSignedTextBytes = 128 * 1024;  ///< an entry or request that somebody signed
inline constexpr std::size_t kMaxEnrolmentRights = 10'000;
inline constexpr std::size_t kMaxGroups = 64;  ///< of one user
inline constexpr std::size_t kMaxCertificatesPerUser = 256;
inline constexpr std::size_t kMaxMembers = 100'000;
inline constexpr std::size_t kMaxBlocks = 10'000;
inline constexpr std::size_t kMaxDelegationsPerUser = 10'000;

inline constexpr std::size_t kMaxChainBytes = 64 * 1024;  ///< PEM of a certificate chain
inline constexpr int kMaxChainCertificates = 8;           ///< proxies, end entity and intermediates together
inline constexpr int kMaxProxies = 5;                     ///< in one chain
inline constexpr std::size_t kMaxCategories = 32, kMaxCategoriesBytes = 2048;  ///< of one zone, all together
inline constexpr std::size_t kMaxBundleBytes = 64 * 1024;
inline constexpr int kMaxBundleCertificates = 16;
inline constexpr std::size_t kMaxKeyBytes = 16 * 1024;      ///< PEM of a private key
inline constexpr std::size_t kMaxRequestBytes = 16 * 1024;  ///< PEM of a certificate request
inline constexpr std::size_t kMaxRevocationBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMaxSignatureBytes = 2 * 1024;  ///< base64; RSA 8192 needs 1,366
inline constexpr int kMaxRsaBits = 8'192;                    ///< larger keys cost the reader too much
inline constexpr std::size_t kMaxSubjectMapEntries = 100'000;
inline constexpr std::size_t kMaxGridMapBytes = 16 * 1024 * 1024;  ///< the file behind it
inline constexpr std::size_t kMaxSubjectBytes = 1'024;             ///< one subject name in it

inline constexpr std::size_t kMaxAccountMapBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMaxAccountMapLines = 20'000;  ///< every look-up walks all of them
inline constexpr std::size_t kMaxAccountPools = 1'000;
inline constexpr std::size_t kMaxPoolAccounts = 10'000;  ///< of one pool
inline constexpr std::size_t kMaxMappedAccounts = 100'000;
inline constexpr std::size_t kMaxPeeringHours = 48;
inline constexpr std::size_t kMaxPeeringPartitions = 64;
inline constexpr std::size_t kMaxAccountNameBytes = 256;
inline constexpr int kMaxAccountGroups = 65'536;         ///< of one account; as the kernel
inline constexpr std::size_t kMaxJobFiles = 2'500'000;   ///< looked at in a job's folder: two per rank and some more
inline constexpr unsigned kMaxJobOpenFiles = 65'536;     ///< of one process of a job, unless configured otherwise
inline constexpr std::size_t kMaxPendingPeerings = 100;  ///< organisations that nobody has answered yet
inline constexpr std::size_t kMaxZonesPerPeering = 64;
inline constexpr std::size_t kMaxAskedOrganisations = 256;  ///< [[ask]] in one configuration
inline constexpr std::size_t kMaxAutomaticRules = 256;      ///< [[peering]] in one configuration
inline constexpr std::size_t kMaxRulePatterns = 256;        ///< organisations of one of them
inline constexpr std::size_t kMaxPeeringReasonBytes = 1'024;
inline constexpr std::size_t kMaxFailpointBytes = 4'096;  ///< of ZBS_FAILPOINTS
inline constexpr std::size_t kMaxAuditTextBytes = 512;    ///< of one field; longer ones are cut
inline constexpr std::size_t kMaxAuditRows = 1'000;       ///< one reply of the audit route

inline constexpr std::size_t kMaxSlurmOutputBytes = 64 * 1024 * 1024;  ///< of one command of Slurm
inline constexpr std::size_t kMaxSlurmListBytes = 1024 * 1024;         ///< one list of nodes as "n[1-3]"
inline constexpr std::size_t kMaxSlurmNodes = 100'000;
inline constexpr std::size_t kMaxSlurmPartitions = 1'000;
inline constexpr std::size_t kMaxSlurmJobs = 100'000;  ///< in one answer of squeue
inline constexpr int kMaxNodeProcessors = 65'536;

inline constexpr int kMaxNodes = 10'000;                           ///< agents of one zone
inline constexpr std::size_t kMaxNodeSteps = 4'096;                ///< of one agent, in one message
inline constexpr std::size_t kMaxStepArguments = 4'096;            ///< a launcher's are more than a user's
inline constexpr std::size_t kMaxStepArgumentBytes = 1024 * 1024;  ///< of one step, together
inline constexpr std::size_t kMaxStepEnvironment = 4'096;
inline constexpr std::size_t kMaxStepVariableBytes = 128 * 1024;  ///< as the kernel
inline constexpr std::size_t kMaxStepFiles = 1'024;               ///< laid into one step's folder
inline constexpr std::size_t kMaxStepFileBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kMaxListedFiles = 100'000;  ///< of a step's folder, in one answer
inline constexpr std::size_t kMaxSliceRows = 64;
inline constexpr long long kMinSliceMicroseconds = 50'000;
inline constexpr long long kMaxSliceMicroseconds = 3'600'000'000;
inline constexpr int kMaxNodeWaitSeconds = 30;  ///< that an answer about steps may be held back
inline constexpr std::size_t kMaxNodeWaiters = 256;
inline constexpr std::size_t kMaxProbeBytes = 1024 * 1024;  ///< that one agent brings another to be measured
inline constexpr long long kMaxProbeMicroseconds = 60'000'000;

}  // namespace zbs::limits
