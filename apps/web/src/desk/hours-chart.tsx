import { useComputedColorScheme } from '@mantine/core';
import {
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';

const COLORS = {
  light: { good: '#0b7285', refused: '#868e96', limited: '#e8590c', errors: '#c92a2a' },
  dark: { good: '#22b8cf', refused: '#adb5bd', limited: '#ffa94d', errors: '#ff8787' },
};
const GROUND = {
  light: { grid: '#ced4da', text: '#343a40', back: '#ffffff' },
  dark: { grid: '#495057', text: '#dee2e6', back: '#2e2e2e' },
};

interface HoursChartProps<Row> {
  readonly label: string;
  readonly lastHours: number;
  readonly rows: readonly Row[];
  readonly series: readonly HourSeries<Row>[];
}

/** A stacked chart of counts per hour. A table beside it has the same numbers. */
export default function HoursChart<Row extends { readonly hour: string }>({
  label,
  lastHours,
  rows,
  series,
}: HoursChartProps<Row>) {
  const scheme = useComputedColorScheme('light');
  const { grid, text, back } = GROUND[scheme];
  return (
    <div role="img" aria-label={label}>
      <ResponsiveContainer width="100%" height={240}>
        <BarChart
          data={sumsByHour(lastHours, rows, series)}
          margin={{ right: 32 }}
          accessibilityLayer={false}
        >
          <CartesianGrid stroke={grid} vertical={false} />
          <XAxis
            dataKey="hour"
            tickFormatter={(hour: string) => hourText(hour).slice(5)}
            stroke={text}
            fontSize={12}
            minTickGap={40}
          />
          <YAxis allowDecimals={false} width={50} stroke={text} fontSize={12} />
          <Tooltip
            isAnimationActive={false}
            labelFormatter={(hour) => (typeof hour === 'string' ? `${hourText(hour)} UTC` : hour)}
            contentStyle={{ background: back, borderColor: grid, color: text }}
          />
          <Legend
            position="top"
            height={32}
            itemSorter={null}
            formatter={(name: string) => <span style={{ color: text }}>{name}</span>}
          />
          {series.map(({ label: name, color }, place) => (
            <Bar
              key={name}
              dataKey={({ sums }: HourSums) => sums[place] ?? 0}
              name={name}
              stackId="all"
              fill={COLORS[scheme][color]}
              isAnimationActive={false}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

function hourText(hour: string): string {
  return hour.slice(0, 16).replace('T', ' ');
}

const HOUR_MS = 3_600_000;

export interface HourSeries<Row> {
  readonly label: string;
  readonly color: 'good' | 'refused' | 'limited' | 'errors';
  readonly of: (row: Row) => number;
}

interface HourSums {
  /** Beginning of the hour, ISO 8601. */
  readonly hour: string;
  readonly sums: readonly number[];
}

/** Sums for each of the last hours, including hours without rows, up to the current hour. */
function sumsByHour<Row extends { readonly hour: string }>(
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
