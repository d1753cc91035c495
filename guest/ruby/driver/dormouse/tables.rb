# SPDX-License-Identifier: Apache-2.0
# frozen_string_literal: true

module Dormouse
  # Tables: arrays of equal hashes or structs, as text, as HTML and as data. A data frame is what has `columns` and
  # `to_records`, `to_a` of hashes, or `to_h` of columns.
  module Tables
    # `rows` hold the first of `count` rows.
    Table = Struct.new(:names, :rows, :count)
    # Cells that are looked at and shown without being asked for, and at most.
    FEW_CELLS = 10_000
    MOST_CELLS = 200_000
    TEXT = {head: 40, tail: 10, width: 120, cell: 40}.freeze
    HTML = {head: 150, tail: 50, cell: 500, columns: 200}.freeze
    private_constant :Table, :FEW_CELLS, :MOST_CELLS, :TEXT, :HTML

    class << self
      # The table that an array of equal records plainly is, as far as its first rows tell.
      def find(value)
        return unless Array === value && value.class.equal?(Array) && !value.empty?
        first = record(value[0])
        return if first.nil? || first.empty? || first.size > 100 || !first.each_key.all? { |name| String === name || Symbol === name }
        few = [FEW_CELLS / first.size, 1].max
        rows = []
        value.first(few).each do |item|
          return unless item.class.equal?(value[0].class)
          cells = record(item)
          return unless cells.size == first.size && first.each_key.all? { |name| cells.key?(name) }
          row = first.each_key.map { |name| cells[name] }
          return unless row.all? { |cell| cell?(cell) }
          rows << row
        end
        Table.new(first.keys.map(&:to_s), rows, value.size)
      end

      # The table of a value that its owner calls one.
      def of(value, limit = MOST_CELLS)
        return of_frame(value, limit) if frame?(value)
        if Hash === value
          columns = value.each_value.all? { |column| Array === column || Range === column }
          return columns ? of_columns(value.transform_values(&:to_a), limit) : of_records([value], limit)
        end
        raise ArgumentError, "a #{value.class} is no table" unless value.is_a?(Enumerable)
        rows = value.to_a
        return of_records(rows, limit) unless rows.any? && rows.all?(Array)
        width = rows.map(&:size).max
        of_columns((0...width).to_h { |i| [i, rows.map { |row| row[i] }] }, limit)
      end

      # The hash that a record is.
      def record(value)
        return value if Hash === value
        value.to_h if Struct === value || (defined?(Data) && Data === value)
      end

      def frame?(value)
        return false if Hash === value || Array === value || Module === value || !(Kernel === value)
        value.respond_to?(:columns) && (value.respond_to?(:to_records) || value.respond_to?(:to_h))
      end

      def few_of(value) = of(value, FEW_CELLS)

      # A tabular data resource; with orient "columns" its data is a hash of columns.
      def resource(table, orient)
        cells = table.rows.map { |row| row.map { |cell| plain(cell) } }
        fields = table.names.each_with_index.map { |name, i| {"name" => name, "type" => kind(table.rows.map { |row| row[i] })} }
        data = if orient == "columns"
                 table.names.each_with_index.to_h { |name, i| [name, cells.map { |row| row[i] }] }
               else
                 cells.map { |row| table.names.zip(row).to_h }
               end
        resource = {"schema" => {"fields" => fields}, "data" => data, "rowCount" => table.count}
        resource["truncated"] = true if table.count > table.rows.size
        resource
      end

      # Aligned columns; the middle of many rows, and columns that do not fit, are counted.
      def text(table)
        before, after = ends(table, TEXT)
        lines, shown = text_columns(table, before + after)
        left_out = table.count - before.size - after.size
        lines.insert(1 + before.size, "… #{grouped(left_out)} more rows …") if left_out > 0
        if left_out > 0 || shown < table.names.size
          some = ", #{shown} shown" if shown < table.names.size
          lines << "[#{grouped(table.count)} rows × #{grouped(table.names.size)} columns#{some}]"
        end
        lines.join("\n")
      end

      def html(table)
        before, after = ends(table, HTML)
        names = table.names.first(HTML[:columns])
        left_out = table.count - before.size - after.size
        line = lambda do |(i, row)|
          "<tr><th>#{i}</th>#{row.first(names.size).map { |cell| "<td>#{Svg.escape(cell_text(cell, HTML[:cell]))}</td>" }.join}</tr>"
        end
        gap = %(<tr><td colspan="#{names.size + 1}">… #{grouped(left_out)} more rows …</td></tr>) if left_out > 0
        note = "<p>#{grouped(table.count)} rows × #{grouped(table.names.size)} columns</p>" if left_out > 0 || names.size < table.names.size
        "<table><thead><tr><th></th>#{names.map { |name| "<th>#{Svg.escape(name)}</th>" }.join}</tr></thead><tbody>" \
          "#{before.map(&line).join}#{gap}#{after.map(&line).join}</tbody></table>#{note}"
      end

      private

      def cell?(cell)
        case cell
        when nil, true, false, Integer, Float, Rational, String, Symbol, Time, Date then true
        else false
        end
      end

      def of_frame(value, limit)
        return of_records(value.to_records.to_a, limit) if value.respond_to?(:to_records)
        columns = value.to_h
        raise ArgumentError, "to_h gave no columns" unless columns.each_value.all? { |column| column.respond_to?(:to_a) }
        of_columns(columns.transform_values(&:to_a), limit)
      end

      def of_columns(columns, limit)
        count = columns.each_value.map(&:size).max || 0
        few = [count, [limit / [columns.size, 1].max, 1].max].min
        Table.new(columns.keys.map(&:to_s), (0...few).map { |i| columns.each_value.map { |column| column[i] } }, count)
      end

      def of_records(values, limit)
        records = values.map { |value| record(value) || raise(ArgumentError, "a #{value.class} is no record of a table") }
        names = records.flat_map(&:keys).uniq
        few = [limit / [names.size, 1].max, 1].max
        Table.new(names.map(&:to_s), records.first(few).map { |cells| names.map { |name| cells[name] } }, records.size)
      end

      def kind(cells)
        found = cells.compact.map do |cell|
          case cell
          when true, false then "boolean"
          when Integer then "integer"
          when Float, Rational then "number"
          when String, Symbol then "string"
          when Time, Date then "datetime"
          else "any"
          end
        end.uniq
        return "number" if found.sort == %w[integer number]
        found.empty? ? "string" : found.size == 1 ? found[0] : "any"
      end

      # What a cell is in JSON.
      def plain(cell)
        case cell
        when nil, true, false, Float, String, Symbol then cell
        when Integer then cell.bit_length > 4096 ? cell_text(cell, 2000) : cell
        when Rational then cell.to_f
        else cell_text(cell, 2000)
        end
      end

      def cell_text(cell, limit)
        text = case cell
               when nil then ""
               when String then JsonText.utf8(cell[0, limit + 1])
               when Symbol then cell.name
               when Float then cell.finite? && cell != cell.to_i ? format("%.6g", cell) : cell.to_s
               when Date then cell.iso8601
               when Time then cell.strftime("%FT%T#{cell.utc_offset == 0 ? "Z" : "%:z"}")
               when Numeric then cell.to_s
               else Inspection.text(cell)
               end
        text = text.gsub(/[\r\n\t]/, "\r" => "\\r", "\n" => "\\n", "\t" => "\\t")
        text.size <= limit ? text : "#{text[0, limit - 1]}…"
      rescue StandardError => e
        "<#{e.class}>"
      end

      # The rows to be shown, with their numbers: those before and those after the gap.
      def ends(table, limits)
        rows = table.rows.each_with_index.map { |row, i| [i, row] }
        return [rows, []] if rows.size == table.count && rows.size <= limits[:head] + limits[:tail]
        [rows.first(limits[:head]), rows.size < table.count ? [] : rows.last(limits[:tail])]
      end

      def text_columns(table, rows)
        numbers = ["", *rows.map { |i, _| i.to_s }]
        width = numbers.map(&:size).max
        lines = numbers.map { |number| number.ljust(width) }
        shown = 0
        table.names.each_with_index do |name, i|
          cells = [cell_text(name, TEXT[:cell]), *rows.map { |_, row| cell_text(row[i], TEXT[:cell]) }]
          size = cells.map(&:size).max
          break if shown > 0 && width + 2 + size > TEXT[:width]
          width += 2 + size
          shown += 1
          is_number = %w[integer number].include?(kind(rows.map { |_, row| row[i] }))
          lines = lines.zip(cells).map { |line, cell| "#{line}  #{is_number ? cell.rjust(size) : cell.ljust(size)}" }
        end
        [lines.map(&:rstrip), shown]
      end

      def grouped(number) = number.to_s.gsub(/(?<=\d)(?=(\d{3})+\z)/, ",")
    end
  end
  private_constant :Tables
end
