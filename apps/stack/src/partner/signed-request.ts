import { pathOf, signedContent } from '#libs/domain';
import { verifySignature } from '#libs/signing';
import { type StackPartner } from '../data/stack-file.js';

export interface RequestOutcome {
  readonly status: number;
  readonly verified: boolean;
  readonly body: string;
}

/** The address of a wallet's snapshots. */
export function snapshotsUrl(apiUrl: string, wallet: string): string {
  return `${apiUrl}/api/staking/snapshots?walletAddress=${wallet}&lastDays=7`;
}

/** The request that a partner would type; `-i` shows the signature. */
export function curlCommand(url: string, partner: StackPartner): string {
  return `curl -i -H 'X-API-KEY: ${partner.apiKey}' '${url}'`;
}

/** Sends that request and verifies the answer's signature over the bytes received, as a partner does. */
export async function request(url: string, partner: StackPartner): Promise<RequestOutcome> {
  const answer = await fetch(url, {
    headers: { 'X-API-KEY': partner.apiKey },
    signal: AbortSignal.timeout(10_000),
  });
  const body = await answer.text();
  const content = signedContent({ method: 'GET', path: pathOf(url), body });
  const signature = answer.headers.get('X-API-SIGNATURE') ?? undefined;
  return {
    status: answer.status,
    verified: verifySignature(partner.sharedSecret, content, signature),
    body,
  };
}
