import { Group, TextInput } from '@mantine/core';
import { texts } from './texts';

export interface Times {
  /** As `datetime-local` has them: the viewer's own time; empty: not set. */
  readonly since: string;
  readonly until: string;
}

export const ALL_TIMES: Times = { since: '', until: '' };

/** For a query of the api. */
export function timesOf({ since, until }: Times): { since?: string; until?: string } {
  return {
    ...(since !== '' && { since: new Date(since).toISOString() }),
    ...(until !== '' && { until: new Date(until).toISOString() }),
  };
}

interface TimeFilterProps {
  readonly times: Times;
  readonly onChange: (times: Times) => void;
}

export function TimeFilter({ times, onChange }: TimeFilterProps) {
  const input = (name: keyof Times) => (
    <TextInput
      type="datetime-local"
      label={texts.common[name]}
      value={times[name]}
      onChange={({ currentTarget }) => {
        onChange({ ...times, [name]: currentTarget.value });
      }}
    />
  );
  return (
    <Group align="end">
      {input('since')}
      {input('until')}
    </Group>
  );
}

const WALLET = /^0x[0-9a-fA-F]{40}$/;

interface WalletFilterProps {
  readonly wallet: string;
  readonly onChange: (wallet: string) => void;
}

export function WalletFilter({ wallet, onChange }: WalletFilterProps) {
  return (
    <TextInput
      label={texts.common.wallet}
      placeholder="0x…"
      value={wallet}
      error={wallet !== '' && !isWallet(wallet) ? '0x and 40 hex digits' : undefined}
      onChange={({ currentTarget }) => {
        onChange(currentTarget.value.trim());
      }}
    />
  );
}

export function isWallet(text: string): boolean {
  return WALLET.test(text);
}
