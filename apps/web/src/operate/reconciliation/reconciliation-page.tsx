import { SegmentedControl, Stack, Title } from '@mantine/core';
import { useState } from 'react';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { ClaimsTable } from './claims-table';
import { LastRun } from './last-run';

const words = texts.reconciliation;

/** The last reconciliation of ledger and chain, and the claims that need an explanation. */
export function ReconciliationPage() {
  const [which, setWhich] = useState<'open' | 'all'>('open');
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <LastRun />
      <Title order={2} size="h4">
        {words.claims}
      </Title>
      <SegmentedControl
        aria-label={words.claims}
        maw={280}
        data={[
          { value: 'open', label: words.which.open },
          { value: 'all', label: words.which.all },
        ]}
        value={which}
        onChange={(chosen) => setWhich(chosen === 'all' ? 'all' : 'open')}
      />
      <ClaimsTable which={which} />
    </Stack>
  );
}
