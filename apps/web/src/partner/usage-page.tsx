import { Select, Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { type ConsoleBody, getFrom } from '../api/console-client';
import { Rows } from '../shared/keyed-table';
import { Empty, Loaded, Skeletons } from '../shared/loaded';
import { loadPart } from '../shell/upgrades';
import { formatUtc } from '../format/time';
import { type HourSeries } from '../desk/hours-chart';
import { PageTitle } from '../desk/page-title';
import { texts } from './texts';

const words = texts.usage;
type Usage = ConsoleBody<'OwnUsage'>;
type RequestHour = Usage['requests'][number];
type CallHour = Usage['calls'][number];

const Chart = lazy(() => loadPart(() => import('../desk/hours-chart')));

const REQUEST_SERIES: readonly HourSeries<RequestHour>[] = [
  { label: words.answered, color: 'good', of: ({ answered }) => answered },
  { label: words.refused, color: 'refused', of: ({ refused }) => refused },
  { label: words.limited, color: 'limited', of: ({ limited }) => limited },
  { label: words.failed, color: 'errors', of: ({ failed }) => failed },
];
const CALL_SERIES: readonly HourSeries<CallHour>[] = [
  { label: words.good, color: 'good', of: ({ calls, errors, unsent }) => calls - errors - unsent },
  { label: words.errors, color: 'errors', of: ({ errors }) => errors },
  { label: words.unsent, color: 'refused', of: ({ unsent }) => unsent },
];

export function UsagePage() {
  const [hours, setHours] = useState<'24' | '72' | '168'>('24');
  const query = useQuery({
    queryKey: ['partner', 'usage', hours],
    queryFn: getFrom('/api/partner/usage', { params: { query: { hours } } }),
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
      <Loaded query={query}>{(usage) => <Shown usage={usage} lastHours={Number(hours)} />}</Loaded>
    </>
  );
}

interface ShownProps {
  readonly usage: Usage;
  readonly lastHours: number;
}

function Shown({ usage: { requests, calls }, lastHours }: ShownProps) {
  return (
    <Stack gap="xl">
      <ByHour
        title={words.requests}
        empty={words.noRequests}
        series={REQUEST_SERIES}
        rows={requests}
        lastHours={lastHours}
      />
      <ByHour
        title={words.calls}
        empty={words.noCalls}
        series={CALL_SERIES}
        rows={calls}
        lastHours={lastHours}
      />
    </Stack>
  );
}

interface ByHourProps<Row> {
  readonly title: string;
  readonly empty: string;
  readonly series: readonly HourSeries<Row>[];
  readonly rows: readonly Row[];
  readonly lastHours: number;
}

function ByHour<Row extends { readonly hour: string }>(props: ByHourProps<Row>) {
  const { title, empty, series, rows, lastHours } = props;
  return (
    <section>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {rows.length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <>
          <Suspense fallback={<Skeletons lines={6} height={28} />}>
            <Chart
              label={title}
              lastHours={lastHours}
              rows={rows}
              // The type of a lazy component loses the type of its rows.
              series={series as readonly HourSeries<{ hour: string }>[]}
            />
          </Suspense>
          <Rows
            caption={title}
            items={rows.toReversed()}
            rowKey={({ hour }) => hour}
            columns={[
              { header: words.hour, cell: ({ hour }) => formatUtc(hour) },
              ...series.map(({ label, of }) => ({ header: label, isNumber: true, cell: of })),
            ]}
          />
        </>
      )}
    </section>
  );
}
