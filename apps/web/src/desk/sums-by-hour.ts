const HOUR_MS = 3_600_000;

/** A count of each row that a chart draws. */
export interface HourSeries<Row> {
  readonly label: string;
  readonly color: 'good' | 'refused' | 'limited' | 'errors';
  readonly of: (row: Row) => number;
}

export interface HourSums {
  /** ISO 8601. */
  readonly hour: string;
  /** Of each series. */
  readonly sums: readonly number[];
}

/** The last hours up to this one, also those in which there was nothing, with the one that has begun before them. */
export function sumsByHour<Row extends { readonly hour: string }>(
  lastHours: number,
  rows: readonly Row[],
  series: readonly HourSeries<Row>[],
): HourSums[] {
  const first = (Math.floor(Date.now() / HOUR_MS) - lastHours) * HOUR_MS;
  const found = new Map<number, Row[]>();
  for (const row of rows) {
    const ms = Date.parse(row.hour);
    found.set(ms, [...(found.get(ms) ?? []), row]);
  }
  return Array.from({ length: lastHours + 1 }, (_, place) => {
    const ms = first + place * HOUR_MS;
    const ofHour = found.get(ms) ?? [];
    const sums = series.map(({ of }) => ofHour.reduce((sum, row) => sum + of(row), 0));
    return { hour: new Date(ms).toISOString(), sums };
  });
}
