import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { PageLink } from '../../shared/page-link';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column, KeyedTable, Rows } from '../../shared/keyed-table';
import { StatusBadge, type Tone } from '../../shared/status-badge';
import { When } from '../../shared/when';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { StakeSetChoice } from '../stake-set-choice';

type Run = ConsoleBody<'AuditRun'>;
type Row = Run & { readonly tokenSymbol: string | null };

const TONES: Readonly<Record<Run['result'], Tone>> = {
  ok: 'good',
  different: 'bad',
  impossible: 'warning',
};
const words = texts.audits;

export function AuditsPage() {
  const [stakeSet, setStakeSet] = useState('default');
  return (
    <Stack>
      <PageTitle>{words.title}</PageTitle>
      <Text>{words.intro}</Text>
      <StakeSetChoice value={stakeSet} onChange={setStakeSet} />
      <KeyedTable
        caption={words.title}
        queryKey={['operate', 'audits', stakeSet]}
        load={async (after, signal) => {
          const query = { stakeSet, ...(after !== undefined && { after }) };
          const page = await dataOf(
            consoleApi.GET('/api/operate/audits', { params: { query }, signal }),
          );
          const { tokenSymbol, items, next } = page;
          return { items: items.map((item) => ({ ...item, tokenSymbol })), next };
        }}
        columns={COLUMNS}
        rowKey={({ startedAt }) => startedAt}
        empty={words.none}
        minWidth={960}
      />
    </Stack>
  );
}

const sum = (value: string | null, unit: string | null) =>
  value === null ? words.notTold : <Amount value={value} unit={unit ?? undefined} />;

const COLUMNS: readonly Column<Row>[] = [
  { header: words.started, cell: ({ startedAt }) => <When at={startedAt} /> },
  { header: words.result, cell: (run) => <Result run={run} /> },
  { header: words.block, isNumber: true, cell: ({ block }) => <Amount value={block ?? '–'} /> },
  {
    header: words.compared,
    isNumber: true,
    cell: ({ compared, wallets }) =>
      wallets === null ? '–' : `${compared ?? words.notTold} / ${wallets}`,
  },
  {
    header: words.total,
    isNumber: true,
    cell: ({ indexedTotal, result, tokenSymbol }) =>
      result === 'impossible' ? '–' : sum(indexedTotal, tokenSymbol),
  },
  {
    header: words.contractTotal,
    isNumber: true,
    cell: ({ contractTotal, result, tokenSymbol }) =>
      result === 'impossible' ? '–' : sum(contractTotal, tokenSymbol),
  },
];

function Result({ run }: { readonly run: Row }) {
  return (
    <>
      <StatusBadge tone={TONES[run.result]}>{words.results[run.result]}</StatusBadge>
      {run.reason !== null && (
        <Text size="sm" className="text-of-others">
          {run.reason}
        </Text>
      )}
      {run.different.length > 0 && <Differences run={run} />}
    </>
  );
}

function Differences({ run }: { readonly run: Row }) {
  const { different, differences, tokenSymbol } = run;
  const all = differences ?? different.length;
  const unit = tokenSymbol === null ? '' : `, ${tokenSymbol}`;
  return (
    <details>
      <summary>{`${words.differences}: ${all}`}</summary>
      {all > different.length && <Text size="sm">{words.more(different.length, all)}</Text>}
      <Rows
        caption={words.differences}
        items={different}
        rowKey={({ wallet }) => wallet}
        minWidth={420}
        columns={[
          { header: words.wallet, cell: ({ wallet }) => <WalletLink wallet={wallet} /> },
          {
            header: `${words.indexed}${unit}`,
            isNumber: true,
            cell: ({ indexed }) => <Amount value={indexed} />,
          },
          {
            header: `${words.contract}${unit}`,
            isNumber: true,
            cell: ({ contract }) => <Amount value={contract} />,
          },
        ]}
      />
    </details>
  );
}

function WalletLink({ wallet }: { readonly wallet: string }) {
  return (
    <PageLink to="/operate/wallets/$wallet" params={{ wallet }} title={wallet}>
      {`${wallet.slice(0, 10)}…${wallet.slice(-4)}`}
    </PageLink>
  );
}
