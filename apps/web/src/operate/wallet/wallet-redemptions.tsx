import { PageLink } from '../../shared/page-link';
import { consoleApi, type ConsoleBody, dataOf } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column, KeyedTable } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { StateBadge } from '../badges';
import { texts } from '../texts';

type Row = ConsoleBody<'WalletRedemption'>;

const words = texts.wallet;

const COLUMNS: readonly Column<Row>[] = [
  { header: words.made, cell: ({ at }) => <When at={at} /> },
  {
    header: words.id,
    cell: ({ id }) => <RedemptionLink id={id} />,
  },
  {
    header: words.partner,
    cell: ({ partner }) => <span className="text-of-others">{partner.name}</span>,
  },
  { header: words.state, cell: ({ state }) => <StateBadge state={state} /> },
  { header: words.points, isNumber: true, cell: ({ points }) => <Amount value={points} /> },
  { header: words.tokens, isNumber: true, cell: ({ tokens }) => <Amount value={tokens} /> },
  { header: words.usd, isNumber: true, cell: ({ usd }) => <Amount value={usd} isUsd /> },
];

export function WalletRedemptions({ wallet }: { readonly wallet: string }) {
  return (
    <KeyedTable
      caption={words.redemptions}
      queryKey={['operate', 'wallet', wallet, 'redemptions']}
      load={(after, signal) =>
        dataOf(
          consoleApi.GET('/api/operate/wallets/{wallet}/redemptions', {
            params: { path: { wallet }, query: { ...(after !== undefined && { after }) } },
            signal,
          }),
        )
      }
      columns={COLUMNS}
      rowKey={({ id }) => id}
      empty={words.noRedemptions}
      minWidth={860}
    />
  );
}

/** A link to a redemption, with the beginning of its id. */
export function RedemptionLink({ id }: { readonly id: string }) {
  return (
    <PageLink to="/operate/redemptions/$redemption" params={{ redemption: id }} title={id}>
      {`${id.slice(0, 13)}…`}
    </PageLink>
  );
}
