# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # Draws the dictionary of a chart (chart.rb) as an SVG picture: text, lines and areas, nothing that runs.
  #
  # Every language of Dormouse draws the same picture, byte for byte; tests/charts holds them to it.
  module Svg
    COLORS = %w[#4269d0 #efb118 #ff725c #6cc5b0 #3ca951 #ff8ab7 #a463f2 #97bbf5 #9c6b4e #9498a0].freeze
    RAMP = [[239, 246, 253], [66, 146, 198], [8, 48, 107]].freeze
    CHARACTER = 6.2  # the width of an average one
    ESCAPES = {"&" => "&amp;", "<" => "&lt;", ">" => "&gt;", "\"" => "&quot;"}.freeze
    # Places values between 0 and 1; its ticks are [place, text].
    Axis = Struct.new(:place, :ticks) do
      def width = (ticks.map { |_, text| text.size }.max || 0) * CHARACTER
    end
    private_constant :RAMP, :ESCAPES, :Axis

    class << self
      # The SVG text of a chart's dictionary.
      def draw(chart, width, height, columns = 2)
        parts = [%(<svg xmlns="http://www.w3.org/2000/svg" width="#{width}" height="#{height}" viewBox="0 0 #{width} #{height}" ) +
                 %(font-family="sans-serif" font-size="11" fill="#333">),
                 %(<rect x="0" y="0" width="#{width}" height="#{height}" fill="#fff"/>)]
        draw_into(parts, chart, width, height, columns)
        "#{parts.join}</svg>"
      end

      def escape(text)
        JsonText.utf8(text).gsub(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/, "\ufffd").gsub(/[&<>"]/, ESCAPES)
      end

      def short(text, limit = 24)
        text.size <= limit ? text : "#{text[0, limit - 1]}…"
      end

      # A length in pixels, to the tenth.
      def px(value)
        tenths = (value * 10 + 0.5).floor
        whole, rest = tenths.abs.divmod(10)
        "#{"-" if tenths < 0}#{whole}#{".#{rest}" if rest > 0}"
      end

      def draw_into(parts, chart, width, height, columns)
        frame = Frame.new(parts, chart, width, height)
        case chart["type"]
        when "line", "scatter" then points(frame, chart)
        when "bar" then bars(frame, chart)
        when "box_and_whisker" then boxes(frame, chart)
        when "pie" then pie(frame, chart)
        when "heatmap" then heatmap(frame, chart)
        else many(frame, chart["elements"], columns)
        end
      end

      private

      def many(frame, charts, columns)
        across = frame.width.fdiv(columns)
        down = (frame.height - frame.top + 16).fdiv([1, charts.size.ceildiv(columns)].max)
        charts.each_with_index do |part, i|
          y = frame.top - 16 + down * (i / columns)
          frame.parts << %(<g transform="translate(#{px(across * (i % columns))} #{px(y)})">)
          draw_into(frame.parts, part, across, down, 1)
          frame.parts << "</g>"
        end
      end

      def linear(low, high)
        ticks = Scales.linear_ticks(low, high)
        first = ticks[0][0]
        span = ticks[-1][0] - first
        place = ->(value) { (value - first) / span }
        Axis.new(place, ticks.map { |at, text| [place[at], text] })
      end

      # From `low` to `high` exactly, with the ticks in between.
      def inner(low, high)
        place = ->(value) { (value - low).fdiv(high - low) }
        ticks = Scales.linear_ticks(low, high).map { |at, text| [place[at], text] }
        Axis.new(place, ticks.select { |at, _| at.between?(-1e-9, 1 + 1e-9) })
      end

      def logarithmic(low, high)
        ticks = Scales.log_ticks(low, high)
        first = Math.log10(ticks[0][0])
        span = Math.log10(ticks[-1][0]) - first
        place = ->(value) { (Math.log10(value) - first) / span }
        Axis.new(place, ticks.map { |at, text| [place[at], text] })
      end

      def times(low, high)
        low, high = low - 1000, high + 1000 if low == high
        ticks = Scales.time_ticks(low, high).map { |at, text| [(at - low).fdiv(high - low), text] }
        Axis.new(->(text) { (Scales.time_ms(text) - low).fdiv(high - low) }, ticks)
      end

      def bands(names)
        count = [names.size, 1].max
        places = names.each_with_index.to_h { |name, i| [name, (i + 0.5) / count] }
        Axis.new(places.method(:fetch), places.map { |name, place| [place, short(name)] })
      end

      def axis(scale, values, categories)
        case scale
        when "categorical" then bands(categories)
        when "datetime"
          all = values.map { |value| Scales.time_ms(value) }
          times(all.min || 0, all.max || 0)
        when "log" then logarithmic(values.min || 1, values.max || 10)
        else linear(values.min || 0, values.max || 1)
        end
      end

      # Each different item and its place among them.
      def numbered(items)
        items.uniq.each_with_index.to_h
      end

      # The points of each series that have a place.
      def drawn(chart)
        logs = %w[x_scale y_scale].map { |key| chart[key] == "log" }
        chart["elements"].map do |element|
          element["points"].map { |point| point if point.zip(logs).none? { |value, log| value.nil? || (log && value <= 0) } }
        end
      end

      def points(frame, chart)
        return if chart["elements"].empty?
        frame.legend(chart["elements"].map { |element| element["label"] })
        series = drawn(chart)
        present = series.flat_map(&:compact)
        x = axis(chart["x_scale"], present.map(&:first), chart["x_ticks"])
        y = axis(chart["y_scale"], present.map(&:last), chart["y_ticks"])
        frame.axes(chart, x, y)
        series.each_with_index do |values, i|
          places = values.map { |a, b| a && "#{px(frame.x(x.place[a]))} #{px(frame.y(y.place[b]))}" }
          draw_series(frame, places, chart["type"], COLORS[i % 10])
        end
      end

      def draw_series(frame, places, type, color)
        if type == "line"
          pen_down = false
          data = places.map { |place| (pen_down ? "L#{place}" : "M#{place}" if place).tap { pen_down = !place.nil? } }.join
          frame.path(data, %(fill="none" stroke="#{color}" stroke-width="2" stroke-linejoin="round"))
        end
        return if type == "line" && places.size > 30
        dots = places.compact.map { |place| "M#{place}h0" }.join
        frame.path(dots, %(stroke="#{color}" stroke-width="#{type == "scatter" ? 7 : 5}" stroke-linecap="round"))
      end

      def bars(frame, chart)
        elements, bins = chart["elements"], chart["bins"]
        return if elements.empty?
        labels = numbered(elements.map { |element| element["label"] })
        groups = numbered(elements.map { |element| element["group"] })
        frame.legend(groups.keys)
        values = elements.filter_map { |element| element["value"] }
        y = linear([0, *values].min, [0, *values].max)
        x = bins ? inner(bins[0], bins[-1]) : bands(labels.keys)
        frame.axes(chart, x, y)
        elements.each do |element|
          value = element["value"] or next
          low, high = bar_sides(frame, x, element["label"], labels, bins)
          width = (high - low) / groups.size
          i = groups[element["group"]]
          top = frame.y(y.place[[0, value].max])
          frame.rect(low + width * i, top, width, frame.y(y.place[[0, value].min]) - top, COLORS[i % 10])
        end
      end

      def bar_sides(frame, x, label, labels, bins)
        if bins
          [frame.x(x.place[bins[labels[label]]]) + 0.5, frame.x(x.place[bins[labels[label] + 1]]) - 0.5]
        else
          half = (frame.right - frame.left) / labels.size * 0.4
          middle = frame.x(x.place[label])
          [middle - half, middle + half]
        end
      end

      def boxes(frame, chart)
        elements = chart["elements"]
        return if elements.empty?
        values = elements.flat_map { |element| [element["min"], element["max"], *element["outliers"]] }
        x = bands(elements.map { |element| element["label"] })
        y = linear(values.min, values.max)
        frame.axes(chart, x, y)
        half = (frame.right - frame.left) / elements.size * 0.3
        elements.each_with_index do |element, i|
          box(frame, y, element, frame.x((i + 0.5) / elements.size), half, COLORS[i % 10])
        end
      end

      def box(frame, y, element, middle, half, color)
        keys = %w[min first_quartile median third_quartile max]
        low, first, median, third, high = keys.map { |key| frame.y(y.place[element[key]]) }
        frame.line(middle, low, middle, first, color)
        frame.line(middle, third, middle, high, color)
        [low, high].each { |at| frame.line(middle - half / 2, at, middle + half / 2, at, color) }
        frame.rect(middle - half, third, 2 * half, first - third, color, %( fill-opacity="0.4" stroke="#{color}"))
        frame.line(middle - half, median, middle + half, median, "#222")
        dots = element["outliers"].map { |value| "M#{px(middle)} #{px(frame.y(y.place[value]))}h0" }.join
        frame.path(dots, %(stroke="#{color}" stroke-width="5" stroke-linecap="round")) unless dots.empty?
      end

      def pie(frame, chart)
        elements = chart["elements"]
        return if elements.empty?
        frame.legend(elements.map { |element| "#{short(element["label"], 16)} #{px(element["angle"] / 3.6)}%" })
        middle, center = (frame.left + frame.right) / 2, (frame.top + frame.bottom) / 2
        full = [frame.right - frame.left, frame.bottom - frame.top].min / 2
        start = -90.0
        elements.each_with_index do |element, i|
          slice(frame, middle, center, full * element["radius"], start, element["angle"], COLORS[i % 10])
          start += element["angle"]
        end
      end

      def slice(frame, middle, center, radius, start, angle, color)
        fill = %(fill="#{color}" stroke="#fff")
        if angle >= 359.99
          frame.parts << %(<circle cx="#{px(middle)}" cy="#{px(center)}" r="#{px(radius)}" #{fill}/>)
        elsif angle > 0
          from, to = [start, start + angle].map do |at|
            "#{px(middle + radius * Math.cos(at * Math::PI / 180))} #{px(center + radius * Math.sin(at * Math::PI / 180))}"
          end
          arc = "A#{px(radius)} #{px(radius)} 0 #{angle > 180 ? 1 : 0} 1 #{to}"
          frame.path("M#{px(middle)} #{px(center)}L#{from}#{arc}Z", fill)
        end
      end

      # The colour for a place between 0 and 1.
      def shade(place)
        half = place < 0.5 ? 0 : 1
        rest = place * 2 - half
        "rgb(#{RAMP[half].zip(RAMP[half + 1]).map { |a, b| (a + (b - a) * rest + 0.5).floor }.join(",")})"
      end

      def heatmap(frame, chart)
        return if chart["elements"].empty?
        columns, rows = chart["x_tick_labels"], chart["y_tick_labels"]
        values = chart["elements"].filter_map { |element| element["value"] }
        low, high = values.min || 0, values.max || 1
        shade_legend(frame, Scales.number_text(low), Scales.number_text(high))
        frame.axes(chart, bands(columns), bands(rows.reverse))
        width = (frame.right - frame.left) / [columns.size, 1].max
        height = (frame.bottom - frame.top) / [rows.size, 1].max
        chart["elements"].each_with_index do |element, i|
          place = element["value"] && (element["value"] - low).fdiv(high == low ? 1 : high - low)
          x, y = frame.left + width * (i % columns.size), frame.top + height * (i / columns.size)
          frame.rect(x, y, width, height, place ? shade(place) : "#eee")
          next unless place && width >= 34 && height >= 16
          frame.text(x + width / 2, y + height / 2 + 4, Scales.number_text(element["value"]), "middle", place > 0.5 ? ' fill="#fff"' : "")
        end
      end

      def shade_legend(frame, low, high)
        frame.right -= [low.size, high.size].max * CHARACTER + 24
        6.times { |i| frame.rect(frame.right + 8, frame.top + 18 * i, 12, 18, shade(1 - i / 5.0)) }
        frame.text(frame.right + 24, frame.top + 10, high, "start")
        frame.text(frame.right + 24, frame.top + 106, low, "start")
      end
    end

    # The rectangle that values are drawn in. `parts` is the picture so far.
    class Frame
      attr_reader :parts, :width, :height, :left, :top, :bottom
      attr_accessor :right

      def initialize(parts, chart, width, height)
        @parts, @width, @height = parts, width, height
        @left, @right, @top, @bottom = 16.0, width - 16.0, 16.0, height - 16.0
        return if chart["title"].to_s.empty?
        text(width / 2.0, 24, Svg.short(chart["title"], 80), "middle", ' font-size="15" font-weight="bold"')
        @top = 40.0
      end

      def x(place) = @left + place * (@right - @left)
      def y(place) = @bottom - place * (@bottom - @top)

      def line(x1, y1, x2, y2, color)
        @parts << %(<line x1="#{px(x1)}" y1="#{px(y1)}" x2="#{px(x2)}" y2="#{px(y2)}" stroke="#{color}"/>)
      end

      def rect(x, y, width, height, fill, more = "")
        @parts << %(<rect x="#{px(x)}" y="#{px(y)}" width="#{px(width)}" height="#{px(height)}" fill="#{fill}"#{more}/>)
      end

      def text(x, y, text, anchor = "middle", more = "")
        @parts << %(<text x="#{px(x)}" y="#{px(y)}" text-anchor="#{anchor}"#{more}>#{Svg.escape(text)}</text>)
      end

      def path(data, attributes)
        @parts << %(<path d="#{data}" #{attributes}/>)
      end

      # Names of series at the right; none for a single one without a name.
      def legend(names)
        return if names.all?(&:empty?)
        shown = names.first(20).map { |name| Svg.short(name) }
        @right -= shown.map(&:size).max * CHARACTER + 26
        shown.each_with_index do |name, i|
          rect(@right + 10, @top + 18 * i, 11, 11, COLORS[i % 10])
          text(@right + 26, @top + 18 * i + 10, name, "start")
        end
      end

      # Makes room for the labels of both axes, and draws grid and labels.
      def axes(chart, x, y)
        x_label, y_label = chart.values_at("x_label", "y_label").map(&:to_s)
        @left += y.width + 8 + (y_label.empty? ? 0 : 18)
        slot = (@right - @left) / [x.ticks.size, 1].max
        slanted = x.width + 6 > slot
        @left = [@left, x.width * 0.82 - slot / 2].max if slanted
        @bottom -= (slanted ? x.width * 0.6 + 14 : 18) + (x_label.empty? ? 0 : 18)
        y.ticks.each do |place, text|
          line(@left, y(place), @right, y(place), "#e4e4e4")
          text(@left - 6, y(place) + 4, text, "end")
        end
        every = slanted ? [1, (12 / slot).ceil].max : 1
        x.ticks.each_slice(every) { |tick, *| x_tick(*tick, slanted) }
        line(@left, @bottom, @right, @bottom, "#888")
        text((@left + @right) / 2, @height - 10, Svg.short(x_label, 80)) unless x_label.empty?
        return if y_label.empty?
        middle = (@top + @bottom) / 2
        text(16, middle, Svg.short(y_label, 60), "middle", %( transform="rotate(-90 16 #{px(middle)})"))
      end

      private

      def px(value) = Svg.px(value)

      def x_tick(place, text, slanted)
        at, below = x(place), @bottom + 16
        line(at, @bottom, at, @bottom + 4, "#888")
        return text(at, below, text) unless slanted
        text(at + 4, below, text, "end", %( transform="rotate(-35 #{px(at + 4)} #{px(below)})"))
      end
    end
  end
  private_constant :Svg
end
