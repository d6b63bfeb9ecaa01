import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { useNow } from '../../api/server-clock';
import { Amount } from '../../shared/amount';
import { Loaded, Problem } from '../../shared/loaded';
import { StatusBadge } from '../../shared/status-badge';
import { spanText, When } from '../../shared/when';
import { ActionOutcome } from '../approvals/second-operator';
import { useMayOperate } from '../operator';
import { texts } from '../texts';
import { Card, REFRESH_MS, Fact } from '../card';
import { AcceptDialog } from './accept-dialog';

type Price = ConsoleBody<'PriceOfSet'>;
type Held = ConsoleBody<'HeldPrice'>;

const OLD_SECONDS = 3_600;
const words = texts.overview.price;

export function PriceCard() {
  const prices = useQuery({
    queryKey: ['operate', 'overview', 'prices'],
    queryFn: pollFrom('/api/operate/overview/prices'),
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card title={words.title}>
      <Loaded query={prices}>
        {(data) => (
          <Stack>
            {data.prices.map((price) => (
              <PriceOfSet key={price.stakeSet} price={price} isOnly={data.prices.length === 1} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function PriceOfSet({ price, isOnly }: { readonly price: Price; readonly isOnly: boolean }) {
  const { stakeSet, stored, hold, accepted } = price;
  return (
    <div>
      {!isOnly && <Text fw={500}>{`${texts.shared.stakeSet} ${stakeSet}`}</Text>}
      {stored === null && hold === null && <Text size="sm">{words.none}</Text>}
      {hold !== null && <Hold hold={hold} stakeSet={stakeSet} />}
      {stored !== null && <Stored stored={stored} />}
      {accepted !== null && (
        <Fact name={words.accepted}>
          <Amount value={accepted.usd} unit="USD" /> {accepted.actor} <When at={accepted.at} />
        </Fact>
      )}
    </div>
  );
}

function Stored({ stored }: { readonly stored: NonNullable<Price['stored']> }) {
  const ageSeconds = (useNow() - Date.parse(stored.observedAt)) / 1000;
  return (
    <>
      <Group justify="space-between" mb="xs">
        <Text fw={500} size="lg">
          <Amount value={stored.usd} unit="USD" />
        </Text>
        {ageSeconds > OLD_SECONDS && <StatusBadge tone="warning">{words.old}</StatusBadge>}
      </Group>
      <Fact name={words.age}>{spanText(ageSeconds)}</Fact>
      <Fact name={words.observed}>
        <When at={stored.observedAt} />
      </Fact>
      <Fact name={words.by}>{stored.source}</Fact>
    </>
  );
}

function Hold({ hold, stakeSet }: { readonly hold: Held; readonly stakeSet: string }) {
  const [isAsked, setIsAsked] = useState(false);
  const [result, setResult] = useState<ConsoleBody<'ActionResult'>>();
  const mayOperate = useMayOperate();
  return (
    <>
      <Problem
        problem={words.heldWhy(hold.because)}
        advice={hold.isAccepted ? words.heldAccepted : words.heldDo}
      />
      {!hold.isAccepted && mayOperate && (
        <Button variant="outline" color="red" my="xs" onClick={() => setIsAsked(true)}>
          {words.accept}
        </Button>
      )}
      {result !== undefined && <ActionOutcome result={result} />}
      {isAsked && (
        <AcceptDialog stakeSet={stakeSet} onDone={setResult} onClose={() => setIsAsked(false)} />
      )}
      <Fact name={words.now}>
        <Amount value={hold.usd} unit="USD" /> {hold.source}
      </Fact>
      {hold.beforeUsd !== null && (
        <Fact name={words.before}>
          <Amount value={hold.beforeUsd} unit="USD" />
        </Fact>
      )}
      <Fact name={words.held}>
        <When at={hold.since} />
      </Fact>
    </>
  );
}
