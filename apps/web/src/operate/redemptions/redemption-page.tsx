import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { PageLink } from '../../shared/page-link';
import { serverNowMs } from '../../api/server-clock';
import { type ConsoleBody, getFrom, pollFrom } from '../../api/console-client';
import { Loaded } from '../../shared/loaded';
import { When, WithTimes } from '../../shared/when';
import { Block } from '../call-details';
import { deskTexts } from '../desk-texts';
import { Card, Fact } from '../card';
import { PageTitle } from '../../desk/page-title';
import { StateBadge } from '../badges';
import { Actions } from './actions';
import { Approvals } from './approvals';
import { Timeline } from './timeline';

type Redemption = ConsoleBody<'OperatedRedemption'>;

const words = deskTexts.redemption;
const EVERY_MS = 5_000;

export function RedemptionPage() {
  const { redemption: id } = useParams({ strict: false });
  return id === undefined ? null : <OneRedemption id={id} />;
}

function OneRedemption({ id }: { readonly id: string }) {
  const redemption = useQuery({
    queryKey: ['operate', 'redemptions', 'one', id],
    queryFn: pollFrom('/api/operate/redemptions/{redemption}', {
      params: { path: { redemption: id } },
    }),
    refetchInterval: EVERY_MS,
  });
  return (
    <Stack>
      <PageLink to="/operate/redemptions">{deskTexts.redemptions.title}</PageLink>
      <PageTitle>{id}</PageTitle>
      <Loaded query={redemption}>
        {(found) => (
          <>
            <Standing redemption={found} />
            <Actions redemption={found} />
            <Approvals approvals={found.approvals} />
            <Timeline redemption={found} />
            <Facts redemption={found} />
            <Confirmation redemption={found} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

function Standing({ redemption }: { readonly redemption: Redemption }) {
  return (
    <Card title={words.standing}>
      <StateBadge state={redemption.state} />
      <Text mt="xs" className="text-of-others">
        <WithTimes text={words.waitsFor(redemption.waitsFor)} />
      </Text>
    </Card>
  );
}

function Facts({ redemption: { id, facts } }: { readonly redemption: Redemption }) {
  return (
    <Card title={words.facts}>
      {facts.map(({ name, value }) => (
        <Fact key={name} name={name}>
          <WithTimes text={value} />
        </Fact>
      ))}
      <Evidence id={id} />
    </Card>
  );
}

/** Reads the evidence only on request, since it costs calls to the chain's nodes. */
function Evidence({ id }: { readonly id: string }) {
  const evidence = useQuery({
    queryKey: ['operate', 'redemptions', 'evidence', id],
    queryFn: getFrom('/api/operate/redemptions/{redemption}/evidence', {
      params: { path: { redemption: id } },
    }),
    enabled: false,
  });
  return (
    <>
      <Button
        variant="default"
        loading={evidence.isFetching}
        onClick={() => void evidence.refetch()}
      >
        {words.ask}
      </Button>
      {(evidence.data !== undefined || evidence.error !== null) && (
        <Loaded query={evidence}>
          {({ text }) => (
            <Text mt="xs" role="status" className="text-of-others">
              {words.evidence}: <WithTimes text={text} />
            </Text>
          )}
        </Loaded>
      )}
    </>
  );
}

function Confirmation({ redemption: { confirmation } }: { readonly redemption: Redemption }) {
  return (
    <Card title={words.confirmation}>
      {confirmation === null ? (
        <Text>{words.noConfirmation}</Text>
      ) : (
        <>
          <Fact name={deskTexts.redemptions.columns.state}>{confirmation.state}</Fact>
          <Fact name={words.attempts}>{confirmation.attempts}</Fact>
          <Fact name={words.delivered}>
            <When at={confirmation.deliveredAt} />
          </Fact>
          <Fact name={words.next}>
            <NextAttempt at={confirmation.nextActionAt} />
          </Fact>
          <Block title={words.payload} text={confirmation.payload} />
        </>
      )}
    </Card>
  );
}

/** Time of the next attempt, or that it is due now. */
function NextAttempt({ at }: { readonly at: string | null }) {
  return at !== null && Date.parse(at) <= serverNowMs() ? words.dueNow : <When at={at} />;
}
