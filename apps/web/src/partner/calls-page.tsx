import { Group } from '@mantine/core';
import { consoleApi, dataOf } from '../api/console-client';
import { KeyedTable } from '../shared/keyed-table';
import { CALL_COLUMNS } from './call-list';
import { type Call } from './call-detail';
import { useChoice, useTimes } from './filters';
import { PageTitle } from '../desk/page-title';
import { texts } from './texts';

const words = texts.calls;
const STEPS = ['balance', 'deduct', 'revert', 'confirm'] as const satisfies Call['step'][];
const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;

export function CallsPage() {
  const times = useTimes();
  const step = useChoice({ label: words.step, values: STEPS });
  const outcome = useChoice({
    label: words.outcome,
    values: OUTCOMES,
    nameOf: (value) => words.outcomes[value] ?? value,
  });
  const failed = useChoice({
    label: words.verdict,
    values: ['failed'],
    nameOf: () => words.failed,
  });
  const filters = {
    ...times.query,
    ...(step.chosen && { step: step.chosen }),
    ...(outcome.chosen && { outcome: outcome.chosen }),
    which: failed.chosen ?? ('all' as const),
  };
  return (
    <>
      <PageTitle>{texts.nav.calls}</PageTitle>
      <Group align="end" mb="md">
        {times.input}
        {step.input}
        {outcome.input}
        {failed.input}
      </Group>
      <KeyedTable
        caption={words.caption}
        queryKey={['partner', 'calls', filters]}
        load={async (before, signal) => {
          const query = { ...filters, ...(before !== undefined && { before }) };
          const page = await dataOf(
            consoleApi.GET('/api/partner/calls', { params: { query }, signal }),
          );
          return { items: page.calls, next: page.next };
        }}
        rowKey={({ requestId }) => requestId}
        empty={words.empty}
        columns={CALL_COLUMNS}
      />
    </>
  );
}
