import { Box, Text } from '@mantine/core';
import { type ConsoleBody } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { type Column } from '../../shared/keyed-table';
import { When } from '../../shared/when';
import { RedemptionAnchor } from '../call-details';
import { deskTexts } from '../desk-texts';
import { StateBadge } from '../badges';

type Redemption = ConsoleBody<'ListedRedemption'>;

const words = deskTexts.redemptions;

/** Minimum width of a list of redemptions, in px. */
export const REDEMPTIONS_WIDTH = 940;

/** The amounts come before the wallet, so that they are visible on a narrow screen without scrolling. */
export const REDEMPTION_COLUMNS: readonly Column<Redemption>[] = [
  {
    header: words.columns.id,
    cell: ({ id }) => (
      <Box miw={150}>
        <RedemptionAnchor id={id} mayBreak />
      </Box>
    ),
  },
  {
    header: words.columns.state,
    cell: ({ state, reason }) => (
      <>
        <StateBadge state={state} />
        {reason !== null && <Text size="xs">{reason}</Text>}
      </>
    ),
  },
  {
    header: words.columns.points,
    isNumber: true,
    cell: ({ points }) => <Amount value={points} />,
  },
  {
    header: words.columns.tokens,
    isNumber: true,
    cell: ({ tokens }) => <Amount value={tokens} />,
  },
  {
    header: words.columns.usd,
    isNumber: true,
    cell: ({ usd }) => <Amount value={usd} isUsd />,
  },
  { header: words.columns.since, cell: ({ stateSince }) => <When at={stateSince} /> },
  {
    header: words.columns.partner,
    cell: ({ partner }) => (
      <Box miw={120}>
        <bdi className="text-of-others">{partner.name}</bdi>
      </Box>
    ),
  },
  {
    header: words.columns.wallet,
    cell: ({ wallet }) => (
      <Box miw={170}>
        <span className="text-of-others">{wallet}</span>
      </Box>
    ),
  },
];
