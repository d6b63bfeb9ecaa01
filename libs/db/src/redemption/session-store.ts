import { type Address, isUnheldAddress, sessionContent, type SessionTerms } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressBytes, addressOf } from '../connection/rows.js';
import { type EvidenceSeal } from './redemption-row.js';

/** `tokenHash` has 32 bytes, in all functions of this file. */
export type NewSessionRow = Omit<SessionTerms, 'tokenHash'> & { readonly tokenHash: Buffer };

const OPEN = named<
  Record<'tokenHash' | 'wallet' | 'mac', Buffer> & { domain: string; expiresAt: Date }
>(
  'session_open',
  `INSERT INTO redemption.session (token_hash, wallet, domain, expires_at, mac) VALUES (:tokenHash, :wallet, :domain, :expiresAt, :mac)`,
);

const FIND = named<{ tokenHash: Buffer; now: Date; domains: readonly string[] }>(
  'session_find',
  `SELECT encode(wallet, 'hex') AS wallet, domain, expires_at AS "expiresAt", mac FROM redemption.session
    WHERE token_hash = :tokenHash AND expires_at > :now AND domain = ANY (:domains::text[])`,
);

const CLOSE = named<{ tokenHash: Buffer }>(
  'session_close',
  'DELETE FROM redemption.session WHERE token_hash = :tokenHash',
);

const FORGET = named<{ now: Date }>(
  'session_forget',
  'DELETE FROM redemption.session WHERE expires_at <= :now',
);

/**
 * Sessions of wallets. A row has only the SHA-256 of a session's token, so that reading the table does not let a person
 * sign in. It has a MAC under EVIDENCE_KEY, so that writing to the table does not either.
 */
export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly seal: EvidenceSeal,
    /** `siweDomains` is SIWE_DOMAINS. Sessions of other pages are not valid. */
    private readonly settings: { readonly siweDomains: readonly string[] },
  ) {}

  async open(session: NewSessionRow): Promise<void> {
    const { tokenHash, wallet, domain, expiresAtMs } = session;
    const mac = this.seal.mac(contentOf(session));
    const expiresAt = new Date(expiresAtMs);
    await this.database.query(
      OPEN({ tokenHash, wallet: addressBytes(wallet), domain, expiresAt, mac }),
    );
  }

  /**
   * @returns undefined if the session does not exist or has expired, if its row has no valid MAC, so that this service
   * did not write it, or if the wallet is an address without a key
   */
  async find(tokenHash: Buffer, nowMs: number): Promise<Address | undefined> {
    const { siweDomains: domains } = this.settings;
    type Row = { wallet: string; domain: string; expiresAt: Date; mac: Buffer };
    const [row] = await this.database.query<Row>(
      FIND({ tokenHash, now: new Date(nowMs), domains }),
    );
    if (row === undefined) return undefined;
    const { domain, expiresAt, mac } = row;
    const wallet = addressOf(row.wallet);
    const content = contentOf({ tokenHash, wallet, domain, expiresAtMs: expiresAt.getTime() });
    return !isUnheldAddress(wallet) && this.seal.verify(content, mac) ? wallet : undefined;
  }

  async close(tokenHash: Buffer): Promise<void> {
    await this.database.query(CLOSE({ tokenHash }));
  }

  async forgetExpired(nowMs: number): Promise<void> {
    await this.database.query(FORGET({ now: new Date(nowMs) }));
  }
}

function contentOf({ tokenHash, ...terms }: NewSessionRow): string {
  return sessionContent({ ...terms, tokenHash: tokenHash.toString('hex') });
}
