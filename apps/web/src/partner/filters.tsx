import { Button, Group, Select, TextInput } from '@mantine/core';
import { type Column } from '../shared/keyed-table';
import { useKept } from '../shared/use-kept';
import { texts } from './texts';

interface Times {
  /** Values of `datetime-local` inputs, in the reader's time zone; empty where not set. */
  readonly since: string;
  readonly until: string;
}

const ALL_TIMES: Times = { since: '', until: '' };

function timesOf({ since, until }: Times): { since?: string; until?: string } {
  return {
    ...(since !== '' && { since: new Date(since).toISOString() }),
    ...(until !== '' && { until: new Date(until).toISOString() }),
  };
}

interface TimeFilterProps {
  readonly times: Times;
  readonly onChange: (times: Times) => void;
}

function TimeFilter({ times, onChange }: TimeFilterProps) {
  const input = (name: keyof Times) => (
    <TextInput
      type="datetime-local"
      label={texts.common[name]}
      value={times[name]}
      onChange={({ currentTarget }) => onChange({ ...times, [name]: currentTarget.value })}
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

function WalletFilter({ wallet, onChange }: WalletFilterProps) {
  return (
    <TextInput
      label={texts.common.wallet}
      placeholder="0x…"
      value={wallet}
      error={wallet !== '' && !isWallet(wallet) ? '0x and 40 hex digits' : undefined}
      onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
    />
  );
}

export function isWallet(text: string): boolean {
  return WALLET.test(text);
}

/** The time filter of a list: its inputs, and its parameters for a query. */
export function useTimes() {
  const [times, setTimes] = useKept('times', ALL_TIMES);
  return { query: timesOf(times), input: <TimeFilter times={times} onChange={setTimes} /> };
}

/** The wallet filter of a list; applies once the text is a complete address. */
export function useWallet() {
  const [wallet, setWallet] = useKept('wallet', '');
  return {
    query: isWallet(wallet) ? { wallet } : {},
    input: <WalletFilter wallet={wallet} onChange={setWallet} />,
  };
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly values: readonly Value[];
  readonly nameOf?: (value: Value) => string;
}

export function useChoice<Value extends string>({
  label,
  values,
  nameOf = String,
}: ChoiceProps<Value>) {
  const [chosen, setChosen] = useKept<Value | undefined>(label, undefined);
  const input = (
    <Select
      label={label}
      data={values.map((value) => ({ value, label: nameOf(value) }))}
      placeholder={texts.common.all}
      value={chosen ?? null}
      clearable
      onChange={(text) => setChosen(values.find((value) => value === text))}
    />
  );
  return { chosen, input };
}

/** The last column of a list, with a button that shows the details of a row. */
export function showColumn<Row extends { readonly id: string }>(
  onShow: (id: string) => void,
): Column<Row> {
  return {
    header: texts.common.show,
    isAction: true,
    cell: ({ id }) => (
      <Button size="compact-sm" variant="default" onClick={() => onShow(id)}>
        {texts.common.show}
      </Button>
    ),
  };
}
