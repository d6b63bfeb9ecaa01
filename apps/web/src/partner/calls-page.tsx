import { Group, Select } from '@mantine/core';
import { useState } from 'react';
import { consoleApi, dataOf } from '../api/console-client';
import { KeyedTable } from '../shared/keyed-table';
import { type Call, CALL_COLUMNS } from './call-list';
import { ALL_TIMES, TimeFilter, timesOf } from './filters';
import { PageTitle } from '../desk/page-title';
import { texts } from './texts';

const words = texts.calls;
const STEPS = ['balance', 'deduct', 'revert', 'confirm'] as const satisfies Call['step'][];
const OUTCOMES = ['answer', 'no-answer', 'nothing-sent'] as const;

/** Every call that we made, with what came back and what was thought of it. */
export function CallsPage() {
  const [times, setTimes] = useState(ALL_TIMES);
  const [step, setStep] = useState<string | null>(null);
  const [outcome, setOutcome] = useState<string | null>(null);
  const chosenStep = STEPS.find((one) => one === step);
  const chosenOutcome = OUTCOMES.find((one) => one === outcome);
  const filters = {
    ...timesOf(times),
    ...(chosenStep && { step: chosenStep }),
    ...(chosenOutcome && { outcome: chosenOutcome }),
  };
  return (
    <>
      <PageTitle>{texts.nav.calls}</PageTitle>
      <Group align="end" mb="md">
        <TimeFilter times={times} onChange={setTimes} />
        <Select
          label={words.step}
          data={[...STEPS]}
          placeholder={texts.common.all}
          value={step}
          clearable
          onChange={setStep}
        />
        <Select
          label={words.outcome}
          data={OUTCOMES.map((value) => ({ value, label: words.outcomes[value] ?? value }))}
          placeholder={texts.common.all}
          value={outcome}
          clearable
          onChange={setOutcome}
        />
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
