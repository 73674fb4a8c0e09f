// Tables of results as Rust declares them.

/** A column of a table: how its values are shown. Python's `recorded/columns.py` is the same. */
export interface Column {
  key: string;
  heading: string;
  factor: number;
  decimals: number;
  /** Shown where some row has more than zero only. */
  ifAny: boolean;
  /** Whether values of several rows add up to one of all. */
  sums: boolean;
}

/** A table of a summary, as Rust declares it. */
export interface Declared {
  title: string;
  /** Text before each column that names a row, and that column; numbers are told where a VC has several. */
  named: [string, string, boolean][];
  /** Columns and bounds: rows above one of them tell something; all do where there are none. */
  tells: [string, number][];
  columns: Column[];
}
