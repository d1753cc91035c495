# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # A chart: `spec` is its dictionary, svg its picture. Shown as a result or by display.
  class Chart
    MIME = "application/vnd.dormouse.chart.v1+json"
    attr_reader :spec, :width, :height, :columns

    def initialize(spec, width: nil, height: nil, columns: nil)
      @spec = spec
      @width, @height, @columns = [width || 640, height || 400, columns || 2].map { |size| Integer(size).clamp(1, 10_000) }
    end

    def svg = Svg.draw(@spec, @width, @height, @columns)
    def to_s = Charts.summary(@spec)
    alias inspect to_s
    def pretty_print(printer) = printer.text(to_s)
  end

  # Data to the dictionary of a chart, which clients can draw.
  #
  # The dictionary always has all keys of its type, nil where there is nothing to say. docs/outputs.md lists them.
  module Charts
    MOST_POINTS = 20_000
    MOST_SERIES = 100
    KINDS = {"line" => "line", "scatter" => "scatter", "bar" => "bar", "pie" => "pie", "histogram" => "histogram",
             "hist" => "histogram", "box" => "box_and_whisker", "box_and_whisker" => "box_and_whisker",
             "heatmap" => "heatmap"}.freeze
    OPTIONS = %i[x y title x_label y_label x_scale y_scale bins x_labels y_labels columns width height].freeze
    SCALES = %w[linear log datetime categorical].freeze
    private_constant :MOST_POINTS, :MOST_SERIES, :KINDS, :OPTIONS, :SCALES

    class << self
      def make(kind, data, given)
        options = check_options(given)
        return superchart(kind, options) if Array === kind
        type = KINDS[kind.to_s] or raise ArgumentError, "chart: unknown type #{kind}; known are #{KINDS.keys.join(", ")}"
        spec = build(type, data, options)
        check_size(spec["elements"])
        Chart.new(spec, width: options[:width], height: options[:height])
      end

      # What stands for the picture where there is only text.
      def summary(chart)
        kind, elements = chart["type"].sub("_and_whisker", ""), chart["elements"]
        title = "#{kind} chart#{" \"#{chart["title"]}\"" unless chart["title"].to_s.empty?}: "
        return title + elements.map { |part| summary(part) }.join("; ") if kind == "superchart"
        return "#{title}#{chart["y_tick_labels"].size} rows of #{chart["x_tick_labels"].size}" if kind == "heatmap"
        shown = elements.map { |element| element_summary(kind, element) }
        if shown.size > 20 && kind != "line" && kind != "scatter"
          shown = [*shown.first(20), "#{shown.size - 20} more"]
        end
        title + shown.join(", ")
      end

      private

      def element_summary(kind, element)
        label = element["label"]
        name = label.empty? ? "one series" : label
        case kind
        when "line", "scatter" then "#{name} (#{element["points"].size} points)"
        when "bar" then "#{label}#{" #{element["group"]}" unless element["group"].empty?} #{text(element["value"])}"
        when "pie" then "#{label} #{Svg.px(element["angle"] / 3.6)}%"
        else "#{name} median #{Scales.number_text(element["median"])}"
        end
      end

      def check_options(given)
        unknown = given.keys - OPTIONS
        raise ArgumentError, "chart: unknown option #{unknown[0]}; known are #{OPTIONS.join(", ")}" unless unknown.empty?
        options = given.compact
        %i[title x_label y_label x_scale y_scale].each { |name| options[name] = options[name].to_s if options[name] }
        wrong = options.values_at(:x_scale, :y_scale).compact - SCALES
        raise ArgumentError, "chart: unknown scale #{wrong[0]}; known are #{SCALES.join(", ")}" unless wrong.empty?
        options
      end

      def check_size(elements)
        size = elements.sum { |element| [element["points"]&.size || 1, 1].max }
        return if size <= MOST_POINTS && (elements.size <= MOST_SERIES || !elements[0]["points"])
        limit = "the limit is #{MOST_POINTS} points, #{MOST_SERIES} series"
        raise ArgumentError, "chart: #{size} points in #{elements.size} elements; #{limit}"
      end

      def superchart(charts, options)
        columns = options[:columns] || 2
        spec = {"type" => "superchart", "title" => options[:title], "elements" => charts.map(&:spec)}
        width = options[:width] || 420 * [columns, [charts.size, 1].max].min
        height = options[:height] || 300 * [charts.size.ceildiv(columns), 1].max
        Chart.new(spec, width:, height:, columns:)
      end

      def build(type, data, options)
        case type
        when "line", "scatter" then xy(type, data, options)
        when "bar" then bar(type, data, options)
        when "pie" then pie(type, data, options)
        when "box_and_whisker" then boxes(type, data, options)
        when "histogram" then histogram(data, options)
        else heatmap(type, data, options)
        end
      end

      # The number that a value is; nil where there is none to draw.
      def number(value)
        value = value.to_f if value.is_a?(Numeric) && !value.is_a?(Integer) && value.real?
        value = value.to_f if value.is_a?(Integer) && value.bit_length > 53
        value if (value.is_a?(Integer) || value.is_a?(Float)) && value.abs < 1e300
      end

      # A value along the x axis: a number or a text.
      def place(value)
        case value
        when Numeric then number(value)
        when Time
          value.strftime("%FT%T#{".%L" if value.subsec != 0}#{"%:z" if value.utc_offset != 0}")
        when Date then value.strftime(value.instance_of?(Date) ? "%F" : "%FT%T")
        else value.to_s
        end
      end

      def text(value)
        return value || "" if value.nil? || value.is_a?(String)
        value.abs < 1e15 && value == value.floor ? value.to_i.to_s : Scales.number_text(value)
      end

      # What the values of one series say: pairs as they are, a hash's entries, or numbers by their position.
      def points(values)
        items = values.to_a
        is_pairs = items.any? && items.all? { |item| Array === item && item.size == 2 }
        pairs = is_pairs ? items : items.each_with_index.map { |y, x| [x, y] }
        pairs.map { |x, y| [place(x), number(y)] }
      end

      def table_series(table, x, y)
        columns = table.names.each_with_index.to_h { |name, i| [name, table.rows.map { |row| row[i] }] }
        numeric = table.names.select { |name| columns[name].any?(Numeric) }
        x = x&.to_s
        x = table.names.find { |name| !numeric.include?(name) } || (table.names[0] unless y) if x.nil? && table.names.size > 1
        series = y ? Array(y).map(&:to_s) : numeric - [x]
        missing = [x, *series].compact - table.names
        raise ArgumentError, "chart: there is no column #{missing[0]}; there are #{table.names.join(", ")}" if missing.any?
        along = x ? columns[x] : (0...table.rows.size).to_a
        series.map { |name| [name, columns[name].zip(along).map { |b, a| [place(a), number(b)] }] }
      end

      # [[name, [[x, y], …]], …] of whatever form of data.
      def series(data, options)
        x, y = options.values_at(:x, :y)
        is_list = data.respond_to?(:to_ary) || (data.is_a?(Enumerable) && !data.is_a?(Hash) && !Tables.frame?(data))
        if x || y || Tables.frame?(data) || (is_list && Tables.record(data.first))
          return table_series(Tables.of(data), x, y)
        end
        return [["", points(data)]] if is_list
        raise ArgumentError, "chart: no data in a #{data.class}" unless data.is_a?(Hash)
        return [["", points(data)]] unless data.each_value.all? { |values| values.is_a?(Enumerable) }
        data.map { |name, values| [name.to_s, points(values)] }
      end

      # What an axis' label has in parentheses or brackets.
      def unit(label)
        match = /\(([^()]*)\)|\[([^\[\]]*)\]/.match(label.to_s)
        match && (match[1] || match[2])
      end

      def labels(options)
        x, y = options.values_at(:x_label, :y_label)
        {"x_label" => x, "y_label" => y, "x_unit" => unit(x), "y_unit" => unit(y)}
      end

      def scale(values)
        return "linear" if values.none?(String)
        values.all? { |value| String === value && Scales.time_ms(value) } ? "datetime" : "categorical"
      end

      # [[value, text], …] of an axis.
      def ticks(scale, values)
        return values.uniq.map { |name| [name, name] } if scale == "categorical"
        values = values.map { |value| Scales.time_ms(value) } if scale == "datetime"
        values = values.select(&:positive?) if scale == "log"
        return [] if values.empty?
        return Scales.time_ticks(*values.minmax).map { |ms, text| [Scales.time_text(ms), text] } if scale == "datetime"
        scale == "log" ? Scales.log_ticks(*values.minmax) : Scales.linear_ticks(*values.minmax)
      end

      def xy(type, data, options)
        series = series(data, options)
        x_scale = options[:x_scale] || scale(series.flat_map { |_, points| points.filter_map(&:first) })
        series.each { |_, points| points.each { |point| point[0] &&= text(point[0]) } } if x_scale == "categorical"
        y_scale = options[:y_scale] || "linear"
        x = ticks(x_scale, series.flat_map { |_, points| points.filter_map(&:first) })
        y = ticks(y_scale, series.flat_map { |_, points| points.filter_map(&:last) })
        {"type" => type, "title" => options[:title], **labels(options),
         "x_ticks" => x.map(&:first), "y_ticks" => y.map(&:first), "x_tick_labels" => x.map(&:last),
         "y_tick_labels" => y.map(&:last), "x_scale" => x_scale, "y_scale" => y_scale,
         "elements" => series.map { |label, points| {"label" => label, "points" => points} }}
      end

      def bar(type, data, options)
        elements = series(data, options).flat_map do |group, points|
          points.map { |x, value| {"label" => text(x), "value" => value, "group" => group} }
        end
        {"type" => type, "title" => options[:title], **labels(options), "elements" => elements}
      end

      def pie(type, data, options)
        points = series(data, options).first&.last || []
        values = points.map { |_, y| [y || 0, 0].max }
        total = values.inject(0, :+)
        total = 1 if total == 0
        elements = points.zip(values).map do |(x, _), value|
          {"label" => text(x), "angle" => value.fdiv(total) * 360, "radius" => 1}
        end
        {"type" => type, "title" => options[:title], "elements" => elements}
      end

      # [name, sorted numbers] of each series that has any.
      def samples(data, options)
        samples = series(data, options).map { |name, points| [name, points.filter_map(&:last).sort] }
        samples.reject { |_, numbers| numbers.empty? }
      end

      def quantile(numbers, share)
        at = share * (numbers.size - 1)
        below = at.floor
        above = [below + 1, numbers.size - 1].min
        numbers[below] + (numbers[above] - numbers[below]) * (at - below)
      end

      def boxes(type, data, options)
        elements = samples(data, options).map do |name, numbers|
          first, median, third = [0.25, 0.5, 0.75].map { |share| quantile(numbers, share) }
          reach = 1.5 * (third - first)
          inside, outliers = numbers.partition { |number| number.between?(first - reach, third + reach) }
          {"label" => name, "min" => inside.first, "first_quartile" => first, "median" => median, "third_quartile" => third,
           "max" => inside.last, "outliers" => outliers}
        end
        {"type" => type, "title" => options[:title], **labels(options), "elements" => elements}
      end

      def histogram(data, options)
        samples = samples(data, options)
        low = samples.map { |_, numbers| numbers.first }.min || 0
        high = samples.map { |_, numbers| numbers.last }.max || 1
        low, high = low - 0.5, high + 0.5 if low == high
        count = Integer(options[:bins] || 10).clamp(1, 1000)
        bins = (0..count).map { |i| low + ((high - low) * i).fdiv(count) }
        elements = samples.flat_map do |name, numbers|
          heights = Array.new(count, 0)
          numbers.each { |number| heights[[((number - low).fdiv(high - low) * count).floor, count - 1].min] += 1 }
          heights.each_with_index.map do |height, i|
            {"label" => "#{Scales.number_text(bins[i])} – #{Scales.number_text(bins[i + 1])}", "value" => height, "group" => name}
          end
        end
        {"type" => "bar", "title" => options[:title], **labels(options), "bins" => bins, "elements" => elements}
      end

      def heatmap(type, data, options)
        is_matrix = Array === data && (data.empty? || Array === data[0])
        table = Tables.of(data) unless is_matrix
        rows = table ? table.rows : data
        width = rows.map(&:size).max || 0
        names = ->(given, count) { (given || (0...count)).map { |name| text(place(name)) }.first(count) }
        columns = names[options[:x_labels] || table&.names, width]
        lines = names[options[:y_labels], rows.size]
        if columns.size < width || lines.size < rows.size
          raise ArgumentError, "chart: #{rows.size} rows of #{width} need as many labels"
        end
        elements = rows.zip(lines).flat_map do |row, y|
          columns.each_with_index.map { |x, i| {"x" => x, "y" => y, "value" => number(row[i])} }
        end
        {"type" => type, "title" => options[:title], **labels(options), "x_tick_labels" => columns, "y_tick_labels" => lines,
         "elements" => elements}
      end
    end
  end
  private_constant :Charts

  # A line, scatter, bar, pie, box, histogram or heatmap chart of numbers, series, columns or records; of an array of
  # charts, one picture of them all: chart(:line, {a: [1, 3, 2]}, title: "A line", y_label: "speed (m/s)").
  def self.chart(kind, data = nil, **options)
    Charts.make(kind, data, options)
  end
end
