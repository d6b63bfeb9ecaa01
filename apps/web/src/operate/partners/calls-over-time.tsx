import { SegmentedControl, Stack, Text, useComputedColorScheme } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Bar, BarChart, CartesianGrid, Legend, ResponsiveContainer, XAxis, YAxis } from 'recharts';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column, Rows } from '../../shared/keyed-table';
import { Loaded } from '../../shared/loaded';
import { formatUtc } from '../../format/time';
import { deskTexts } from '../desk-texts';
import { Card } from '../overview/card';

type Hour = ConsoleBody<'CallsOfHour'>;

const words = deskTexts.calls;
const RANGES = ['24', '168', '720'] as const;
const COLORS = {
  light: {
    good: '#0b7285',
    refused: '#868e96',
    errors: '#c92a2a',
    text: '#343a40',
    grid: '#ced4da',
  },
  dark: {
    good: '#22b8cf',
    refused: '#adb5bd',
    errors: '#ff8787',
    text: '#dee2e6',
    grid: '#495057',
  },
};
const COUNTS = ['calls', 'refused', 'errors', 'unsent'] as const;
const COLUMNS: readonly Column<Hour>[] = [
  { header: words.hour, cell: ({ hour }) => formatUtc(hour).slice(0, 16) },
  { header: words.step, cell: ({ step }) => step },
  ...COUNTS.map((name) => ({
    header: words[name],
    isNumber: true,
    cell: (hour: Hour) => <Amount value={String(hour[name])} />,
  })),
];

/** Our calls to a partner by hour: drawn, and as a table. */
export default function CallsOverTime({ partner }: { readonly partner: string }) {
  const [hours, setHours] = useState<(typeof RANGES)[number]>('24');
  const found = useQuery({
    queryKey: ['operate', 'partners', partner, 'hours', hours],
    queryFn: ({ signal }) =>
      dataOf(
        consoleApi.GET('/api/operate/partners/{partner}/calls-per-hour', {
          params: { path: { partner }, query: { hours } },
          signal,
        }),
      ),
  });
  return (
    <Card title={words.overTime}>
      <Stack gap="sm">
        <SegmentedControl
          aria-label={words.range}
          data={RANGES.map((value) => ({ value, label: words.hours[value] }))}
          value={hours}
          onChange={(chosen) => {
            setHours(RANGES.find((one) => one === chosen) ?? '24');
          }}
        />
        <Loaded query={found}>
          {({ hours: rows }) =>
            rows.length === 0 ? (
              <Text>{words.noneInTime}</Text>
            ) : (
              <>
                <Chart hours={rows} />
                <Rows
                  caption={words.overTimeTable}
                  columns={COLUMNS}
                  rowKey={({ hour, step }) => hour + step}
                  items={rows.toReversed()}
                />
              </>
            )
          }
        </Loaded>
      </Stack>
    </Card>
  );
}

function Chart({ hours }: { readonly hours: readonly Hour[] }) {
  const colors = COLORS[useComputedColorScheme('light')];
  return (
    <div aria-hidden style={{ width: '100%', height: 240 }}>
      <ResponsiveContainer width="100%" height="100%">
        <BarChart data={byHour(hours)} accessibilityLayer={false}>
          <CartesianGrid stroke={colors.grid} vertical={false} />
          <XAxis dataKey="hour" stroke={colors.text} fontSize={12} minTickGap={40} />
          <YAxis stroke={colors.text} fontSize={12} width={50} allowDecimals={false} />
          <Legend position="top" height={32} />
          <Bar
            dataKey="good"
            name={words.good}
            stackId="a"
            fill={colors.good}
            isAnimationActive={false}
          />
          <Bar
            dataKey="refused"
            name={words.refused}
            stackId="a"
            fill={colors.refused}
            isAnimationActive={false}
          />
          <Bar
            dataKey="errors"
            name={words.errors}
            stackId="a"
            fill={colors.errors}
            isAnimationActive={false}
          />
        </BarChart>
      </ResponsiveContainer>
    </div>
  );
}

/** All steps together. */
function byHour(hours: readonly Hour[]) {
  const sums = new Map<string, { good: number; refused: number; errors: number }>();
  for (const { hour, calls, refused, errors, unsent } of hours) {
    const before = sums.get(hour) ?? { good: 0, refused: 0, errors: 0 };
    sums.set(hour, {
      good: before.good + calls - refused - errors - unsent,
      refused: before.refused + refused,
      errors: before.errors + errors,
    });
  }
  return [...sums].map(([hour, counts]) => ({
    hour: hour.slice(5, 16).replace('T', ' '),
    ...counts,
  }));
}
