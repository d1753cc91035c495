// SPDX-License-Identifier: Apache-2.0
#include "service/program_launchers.h"

namespace dormouse::service {
namespace {

// The program's text is evaluated where no name of the launcher is in scope, and from the package whose frames `caller`
// does not show, so that `main() unless caller` is what it is elsewhere.
constexpr std::string_view kPerlEvaluation = R"pl(package Dormouse::Cell;
no feature;
sub run_program { CORE::evalbytes($Dormouse::Program::source) }
package Dormouse::Program;
our ($kind, $target, @options);
)pl";

// Follows the assignments of these three, and of @ARGV. A program ends, and its modules with it:
// the driver runs the END blocks of all.
constexpr std::string_view kPerlLauncher = R"pl(
our $source = load();
sub load {
  my $text = $target;
  if ($kind eq 'file') {
    my ($file, $reason);
    $reason = -d $target ? 'Is a directory' : open($file, '<:raw', $target) ? undef : "$!";
    if (defined $reason) {
      print STDERR qq{Can't open perl script "$target": $reason\n};
      exit 2;
    }
    local $/;
    $text = <$file> // '';
    $text =~ s/\A\xEF\xBB\xBF//;
  }
  my $before = '';
  my @libraries;
  for my $option (@options) {
    push @libraries, $1 if $option =~ /\A-I(.+)/s;
    $^W = 1 if $option eq '-w';
    $before .= 'use feature ":' . ($^V =~ /\Av(5\.\d+)/)[0] . '"; ' if $option eq '-E';
  }
  $^W = 1 if $text =~ /\A#!.*perl\S*\s+-\w*w/;
  unshift @INC, @libraries, grep { length } split /:/, $ENV{PERL5LIB} // '';
  $0 = $kind eq 'file' ? $target : '-e';
  if ($text =~ /^__(?:DATA|END)__[ \t]*\r?\n(.*)\z/ms) {
    my $data = $1;
    open *main::DATA, '<', \$data or die "DATA: $!";
  }
  my $name = $0 =~ tr/"\n//dr;
  return "${before}package main;\n#line 1 \"$name\"\n$text";
}
$@ = '';
$Dormouse::is_program = 1;
Dormouse::Cell::run_program();
if (ref $@ || length $@) {
  print STDERR $@;
  exit 255;
}
exit 0;
)pl";

}  // namespace

std::string PerlCell(const Program& program) {
  return std::string(kPerlEvaluation) + "$kind = " + SingleQuoted(NameOf(program.kind)) +
         ";\n$target = " + SingleQuoted(program.target) + ";\n@options = (" +
         SingleQuotedList(program.options) + ");\n@ARGV = (" + SingleQuotedList(program.arguments) +
         ");\n" + std::string(kPerlLauncher);
}

}  // namespace dormouse::service
