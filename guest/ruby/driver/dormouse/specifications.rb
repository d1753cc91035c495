# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # Hashes that describe charts in the words of Vega-Lite, Vega or Plotly: what they are, and the chart of those that
  # need no more than their own data.
  module Specifications
    MARKS = {"line" => "line", "area" => "line", "point" => "scatter", "circle" => "scatter", "square" => "scatter",
             "bar" => "bar", "arc" => "pie", "boxplot" => "box"}.freeze
    private_constant :MARKS

    class << self
      # The MIME type of a hash that describes a chart; nil of any other.
      def type(value)
        schema = member(value, "$schema")
        if schema.is_a?(String)
          return "application/vnd.vegalite.v5+json" if schema.include?("vega-lite")
          return schema.include?("/vega/") ? "application/vnd.vega.v5+json" : nil
        end
        "application/vnd.plotly.v1+json" if Array === member(value, "data") && Hash === member(value, "layout")
      end

      # The Chart that such a hash describes; nil if that takes more than is known here.
      def chart(value)
        value = named(value)
        value.key?("$schema") ? vega_lite(value) : plotly(value)
      rescue StandardError
        nil
      end

      # The Chart of a hash as chart() makes them.
      def own_chart(value)
        Chart.new(named(value)).tap(&:svg)
      rescue StandardError
        raise ArgumentError, "display: this does not describe a chart"
      end

      private

      def member(value, name) = value.fetch(name) { value[name.to_sym] }

      # With strings for symbols.
      def named(value)
        case value
        when Hash then value.to_h { |key, item| [key.to_s, named(item)] }
        when Array then value.map { |item| named(item) }
        when Symbol then value.name
        else value
        end
      end

      def title(value) = Hash === value ? value["text"] : value

      def vega_lite(spec)
        mark = Hash === spec["mark"] ? spec["mark"]["type"] : spec["mark"]
        records, encoding = spec["data"]["values"], spec["encoding"]
        x, y, color = %w[x y color].map { |name| encoding[name] || {} }
        options = {title: title(spec["title"])}
        if mark == "arc"
          theta = encoding["theta"]["field"]
          return Dormouse.chart("pie", records.to_h { |record| [record[color["field"]].to_s, record[theta]] }, **options)
        end
        options[:x_label], options[:y_label] = [x, y].map { |axis| axis["title"] || axis["field"] }
        if mark == "bar" && x["bin"]
          bins = Hash === x["bin"] ? x["bin"]["maxbins"] : nil
          return Dormouse.chart("histogram", records.map { |record| record[x["field"]] }, bins:, **options)
        end
        return if x["aggregate"] || y["aggregate"] || !MARKS.key?(mark)
        options.merge!(logarithms(x.dig("scale", "type"), y.dig("scale", "type"))) if %w[line scatter].include?(MARKS[mark])
        Dormouse.chart(MARKS[mark], vega_series(records, mark, x["field"], y["field"], color["field"]), **options)
      end

      def vega_series(records, mark, x, y, color)
        records.each_with_object({}) do |record, series|
          name = mark == "boxplot" ? record[x].to_s : color ? record[color].to_s : ""
          (series[name] ||= []) << (mark == "boxplot" ? record[y] : [record[x], record[y]])
        end
      end

      def logarithms(x, y)
        {x_scale: ("log" if x == "log"), y_scale: ("log" if y == "log")}
      end

      def plotly(spec)
        traces, layout = spec["data"], spec["layout"]
        kinds = traces.map { |trace| trace["type"] || "scatter" }.uniq
        return unless kinds.size == 1
        kind, first = kinds[0], traces[0]
        x, y = layout["xaxis"] || {}, layout["yaxis"] || {}
        options = {title: title(layout["title"])}
        return Dormouse.chart("pie", first["labels"].map(&:to_s).zip(first["values"]).to_h, **options) if kind == "pie"
        options[:x_label], options[:y_label] = title(x["title"]), title(y["title"])
        return Dormouse.chart(kind, first["z"], x_labels: first["x"], y_labels: first["y"], **options) if kind == "heatmap"
        series = plotly_series(traces, kind) or return
        return Dormouse.chart(kind, series, **options) unless kind == "scatter"
        dots = traces.none? { |trace| (trace["mode"] || "lines").include?("lines") }
        Dormouse.chart(dots ? "scatter" : "line", series, **options, **logarithms(x["type"], y["type"]))
      end

      def plotly_series(traces, kind)
        return unless %w[scatter bar box histogram].include?(kind)
        traces.each_with_index.to_h do |trace, i|
          name = trace["name"] || (traces.size > 1 ? "trace #{i}" : "")
          next [name, trace[kind == "box" ? "y" : "x"]] if %w[box histogram].include?(kind)
          [name, trace["y"].each_with_index.map { |value, j| [trace["x"] ? trace["x"][j] : j, value] }]
        end
      end
    end
  end
  private_constant :Specifications
end
