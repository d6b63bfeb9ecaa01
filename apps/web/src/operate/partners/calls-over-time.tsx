import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type ConsoleBody, getFrom } from '../../api/console-client';
import HoursChart, { type HourSeries } from '../../desk/hours-chart';
import { Amount } from '../../shared/amount';
import { type Column, Rows } from '../../shared/keyed-table';
import { Loaded } from '../../shared/loaded';
import { formatUtc } from '../../format/time';
import { deskTexts } from '../desk-texts';
import { Card } from '../card';

type Hour = ConsoleBody<'CallsOfHour'>;

const words = deskTexts.calls;
const RANGES = ['24', '168', '720'] as const;
const SERIES: readonly HourSeries<Hour>[] = [
  {
    label: words.good,
    color: 'good',
    of: ({ calls, refused, errors, unsent }) => calls - refused - errors - unsent,
  },
  { label: words.refused, color: 'refused', of: ({ refused }) => refused },
  { label: words.errors, color: 'errors', of: ({ errors }) => errors },
];
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

export default function CallsOverTime({ partner }: { readonly partner: string }) {
  const [hours, setHours] = useState<(typeof RANGES)[number]>('24');
  const found = useQuery({
    queryKey: ['operate', 'partners', partner, 'hours', hours],
    queryFn: getFrom('/api/operate/partners/{partner}/calls-per-hour', {
      params: { path: { partner }, query: { hours } },
    }),
  });
  return (
    <Card title={words.overTime}>
      <Stack gap="sm">
        <SegmentedControl
          aria-label={words.range}
          data={RANGES.map((value) => ({ value, label: words.hours[value] }))}
          value={hours}
          onChange={(chosen) => setHours(RANGES.find((one) => one === chosen) ?? '24')}
        />
        <Loaded query={found}>
          {({ hours: rows }) =>
            rows.length === 0 ? (
              <Text>{words.noneInTime}</Text>
            ) : (
              <>
                <HoursChart
                  label={words.overTime}
                  lastHours={Number(hours)}
                  rows={rows}
                  series={SERIES}
                />
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
