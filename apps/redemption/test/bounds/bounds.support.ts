/** A service, and players who take as much from it as they can. Named as a test file, without tests of its own. */
import { type Response } from 'supertest';
import { VaultBench } from '#libs/testing/vault';
import {
  addPrice,
  errorOf,
  inState,
  type Service,
  type User,
} from '../../src/testing/redemption-harness.support.js';

const UNIT = 10n ** 18n;
export const tokens = (whole: number): bigint => BigInt(whole) * UNIT;

export type Calldata = `0x${string}`;

/** A redemption whose points were taken, with the calldata of its voucher. */
export interface Taken {
  readonly id: string;
  readonly calldata: Calldata;
}

/** @returns the redemption with its voucher, or the code of the refusal */
export async function voucherFor(
  service: Service,
  user: User,
  points: number,
  partner = 'Arena',
): Promise<Taken | string> {
  const answer: Response = await user.redeem(partner, points);
  if (answer.status !== 201) {
    return String((errorOf(answer) as { code?: string }).code ?? answer.status);
  }
  const id = String(answer.body.id);
  await inState(service, id, 'authorised');
  const { body } = await user.get(`/api/redemptions/${id}`).expect(200);
  return { id, calldata: body.voucher.calldata as Calldata };
}

/** Sends the claim in a block at our clock's time. @returns the vault's refusal */
export async function claim(
  { bench, clock }: Service,
  { calldata }: Taken,
): Promise<string | undefined> {
  const seconds = Math.max(bench.seconds, Math.floor(clock.nowMs() / 1000));
  const transaction = bench.to(VaultBench.STRANGER, calldata);
  const [outcome] = await bench.mineAt(seconds, transaction);
  return outcome?.error;
}

/** Advances our clock and the chain, and makes all earlier blocks final. */
export async function pass({ bench, clock }: Service, seconds: number): Promise<void> {
  clock.advance(seconds * 1000);
  await bench.mineAt(Math.floor(clock.nowMs() / 1000));
  await bench.finalise();
  clock.set(bench.seconds * 1000);
}

/**
 * Redeems and claims until the service or the vault refuses.
 * @param settled what happens to each claim before the next redemption
 * @returns the last refusal
 */
export async function takeAll(
  service: Service,
  user: User,
  {
    points,
    partner,
    settled,
  }: {
    readonly points: number;
    readonly partner?: string;
    readonly settled: (taken: Taken) => Promise<void>;
  },
): Promise<string> {
  for (let round = 0; round < 12; round++) {
    const taken = await voucherFor(service, user, points, partner);
    if (typeof taken === 'string') return taken;
    const refusal = await claim(service, taken);
    if (refusal !== undefined) return refusal;
    await settled(taken);
  }
  throw new Error('nothing refused');
}

/** Makes the claim final, and waits until the service has seen it. */
export function settledAsClaimed(service: Service): (taken: Taken) => Promise<void> {
  return async ({ id }) => {
    await pass(service, 12);
    await inState(service, id, 'claimed');
    await addPrice(service);
  };
}
