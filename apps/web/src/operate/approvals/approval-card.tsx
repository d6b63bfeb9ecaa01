import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { refresh } from '../../api/query-client';
import { PageLink } from '../../shared/page-link';
import { consoleApi, type ConsoleBody, dataOf, pollFrom } from '../../api/console-client';
import { ConfirmDialog } from '../../desk/confirm-dialog';
import { Loaded, Problem } from '../../shared/loaded';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { When, WithTimes } from '../../shared/when';
import { FoldedBlock, RedemptionAnchor } from '../call-details';
import { Fact } from '../card';
import { texts } from '../texts';
import { useMayOperate } from '../operator';
import { Amount } from '../../shared/amount';
import { deskTexts } from '../desk-texts';
import { StateBadge } from '../badges';

type Approval = ConsoleBody<'Approval'>;

const TONES: Readonly<Record<Approval['state'], Tone>> = {
  open: 'busy',
  expired: 'neutral',
  approved: 'good',
  refused: 'warning',
  withdrawn: 'neutral',
};
const words = texts.approvals;

interface CardProps {
  readonly approval: Approval;
  readonly onDecided: (approval: Approval) => void;
}

/** One approval request, with all facts for the second operator's decision. */
export function ApprovalCard({ approval, onDecided }: CardProps) {
  const { action, summary, state, requestedBy, requestedAt, expiresAt, decidedBy } = approval;
  const { id: redemption, partnerName } = approval.arguments;
  const { partner } = approval;
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
      {typeof redemption === 'string' && <AboutRedemption id={redemption} />}
      {partner !== null && (
        <Fact name={words.partner}>
          <PageLink to="/operate/partners/$partner" params={{ partner: partner.id }}>
            <bdi>{partner.name}</bdi>, {partner.id}
          </PageLink>
          {typeof partnerName === 'string' && partnerName !== partner.name && (
            <Text size="sm">{words.renamed(partnerName)}</Text>
          )}
        </Fact>
      )}
      <Fact name={words.requestedBy}>
        {requestedBy}, <When at={requestedAt} />
      </Fact>
      <Fact name={words.reason}>{approval.reason}</Fact>
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
        <Fact name={words.outcome}>
          <WithTimes text={approval.outcome ?? words.unknownOutcome} />
        </Fact>
      )}
      <FoldedBlock
        title={words.arguments}
        text={JSON.stringify(approval.arguments, undefined, 1)}
      />
      {state === 'open' && <Decision approval={approval} onDecided={onDecided} />}
    </Paper>
  );
}

function Decision({ approval, onDecided }: CardProps) {
  const { id, isOwn, summary } = approval;
  const [isAsked, setIsAsked] = useState(false);
  const mayOperate = useMayOperate();
  const decide = useMutation({
    mutationFn: (decision: 'approve' | 'refuse') =>
      dataOf(
        consoleApi.POST(`/api/operate/approvals/{id}/${decision}`, { params: { path: { id } } }),
      ),
    onSuccess: async (decided) => {
      onDecided(decided);
      await refresh('operate');
    },
    onError: () => setIsAsked(false),
  });
  return (
    <Stack gap="xs" mt="sm">
      {isOwn && <Text size="sm">{words.ownWaits}</Text>}
      {decide.isError && <Problem problem={decide.error} />}
      <Group>
        {!isOwn && (
          <Button disabled={!mayOperate} onClick={() => setIsAsked(true)}>
            {words.approve}
          </Button>
        )}
        <Button
          variant="default"
          disabled={!mayOperate}
          loading={decide.isPending}
          onClick={() => decide.mutate('refuse')}
        >
          {isOwn ? words.withdraw : words.refuse}
        </Button>
      </Group>
      {!mayOperate && <Text size="sm">{texts.shared.onlyOperators}</Text>}
      {isAsked && (
        <ConfirmDialog
          title={words.approve}
          isFinal
          consequence={`${words.confirm} ${summary}`}
          action={{ ...decide, error: null, mutate: () => decide.mutate('approve') }}
          onClose={() => setIsAsked(false)}
        />
      )}
    </Stack>
  );
}

function AboutRedemption({ id }: { readonly id: string }) {
  const { columns } = deskTexts.redemptions;
  const redemption = useQuery({
    queryKey: ['operate', 'redemptions', 'one', id],
    queryFn: pollFrom('/api/operate/redemptions/{redemption}', {
      params: { path: { redemption: id } },
    }),
  });
  return (
    <>
      <Fact name={columns.id}>
        <RedemptionAnchor id={id} mayBreak />
      </Fact>
      <Loaded query={redemption}>
        {({ state, reason, partner, wallet, points, tokens, usd }) => (
          <>
            <Fact name={columns.usd}>
              <Amount value={usd} isUsd />
            </Fact>
            <Fact name={columns.points}>
              <Amount value={points} />
            </Fact>
            <Fact name={columns.tokens}>
              <Amount value={tokens} />
            </Fact>
            <Fact name={columns.partner}>
              <bdi>{partner.name}</bdi>
            </Fact>
            <Fact name={columns.wallet}>{wallet}</Fact>
            <Fact name={columns.state}>
              <StateBadge state={state} />
              {reason !== null && <Text size="xs">{reason}</Text>}
            </Fact>
          </>
        )}
      </Loaded>
    </>
  );
}
