import { type RawAnswer, retryAfterSeconds } from './exchange.js';
import { LowmarkApiError } from './errors.js';
import { type AskedSnapshots } from './snapshots.js';

/** What was asked for is not signed: a refusal that does not name wallet and contract is about others, or about the path. */
export function isAbout(
  { code, message }: { readonly code: string; readonly message: string },
  { wallet, contract }: Pick<AskedSnapshots, 'wallet' | 'contract'>,
): boolean {
  const text = message.toLowerCase();
  const named = contract === undefined ? !text.includes('eip155:') : text.includes(contract);
  return code === 'NOT_FOUND' && text.includes(wallet) && named;
}

export function refusalOf({ status, headers }: RawAnswer, body: unknown): LowmarkApiError {
  const { code, message } = (body ?? {}) as { code?: unknown; message?: unknown };
  return new LowmarkApiError({
    status,
    code: typeof code === 'string' ? code : 'UNKNOWN',
    message: typeof message === 'string' ? message : `The service answered with status ${status}.`,
    retryAfterSeconds: retryAfterSeconds(headers),
  });
}
