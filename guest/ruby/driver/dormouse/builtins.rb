# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  LEAVE = Object.new.freeze
  private_constant :LEAVE

  # Replacements of methods that need what is not here, or that must know of cells.
  module Builtins
    # Methods that are not possible, by what they need. `Process.fork` and `Process.daemon` are Ruby's own, which say the same
    # and for which `respond_to?` is false: programs ask that before they go another way.
    PROCESSES = {Kernel => %i[fork spawn system exec `], Process => %i[spawn exec wait wait2 waitall waitpid waitpid2 detach],
                 IO => %i[popen pipe]}.freeze
    # Which replacements are also called as `Kernel.sleep` and the like.
    SINGLETONS = {Kernel => %i[srand sleep exit! at_exit], Process => %i[exit!], Random => %i[srand]}.freeze
    private_constant :PROCESSES, :SINGLETONS
    @exit_blocks = []

    class << self
      attr_reader :exit_blocks
      attr_writer :seeded

      # Whether a cell is being left by exit!.
      def leaving?
        @leaving
      end

      def leave(code)
        @leaving = true
        throw LEAVE, code
      rescue UncaughtThrowError  # in a fiber
        @leaving = false
        exit(code)
      end

      def begin_cell
        @leaving = false
        @exit_blocks.clear
        Timeouts.forget
      end

      def seeded?
        @seeded
      end

      # Of the code at a place. Cells are not files: what is relative to one is relative to the workspace.
      def directory_of(place)
        return File.dirname(place.absolute_path) if place&.absolute_path
        # Text that was evaluated under the name of a file.
        place && place.path.include?("/") && !place.path.start_with?("(eval") ? File.dirname(place.path) : "/workspace"
      end

      def install
        refuse_processes
        refuse_threads
        Kernel.prepend(Replacements)
        SINGLETONS.each { |owner, names| owner.singleton_class.prepend(public_ones(names)) }
        Dir.singleton_class.prepend(Directories)
        TOPLEVEL_BINDING.receiver.singleton_class.prepend(MainDisplay)
      end

      private

      def public_ones(names)
        Replacements.dup.tap do |copy|
          (copy.private_instance_methods(false) - names).each { |name| copy.__send__(:remove_method, name) }
          copy.__send__(:public, *names)
        end
      end

      def refuse_processes
        PROCESSES.each do |owner, names|
          names.each do |name|
            text = "#{name == :` ? "running a command in backticks" : name} is not possible: there are no processes here"
            refusal = ->(*, **, &_) { raise NotImplementedError, text, caller(1) }
            owner.define_singleton_method(name, &refusal)
            next unless owner == Kernel
            Kernel.define_method(name, &refusal)
            Kernel.__send__(:private, name)
          end
        end
      end

      def refuse_threads
        text = "threads are not possible here; Fiber and Enumerator are"
        %i[new start fork].each do |name|
          Thread.define_singleton_method(name) { |*, **, &_| raise ThreadError, text, caller(1) }
        end
        Ractor.define_singleton_method(:new) { |*, **, &_| raise NotImplementedError, "ractors are not possible here", caller(1) }
      end
    end

    module Replacements
      private

      def srand(*seed)
        Builtins.seeded = !seed.empty?
        super
      end

      def exit!(status = false)
        code = status == true ? 0 : status == false ? 1 : Integer(status)
        Builtins.leave(code)
      end

      def at_exit(&block)
        raise ArgumentError, "called without a block" unless block
        Builtins.exit_blocks.push(block)
        block
      end

      def sleep(*duration)
        left = Timeouts.left
        return super if left.nil? || (duration.first && duration.first <= left)
        super(left)
        Timeouts.check
      end

      def require_relative(path)
        require(File.expand_path(path, Builtins.directory_of(caller_locations(1, 1).first)))
      end

      def __dir__ = Builtins.directory_of(caller_locations(1, 1).first)
    end

    # The C library keeps the current directory as the text that led there, `/workspace/a/b/..`, which leads nowhere once `b` is
    # gone: it is given the place where that is in truth.
    module Directories
      def chdir(*path)
        place = Directories.place_of(*path)
        return super unless place
        block_given? ? super(place) { yield File.path(*path) } : super(place)
      end

      # nil if there is none: the error is the original method's.
      def self.place_of(*path)
        File.realpath(*path) if path.size == 1
      rescue SystemCallError, TypeError
        nil
      end
    end

    # At the outermost level `display value, format: "html"`. Without arguments it is Object's, which prints.
    module MainDisplay
      def display(*value, **options)
        return super if value.empty?
        Dormouse.display(*value, **options)
      end

      def chart(...) = Dormouse.chart(...)
    end
  end
  private_constant :Builtins
end
