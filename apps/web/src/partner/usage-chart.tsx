import { useMantineTheme } from '@mantine/core';
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

interface UsageChartProps {
  readonly label: string;
  readonly series: readonly {
    readonly name: string;
    readonly label: string;
    readonly color: string;
  }[];
  readonly hours: readonly Readonly<Record<string, string | number>>[];
}

/** Counts by hour, one on the other. The same figures are in a table beside it. */
export function UsageChart({ label, series, hours }: UsageChartProps) {
  const { colors } = useMantineTheme();
  return (
    <div role="img" aria-label={label}>
      <ResponsiveContainer width="100%" height={240}>
        <BarChart data={[...hours]} accessibilityLayer={false}>
          <CartesianGrid strokeDasharray="3 3" vertical={false} />
          <XAxis
            dataKey="hour"
            tickFormatter={(hour: string) => hour.slice(11, 16)}
            stroke="currentColor"
          />
          <YAxis allowDecimals={false} width={48} stroke="currentColor" />
          <Tooltip
            labelFormatter={(hour) => (typeof hour === 'string' ? hourText(hour) : hour)}
            contentStyle={{ background: 'var(--mantine-color-body)' }}
          />
          <Legend />
          {series.map(({ name, label: shown, color }) => (
            <Bar
              key={name}
              dataKey={name}
              name={shown}
              stackId="all"
              fill={colors[color]?.[6] ?? color}
              isAnimationActive={false}
            />
          ))}
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

function hourText(hour: string): string {
  return `${hour.slice(0, 16).replace('T', ' ')} UTC`;
}
