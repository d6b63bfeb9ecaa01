import { VoucherSigner } from '#libs/chain';
import { type Address } from '#libs/domain';

export function accountAddress(privateKey: string): Address {
  const place = { chainId: 1, vault: `0x${'00'.repeat(19)}01` as Address };
  return new VoucherSigner(place, privateKey).address;
}
