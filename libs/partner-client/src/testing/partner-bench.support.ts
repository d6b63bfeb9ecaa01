/** A client, and calls to make with it. Named as a test file, without tests of its own. */
import { type Address, mintUuidV7, type PartnerId, type UuidV7 } from '#libs/domain';
import { systemClock } from '#libs/platform';
import { type CallResult } from '../call-result.js';
import { type PartnerCall } from '../partner-endpoint.js';
import { PartnerClient, type PartnerClientOptions } from '../partner-client.js';
import { PartnerEndpoint, type PartnerEndpointFields } from '../partner-endpoint.js';
import { API_KEY, type RoguePartner, SHARED_SECRET } from './rogue-partner.support.js';

export const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7' as Address;
export const REDEMPTION = '019aa632-9d7b-7c01-9b2f-5b0f6f1a2c3d' as UuidV7;

const DEDUCT_BODY = { address: WALLET, deductPoints: 1500, svcRedemptionId: REDEMPTION };
export const DEDUCT: PartnerCall = { step: 'deduct', body: DEDUCT_BODY };
export const BALANCE: PartnerCall = { step: 'balance', address: WALLET };
export const REVERT: PartnerCall = {
  step: 'revert',
  body: { ...DEDUCT_BODY, partnerTransactionId: 'ptx-1', revertReason: 'timeout' },
};
export const CONFIRM: PartnerCall = {
  step: 'confirm',
  body: {
    ...DEDUCT_BODY,
    usdAmount: 15,
    svcAmount: 100,
    priceSvcUsd: 0.15,
    status: 'reverted',
    txnConfirmed: false,
    initialAt: '2026-11-20T06:50:32.426Z',
    pendingAt: '2026-11-20T06:50:33.001Z',
    claimedAt: null,
    revertedAt: '2026-11-20T07:50:33.001Z',
  },
};

/** Time limits of a client that is to reach them. */
export const SHORT = { connectMs: 300, readMs: 600, writeMs: 700 };
/** A busy machine takes seconds for what an idle one does in milliseconds. */
const GENEROUS = { connectMs: 20_000, readMs: 20_000, writeMs: 20_000 };

/** A client with generous time limits. */
export function aClient(options: Partial<PartnerClientOptions> = {}): PartnerClient {
  return new PartnerClient({
    clock: systemClock,
    policy: { allowPrivate: true },
    random: () => 0,
    ...options,
    timeouts: { ...GENEROUS, ...options.timeouts },
  });
}

export function anEndpoint(fields: Partial<PartnerEndpointFields> = {}): PartnerEndpoint {
  return new PartnerEndpoint({
    partnerId: '5f0c1f0e-0000-4000-8000-000000000001' as PartnerId,
    baseUrl: 'http://127.0.0.1:1',
    apiKey: API_KEY,
    sharedSecret: SHARED_SECRET,
    ...fields,
  });
}

/** The endpoint of a partner over plain HTTP. */
export function endpointOf(partner: RoguePartner, path = '/game/v1'): PartnerEndpoint {
  return anEndpoint({ baseUrl: `http://127.0.0.1:${partner.port}${path}` });
}

export function deduct(partner: RoguePartner, client = aClient()): Promise<CallResult> {
  return client.call(endpointOf(partner), DEDUCT);
}

export function anId(ms = Date.now()): UuidV7 {
  return mintUuidV7(ms, Buffer.alloc(10, 7));
}
