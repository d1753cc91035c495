// SPDX-License-Identifier: Apache-2.0
#include "cli/line_reader.h"

#include <histedit.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>

namespace dormouse::cli {
namespace {

constexpr int kHistoryCells = 1'000;

class PlainReader : public LineReader {
 public:
  Outcome Read(const std::string&, std::string& line) override {
    line.clear();
    int c = 0;
    while ((c = std::getc(stdin)) != EOF && c != '\n') line.push_back(static_cast<char>(c));
    return c == EOF && line.empty() ? Outcome::kEnd : Outcome::kLine;
  }
  void Remember(const std::string&) override {}
};

// SAFETY: does nothing; it is there so that a signal ends a read instead of the process.
void IgnoreSignal(int) {}

class EditingReader : public LineReader {
 public:
  explicit EditingReader(std::filesystem::path history_file)
      : history_file_(std::move(history_file)),
        edit_(::el_init("dormouse", stdin, stdout, stderr)),
        history_(::history_init()) {
    HistEvent event;
    ::history(history_, &event, H_SETSIZE, kHistoryCells);
    ::history(history_, &event, H_SETUNIQUE, 1);
    ::history(history_, &event, H_LOAD, history_file_.c_str());
    ::el_set(edit_, EL_CLIENTDATA, this);
    ::el_set(edit_, EL_PROMPT, &EditingReader::Prompt);
    ::el_set(edit_, EL_EDITOR, "emacs");
    ::el_set(edit_, EL_HIST, ::history, history_);
    ::el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    ::el_source(edit_, nullptr);
  }
  ~EditingReader() override {
    ::history_end(history_);
    ::el_end(edit_);
  }

  Outcome Read(const std::string& prompt, std::string& line) override {
    prompt_ = prompt;
    struct sigaction quiet{};
    quiet.sa_handler = IgnoreSignal;  // without SA_RESTART: Ctrl-C ends the read
    struct sigaction previous;
    ::sigaction(SIGINT, &quiet, &previous);
    int length = 0;
    errno = 0;
    const char* const text = ::el_gets(edit_, &length);
    const bool interrupted = length < 0 && errno == EINTR;
    ::sigaction(SIGINT, &previous, nullptr);
    if (text == nullptr || length <= 0) {
      std::fputs(interrupted ? "^C\n" : "\n", stdout);
      std::fflush(stdout);
      return interrupted ? Outcome::kInterrupted : Outcome::kEnd;
    }
    line.assign(text, static_cast<std::size_t>(length));
    if (line.ends_with('\n')) line.pop_back();
    return Outcome::kLine;
  }

  void Remember(const std::string& cell) override {
    HistEvent event;
    ::history(history_, &event, H_ENTER, cell.c_str());
    // Cells may hold secrets.
    const mode_t previous = ::umask(0077);
    ::history(history_, &event, H_SAVE, history_file_.c_str());
    ::umask(previous);
  }

 private:
  static char* Prompt(EditLine* edit) {
    EditingReader* self = nullptr;
    ::el_get(edit, EL_CLIENTDATA, &self);
    return self->prompt_.data();
  }

  const std::filesystem::path history_file_;
  EditLine* const edit_;
  History* const history_;
  std::string prompt_;
};

}  // namespace

std::unique_ptr<LineReader> MakeLineReader(const std::filesystem::path& history_file) {
  if (::isatty(STDIN_FILENO) != 1) return std::make_unique<PlainReader>();
  // The line editor takes the encoding from the locale.
  std::setlocale(LC_CTYPE, "");
  return std::make_unique<EditingReader>(history_file);
}

}  // namespace dormouse::cli
