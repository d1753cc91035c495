# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

# The driver: what boot leaves in the image, and the run of a cell. The contract with the host is docs/engine-abi.md;
# ../adapter.c calls boot, run and reseed.
module Dormouse
  # Which host functions there are is in the adapter: the first character says which one is called.
  require "js.so"
  HOST = JS.method(:eval)
  private_constant :HOST
  Object.__send__(:remove_const, :JS)
  $LOADED_FEATURES.delete("js.so")

  $LOAD_PATH.replace(["/workspace/lib", "/workspace", *$LOAD_PATH.reject { |path| path.include?("_ruby") },
                      "/usr/local/lib/ruby/bundled"])
  # Most programs need these, and in the image they cost nothing.
  %w[json stringio set date time securerandom pp did_you_mean].each { |name| require name }
  require_relative "dormouse/json_text"
  require_relative "dormouse/errors"
  require_relative "dormouse/inspection"
  require_relative "dormouse/scales"
  require_relative "dormouse/svg"
  require_relative "dormouse/tables"
  require_relative "dormouse/chart"
  require_relative "dormouse/specifications"
  require_relative "dormouse/display"
  require_relative "dormouse/timeouts"
  require_relative "dormouse/builtins"

  OUTPUT = "1"
  ERROR = "2"
  EXIT = "3"
  private_constant :OUTPUT, :ERROR, :EXIT

  # How a cell ended: with a value, by an error, or by asking to exit.
  Outcome = Struct.new(:value, :error, :exit_code)
  private_constant :Outcome

  class << self
    attr_reader :cell_name

    def boot
      %w[HOME PATH LANG].zip(%w[/workspace /usr/bin:/bin C.UTF-8]) { |name, value| ENV[name] = value }
      Dir.chdir("/workspace")
      ARGV.clear
      $PROGRAM_NAME = "ruby"
      [STDOUT, STDERR].each { |stream| stream.sync = true }
      Object.autoload(:Gem, "rubygems")
      Builtins.install
      warm_up
      GC.start
    end

    # Fresh randomness, unless user code has chosen a seed.
    def reseed
      Random.srand unless Builtins.seeded?
    end

    def run
      cell = JSON.parse(HOST.call("r"))
      @cell_name = cell["filename"]
      $PROGRAM_NAME = @cell_name
      Builtins.begin_cell
      restore = prepare(cell) or return
      report(finish(attempt { evaluate(cell["code"]) }))
      restore.call
    end

    def emit(kind, object)
      HOST.call(kind + JsonText.encode(object)) unless @mute
    end

    # With a display_id the output may be shown anew: an update stands for what came before it under that id.
    def emit_output(data, metadata, is_result, display_id: nil, update: false)
      id = display_id.nil? ? {} : {"displayId" => display_id.to_s, "update" => update ? true : false}
      emit(OUTPUT, "data" => data, "metadata" => metadata, "isResult" => is_result, **id)
    end

    private

    # Runs a few cells unheard, so that the memory that they need is in the image.
    def warm_up
      @mute = true
      ["1 + 1", "[1, {a: 2.5}, 'b', :c]", "def dormouse_warm_up = raise('no')\ndormouse_warm_up", "1 +", "nil.foo", "exit"].each do |code|
        @cell_name = "cell-0"
        report(finish(attempt { evaluate(code) }))
      end
      Object.__send__(:remove_method, :dormouse_warm_up)
    ensure
      @mute = false
    end

    # Runs user code. A stop raises Interrupt while the host is armed, wherever that is: also in what handles the first one.
    def attempt(&block)
      outcome = Outcome.new
      begin
        outcome.exit_code = catch(LEAVE) do
          outcome.value = armed(&block)
          nil
        end
      rescue SystemExit => e
        outcome.exit_code = e.status
      rescue Exception => e
        outcome.error = e
      end
      outcome
    ensure
      HOST.call("d")
    end

    def armed
      HOST.call("a")
      yield
    ensure
      HOST.call("d")
    end

    def evaluate(code)
      code, data = code.split(/^__END__\r?\n/, 2)
      if data
        Object.__send__(:remove_const, :DATA) if Object.const_defined?(:DATA, false)
        Object.const_set(:DATA, StringIO.new(data))
      end
      value = eval(code || "", TOPLEVEL_BINDING, @cell_name, 1)
      ended = true
      value
    rescue Exception
      ended = true
      raise
    ensure
      # A `return` at the outermost level would leave all of the driver, too; this cancels it.
      return nil unless ended || Builtins.leaving?
    end

    # Blocks given to at_exit run when their cell ends, the last one first.
    def finish(outcome)
      Builtins.exit_blocks.clear if Builtins.leaving?
      while (block = Builtins.exit_blocks.pop)
        ended = attempt(&block)
        # Test runners exit with 0 from there: that is a normal end.
        outcome.exit_code = ended.exit_code if ended.exit_code&.nonzero?
        outcome.error ||= ended.error
      end
      outcome
    end

    # Nothing stays in buffers, also where user code has asked for some.
    def flush
      [STDOUT, STDERR, $stdout, $stderr].each { |stream| stream.flush if stream.is_a?(IO) && !stream.closed? }
    rescue IOError, SystemCallError
      nil
    end

    def report(outcome)
      flush
      unless outcome.exit_code || outcome.error || nil.equal?(outcome.value)
        shown = attempt { Display.bundle(outcome.value) }
        return emit_output(shown.value, Display.metadata(outcome.value), true) if shown.value
        outcome.error = shown.error
        outcome.exit_code = shown.exit_code
      end
      if outcome.exit_code
        emit(EXIT, "code" => outcome.exit_code)
      elsif outcome.error
        emit(ERROR, Errors.describe(outcome.error, @cell_name))
      end
    end

    # Sets up environment and directory. Returns what puts them back, or nil after an error.
    def prepare(cell)
      cell["contextEnv"]&.each { |name, value| ENV[name] = value }
      change_directory(cell["contextCwd"]) { |message| warn message } if cell["contextCwd"]
      once = cell["env"] || {}
      before = once.to_h { |name, _| [name, ENV[name]] }
      once.each { |name, value| ENV[name] = value }
      back = Dir.pwd if cell["cwd"]
      if cell["cwd"]
        failure = nil
        change_directory(cell["cwd"]) { |message| failure = message }
        if failure
          emit(ERROR, "name" => "Error", "message" => failure, "traceback" => [])
          return nil
        end
      end
      lambda do
        before.each { |name, value| ENV[name] = value }
        Dir.chdir(back) if back
        drop_input
      end
    end

    def change_directory(directory)
      Dir.chdir(directory)
    rescue SystemCallError => e
      yield "cannot change to #{directory}: #{e.message}"
    end

    # Input that nobody read is not for the next run.
    def drop_input
      return if STDIN.closed?
      nil while STDIN.read(65_536)
      STDIN.clearerr if STDIN.respond_to?(:clearerr)
    rescue IOError, SystemCallError
      nil
    end
  end
end
