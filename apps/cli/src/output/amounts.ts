import { decimalText } from '#libs/db';
import { type Redemption } from '#libs/domain';

/** All digits, without the zeros at the end. */
export function tokensText({
  tokenAmount,
  tokenDecimals,
}: Pick<Redemption, 'tokenAmount' | 'tokenDecimals'>): string {
  const text = decimalText({ digits: tokenAmount, scale: tokenDecimals });
  return tokenDecimals === 0 ? text : text.replace(/\.?0+$/, '');
}
