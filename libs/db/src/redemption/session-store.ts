import { type Address, sessionContent, type SessionTerms } from '#libs/domain';
import { type Database, type Statement } from '../connection/database.js';
import { addressOf } from '../rows.js';
import { type EvidenceSeal } from './evidence-seal.js';
import { addressBytes } from './redemption-row.js';

const OPEN: Statement = {
  name: 'session_open',
  text: 'INSERT INTO redemption.session (token_hash, wallet, domain, expires_at, mac) VALUES ($1, $2, $3, $4, $5)',
};
const FIND: Statement = {
  name: 'session_find',
  text: `SELECT encode(wallet, 'hex') AS wallet, domain, expires_at, mac FROM redemption.session
    WHERE token_hash = $1 AND expires_at > $2 AND domain = ANY($3)`,
};
const CLOSE: Statement = {
  name: 'session_close',
  text: 'DELETE FROM redemption.session WHERE token_hash = $1',
};
const FORGET: Statement = {
  name: 'session_forget',
  text: 'DELETE FROM redemption.session WHERE expires_at <= $1',
};

interface SessionRow {
  readonly wallet: string;
  readonly domain: string;
  readonly expires_at: Date;
  readonly mac: Buffer | null;
}

/** `tokenHash`: 32 bytes, here and below. */
export type NewSessionRow = Omit<SessionTerms, 'tokenHash'> & { readonly tokenHash: Buffer };

/**
 * Who is signed in. Of a session's token only the SHA-256 is here: who reads the table cannot sign in with it; and each row bears a MAC
 * under EVIDENCE_KEY, so that who writes to it cannot either.
 */
export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly parts: {
      readonly seal: EvidenceSeal;
      /** SIWE_DOMAINS: sessions of other pages do not count. */
      readonly domains: readonly string[];
    },
  ) {}

  async open(session: NewSessionRow): Promise<void> {
    const { tokenHash, wallet, domain, expiresAtMs } = session;
    const mac = this.parts.seal.mac(contentOf(session));
    const values = [tokenHash, addressBytes(wallet), domain, new Date(expiresAtMs), mac];
    await this.database.query(OPEN, values);
  }

  /** Undefined where there is no such session, it has expired, or it was not opened by us. */
  async find(tokenHash: Buffer, nowMs: number): Promise<Address | undefined> {
    const { seal, domains } = this.parts;
    const values = [tokenHash, new Date(nowMs), domains];
    const [row] = await this.database.query<SessionRow>(FIND, values);
    if (row === undefined) return undefined;
    const { domain, expires_at: expiresAt, mac } = row;
    const wallet = addressOf(row.wallet);
    const content = contentOf({ tokenHash, wallet, domain, expiresAtMs: expiresAt.getTime() });
    return seal.verify(content, mac) ? wallet : undefined;
  }

  async close(tokenHash: Buffer): Promise<void> {
    await this.database.query(CLOSE, [tokenHash]);
  }

  async forgetExpired(nowMs: number): Promise<void> {
    await this.database.query(FORGET, [new Date(nowMs)]);
  }
}

function contentOf({ tokenHash, ...terms }: NewSessionRow): string {
  return sessionContent({ ...terms, tokenHash: tokenHash.toString('hex') });
}
