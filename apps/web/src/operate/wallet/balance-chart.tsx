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
import { formatDecimal } from '../../format/amount';
import { formatUtc } from '../../format/time';
import { useTexts } from '../../texts/texts-context';
import { texts } from '../texts';
import { chartData, type Point } from './chart-data';

type History = ConsoleBody<'WalletHistory'>;

const COLORS = {
  light: { low: '#0b7285', line: '#212529', grid: '#ced4da', text: '#343a40', back: '#ffffff' },
  dark: { low: '#22b8cf', line: '#f1f3f5', grid: '#495057', text: '#dee2e6', back: '#2e2e2e' },
};
const words = texts.wallet;

/** Draws the low of each UTC day as steps, and the balance as a line. Positions are rounded, displayed values exact. */
export default function BalanceChart({ history }: { readonly history: History }) {
  const colors = COLORS[useComputedColorScheme('light')];
  const { locale } = useTexts();
  const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 2 });
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
          <YAxis
            stroke={colors.text}
            fontSize={12}
            width={70}
            tickFormatter={(value: number) => short.format(value)}
          />
          <Tooltip
            isAnimationActive={false}
            contentStyle={{ background: colors.back, borderColor: colors.grid, color: colors.text }}
            labelFormatter={(ms) => formatUtc(new Date(Number(ms)).toISOString())}
            formatter={(_value, name, item) =>
              exactText(item.payload as Point, String(name), { history, locale })
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

interface Shown {
  readonly history: History;
  readonly locale: string;
}

function exactText({ exact }: Point, name: string, { history, locale }: Shown): string {
  const amount = name === words.low ? exact.low : exact.balance;
  return `${formatDecimal(amount, { locale })} ${history.tokenSymbol}`;
}
