import { useComputedColorScheme } from '@mantine/core';
import {
  Area,
  CartesianGrid,
  ComposedChart,
  Legend,
  Line,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from 'recharts';
import { type ConsoleBody } from '../../api/console-client';
import { groupDigits } from '../../shared/amount';
import { utcTime } from '../../shared/when';
import { texts } from '../texts';
import { chartData, type Point } from './chart-data';

type History = ConsoleBody<'WalletHistory'>;

const COLORS = {
  light: { low: '#0b7285', line: '#212529', grid: '#ced4da', text: '#343a40', back: '#ffffff' },
  dark: { low: '#22b8cf', line: '#f1f3f5', grid: '#495057', text: '#dee2e6', back: '#2e2e2e' },
};
const words = texts.wallet;

/** A step for the low of each UTC day, and a line for the balance between. Drawn by rounded numbers; what is read is exact. */
export default function BalanceChart({ history }: { readonly history: History }) {
  const colors = COLORS[useComputedColorScheme('light')];
  const { points, domain, ticks } = chartData(history);
  return (
    <div aria-hidden style={{ width: '100%', height: 320 }}>
      <ResponsiveContainer width="100%" height="100%">
        <ComposedChart
          data={[...points]}
          margin={{ top: 8, right: 8, bottom: 8, left: 8 }}
          accessibilityLayer={false}
        >
          <CartesianGrid stroke={colors.grid} vertical={false} />
          <XAxis
            dataKey="atMs"
            type="number"
            domain={[...domain]}
            scale="time"
            tickFormatter={(ms: number) => new Date(ms).toISOString().slice(5, 10)}
            stroke={colors.text}
            fontSize={12}
            ticks={[...ticks]}
          />
          <YAxis stroke={colors.text} fontSize={12} width={70} tickFormatter={shortNumber} />
          <Tooltip
            isAnimationActive={false}
            contentStyle={{ background: colors.back, borderColor: colors.grid, color: colors.text }}
            labelFormatter={(ms) => utcTime(new Date(Number(ms)).toISOString())}
            formatter={(_value, name, item) =>
              exactText(item.payload as Point, String(name), history)
            }
          />
          <Legend
            position="top"
            height={32}
            formatter={(name: string) => <span style={{ color: colors.text }}>{name}</span>}
          />
          <Area
            dataKey="low"
            name={words.low}
            type="stepAfter"
            stroke={colors.low}
            fill={colors.low}
            fillOpacity={0.6}
            activeDot={false}
            isAnimationActive={false}
          />
          <Line
            dataKey="balance"
            name={words.line}
            type="stepAfter"
            stroke={colors.line}
            strokeWidth={2}
            dot={false}
            isAnimationActive={false}
          />
        </ComposedChart>
      </ResponsiveContainer>
    </div>
  );
}

function exactText({ exact }: Point, name: string, { tokenSymbol }: History): string {
  return `${groupDigits(name === words.low ? exact.low : exact.balance)} ${tokenSymbol}`;
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });

function shortNumber(value: number): string {
  return short.format(value);
}
