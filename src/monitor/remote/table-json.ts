/** Rows as columns and data, the form that tracking services read. */
export function tableJson(rows: readonly Readonly<Record<string, unknown>>[]): {
  columns: string[]
  data: unknown[][]
} {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  return { columns, data: rows.map((row) => columns.map((column) => row[column] ?? null)) }
}
