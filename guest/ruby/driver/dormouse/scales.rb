# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # Numbers and times along the axis of a chart: which ticks it has, where a value lies, how it is written.
  #
  # Every language of Dormouse has this arithmetic, operation for operation, so that a chart is the same picture in all.
  module Scales
    DAY_MS = 86_400_000
    STEPS_S = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800].freeze
    STEPS_MONTHS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200].freeze
    TIME = /\A(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?)?(?:Z|([+-])(\d\d):?(\d\d))?\z/
    private_constant :DAY_MS, :STEPS_S, :STEPS_MONTHS, :TIME

    class << self
      # value * 10**power, rounded once.
      def scaled(value, power)
        power >= 0 ? value * 10.0**power : value / 10.0**-power
      end

      # The power of ten at or below a positive value.
      def magnitude(value)
        power = Math.log10(value).floor
        power -= 1 while scaled(1.0, power) > value
        power += 1 while scaled(1.0, power + 1) <= value
        power
      end

      # digits * 10**power as text, with up to six digits before the point.
      def decimal(digits, power)
        return "0" if digits == 0
        sign = digits < 0 ? "-" : ""
        plain = digits.abs.to_s
        text = plain.sub(/0+\z/, "")
        power += plain.size - text.size
        point = text.size + power
        return "#{sign}#{text[0]}#{".#{text[1..]}" if text.size > 1}e#{point - 1}" if point > 6 || point < -3
        return sign + text + "0" * power if power >= 0
        sign + (point > 0 ? "#{text[0, point]}.#{text[point..]}" : "0.#{"0" * -point}#{text}")
      end

      # A number with four digits that count.
      def number_text(value)
        size = value.abs
        return "0" if size < 1e-300
        power = magnitude(size)
        digits = (scaled(size, 3 - power) + 0.5).floor
        decimal(value < 0 ? -digits : digits, power - 3)
      end

      # Round numbers from at or below `low` to at or above `high`: [[number, text], …].
      def linear_ticks(low, high, count = 5.0)
        if high - low <= 1e-9 * [low.abs, high.abs].max
          pad = low == 0 ? 1.0 : low.abs / 2.0
          low, high = low - pad, high + pad
        end
        raw = (high - low) / count
        power = magnitude(raw)
        factor = [1, 2, 5, 10].find { |candidate| scaled(candidate, power) >= raw * (1 - 1e-9) }
        step = scaled(factor, power)
        ((low / step + 1e-9).floor..(high / step - 1e-9).ceil).map do |i|
          [scaled(factor * i, power), decimal(factor * i, power)]
        end
      end

      # Powers of ten around the range of positive numbers.
      def log_ticks(low, high)
        first = magnitude(low)
        last = magnitude(high)
        last += 1 if scaled(1.0, last) < high || last == first
        step = (last - first + 7) / 8
        (first...(last + step)).step(step).map { |power| [scaled(1.0, power), decimal(1, power)] }
      end

      # Days since 1970.
      def days_of(year, month, day)
        year -= 1 if month <= 2
        era = year / 400
        of_era = year - era * 400
        of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
      end

      # [year, month, day] of the days since 1970.
      def date_of(days)
        days += 719_468
        era = days / 146_097
        of_era = days - era * 146_097
        year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365
        of_year = of_era - (365 * year + year / 4 - year / 100)
        month = (5 * of_year + 2) / 153
        day = of_year - (153 * month + 2) / 5 + 1
        month += month < 10 ? 3 : -9
        [year + era * 400 + (month <= 2 ? 1 : 0), month, day]
      end

      # Milliseconds since 1970 of a date or time in ISO 8601; nil of any other text.
      def time_ms(text)
        match = TIME.match(text) or return nil
        year, month, day, hour, minute, second = match.captures[0, 6].map(&:to_i)
        return nil unless month.between?(1, 12) && day.between?(1, 31)
        offset = match[8] ? (match[9].to_i * 60 + match[10].to_i) * (match[8] == "-" ? -1 : 1) : 0
        seconds = hour * 3600 + (minute - offset) * 60 + second
        days_of(year, month, day) * DAY_MS + seconds * 1000 + (match[7] || "0").ljust(3, "0").to_i
      end

      # The time in ISO 8601, to the second.
      def time_text(ms)
        date = date_text(ms / DAY_MS)
        ms % DAY_MS == 0 ? date : "#{date}T#{clock_text(ms)}"
      end

      # Times between two in milliseconds, at steps that people count in: [[ms, text], …].
      def time_ticks(low, high)
        seconds = STEPS_S.find { |step| high - low <= 6000 * step }
        return month_ticks(low, high) unless seconds
        step = seconds * 1000
        (-(-low / step) * step).step(high, step).map do |ms|
          [ms, seconds < 86_400 ? clock_text(ms)[0, seconds < 60 ? 8 : 5] : date_text(ms / DAY_MS)]
        end
      end

      private

      def month_ticks(low, high)
        first, last = date_of(low / DAY_MS), date_of(high / DAY_MS)
        begin_month, end_month = first[0] * 12 + first[1] - 1, last[0] * 12 + last[1] - 1
        step = STEPS_MONTHS.find { |months| end_month - begin_month <= 6 * months } || STEPS_MONTHS.last
        (-(-begin_month / step) * step).step(end_month, step).filter_map do |month|
          ms = days_of(month / 12, month % 12 + 1, 1) * DAY_MS
          [ms, step >= 12 ? format("%04d", month / 12) : format("%04d-%02d", month / 12, month % 12 + 1)] if ms >= low
        end
      end

      def date_text(days)
        format("%04d-%02d-%02d", *date_of(days))
      end

      def clock_text(ms)
        seconds = ms % DAY_MS / 1000
        format("%02d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60)
      end
    end
  end
  private_constant :Scales
end
