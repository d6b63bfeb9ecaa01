import { Alert, Button, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { PageTitle } from '../../desk/page-title';
import { Empty, Loaded } from '../../shared/loaded';
import { WithTimes } from '../../shared/when';
import { texts } from '../texts';
import { useApprovalAboveUsd } from '../operator';
import { ApprovalCard } from './approval-card';

type Approval = ConsoleBody<'Approval'>;

const MOST = 100;
const words = texts.approvals;

/** The approval requests that wait for a second operator, and the outcomes of earlier ones. */
export function ApprovalsPage() {
  const [which, setWhich] = useState<'open' | 'all'>('open');
  const [before, setBefore] = useState<string | undefined>(undefined);
  const [decided, setDecided] = useState<Approval | undefined>(undefined);
  const query = { which, ...(before !== undefined && { before }) };
  const approvals = useQuery({
    queryKey: ['operate', 'approvals', query],
    queryFn: pollFrom('/api/operate/approvals', { params: { query } }),
    refetchInterval: 10_000,
  });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Intro />
      <SegmentedControl
        aria-label={words.title}
        maw={280}
        data={[
          { value: 'open', label: words.which.open },
          { value: 'all', label: words.which.all },
        ]}
        value={which}
        onChange={(chosen) => {
          setWhich(chosen === 'all' ? 'all' : 'open');
          setBefore(undefined);
        }}
      />
      {decided !== undefined && <Decided approval={decided} />}
      <Loaded query={approvals}>
        {({ approvals: found }) => (
          <>
            {found.length === 0 && <Empty>{which === 'open' ? words.none : words.noneEver}</Empty>}
            {found.map((approval) => (
              <ApprovalCard key={approval.id} approval={approval} onDecided={setDecided} />
            ))}
            {which === 'all' && found.length === MOST && (
              <Button variant="default" onClick={() => setBefore(found.at(-1)?.id)}>
                {words.older}
              </Button>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function Intro() {
  const aboveUsd = useApprovalAboveUsd();
  if (aboveUsd === undefined) return null;
  return <Text>{aboveUsd === null ? words.introNone : words.intro(aboveUsd)}</Text>;
}

/** The result of the last decision on this page, whose card may have left the list. */
function Decided({ approval: { state, outcome, summary } }: { readonly approval: Approval }) {
  return (
    <Alert
      role="status"
      color={state === 'approved' ? 'teal' : 'cyan'}
      variant="outline"
      title={words.states[state]}
    >
      <Text className="text-of-others">
        <WithTimes text={state === 'approved' ? (outcome ?? words.unknownOutcome) : summary} />
      </Text>
    </Alert>
  );
}
