import { SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { PageLink } from '../../shared/page-link';
import { type ConsoleBody, getFrom } from '../../api/console-client';
import { useNow } from '../../api/server-clock';
import { Amount } from '../../shared/amount';
import { Rows } from '../../shared/keyed-table';
import { Empty, Loaded, Problem, Skeletons } from '../../shared/loaded';
import { spanText, UtcDay, When } from '../../shared/when';
import { StatusBadge } from '../../shared/status-badge';
import { loadPart } from '../../shell/upgrades';
import { Fact } from '../card';
import { PageTitle } from '../../desk/page-title';
import { texts } from '../texts';
import { StakeSetChoice } from '../stake-set-choice';
import { AuditPart } from './audit-part';
import { WalletRedemptions } from './wallet-redemptions';
import { ADDRESS } from './wallets-page';

const BalanceChart = lazy(() => loadPart(() => import('./balance-chart')));

type History = ConsoleBody<'WalletHistory'>;

const RANGES = ['7', '30', '90', 'all'] as const;
/** Longer than the time between two blocks of any chain. */
const OLD_SECONDS = 120;
type Range = (typeof RANGES)[number];
const words = texts.wallet;

export function WalletPage() {
  const { wallet } = useParams({ from: '/operate/wallets/$wallet' });
  return ADDRESS.test(wallet) ? <OneWallet wallet={wallet} /> : <NoWallet text={wallet} />;
}

function NoWallet({ text }: { readonly text: string }) {
  return (
    <Stack align="start">
      <PageTitle>{text}</PageTitle>
      <Problem problem={words.notAddress} />
      <PageLink to="/operate/wallets">{words.another}</PageLink>
    </Stack>
  );
}

function OneWallet({ wallet }: { readonly wallet: string }) {
  const [range, setRange] = useState<Range>('30');
  const [stakeSet, setStakeSet] = useState('default');
  const history = useQuery({
    queryKey: ['operate', 'wallet', wallet, stakeSet, range],
    queryFn: getFrom('/api/operate/wallets/{wallet}/history', {
      params: { path: { wallet }, query: { stakeSet, days: range } },
    }),
  });
  return (
    <Stack>
      <PageTitle>{wallet}</PageTitle>
      <StakeSetChoice value={stakeSet} onChange={setStakeSet} />
      <SegmentedControl
        aria-label={words.days}
        data={RANGES.map((value) => ({ value, label: words.ranges[value] }))}
        value={range}
        onChange={(chosen) => setRange(RANGES.find((known) => known === chosen) ?? '30')}
        maw={420}
      />
      <Loaded query={history} skeleton={<Skeletons lines={8} />}>
        {(data) => <Shown history={data} />}
      </Loaded>
      <AuditPart wallet={wallet} stakeSet={stakeSet} />
      <Title order={2} size="h4">
        {words.redemptions}
      </Title>
      <WalletRedemptions wallet={wallet} />
    </Stack>
  );
}

function Shown({ history }: { readonly history: History }) {
  const { hasStaked, balance, tokenSymbol, indexedUntil, days, changes, isCut } = history;
  if (!hasStaked) return <Empty>{words.never}</Empty>;
  return (
    <>
      <div style={{ maxWidth: 520 }}>
        <Fact name={words.balance}>
          <Amount value={balance} unit={tokenSymbol} /> <Age indexedUntil={indexedUntil} />
        </Fact>
        <Fact name={words.indexedUntil}>
          <When at={indexedUntil} />
        </Fact>
      </div>
      <Title order={2} size="h4">
        {words.chart}
      </Title>
      <Suspense fallback={<Skeletons lines={10} />}>
        <BalanceChart history={history} />
      </Suspense>
      <Text size="sm" c="dimmed">
        {words.chartHint} {isCut && words.cut}
      </Text>
      <Title order={2} size="h4">
        {words.table}
      </Title>
      <div className="tall">
        <Rows
          caption={words.table}
          items={days.toReversed()}
          rowKey={({ day }) => day}
          columns={[
            { header: words.day, cell: (row) => <DayCell {...row} /> },
            {
              header: `${words.low}, ${tokenSymbol}`,
              isNumber: true,
              cell: ({ low }) => <Amount value={low} />,
            },
            {
              header: `${words.closing}, ${tokenSymbol}`,
              isNumber: true,
              cell: ({ closing }) => <Amount value={closing} />,
            },
          ]}
        />
      </div>
      <Title order={2} size="h4">
        {words.changes}
      </Title>
      <div className="tall">
        <Rows
          caption={words.changes}
          items={changes.toReversed()}
          rowKey={({ block }) => block}
          columns={[
            { header: words.at, cell: ({ at }) => <When at={at} /> },
            { header: words.block, isNumber: true, cell: ({ block }) => <Amount value={block} /> },
            {
              header: `${words.balanceThen}, ${tokenSymbol}`,
              isNumber: true,
              cell: ({ balance: then }) => <Amount value={then} />,
            },
          ]}
        />
      </div>
    </>
  );
}

/** Says how old the balance is, if the index is behind. */
function Age({ indexedUntil }: Pick<History, 'indexedUntil'>) {
  const seconds = (useNow() - Date.parse(indexedUntil)) / 1000;
  if (seconds <= OLD_SECONDS) return null;
  return <StatusBadge tone="warning">{words.old(spanText(seconds))}</StatusBadge>;
}

function DayCell({ day, isOpen }: History['days'][number]) {
  return (
    <>
      <UtcDay day={day} />
      {isOpen && (
        <Text span size="xs" c="dimmed">
          {` (${words.openDay})`}
        </Text>
      )}
    </>
  );
}
