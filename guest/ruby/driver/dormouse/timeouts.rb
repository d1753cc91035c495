# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

require "timeout"

module Dormouse
  # Timeout without threads: while a block with a limit runs, each line, call and block looks at the clock, and sleep ends
  # at the limit. A long call of a C function is not interrupted.
  module Timeouts
    Deadline = Struct.new(:at, :error_class, :message)
    private_constant :Deadline
    @deadlines = []

    class << self
      def within(seconds, error_class, message)
        deadline = Deadline.new(now + seconds, error_class, message)
        trace = TracePoint.new(:line, :b_call, :call, :c_call) { expire(deadline) if now >= deadline.at }
        catch(deadline) do
          @deadlines.push(deadline)
          trace.enable
          return yield(seconds)
        ensure
          trace.disable
          @deadlines.delete_if { |other| other.equal?(deadline) }
        end
        raise Timeout::Error, message
      end

      # Seconds until the next limit, or nil.
      def left
        @deadlines.empty? ? nil : [@deadlines.map(&:at).min - now, 0].max
      end

      def check
        @deadlines.reverse_each { |deadline| expire(deadline) if now >= deadline.at }
      end

      # At the beginning of a run, for blocks that an earlier one was stopped in.
      def forget
        @deadlines.clear
      end

      private

      def now
        Process.clock_gettime(Process::CLOCK_MONOTONIC)
      end

      # Once for each deadline: what handles the error may take its time.
      def expire(deadline)
        return unless @deadlines.any? { |other| other.equal?(deadline) }
        @deadlines.delete_if { |other| other.equal?(deadline) }
        raise deadline.error_class, deadline.message if deadline.error_class
        throw deadline
      end
    end

    # In place of the library's methods.
    module Replacement
      def timeout(seconds, error_class = nil, message = nil, &block)
        return yield(seconds) if seconds.nil? || seconds.zero?
        raise ArgumentError, "Timeout sec must be a non-negative number" if seconds.negative?
        Timeouts.within(seconds, error_class, message || "execution expired", &block)
      end
    end
    Timeout.singleton_class.prepend(Replacement)
  end
  private_constant :Timeouts
end
