// SPDX-License-Identifier: Apache-2.0
#include "service/command_line.h"

#include <algorithm>
#include <optional>

#include "common/utf8.h"

namespace dormouse::service {
namespace {

constexpr std::string_view kPossible =
    "possible are `cd DIR`, and with NAME=value before them `python FILE|-c CODE|-m MODULE`, "
    "`node FILE|-e CODE`, `tsx FILE`, `ts-node FILE`, `perl FILE|-e CODE`, `ruby FILE|-e CODE`, "
    "`lua FILE|-e CODE`, each with arguments and joined by &&";

Error Unsupported(const std::string& what) {
  return Error(ErrorCode::kUnsupportedRuntimeOption,
               "command: " + what + " (there is no shell here; " + std::string(kPossible) + ")",
               {{"field", "command"}});
}

Error Malformed(const std::string& what) {
  return Error(ErrorCode::kInvalidRequest, "command " + what, {{"field", "command"}});
}

bool IsNameStart(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
bool IsNameCharacter(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }

struct Word {
  std::string text;
  // Where an unquoted `=` after an unquoted name stands; npos: nowhere.
  std::size_t equals = std::string::npos;
};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view line) : line_(line) {}

  void SkipBlanks() {
    while (position_ < line_.size()) {
      if (line_[position_] == ' ' || line_[position_] == '\t') {
        ++position_;
      } else if (IsContinuation()) {
        position_ += 2;
      } else {
        return;
      }
    }
  }
  void SkipBlanksAndLines() {
    for (SkipBlanks(); position_ < line_.size() && IsLineEnd(line_[position_]); SkipBlanks()) {
      ++position_;
    }
  }
  bool OnlyLinesFollow() const {
    return line_.find_first_not_of(" \t\r\n", position_) == std::string_view::npos;
  }
  bool AtEnd() const { return position_ == line_.size(); }
  // Takes `&&`.
  bool TakeAnd() {
    if (line_.substr(position_, 2) != "&&") return false;
    position_ += 2;
    return true;
  }
  // The next word. Requires: not at the end, blanks skipped.
  Result<Word> Next() {
    Word word;
    word_start_ = true;
    bare_ = true;
    bool any = false;
    while (position_ < line_.size()) {
      const char c = line_[position_];
      if (c == ' ' || c == '\t' || IsLineEnd(c) || c == '&') break;
      if (IsContinuation()) {
        position_ += 2;
        continue;
      }
      any = true;
      DORMOUSE_TRY(TakePiece(c, word));
      word_start_ = false;
    }
    if (!any) return Refuse();
    return word;
  }
  // Why what stands here cannot be.
  Error Refuse() const {
    const std::string_view rest = line_.substr(position_);
    if (IsLineEnd(rest[0])) return Unsupported("holds several lines; join commands with &&");
    if (rest.starts_with('&')) return Unsupported("commands cannot run in the background with &");
    return Unsupported("`" + std::string(rest.substr(0, 1)) + "` is not possible");
  }

 private:
  static bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }
  bool IsContinuation() const {
    return line_[position_] == '\\' && position_ + 1 < line_.size() && line_[position_ + 1] == '\n';
  }

  Result<void> TakePiece(char c, Word& word) {
    switch (c) {
      case '\'':
        return TakeSingleQuoted(word);
      case '"':
        return TakeDoubleQuoted(word);
      case '\\':
        if (position_ + 1 == line_.size()) return Malformed("ends in a backslash");
        word.text.push_back(line_[position_ + 1]);
        position_ += 2;
        bare_ = false;
        return {};
      default:
        return TakeBare(c, word);
    }
  }
  Result<void> TakeSingleQuoted(Word& word) {
    const std::size_t end = line_.find('\'', position_ + 1);
    if (end == std::string_view::npos) return Malformed("has a ' without its partner");
    word.text.append(line_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    bare_ = false;
    return {};
  }
  Result<void> TakeDoubleQuoted(Word& word) {
    bare_ = false;
    for (++position_; position_ < line_.size(); ++position_) {
      const char c = line_[position_];
      if (c == '"') {
        ++position_;
        return {};
      }
      DORMOUSE_TRY(CheckNoExpansion());
      if (c == '\\' && position_ + 1 < line_.size()) {
        constexpr std::string_view kEscaped = "$`\"\\\n";
        const char next = line_[position_ + 1];
        if (kEscaped.find(next) != std::string_view::npos) {
          if (next != '\n') word.text.push_back(next);
          ++position_;
          continue;
        }
      }
      word.text.push_back(c);
    }
    return Malformed("has a \" without its partner");
  }
  Result<void> TakeBare(char c, Word& word) {
    DORMOUSE_TRY(CheckNoExpansion());
    constexpr std::string_view kOperators = ";|<>()";
    constexpr std::string_view kPatterns = "*?[";
    if (kOperators.find(c) != std::string_view::npos) {
      return Unsupported(std::string("`") + c + "` is not possible outside quotes");
    }
    if (kPatterns.find(c) != std::string_view::npos) {
      return Unsupported(std::string("`") + c + "` is a file pattern, and those are not expanded: quote it");
    }
    if (word_start_ && c == '#') return Unsupported("comments are not possible");
    if (word_start_ && c == '~') return Unsupported("`~` is not expanded: quote it");
    if (bare_ && c == '=' && word.equals == std::string::npos && IsName(word.text)) {
      word.equals = word.text.size();
    }
    word.text.push_back(c);
    ++position_;
    return {};
  }
  // At a `$` that a shell would replace, or a backquote.
  Result<void> CheckNoExpansion() const {
    const char c = line_[position_];
    if (c == '`') return Unsupported("commands in backquotes are not possible");
    if (c != '$' || position_ + 1 == line_.size()) return {};
    const char next = line_[position_ + 1];
    constexpr std::string_view kSpecial = "{(@*#?$!-'";
    if (!IsNameCharacter(next) && kSpecial.find(next) == std::string_view::npos) return {};
    return Unsupported("`$` is not expanded: put it into single quotes");
  }
  static bool IsName(std::string_view text) {
    return !text.empty() && IsNameStart(text[0]) && std::all_of(text.begin(), text.end(), IsNameCharacter);
  }

  const std::string_view line_;
  std::size_t position_ = 0;
  bool word_start_ = true;
  bool bare_ = true;  // nothing of the word was quoted yet
};

// Takes one command; adds its words to `words`.
Result<SimpleCommand> TakeCommand(Tokenizer& tokens, std::size_t& words) {
  SimpleCommand command;
  for (tokens.SkipBlanks(); !tokens.AtEnd(); tokens.SkipBlanks()) {
    if (tokens.TakeAnd()) {
      tokens.SkipBlanksAndLines();
      if (tokens.AtEnd()) return Malformed("ends in &&");
      break;
    }
    if (tokens.OnlyLinesFollow()) break;
    if (++words > kMaxCommandWords) {
      return Malformed("has more than " + std::to_string(kMaxCommandWords) + " words");
    }
    DORMOUSE_ASSIGN(Word word, tokens.Next());
    if (command.words.empty() && word.equals != std::string::npos) {
      command.assignments.emplace_back(word.text.substr(0, word.equals),
                                       word.text.substr(word.equals + 1));
    } else {
      command.words.push_back(std::move(word.text));
    }
  }
  if (command.words.empty() && command.assignments.empty()) return Malformed("has no command beside &&");
  if (command.words.empty()) return Unsupported("variables can only be set for a program");
  return command;
}

// ── programs

std::string Joined(std::string_view directory, std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  return std::string(directory) + "/" + std::string(path);
}

// `path` without ".", ".." and double slashes; nothing when it leaves /workspace.
std::optional<std::string> Normalized(std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view name = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      if (!names.empty()) names.pop_back();
      continue;
    }
    names.push_back(name);
  }
  if (names.empty() || names[0] != "workspace") return std::nullopt;
  std::string result;
  for (const std::string_view name : names) result.append("/").append(name);
  return result;
}

struct Interpreter {
  std::string_view name;
  Program::Language language;
};
constexpr Interpreter kInterpreters[] = {
    {"python", Program::Language::kPython},      {"python3", Program::Language::kPython},
    {"node", Program::Language::kJavaScript},    {"nodejs", Program::Language::kJavaScript},
    {"tsx", Program::Language::kTypeScript},     {"ts-node", Program::Language::kTypeScript},
    {"perl", Program::Language::kPerl},          {"ruby", Program::Language::kRuby},
    {"lua", Program::Language::kLua},            {"lua5.4", Program::Language::kLua},
};

// The options of an interpreter that are known here.
struct Syntax {
  std::vector<std::string_view> idle;    // they change nothing here
  std::vector<std::string_view> kept;    // the program is told of them
  std::vector<std::string_view> joined;  // these as well, with a value: in the same word or the next
  std::vector<std::string_view> code;    // the next word is the code
  std::string_view module;               // the next word is a module's name; empty: there is no such option
  std::string_view end;                  // the next word is a file
};

const Syntax& SyntaxOf(Program::Language language) {
  static const Syntax kPython{{"-u", "-B", "-q", "-s"}, {}, {}, {"-c"}, "-m", ""};
  static const Syntax kNode{{"--no-warnings", "--enable-source-maps", "--experimental-strip-types"},
                            {}, {}, {"-e", "--eval"}, "", "--"};
  static const Syntax kPerl{{}, {"-w"}, {"-I"}, {"-e", "-E"}, "", "--"};
  static const Syntax kLua{{}, {}, {}, {"-e"}, "", "--"};
  static const Syntax kRuby{{}, {"-w"}, {"-I", "-r"}, {"-e"}, "", "--"};
  switch (language) {
    case Program::Language::kPython:
      return kPython;
    case Program::Language::kPerl:
      return kPerl;
    case Program::Language::kRuby:
      return kRuby;
    case Program::Language::kLua:
      return kLua;
    default:
      return kNode;
  }
}

bool Has(const std::vector<std::string_view>& options, std::string_view word) {
  return std::find(options.begin(), options.end(), word) != options.end();
}

const Interpreter* FindInterpreter(std::string_view word) {
  for (const std::string_view prefix : {"/usr/bin/", "/usr/local/bin/", "/bin/"}) {
    if (word.starts_with(prefix)) word.remove_prefix(prefix.size());
  }
  for (const Interpreter& interpreter : kInterpreters) {
    if (interpreter.name == word) return &interpreter;
  }
  return nullptr;
}

bool IsTypeScriptFile(std::string_view path) {
  return path.ends_with(".ts") || path.ends_with(".mts") || path.ends_with(".cts");
}

// Takes the options in front of code, module or file; `at` is the first word after them.
Result<void> TakeOptions(const SimpleCommand& command, const Syntax& syntax, Program& program, std::size_t& at) {
  const auto& words = command.words;
  for (at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (Has(syntax.idle, word)) continue;
    if (Has(syntax.kept, word)) {
      program.options.push_back(word);
      continue;
    }
    const auto joined = std::find_if(syntax.joined.begin(), syntax.joined.end(),
                                     [&word](std::string_view option) { return word.starts_with(option); });
    if (joined == syntax.joined.end()) return {};
    program.options.push_back(word);
    if (word != *joined) continue;
    if (++at == words.size()) return Unsupported("`" + words[0] + " " + word + "` needs a value");
    program.options.back() += words[at];
  }
  return {};
}

Result<Program> ProgramOf(SimpleCommand command, const std::string& directory) {
  const std::string name = command.words[0];
  const Interpreter* const interpreter = FindInterpreter(name);
  if (interpreter == nullptr) return Unsupported("there is no program `" + name.substr(0, 100) + "`");
  const Syntax& syntax = SyntaxOf(interpreter->language);
  Program program;
  program.language = interpreter->language;
  program.env = std::move(command.assignments);
  program.directory = directory;
  std::size_t at = 1;
  DORMOUSE_TRY(TakeOptions(command, syntax, program, at));
  if (at == command.words.size()) return Unsupported("`" + name + "` needs a file or code to run");
  const std::string word = command.words[at];
  const bool is_code = Has(syntax.code, word);
  if (is_code || (!syntax.module.empty() && word == syntax.module)) {
    program.kind = is_code ? Program::Kind::kCode : Program::Kind::kModule;
    if (word == "-E") program.options.push_back(word);
    if (++at == command.words.size()) return Unsupported("`" + name + " " + word + "` needs a value");
  } else if (!syntax.end.empty() && word == syntax.end && at + 1 < command.words.size()) {
    ++at;
  } else if (word.starts_with('-')) {
    return Unsupported("`" + name + "` does not take `" + word.substr(0, 100) + "` here");
  }
  program.target = std::move(command.words[at]);
  if (program.kind != Program::Kind::kCode && program.target.empty()) {
    return Unsupported("`" + name + "` needs a file or code to run");
  }
  if (program.kind == Program::Kind::kFile && IsTypeScriptFile(program.target) &&
      program.language == Program::Language::kJavaScript) {
    program.language = Program::Language::kTypeScript;
  }
  const auto first = command.words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
  program.arguments.assign(std::make_move_iterator(first), std::make_move_iterator(command.words.end()));
  return program;
}

Result<CommandStep> ChangeOf(const SimpleCommand& command, const std::string& directory) {
  if (command.words.size() > 2 || (command.words.size() == 2 && command.words[1].starts_with('-'))) {
    return Unsupported("`cd` takes one directory");
  }
  CommandStep step;
  step.is_change = true;
  step.written = command.words.size() == 2 ? command.words[1] : "/workspace";
  const auto target = Normalized(Joined(directory, step.written));
  if (!target) {
    return Error(ErrorCode::kPathOutsideWorkspace, "command: `cd` leaves /workspace", {{"field", "command"}});
  }
  step.directory = *target;
  return step;
}

}  // namespace

Result<std::vector<SimpleCommand>> ParseCommandLine(std::string_view line) {
  if (line.size() > kMaxCommandBytes) {
    return Error(ErrorCode::kInvalidRequest,
                 "command has " + std::to_string(line.size()) + " bytes, limit " +
                     std::to_string(kMaxCommandBytes),
                 {{"field", "command"}, {"limit", std::to_string(kMaxCommandBytes)}});
  }
  if (!IsValidUtf8(line) || line.find('\0') != std::string_view::npos) {
    return Malformed("is not UTF-8 text without NUL");
  }
  Tokenizer tokens(line);
  tokens.SkipBlanksAndLines();
  if (tokens.AtEnd()) return Malformed("is empty");
  std::vector<SimpleCommand> commands;
  std::size_t words = 0;
  while (!tokens.AtEnd()) {
    if (commands.size() == kMaxCommands) {
      return Malformed("joins more than " + std::to_string(kMaxCommands) + " commands");
    }
    DORMOUSE_ASSIGN(SimpleCommand command, TakeCommand(tokens, words));
    commands.push_back(std::move(command));
    tokens.SkipBlanksAndLines();
  }
  return commands;
}

Result<std::vector<CommandStep>> ParsePrograms(std::string_view line) {
  DORMOUSE_ASSIGN(std::vector<SimpleCommand> commands, ParseCommandLine(line));
  std::vector<CommandStep> steps;
  std::string directory = "/workspace";
  for (SimpleCommand& command : commands) {
    if (command.words[0] == "cd") {
      DORMOUSE_ASSIGN(CommandStep step, ChangeOf(command, directory));
      directory = step.directory;
      steps.push_back(std::move(step));
      continue;
    }
    CommandStep step;
    DORMOUSE_ASSIGN(step.program, ProgramOf(std::move(command), directory));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace dormouse::service
