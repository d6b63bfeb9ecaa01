import { Button, Code, Text } from '@mantine/core';
import { useState } from 'react';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { texts } from '../texts';
import { useMayOperate } from '../operator';
import { RedemptionLink } from '../wallet/wallet-redemptions';
import { AcknowledgeDialog } from './acknowledge-dialog';

type Claim = ConsoleBody<'Claim'>;
/** A claim with the facts that the page gives for all claims. */
type Row = Claim & { readonly tokenSymbol: string | null; readonly consequence: string };

const words = texts.reconciliation;

/** Claims on chain that the ledger does not explain, oldest first. */
export function ClaimsTable({ which }: { readonly which: 'open' | 'all' }) {
  const mayOperate = useMayOperate();
  const [chosen, setChosen] = useState<Row | undefined>(undefined);
  const explanation: Column<Row> = {
    header: words.explained,
    cell: (row) =>
      row.acknowledged === null ? (
        <Button
          size="xs"
          variant="default"
          disabled={!mayOperate || !row.canAcknowledge}
          title={mayOperate ? undefined : texts.shared.onlyOperators}
          onClick={() => setChosen(row)}
        >
          {words.acknowledge}
        </Button>
      ) : (
        <Explained {...row.acknowledged} />
      ),
  };
  return (
    <>
      <KeyedTable
        caption={words.claims}
        queryKey={['operate', 'claims', which]}
        load={async (after, signal) => {
          const query = { which, ...(after !== undefined && { after }) };
          const page = await dataOf(
            consoleApi.GET('/api/operate/reconciliation/claims', { params: { query }, signal }),
          );
          const { tokenSymbol, consequence, items, next } = page;
          return { items: items.map((item) => ({ ...item, tokenSymbol, consequence })), next };
        }}
        columns={[...COLUMNS, explanation]}
        rowKey={({ id, vault, transactionHash }) => `${id} ${vault} ${transactionHash}`}
        empty={words.noClaims}
        minWidth={1000}
      />
      {chosen !== undefined && (
        <AcknowledgeDialog
          claim={chosen}
          consequence={chosen.consequence}
          onClose={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  { header: words.when, cell: ({ blockAt }) => <When at={blockAt} /> },
  { header: words.kind, cell: ({ kind }) => words.kinds[kind] },
  {
    header: words.id,
    cell: ({ id, state }) => (state === null ? <Short text={id} /> : <RedemptionLink id={id} />),
  },
  {
    header: words.amount,
    isNumber: true,
    cell: ({ tokens, amount, tokenSymbol }) => (
      <Amount value={tokens ?? amount} unit={tokenSymbol ?? undefined} />
    ),
  },
  { header: words.recipient, cell: ({ recipient }) => <Short text={recipient} /> },
  { header: words.transaction, cell: ({ transactionHash }) => <Short text={transactionHash} /> },
];

function Short({ text }: { readonly text: string }) {
  return <Code title={text}>{`${text.slice(0, 10)}…${text.slice(-4)}`}</Code>;
}

function Explained({ at, actor, note }: NonNullable<Claim['acknowledged']>) {
  return (
    <>
      <Text size="sm" className="text-of-others">
        {note}
      </Text>
      <Text size="xs" c="dimmed">
        {words.by(actor)}, <When at={at} />
      </Text>
    </>
  );
}
