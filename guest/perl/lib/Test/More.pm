# SPDX-License-Identifier: Apache-2.0
# The functions of Test::More that tests call, in one file. Output is TAP. A plan that was not kept to and failed tests
# are told of by done_testing, or when the last planned test has run: there is no process whose end would tell.
package Test::More;
use strict;
use warnings;
use Exporter ();
use Scalar::Util qw(blessed reftype);

our @ISA = ('Exporter');
our $VERSION = '1.302';
our @EXPORT = qw(ok is isnt like unlike is_deeply cmp_ok skip todo_skip pass fail eq_array eq_hash eq_set $TODO plan
  done_testing can_ok isa_ok new_ok diag note explain subtest BAIL_OUT use_ok require_ok);
our $TODO;

my @outer;  # what an enclosing subtest has
my %state = fresh();

sub fresh { return (planned => undef, count => 0, failed => 0, told => 0) }
sub margin { return '    ' x @outer }

sub say_line {
  my ($handle, $mark, @text) = @_;
  for my $line (split /\n/, join '', map { $_ // 'undef' } @text) { print {$handle} margin(), $mark, $line, "\n" }
  return;
}
sub diag { say_line(\*STDERR, '# ', @_); return }
sub note { say_line(\*STDOUT, '# ', @_); return }

# A plan may be given where the module is loaded.
sub import {
  my ($class, @plan) = @_;
  plan(@plan) if @plan;
  return $class->export_to_level(1, $class);
}

sub plan {
  my ($kind, $value) = @_;
  if ($kind eq 'tests') {
    $state{planned} = $value;
    say_line(\*STDOUT, '', "1..$value");
  } elsif ($kind eq 'skip_all') {
    say_line(\*STDOUT, '', '1..0 # SKIP ' . ($value // ''));
    @outer ? die {skip_all => 1} : exit 0;
  }
  return 1;
}

sub done_testing {
  my ($count) = @_;
  $count //= $state{count};
  say_line(\*STDOUT, '', "1..$count") if !defined $state{planned};
  $state{planned} = $count;
  tell_end();
  return 1;
}

sub tell_end {
  return if $state{told}++;
  diag("No tests run!") if $state{count} == 0;
  diag("Looks like you planned $state{planned} test(s) but ran $state{count}.") if $state{planned} != $state{count};
  diag("Looks like you failed $state{failed} test(s) of $state{count}.") if $state{failed};
  return;
}

sub where {
  my $level = 1;
  $level++ while (caller($level))[0] && (caller($level))[0] eq __PACKAGE__;
  my (undef, $file, $line) = caller $level;
  return ($file // '-', $line // 0);
}

sub ok ($;$) {
  my ($good, $name) = @_;
  my $todo = do { no strict 'refs'; ${(caller(0))[0] . '::TODO'} // $TODO };
  $state{count}++;
  my $line = ($good ? 'ok ' : 'not ok ') . $state{count};
  $line .= ' - ' . ($name =~ s/#/\\#/gr) if defined $name && length $name;
  $line .= " # TODO $todo" if defined $todo;
  say_line(\*STDOUT, '', $line);
  if (!$good) {
    $state{failed}++ if !defined $todo;
    my ($file, $number) = where();
    my $label = defined $name && length $name ? "Failed test '$name'\nat" : 'Failed test at';
    diag("  $label $file line $number.");
  }
  tell_end() if defined $state{planned} && $state{count} == $state{planned};
  return !!$good;
}

sub pass (;$) { return ok(1, $_[0]) }
sub fail (;$) { return ok(0, $_[0]) }

sub shown { return defined $_[0] ? "'$_[0]'" : 'undef' }
sub same { return defined $_[0] && defined $_[1] ? "$_[0]" eq "$_[1]" : !defined $_[0] && !defined $_[1] }

sub is ($$;$) {
  my ($got, $wanted, $name) = @_;
  return ok(1, $name) if same($got, $wanted);
  ok(0, $name);
  diag('         got: ' . shown($got) . "\n    expected: " . shown($wanted));
  return !!0;
}

sub isnt ($$;$) {
  my ($got, $other, $name) = @_;
  return ok(1, $name) if !same($got, $other);
  ok(0, $name);
  diag('         got: ' . shown($got) . "\n    expected: anything else");
  return !!0;
}

sub like ($$;$) {
  my ($got, $pattern, $name) = @_;
  return ok(1, $name) if defined $got && $got =~ $pattern;
  ok(0, $name);
  diag('                  ' . shown($got) . "\n    doesn't match '$pattern'");
  return !!0;
}

sub unlike ($$;$) {
  my ($got, $pattern, $name) = @_;
  return ok(1, $name) if !defined $got || $got !~ $pattern;
  ok(0, $name);
  diag('                  ' . shown($got) . "\n          matches '$pattern'");
  return !!0;
}

sub cmp_ok ($$$;$) {
  my ($got, $operator, $wanted, $name) = @_;
  die "cmp_ok: no operator '$operator'\n" if $operator !~ /\A(?:[<>=!]=|[<>]|<=>|eq|ne|lt|gt|le|ge|cmp|=~|!~|&&|\|\||and|or|xor|[-+*\/&|^~])\z/;
  my $good = eval "\$got $operator \$wanted";
  my $error = $@;
  return ok(1, $name) if $good && !$error;
  ok(0, $name);
  diag($error ? $error : "    " . shown($got) . "\n        $operator\n    " . shown($wanted));
  return !!0;
}

# Where two structures differ: a path and the two values, or nothing.
sub difference {
  my ($got, $wanted, $path) = @_;
  return if same($got, $wanted) && (!ref $got || ref $got eq ref $wanted);
  my ($kind, $other) = map { ref $_ ? reftype $_ : '' } $got, $wanted;
  return ($path, $got, $wanted) if $kind ne $other || $kind eq '';
  if ($kind eq 'ARRAY') {
    for my $i (0 .. ($#$got > $#$wanted ? $#$got : $#$wanted)) {
      return ("${path}[$i]", $got->[$i], $wanted->[$i]) if ($i > $#$got) != ($i > $#$wanted);
      my @found = difference($got->[$i], $wanted->[$i], "${path}[$i]");
      return @found if @found;
    }
    return;
  }
  if ($kind eq 'HASH') {
    for my $key (sort keys %{{%$got, %$wanted}}) {
      return ("${path}{$key}", $got->{$key}, $wanted->{$key}) if (exists $got->{$key}) != (exists $wanted->{$key});
      my @found = difference($got->{$key}, $wanted->{$key}, "${path}{$key}");
      return @found if @found;
    }
    return;
  }
  return difference($$got, $$wanted, "\${$path}") if $kind eq 'SCALAR' || $kind eq 'REF';
  return ($path, $got, $wanted);
}

sub is_deeply {
  my ($got, $wanted, $name) = @_;
  my @found = difference($got, $wanted, '');
  return ok(1, $name) if !@found;
  ok(0, $name);
  my ($path, @values) = @found;
  diag("    Structures begin differing at:\n         \$got$path = " . shown($values[0]) . "\n    \$expected$path = " . shown($values[1]));
  return !!0;
}

sub eq_array { my @found = difference($_[0], $_[1], ''); return !@found }
sub eq_hash { my @found = difference($_[0], $_[1], ''); return !@found }
sub eq_set { return eq_array([sort map { $_ // '' } @{$_[0]}], [sort map { $_ // '' } @{$_[1]}]) }

sub can_ok ($@) {
  my ($thing, @methods) = @_;
  my $class = ref $thing || $thing;
  my @missing = grep { !$thing->can($_) } @methods;
  ok(!@missing, @methods == 1 ? "$class->can('$methods[0]')" : "$class->can(...)");
  diag("    $class->can('$_') failed") for @missing;
  return !@missing;
}

sub isa_ok ($;$$) {
  my ($thing, $class, $name) = @_;
  my $good = defined $thing && (blessed $thing || !ref $thing ? $thing->isa($class) : reftype $thing eq $class);
  $name //= defined $thing ? ref $thing ? 'An object of class \'' . ref($thing) . '\'' : "The class '$thing'" : 'undef';
  return ok($good, "$name isa '$class'");
}

sub new_ok {
  my ($class, $arguments, $name) = @_;
  my $object = eval { $class->new(@{$arguments // []}) };
  isa_ok($object, $class, $name);
  return $object;
}

sub skip {
  my ($why, $count) = @_;
  for (1 .. $count // 1) {
    $state{count}++;
    say_line(\*STDOUT, '', "ok $state{count} # skip $why");
  }
  tell_end() if defined $state{planned} && $state{count} == $state{planned};
  no warnings 'exiting';
  last SKIP;
}

sub todo_skip {
  my ($why, $count) = @_;
  for (1 .. $count // 1) {
    $state{count}++;
    say_line(\*STDOUT, '', "not ok $state{count} # TODO & SKIP $why");
  }
  no warnings 'exiting';
  last TODO;
}

sub subtest {
  my ($name, $code, @arguments) = @_;
  note("Subtest: $name");
  push @outer, {%state};
  %state = fresh();
  my $done = eval { $code->(@arguments); 1 };
  my $error = $@;
  my $skipped = !$done && ref $error eq 'HASH' && $error->{skip_all};
  done_testing() if $done && !defined $state{planned};
  my $good = $done && $state{count} > 0 && $state{failed} == 0 && $state{count} == $state{planned};
  %state = %{pop @outer};
  die $error if !$done && !$skipped;
  return ok($good || $skipped, $name);
}

sub explain {
  require Data::Dumper;
  return map { ref $_ ? Data::Dumper->new([$_])->Indent(1)->Sortkeys(1)->Terse(1)->Dump : $_ } @_;
}

sub BAIL_OUT {
  say_line(\*STDOUT, '', 'Bail out!  ' . ($_[0] // ''));
  exit 255;
}

sub require_ok ($) {
  my ($module) = @_;
  my $file = $module =~ /\A[\w:]+\z/ ? ($module =~ s/::/\//gr) . '.pm' : $module;
  my $good = eval { require $file; 1 };
  my $error = $@;
  ok($good, "require $module;");
  diag("    Error:  $error") if !$good;
  return !!$good;
}

sub use_ok ($;@) {
  my ($module, @imports) = @_;
  my $package = caller;
  my $good = eval "package $package; require $module; $module->import(\@imports); 1";
  my $error = $@;
  ok($good, "use $module;");
  diag("    Error:  $error") if !$good;
  return !!$good;
}

1;
