import { Alert, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ConsoleBody, getFrom } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { Rows } from '../../shared/keyed-table';
import { Empty, Loaded } from '../../shared/loaded';
import { StatusBadge } from '../../shared/status-badge';
import { When, WithTimes } from '../../shared/when';
import { Fact } from '../card';
import { texts } from '../texts';

type Run = ConsoleBody<'Reconciliation'>;
type Money = ConsoleBody<'Money'>;

const words = texts.reconciliation;

export function LastRun() {
  const run = useQuery({
    queryKey: ['operate', 'reconciliation', 'last'],
    queryFn: getFrom('/api/operate/reconciliation'),
  });
  return (
    <Loaded query={run}>
      {(data) => (data.at === null ? <Empty>{words.never}</Empty> : <Found run={data} />)}
    </Loaded>
  );
}

function Found({ run }: { readonly run: Run }) {
  const unit = run.tokenSymbol ?? undefined;
  return (
    <Stack>
      <Paper withBorder p="md" maw={620}>
        <Title order={2} size="h4" mb="sm">
          {words.last}
        </Title>
        <Fact name={texts.audits.started}>
          <When at={run.at} />
        </Fact>
        <Fact name={words.chain}>
          <Amount value={String(run.chainClaims)} />
          {', '}
          <Amount value={run.chainTokens ?? '–'} unit={unit} />
        </Fact>
        <Fact name={words.ledger}>
          <Amount value={String(run.ledgerClaims)} />
          {', '}
          <Amount value={run.ledgerTokens ?? '–'} unit={unit} />
        </Fact>
        {run.differences.length === 0 && <StatusBadge tone="good">{words.agrees}</StatusBadge>}
        {run.isOutdated && <Text size="sm">{words.outdated}</Text>}
      </Paper>
      {run.differences.map(({ kind, severity, text }) => (
        <Alert
          key={`${kind} ${text}`}
          variant="outline"
          color={severity === 'critical' ? 'red' : 'orange'}
          title={
            <Group gap="xs">
              <span>{kind}</span>
              <StatusBadge tone={severity === 'critical' ? 'bad' : 'warning'}>
                {severity}
              </StatusBadge>
            </Group>
          }
          className="text-of-others"
        >
          <WithTimes text={text} />
        </Alert>
      ))}
      <Title order={2} size="h4">
        {words.ledgers}
      </Title>
      {run.ledgers.length === 0 ? <Empty>{words.noLedgers}</Empty> : <Ledgers run={run} />}
    </Stack>
  );
}

function Ledgers({ run: { ledgers, tokenSymbol } }: { readonly run: Run }) {
  const money = (value: Money) => (
    <>
      <Amount value={value.points} unit={words.points} />
      <br />
      <Amount value={value.tokens ?? '–'} unit={tokenSymbol ?? undefined} />
    </>
  );
  return (
    <Rows
      caption={words.ledgers}
      items={ledgers}
      rowKey={({ partner }) => partner.id}
      minWidth={760}
      columns={[
        {
          header: words.partner,
          cell: ({ partner }) => <span className="text-of-others">{partner.name}</span>,
        },
        { header: words.deducted, isNumber: true, cell: ({ deducted }) => money(deducted) },
        { header: words.claimed, isNumber: true, cell: ({ claimed }) => money(claimed) },
        { header: words.reverted, isNumber: true, cell: ({ reverted }) => money(reverted) },
        { header: words.open, isNumber: true, cell: ({ open }) => money(open) },
      ]}
    />
  );
}
