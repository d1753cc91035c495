# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # A value as text: what `pp` writes, or for large and deep collections a part of that.
  module Inspection
    SMALL = 500        # values, for pp
    MOST_VALUES = 5_000
    SHOWN_VALUES = 1_000  # of a collection
    MOST_DEPTH = 100
    MOST_TEXT = 1 << 20
    WIDTH = 100
    private_constant :WIDTH, :SMALL, :MOST_VALUES, :SHOWN_VALUES, :MOST_DEPTH, :MOST_TEXT

    class << self
      def text(value)
        shown = String === value && value.length > MOST_TEXT ? ends(value) : small?(value) ? pretty(value) : part(value, [], [MOST_VALUES])
        shown = JsonText.utf8(shown)
        return shown if shown.length <= 2 * MOST_TEXT
        half = MOST_TEXT / 2
        "#{shown[0, half]}\n… #{shown.length - MOST_TEXT} characters left out …\n#{shown[-half..]}"
      end

      # Without calling methods of the value, which need not have any.
      def collection?(value)
        (Array === value && value.class.equal?(Array)) || (Hash === value && value.class.equal?(Hash))
      end

      private

      # The beginning and the end of a string, as it is written.
      def ends(text)
        half = MOST_TEXT / 2
        "#{text[0, half].inspect} … #{text.length - MOST_TEXT} characters left out … #{text[-half..].inspect}"
      end

      # Few values, in few levels?
      def small?(value)
        level = [value]
        count = 0
        MOST_DEPTH.times do
          level = level.flat_map { |item| collection?(item) && item.size <= SMALL ? item.to_a.flatten(1) : [item] }
          count += level.size
          return false if count > SMALL * 4 || level.any? { |item| collection?(item) && item.size > SMALL }
          return true if level.none? { |item| collection?(item) }
          level = level.select { |item| collection?(item) }
        end
        # A cycle, which pp knows how to show, or something deep.
        level.size <= SMALL && cyclic?(value, {}.compare_by_identity)
      end

      def cyclic?(value, seen)
        stack = [value]
        until stack.empty?
          item = stack.pop
          next unless collection?(item)
          return true if seen[item]
          seen[item] = true
          stack.concat(Hash === item ? item.to_a.flatten(1) : item)
        end
        false
      end

      def pretty(value)
        return "#<#{Kernel.instance_method(:class).bind_call(value)}>" unless Kernel === value
        plain = value.inspect
        return plain if String === value || (plain.length <= WIDTH && !plain.include?("\n"))
        PP.pp(value, +"", WIDTH).chomp
      rescue StandardError
        # User code may have changed what pp needs.
        value.inspect
      end

      def part(value, path, left)
        left[0] -= 1
        return leaf(value) unless collection?(value)
        open, close = Array === value ? %w([ ]) : %w({ })
        return "#{open}...#{close}" if path.size >= MOST_DEPTH || left[0] <= 0 || path.any? { |outer| outer.equal?(value) }
        path.push(value)
        shown = value.first(SHOWN_VALUES).take_while { left[0] > 0 }.map do |item|
          Array === value ? part(item, path, left) : "#{key(item[0], path, left)}#{part(item[1], path, left)}"
        end
        path.pop
        shown << "... #{value.size - shown.size} more" if value.size > shown.size
        "#{open}#{shown.join(", ")}#{close}"
      end

      def key(value, path, left)
        value.is_a?(Symbol) ? "#{value.inspect.delete_prefix(":")}: " : "#{part(value, path, left)} => "
      end

      def leaf(value)
        text = Kernel === value ? value.inspect : pretty(value)
        text.length > 10_000 ? "#{text[0, 10_000]}…" : text
      end
    end
  end
  private_constant :Inspection
end
