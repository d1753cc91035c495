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
    MOST_JSON_VALUES = 5_000
    MOST_JSON_TEXT = 262_144
    MOST_JSON_DEPTH = 32
    private_constant :MIME_TYPES, :RICH, :BINARY, :MOST_JSON_VALUES, :MOST_JSON_TEXT, :MOST_JSON_DEPTH

    class << self
      # Never raises what a value's own methods raise.
      def bundle(value)
        bundle = {"text/plain" => text(value)}
        add_rich(value, bundle) unless plain?(value)
        if Inspection.collection?(value) && (plain = json(value))
          bundle["application/json"] = plain
        end
        bundle
      end

      def show(value, format, metadata)
        type = MIME_TYPES[format.to_s.downcase] || format.to_s
        raise ArgumentError, "unknown format #{format}" unless type.include?("/")
        data = {type => content(value, type)}
        data["text/plain"] = text(value) if type == "application/json"
        Dormouse.emit_output(data, metadata, false)
      end

      private

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

  # An output event: a value as a result would be shown, or text and bytes in a format.
  def self.display(value, format: nil, metadata: {})
    if format
      Display.show(value, format, metadata)
    else
      emit_output(Display.bundle(value), metadata, false)
    end
    nil
  end
end
