import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { consoleApi, dataOf, refreshing } from '../../api/console-client';
import { Amount } from '../../shared/amount';
import { Loaded } from '../../shared/loaded';
import { RedemptionAnchor } from '../call-details';
import { deskTexts } from '../desk-texts';
import { Fact } from '../overview/card';
import { StateBadge } from '../state-badge';

const words = deskTexts.redemptions.columns;

/** The redemption that a request is about, as it is now. */
export function AboutRedemption({ id }: { readonly id: string }) {
  const redemption = useQuery({
    queryKey: ['operate', 'redemptions', 'one', id],
    queryFn: ({ signal, queryKey }) =>
      dataOf(
        consoleApi.GET('/api/operate/redemptions/{redemption}', {
          params: { path: { redemption: id } },
          signal,
          headers: refreshing(queryKey),
        }),
      ),
  });
  return (
    <>
      <Fact name={words.id}>
        <RedemptionAnchor id={id} mayBreak />
      </Fact>
      <Loaded query={redemption}>
        {({ state, reason, partner, wallet, points, tokens, usd }) => (
          <>
            <Fact name={words.usd}>
              <Amount value={usd} />
            </Fact>
            <Fact name={words.points}>
              <Amount value={points} />
            </Fact>
            <Fact name={words.tokens}>
              <Amount value={tokens} maxFraction={6} />
            </Fact>
            <Fact name={words.partner}>
              <bdi>{partner.name}</bdi>
            </Fact>
            <Fact name={words.wallet}>{wallet}</Fact>
            <Fact name={words.state}>
              <StateBadge state={state} />
              {reason !== null && <Text size="xs">{reason}</Text>}
            </Fact>
          </>
        )}
      </Loaded>
    </>
  );
}
