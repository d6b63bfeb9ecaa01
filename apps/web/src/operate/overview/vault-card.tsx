import { Code, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, pollFrom } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { Loaded } from '../../shared/loaded';
import { StatusBadge } from '../../shared/status-badge';
import { spanText } from '../../shared/when';
import { texts } from '../texts';
import { Card, REFRESH_MS, Fact } from '../card';

type Vault = ConsoleBody<'Vault'>;

const words = texts.overview.vault;

export function VaultCard() {
  const vaults = useQuery({
    queryKey: ['operate', 'overview', 'vaults'],
    queryFn: pollFrom('/api/operate/overview/vaults'),
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  return (
    <Card title={words.title}>
      <Loaded query={vaults}>
        {(data) => (
          <Stack>
            {data.vaults.length === 0 && <Text size="sm">{words.none}</Text>}
            {data.vaults.map((vault) => (
              <OneVault key={vault.address} vault={vault} />
            ))}
          </Stack>
        )}
      </Loaded>
    </Card>
  );
}

function OneVault({ vault }: { readonly vault: Vault }) {
  const { address, isVault, isPaused, balance, remainingInWindow, windowCap, tokenSymbol } = vault;
  const span = spanText(vault.windowSeconds);
  return (
    <div>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Code className="text-of-others">{address}</Code>
        {!isVault && <StatusBadge tone="bad">{words.noVault}</StatusBadge>}
        {isVault && (
          <StatusBadge tone={isPaused ? 'bad' : 'good'}>
            {isPaused ? words.paused : words.open}
          </StatusBadge>
        )}
      </Group>
      {isPaused && <Text size="sm">{words.pausedMeans}</Text>}
      {isVault && balance === '0' && <Text size="sm">{words.emptyMeans}</Text>}
      <Fact name={words.balance}>
        <Amount value={balance} unit={tokenSymbol} />
      </Fact>
      {isVault && (
        <Fact name={words.window(span)}>
          <Amount value={remainingInWindow} unit={tokenSymbol} />{' '}
          <Text span size="sm">
            {words.ofCap('')}
            <Amount value={windowCap} unit={tokenSymbol} />
          </Text>
        </Fact>
      )}
    </div>
  );
}
