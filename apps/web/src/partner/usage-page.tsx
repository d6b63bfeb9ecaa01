import { Select, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { consoleApi } from '../api/console-client';
import { type components } from '../api/console.generated';
import { type Column, Rows } from '../shared/keyed-table';
import { Loaded } from '../shared/loaded';
import { Empty, Skeletons } from '../shared/placeholders';
import { formatUtc } from '../format/time';
import { PageTitle } from './page-title';
import { texts } from './texts';
import { dataOf } from './use-standing';

const words = texts.usage;
type Usage = components['schemas']['OwnUsage'];
type RequestHour = Usage['requests'][number];
type CallHour = Usage['calls'][number];

const HOUR_MS = 3_600_000;
const Chart = lazy(async () => ({ default: (await import('./usage-chart')).UsageChart }));

const REQUEST_SERIES = [
  { name: 'answered', label: words.answered, color: 'teal' },
  { name: 'refused', label: words.refused, color: 'yellow' },
  { name: 'limited', label: words.limited, color: 'orange' },
  { name: 'failed', label: words.failed, color: 'red' },
] as const;
const CALL_SERIES = [
  { name: 'good', label: words.good, color: 'teal' },
  { name: 'errors', label: words.errors, color: 'red' },
  { name: 'unsent', label: words.unsent, color: 'gray' },
] as const;

const HOUR = { header: words.hour, cell: ({ hour }: { hour: string }) => formatUtc(hour) };
const REQUEST_COLUMNS: readonly Column<RequestHour>[] = [
  HOUR,
  ...REQUEST_SERIES.map(({ name, label }) => ({
    header: label,
    isNumber: true,
    cell: (row: RequestHour) => row[name],
  })),
];
const CALL_COLUMNS: readonly Column<CallHour>[] = [
  HOUR,
  { header: words.good, isNumber: true, cell: good },
  { header: words.errors, isNumber: true, cell: ({ errors }) => errors },
  { header: words.unsent, isNumber: true, cell: ({ unsent }) => unsent },
];

function good({ calls, errors, unsent }: CallHour): number {
  return calls - errors - unsent;
}

/** Every hour from the first on, also those in which there was nothing. */
function everyHour<Row extends { readonly hour: string }>(since: string, rows: readonly Row[]) {
  const found = new Map(rows.map((row) => [Date.parse(row.hour), row]));
  const first = Date.parse(since);
  const count = Math.max(0, Math.ceil((Date.now() - first) / HOUR_MS));
  return Array.from({ length: count }, (_, place) => {
    const ms = first + place * HOUR_MS;
    return { hour: new Date(ms).toISOString(), row: found.get(ms) };
  });
}

/** Requests and calls by hour: as charts, and as tables beside. */
export function UsagePage() {
  const [hours, setHours] = useState<'24' | '72' | '168'>('24');
  const query = useQuery({
    queryKey: ['partner', 'usage', hours],
    queryFn: ({ signal }) =>
      dataOf(consoleApi.GET('/api/partner/usage', { params: { query: { hours } }, signal })),
  });
  return (
    <>
      <PageTitle>{texts.nav.usage}</PageTitle>
      <Select
        label={words.hours}
        data={words.spans}
        value={hours}
        allowDeselect={false}
        maw={200}
        mb="md"
        onChange={(chosen) => {
          if (chosen === '24' || chosen === '72' || chosen === '168') setHours(chosen);
        }}
      />
      <Loaded query={query}>{(usage) => <Shown usage={usage} />}</Loaded>
    </>
  );
}

function Shown({ usage: { since, requests, calls } }: { readonly usage: Usage }) {
  return (
    <Stack gap="xl">
      <section>
        <Title order={2} size="h4" mb="xs">
          {words.requests}
        </Title>
        {requests.length === 0 ? (
          <Empty>{words.noRequests}</Empty>
        ) : (
          <>
            <Suspense fallback={<Skeletons lines={6} height={28} />}>
              <Chart
                label={words.requests}
                series={REQUEST_SERIES}
                hours={everyHour(since, requests).map(({ hour, row }) => ({
                  hour,
                  ...Object.fromEntries(REQUEST_SERIES.map(({ name }) => [name, row?.[name] ?? 0])),
                }))}
              />
            </Suspense>
            <Rows
              caption={words.requests}
              items={requests.toReversed()}
              rowKey={({ hour }) => hour}
              columns={REQUEST_COLUMNS}
            />
          </>
        )}
      </section>
      <section>
        <Title order={2} size="h4" mb="xs">
          {words.calls}
        </Title>
        {calls.length === 0 ? (
          <Empty>{words.noCalls}</Empty>
        ) : (
          <>
            <Suspense fallback={<Skeletons lines={6} height={28} />}>
              <Chart
                label={words.calls}
                series={CALL_SERIES}
                hours={everyHour(since, calls).map(({ hour, row }) => ({
                  ...{ hour, good: row === undefined ? 0 : good(row) },
                  ...{ errors: row?.errors ?? 0, unsent: row?.unsent ?? 0 },
                }))}
              />
            </Suspense>
            <Rows
              caption={words.calls}
              items={calls.toReversed()}
              rowKey={({ hour }) => hour}
              columns={CALL_COLUMNS}
            />
          </>
        )}
      </section>
    </Stack>
  );
}
