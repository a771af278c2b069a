#include "core/base/sha256.hpp"
#include "report/write/run_folder.hpp"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <utf8proc.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace kvloom::report {

namespace {

/// The first value of a key in /proc/cpuinfo; empty if it is not there.
std::string processor_fact(const std::string& key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const auto colon = line.find(':');
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    if (colon == std::string::npos || begin == std::string::npos) continue;
    return line.substr(begin);
  }
  return {};
}

} // namespace

void add_this_machine(run_manifest& manifest) {
  auto& machine = manifest.machine;
  if (auto model = processor_fact("model name"); !model.empty()) {
    machine["processor"] = std::move(model);
  }
  machine["hardware_threads"]
      = std::to_string(std::thread::hardware_concurrency());
  struct sysinfo memory = {};
  if (sysinfo(&memory) == 0) {
    machine["memory_bytes"] = std::to_string(
        static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit);
  }
  struct utsname system = {};
  if (uname(&system) == 0) {
    machine["kernel"] = fmt::format("{} {}", system.sysname, system.release);
    machine["architecture"] = system.machine;
    machine["host"] = system.nodename;
  }
  double load = 0;
  if (getloadavg(&load, 1) == 1) {
    machine["load_before"] = fmt::format("{:.2f}", load);
  }
  auto& versions = manifest.versions;
  versions["kvloom"] = KVLOOM_VERSION;
  versions["build_type"] = KVLOOM_BUILD_TYPE;
  versions["compiler"] = __VERSION__;
  if (std::ifstream own("/proc/self/exe", std::ios::binary); own) {
    const std::string program{std::istreambuf_iterator<char>(own), {}};
    versions["binary_sha256"] = sha256_hex(program);
  }
  versions["glibc"] = gnu_get_libc_version();
  versions["utf8proc"] = utf8proc_version();
  versions["fmt"] = std::to_string(FMT_VERSION);
}

} // namespace kvloom::report
