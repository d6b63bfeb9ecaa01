import { Text } from '@mantine/core';
import { PageLink } from '../../shared/page-link';
import { type ConsoleBody } from '../../api/console-client';
import { StatusBadge } from '../../shared/status-badge';
import { When, WithTimes } from '../../shared/when';
import { deskTexts } from '../desk-texts';
import { Card, Fact } from '../card';
import { texts } from '../texts';

type Approval = ConsoleBody<'Approval'>;

const words = deskTexts.redemption;

/** The approval requests for this redemption, with their states and outcomes. */
export function Approvals({ approvals }: { readonly approvals: readonly Approval[] }) {
  if (approvals.length === 0) return null;
  return (
    <Card title={words.approvals}>
      {approvals.map((one) => (
        <div key={one.id}>
          <StatusBadge tone={one.state === 'open' ? 'busy' : 'neutral'}>
            {words.states[one.state]}
          </StatusBadge>
          <Text my="xs" className="text-of-others">
            {one.summary}
          </Text>
          <Fact name={texts.approvals.reason}>{one.reason}</Fact>
          <Fact name={words.by}>
            {one.requestedBy}
            {one.decidedBy !== null && `, ${one.decidedBy}`}
          </Fact>
          {one.state === 'open' && (
            <Fact name={texts.approvals.waitsUntil}>
              <When at={one.expiresAt} />
            </Fact>
          )}
          {one.outcome !== null && (
            <Text className="text-of-others">
              <WithTimes text={one.outcome} />
            </Text>
          )}
        </div>
      ))}
      <PageLink to="/operate/approvals">{words.toApprovals}</PageLink>
    </Card>
  );
}
