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
import { type HourSeries, type HourSums, sumsByHour } from './sums-by-hour';

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

/** Counts by hour, one on the other. The same figures are in a table beside it. */
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
