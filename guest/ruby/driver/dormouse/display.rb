# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # Results and display(): values as MIME bundles.
  module Display
    MIME_TYPES = {
      "text" => "text/plain", "plain" => "text/plain", "html" => "text/html", "markdown" => "text/markdown",
      "svg" => "image/svg+xml", "png" => "image/png", "jpeg" => "image/jpeg", "jpg" => "image/jpeg",
      "gif" => "image/gif", "webp" => "image/webp", "pdf" => "application/pdf", "json" => "application/json",
      "latex" => "text/latex", "javascript" => "application/javascript"
    }.freeze
    # What an object offers by methods of its own.
    RICH = {to_html: "text/html", to_markdown: "text/markdown", to_svg: "image/svg+xml", to_latex: "text/latex",
            to_png: "image/png", to_jpeg: "image/jpeg"}.freeze
    BINARY = %r{\A(?:image/(?!svg)|audio/|video/|application/(?:pdf|octet-stream))}
    # Formats that are text to read as they are.
    READABLE = %w[text/markdown text/latex].freeze
    TABLE = "application/vnd.dataresource+json"
    MOST_JSON_VALUES = 5_000
    MOST_JSON_TEXT = 262_144
    MOST_JSON_DEPTH = 32
    private_constant :MIME_TYPES, :RICH, :BINARY, :READABLE, :TABLE, :MOST_JSON_VALUES, :MOST_JSON_TEXT, :MOST_JSON_DEPTH

    class << self
      # Never raises what a value's own methods raise.
      def bundle(value)
        return chart_bundle(value) if Chart === value
        bundle = {"text/plain" => text(value)}
        add_rich(value, bundle) unless plain?(value)
        Inspection.collection?(value) ? add_plain(value, bundle) : add_frame(value, bundle)
        bundle
      end

      # A value in one format.
      def formatted(value, format, orient)
        format = format.to_s
        return table_bundle(value, orient.to_s) if %w[data table].include?(format)
        return chart_bundle(value) if format == "chart"
        type = MIME_TYPES[format.downcase] || format
        unless type.include?("/")
          raise ArgumentError, "display: #{format} is neither a MIME type nor a known format: #{MIME_TYPES.keys.join(", ")}, data, chart"
        end
        return {type => value.is_a?(String) ? value : text(value)} if type == "text/plain"
        data = {type => content(value, type)}
        return data if READABLE.include?(type)
        data.merge("text/plain" => type == "application/json" ? text(value) : label(value.to_s, type))
      end

      def metadata(value)
        Chart === value ? {"image/svg+xml" => {"width" => value.width, "height" => value.height}} : {}
      end

      private

      def label(value, type)
        size, unit = BINARY.match?(type) ? [value.bytesize, "bytes"] : [value.size, "characters"]
        "<#{type}, #{size} #{unit}>"
      end

      # Beside the text: JSON, and what an array of records or a hash that describes a chart is.
      def add_plain(value, bundle)
        plain = json(value)
        type = Hash === value && plain ? Specifications.type(value) : nil
        return add_chart(value, type, plain, bundle) if type
        bundle["application/json"] = plain if plain
        table = Tables.find(value)
        add_table(table, bundle) if table
      end

      # A hash that describes a chart: as it is, and drawn if it is understood.
      def add_chart(value, type, plain, bundle)
        bundle[type] = plain
        chart = Specifications.chart(value)
        bundle.merge!(chart_bundle(chart).except("text/plain")) if chart
      end

      def add_frame(value, bundle)
        add_table(Tables.few_of(value), bundle) if Tables.frame?(value)
      rescue Interrupt, SystemExit
        raise
      rescue Exception
        nil
      end

      def add_table(table, bundle, orient = "records")
        bundle["text/html"] ||= Tables.html(table)
        bundle[TABLE] = Tables.resource(table, orient)
      end

      def table_bundle(value, orient)
        raise ArgumentError, "display: orient is records or columns, not #{orient}" unless %w[records columns].include?(orient)
        table = Tables.of(value)
        {"text/plain" => Tables.text(table)}.tap { |bundle| add_table(table, bundle, orient) }
      end

      def chart_bundle(value)
        if Hash === value && (type = Specifications.type(value))
          return {"text/plain" => text(value)}.tap { |bundle| add_chart(value, type, json(value), bundle) }
        end
        value = Specifications.own_chart(value) if Hash === value
        raise ArgumentError, "display: a #{value.class} is no chart" unless Chart === value
        {"text/plain" => value.to_s, Chart::MIME => value.spec, "image/svg+xml" => value.svg}
      end

      def text(value)
        Inspection.text(value)
      rescue Interrupt, SystemExit
        raise
      rescue Exception => e
        "the result cannot be shown: #{JsonText.utf8(e.message.to_s)[0, 1000]}"
      end

      def plain?(value)
        case value
        when nil, true, false, Numeric, String, Symbol, Array, Hash, Proc, Module then true
        else !(Kernel === value)
        end
      end

      def add_rich(value, bundle)
        RICH.each do |method, type|
          next unless value.respond_to?(method)
          shown = value.public_send(method)
          bundle[type] = content(shown, type) if shown.is_a?(String)
        end
      rescue Interrupt, SystemExit
        raise
      rescue Exception
        nil
      end

      def content(value, type)
        return [value.to_s].pack("m0") if BINARY.match?(type)
        return value.to_s unless type == "application/json"
        json(value) || raise(ArgumentError, "the value cannot be shown as JSON")
      end

      # A copy of plain data for JsonText, or nil if it is more than that or too large.
      def json(value)
        left = [MOST_JSON_VALUES, MOST_JSON_TEXT]
        catch(left) { copy(value, 0, left) }
      end

      def copy(value, depth, left)
        throw left, nil if depth > MOST_JSON_DEPTH || (left[0] -= 1) < 0
        case value
        when nil, true, false, Float then value
        when Integer
          throw left, nil if value.bit_length > 1000
          value
        when String, Symbol
          throw left, nil if (left[1] -= value.length) < 0
          value.is_a?(Symbol) || value.encoding != Encoding::BINARY ? value : throw(left, nil)
        else copy_collection(value, depth, left)
        end
      end

      def copy_collection(value, depth, left)
        throw left, nil unless Inspection.collection?(value)
        if Array === value
          value.map { |item| copy(item, depth + 1, left) }
        elsif value.each_key.all? { |key| key.is_a?(String) || key.is_a?(Symbol) }
          value.to_h { |key, item| [copy(key, depth + 1, left), copy(item, depth + 1, left)] }
        else
          throw left, nil
        end
      end
    end
  end
  private_constant :Display

  # An output event: a value as a result would be shown, or in a format: data, chart, a MIME type or a short name of one.
  # With a display_id the output may be shown anew: update: true stands for what came before it under that id.
  def self.display(value, format: nil, metadata: {}, display_id: nil, update: false, orient: "records")
    data = format ? Display.formatted(value, format, orient) : Display.bundle(value)
    emit_output(data, Display.metadata(value).merge(metadata || {}), false, display_id:, update:)
    nil
  end
end
