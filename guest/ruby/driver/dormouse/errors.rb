# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # An exception as the host reports it: name, message, and a traceback without the driver's frames.
  module Errors
    DRIVER = "/usr/lib/dormouse/"
    MOST_CAUSES = 10
    FIRST_FRAMES = 60
    LAST_FRAMES = 20
    MOST_MESSAGE = 100_000
    private_constant :MOST_CAUSES, :FIRST_FRAMES, :LAST_FRAMES, :MOST_MESSAGE

    class << self
      def describe(error, cell_name)
        described = {"name" => name_of(error), "message" => message_of(error), "traceback" => traceback_of(error)}
        line = line_of(error, cell_name)
        described["lineNumber"] = line if line
        described
      end

      def frames_of(error)
        frames = error.backtrace
        return [] unless frames.is_a?(Array)
        frames = frames.map(&:to_s)
        # The driver's own frames are at the end, and where it stands in for methods of the core also between others.
        last = frames.rindex { |frame| !frame.start_with?(DRIVER, "eval:") && !frame.end_with?("in 'Kernel.eval'") }
        last ? frames[0..last].reject { |frame| frame.start_with?(DRIVER) } : []
      end

      private

      def name_of(error)
        error.class.name || error.class.to_s
      end

      # Without the class, which is the name; with what did_you_mean adds.
      def message_of(error)
        # The report on a deadlock lists all frames.
        return error.message.lines.first.chomp if name_of(error) == "fatal"
        text = JsonText.utf8(error.detailed_message(highlight: false).to_s)
        text = text.sub(" (#{name_of(error)})", "").chomp
        text = "" if text == name_of(error) && error.message.empty?
        text.length > MOST_MESSAGE ? "#{text[0, MOST_MESSAGE]}…" : text
      rescue Exception
        "its message cannot be shown"
      end

      def traceback_of(error)
        lines = []
        seen = {}.compare_by_identity
        while error && !seen[error] && seen.size < MOST_CAUSES
          seen[error] = true
          lines.concat(lines_of(error))
          error = error.cause
        end
        lines
      end

      def lines_of(error)
        frames = frames_of(error)
        return message_of(error).lines(chomp: true) if error.is_a?(SyntaxError) && frames.empty?
        message = message_of(error)
        head = message.empty? ? name_of(error) : "#{message} (#{name_of(error)})"
        lines = [frames.empty? ? head : "#{frames.first}: #{head}"]
        rest = frames.drop(1).map { |frame| "\tfrom #{JsonText.utf8(frame)}" }
        if rest.size > FIRST_FRAMES + LAST_FRAMES
          left = rest.size - FIRST_FRAMES - LAST_FRAMES
          rest = rest.first(FIRST_FRAMES) + ["\t ... #{left} levels ..."] + rest.last(LAST_FRAMES)
        end
        lines.concat(rest)
      end

      def line_of(error, cell_name)
        place = error.is_a?(SyntaxError) ? [error.message, *error.backtrace] : frames_of(error)
        place.each do |frame|
          line = frame.to_s[/\A#{Regexp.escape(cell_name)}:(\d+)/, 1]
          return line.to_i if line
        end
        nil
      end
    end
  end
  private_constant :Errors
end
