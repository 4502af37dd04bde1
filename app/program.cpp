#include "program.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "trace/message.h"
#include "weir/errors.h"

namespace weir::app {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool runs(const fs::path& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

fs::path checked_path(const std::string& name) {
  std::error_code ignored;
  if (runs(name)) return name;
  if (fs::is_directory(name, ignored))
    throw BadInput(fmt::format("{} is a folder; give a program to run", trace::quoted(name)));
  if (!fs::exists(name, ignored))
    throw BadInput(fmt::format("{} does not exist; give a program to run", trace::quoted(name)));
  throw BadInput(fmt::format("{} is not executable; for a Python script give: python {}",
                             trace::quoted(name), trace::printable(name)));
}

fs::path found_in_path(const std::string& name) {
  const char* const folders = std::getenv("PATH");
  std::istringstream list{folders == nullptr ? "/bin:/usr/bin" : folders};
  for (std::string folder; std::getline(list, folder, ':');) {
    fs::path path = fs::path(folder.empty() ? "." : folder) / name;
    if (runs(path)) return path;
  }
  if (is_file(name)) return checked_path("./" + name);
  throw BadInput(fmt::format("{} is not in PATH; give a program to run", trace::quoted(name)));
}

// "python", "python3", "python3.11".
bool is_python(const fs::path& path) {
  const std::string name = path.filename();
  constexpr std::string_view kPython = "python";
  return name.starts_with(kPython) &&
         name.find_first_not_of("0123456789.", kPython.size()) == std::string::npos;
}

Words split(const std::string& line) {
  std::istringstream stream{line};
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// The first word, which may be quoted, of `rest`.
std::string first_word(std::string_view rest) {
  if (rest.starts_with('"')) return std::string{rest.substr(1, rest.find('"', 1) - 1)};
  return std::string{rest.substr(0, rest.find(' '))};
}

// pip starts a script so when the interpreter's path is too long for the first line.
constexpr std::string_view kExecutedByShell = "'''exec' ";

// The words of the script's first line, without env and its options; empty if it is no script.
Words interpreter_of(const fs::path& script) {
  constexpr std::size_t kMost = 4096;
  std::array<char, kMost> start{};
  std::ifstream file{script, std::ios::binary};
  file.read(start.data(), start.size());
  std::istringstream text{std::string(start.data(), static_cast<std::size_t>(file.gcount()))};
  std::string first, second;
  std::getline(text, first);
  std::getline(text, second);
  if (!first.starts_with("#!")) return {};
  if (second.starts_with(kExecutedByShell))
    return {first_word(std::string_view{second}.substr(kExecutedByShell.size()))};
  Words words = split(first.substr(2));
  if (words.empty() || fs::path(words.front()).filename() != "env") return words;
  const auto program = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return word.front() != '-' && word.find('=') == std::string::npos;
  });
  words.erase(words.begin(), program);
  return words;
}

// Takes what is for the interpreter itself from the front of `words`: -u, -X dev, -Wignore. The
// letters of one word may be several options, and -c and -m end them: -um MODULE.
class OptionReader {
 public:
  explicit OptionReader(Words words) : words_{std::move(words)} {}

  PythonCall read(fs::path interpreter) {
    while (!done_ && at_ < words_.size()) take(words_[at_]);
    program_.insert(program_.end(), words_.begin() + static_cast<std::ptrdiff_t>(at_),
                    words_.end());
    return {std::move(interpreter), std::move(options_), std::move(program_)};
  }

 private:
  void take(const std::string& word) {
    if (word == "-" || !word.starts_with('-')) {
      done_ = true;
      return;
    }
    ++at_;
    if (word.starts_with("--")) return take_long(word);
    for (std::size_t i = 1; i < word.size(); ++i)
      if (take_letter(word, i)) return;
    options_.push_back(word);
  }

  void take_long(const std::string& word) {
    if (word == "--") {
      done_ = true;
      return;
    }
    options_.push_back(word);
    if (word == "--check-hash-based-pycs" && at_ < words_.size()) options_.push_back(words_[at_++]);
  }

  // Whether the letter took all that follows it.
  bool take_letter(const std::string& word, std::size_t i) {
    if (word[i] == 'c' || word[i] == 'm') {
      if (i > 1) options_.push_back(word.substr(0, i));
      program_.push_back({'-', word[i]});
      if (i + 1 < word.size()) program_.push_back(word.substr(i + 1));
      return done_ = true;
    }
    if (word[i] != 'W' && word[i] != 'X') return false;
    options_.push_back(word);
    if (i + 1 == word.size() && at_ < words_.size()) options_.push_back(words_[at_++]);
    return true;
  }

  const Words words_;
  std::size_t at_ = 0;
  bool done_ = false;
  Words options_, program_;
};

}  // namespace

fs::path find_executable(const std::string& name) {
  if (name.empty()) throw BadInput("the program's name is empty; give a program to run");
  return name.find('/') == std::string::npos ? found_in_path(name) : checked_path(name);
}

std::optional<PythonCall> python_call(const fs::path& executable, const Words& words) {
  if (is_python(executable)) return OptionReader{{words.begin() + 1, words.end()}}.read(executable);
  Words line = interpreter_of(executable);
  if (line.empty()) return std::nullopt;
  const fs::path interpreter = find_executable(line.front());
  if (!is_python(interpreter))
    throw BadInput(fmt::format("{} is a script for {}; give the program that it starts",
                               trace::quoted(words.front()), trace::printable(line.front())));
  line.erase(line.begin());
  line.push_back(executable);
  line.insert(line.end(), words.begin() + 1, words.end());
  return OptionReader{std::move(line)}.read(interpreter);
}

}  // namespace weir::app
