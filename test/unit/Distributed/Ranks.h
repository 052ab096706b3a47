// What parts of weft-test-ranks share.
#pragma once

#include <functional>
#include <string>

#include <weft/weft.h>

namespace weft::distributed::tests {

/// Prints a line that begins with this rank, in one write, so that lines of ranks do not mix.
void say(const std::string &text);
/// Says what is wrong, unless it holds.
void want(bool holds, const std::string &what);
/// Says the error of a call, its kind as a number, or that there was none.
void said(const std::function<void()> &call);
/// Values that are rounded when they are added, of a replica or rank.
Tensor values(std::int64_t number, const Shape &shape, DType dtype);
/// Whether dtypes, shapes and bits are the same.
bool equal(const Tensor &a, const Tensor &b);

/// A text of the bits of variables and of a history.
std::string digest_of_run(const std::vector<Variable> &variables, const train::History &history);

/// Traced collectives beside eager ones.
void traced();
/// Derivatives beside differences of the sum over the ranks.
void derivatives();
/// Grids of ranks: "" is who is in which group, and "refused" what is no grid.
void mesh(const std::string &how);
/// Random programs that are cut over meshes, beside the uncut ones.
void shards();
/// Programs that differ between ranks.
void programs();
/// Programs that differ between ranks in constants that decide how often they reduce.
void constants();
/// Two threads of rank 0 in traced functions with collectives of one group.
void threads();
/// Runs of train::fit: "" trains and says digests, "pause,FOLDER" and "resume,FOLDER" do it in two
/// parts, "whole,2" is the same in one, of two replicas, "meetings" counts exchanges, and "refused"
/// is what ranks may not do.
void training(const std::string &how);
/// Runs whose exchanges begin in the backward pass: "bits", "raises", "dies".
void overlap(const std::string &how);
/// Runs whose layers synchronize: "" beside the whole batch, and with errors; "bits" says digests.
void synchronized(const std::string &how);
/// Optimizers' state in parts: "bits", "memory", "hand", "refused".
void sharding(const std::string &how);

} // namespace weft::distributed::tests
