// A file of plans: what it is, the version, the plans, a checksum of all before.
#include "weir/plans.h"

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "pilot/archive.h"
#include "pilot/plan_cache.h"
#include "trace/message.h"
#include "trace/sink.h"
#include "weir/errors.h"

namespace weir {
namespace {

constexpr std::string_view kMagic = "WEIRPLAN";
constexpr std::uint32_t kVersion = 2;  // one more when what is saved changes
constexpr std::size_t kHead = kMagic.size() + sizeof(kVersion), kTail = sizeof(std::uint64_t);
constexpr std::uintmax_t kMostBytesOfFile = std::uintmax_t{1} << 28;

// FNV-1a: no change of a single byte leaves it as it was.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t sum = 0xCBF29CE484222325u;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001B3u;
  return sum;
}

template <typename T>
T number_at(std::string_view bytes, std::size_t place) {
  T number{};
  pilot::ArchiveReader reader{bytes.substr(place)};
  reader(number);
  return number;
}

std::string content_of(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) throw BadInput("is not a file");
  if (std::filesystem::file_size(file, error) > kMostBytesOfFile)
    throw BadInput("is too large for a file of plans");
  std::ifstream in{file, std::ios::binary};
  std::string content{std::istreambuf_iterator<char>{in}, {}};
  if (!in) throw BadInput("cannot be read");
  return content;
}

void read(std::string_view content, pilot::PlanCache& cache) {
  if (content.size() < kHead + kTail || !content.starts_with(kMagic))
    throw BadInput("is not a file of plans");
  const auto version = number_at<std::uint32_t>(content, kMagic.size());
  if (version != kVersion)
    throw BadInput(fmt::format("has plans of version {}, and not {}", version, kVersion));
  const std::size_t end = content.size() - kTail;
  if (number_at<std::uint64_t>(content, end) != checksum(content.substr(0, end)))
    throw BadInput("is damaged: its checksum is wrong");
  pilot::ArchiveReader reader{content.substr(kHead, end - kHead)};
  try {
    reader(cache);
  } catch (const BadInput& error) {
    throw BadInput(fmt::format("is damaged: {}", error.what()));
  }
  if (reader.left() != 0) throw BadInput("is damaged: there is something after its end");
}

}  // namespace

Plans::Plans() : cache_{std::make_unique<pilot::PlanCache>()} {}
Plans::Plans(Plans&&) noexcept = default;
Plans& Plans::operator=(Plans&&) noexcept = default;
Plans::~Plans() = default;

std::size_t Plans::size() const { return cache_->size(); }

Plans Plans::load(const std::filesystem::path& file) {
  Plans plans;
  std::error_code error;
  if (std::filesystem::status(file, error).type() == std::filesystem::file_type::not_found)
    return plans;
  try {
    read(content_of(file), *plans.cache_);
  } catch (const BadInput& problem) {
    throw BadInput(trace::located(
        file.native(), fmt::format("{}; remove it or give another name", problem.what())));
  }
  return plans;
}

void Plans::save(const std::filesystem::path& file) const {
  pilot::ArchiveWriter writer;
  writer(*cache_);
  pilot::ArchiveWriter version, sum;
  version(kVersion);
  const std::string bytes = std::string{kMagic} + version.bytes() + writer.bytes();
  sum(checksum(bytes));
  trace::FileSink sink{file};
  sink.write(bytes);
  sink.write(sum.bytes());
  sink.finish();
}

}  // namespace weir
