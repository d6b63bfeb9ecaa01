import { Button, Code, Group, Paper, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf, refreshing } from '../../api/console-client';
import { Loaded } from '../../shared/loaded';
import { Empty } from '../../shared/placeholders';
import { Problem } from '../../shared/problem';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { When } from '../../shared/when';
import { Fact } from '../overview/card';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { useMayOperate } from '../use-role';

type Approval = ConsoleBody<'Approval'>;

const MOST = 100;
const TONES: Readonly<Record<Approval['state'], Tone>> = {
  open: 'busy',
  expired: 'neutral',
  approved: 'good',
  refused: 'warning',
  withdrawn: 'neutral',
};
const words = texts.approvals;

/** What waits for a second operator, and what became of it. */
export function ApprovalsPage() {
  const [which, setWhich] = useState<'open' | 'all'>('open');
  const [before, setBefore] = useState<string | undefined>(undefined);
  const query = { which, ...(before !== undefined && { before }) };
  const approvals = useQuery({
    queryKey: ['operate', 'approvals', query],
    queryFn: ({ signal, queryKey }) =>
      dataOf(
        consoleApi.GET('/api/operate/approvals', {
          params: { query },
          signal,
          headers: refreshing(queryKey),
        }),
      ),
    refetchInterval: 10_000,
  });
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
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
      <Loaded query={approvals}>
        {({ approvals: found }) => (
          <>
            {found.length === 0 && <Empty>{which === 'open' ? words.none : words.noneEver}</Empty>}
            {found.map((approval) => (
              <OneApproval key={approval.id} approval={approval} />
            ))}
            {which === 'all' && found.length === MOST && (
              <Button
                variant="default"
                onClick={() => {
                  setBefore(found.at(-1)?.id);
                }}
              >
                {words.older}
              </Button>
            )}
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function OneApproval({ approval }: { readonly approval: Approval }) {
  const { action, summary, state, requestedBy, requestedAt, expiresAt, decidedBy } = approval;
  return (
    <Paper component="section" withBorder p="md" maw={820} aria-label={action}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {action}
        </Title>
        <StatusBadge tone={TONES[state]}>{words.states[state]}</StatusBadge>
      </Group>
      <Text my="sm" className="text-of-others">
        {summary}
      </Text>
      <Code block mb="sm" className="text-of-others arguments">
        {JSON.stringify(approval.arguments, undefined, 1)}
      </Code>
      <Fact name={words.requestedBy}>
        {requestedBy}, <When at={requestedAt} />
      </Fact>
      {state === 'open' && (
        <Fact name={words.expires}>
          <When at={expiresAt} />
        </Fact>
      )}
      {decidedBy !== null && (
        <Fact name={words.decided}>
          {decidedBy}, <When at={approval.decidedAt} />
        </Fact>
      )}
      {state === 'approved' && (
        <Fact name={words.outcome}>{approval.outcome ?? words.unknownOutcome}</Fact>
      )}
      {state === 'open' && <Decision approval={approval} />}
    </Paper>
  );
}

function Decision({ approval: { id, isOwn } }: { readonly approval: Approval }) {
  const queries = useQueryClient();
  const mayOperate = useMayOperate();
  const decide = useMutation({
    mutationFn: (decision: 'approve' | 'refuse') =>
      dataOf(
        consoleApi.POST(`/api/operate/approvals/{id}/${decision}`, { params: { path: { id } } }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['operate'] }),
  });
  return (
    <Stack gap="xs" mt="sm">
      {isOwn && <Text size="sm">{words.ownWaits}</Text>}
      {decide.isError && <Problem problem={decide.error} />}
      <Group>
        {!isOwn && (
          <Button
            disabled={!mayOperate}
            loading={decide.isPending}
            onClick={() => {
              decide.mutate('approve');
            }}
          >
            {words.approve}
          </Button>
        )}
        <Button
          variant="default"
          disabled={!mayOperate}
          loading={decide.isPending}
          onClick={() => {
            decide.mutate('refuse');
          }}
        >
          {isOwn ? words.withdraw : words.refuse}
        </Button>
      </Group>
      {!mayOperate && <Text size="sm">{texts.shared.onlyOperators}</Text>}
    </Stack>
  );
}
