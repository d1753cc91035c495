# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # Strict JSON of plain values: infinities and NaN are null, and text is UTF-8 whatever its encoding was. User code may
  # have changed the library's JSON, which is why this does not use it.
  module JsonText
    ESCAPES = {"\"" => "\\\"", "\\" => "\\\\", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t"}.freeze
    private_constant :ESCAPES

    class << self
      def encode(value, out = +"")
        case value
        when nil then out << "null"
        when true, false, Integer then out << value.to_s
        when Float then out << (value.finite? ? value.to_s : "null")
        when String then quote(value, out)
        when Symbol then quote(value.name, out)
        when Array then list(value, out)
        when Hash then object(value, out)
        else quote(value.to_s, out)
        end
      end

      def utf8(text)
        return text if text.encoding == Encoding::UTF_8 && text.valid_encoding?
        if text.encoding == Encoding::UTF_8 || text.encoding == Encoding::BINARY
          return text.dup.force_encoding(Encoding::UTF_8).scrub("\ufffd")
        end
        text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace, replace: "\ufffd")
      rescue EncodingError
        text.dup.force_encoding(Encoding::UTF_8).scrub("\ufffd")
      end

      private

      def quote(text, out)
        escaped = utf8(text).gsub(/["\\\u0000-\u001f]/) { |c| ESCAPES[c] || format("\\u%04x", c.ord) }
        out << "\"" << escaped << "\""
      end

      def list(values, out)
        out << "["
        values.each_with_index do |value, i|
          out << "," if i > 0
          encode(value, out)
        end
        out << "]"
      end

      def object(values, out)
        out << "{"
        first = true
        values.each do |key, value|
          out << "," unless first
          first = false
          quote(key.to_s, out)
          out << ":"
          encode(value, out)
        end
        out << "}"
      end
    end
  end
  private_constant :JsonText
end
