// SPDX-License-Identifier: Apache-2.0
#include "service/program_launchers.h"

namespace dormouse::service {
namespace {

// `launch` is (kind, target, options, arguments). Frames of this code are not shown.
constexpr std::string_view kRubyLauncher = R"rb(
launch = lambda do |kind, target, options, arguments|
  ARGV.replace(arguments)
  options.each do |option|
    $VERBOSE = true if option == "-w"
    $LOAD_PATH.unshift(File.expand_path(option.delete_prefix("-I"))) if option.start_with?("-I")
  end
  ENV.fetch("RUBYLIB", "").split(":").reverse_each { |path| $LOAD_PATH.unshift(File.expand_path(path)) unless path.empty? }
  path = File.expand_path(target)
  if kind == "file" && !File.file?(path)
    warn "ruby: No such file or directory -- #{target} (LoadError)"
    exit 1
  end
  begin
    options.each { |option| require option.delete_prefix("-r") if option.start_with?("-r") }
    if kind == "code"
      $PROGRAM_NAME = "-e"
      eval(target, TOPLEVEL_BINDING, "-e", 1)
    else
      $PROGRAM_NAME = path
      text = File.binread(path)
      if (at = text =~ /^__END__\r?\n/)
        data = File.open(path)
        data.seek(at + $~[0].bytesize)
        Object.__send__(:remove_const, :DATA) if Object.const_defined?(:DATA, false)
        Object.const_set(:DATA, data)
      end
      load path
    end
  rescue StandardError, ScriptError, SystemStackError => error
    own = Regexp.union(/\Acell-\d+:/, %r{\A/usr/lib/dormouse}, /\A<internal:/)
    error.set_backtrace((error.backtrace || []).grep_v(own))
    $stderr.write(error.full_message(highlight: false, order: :top))
    exit 1
  end
  exit 0
end
)rb";

}  // namespace

std::string RubyCell(const Program& program) {
  return std::string(kRubyLauncher) + "launch.(" + SingleQuoted(NameOf(program.kind)) + ", " +
         SingleQuoted(program.target) + ", [" + SingleQuotedList(program.options) + "], [" +
         SingleQuotedList(program.arguments) + "])";
}

}  // namespace dormouse::service
