import { In, LessThanOrEqual, MoreThan } from 'typeorm';
import { type Address, sessionContent, type SessionTerms } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { type EvidenceSeal } from './redemption-row.js';
import { SessionEntity } from './session.entity.js';

/** `tokenHash`: 32 bytes, here and below. */
export type NewSessionRow = Omit<SessionTerms, 'tokenHash'> & { readonly tokenHash: Buffer };

/**
 * Who is signed in. Of a session's token only the SHA-256 is here: who reads the table cannot sign in with it; and each row bears a MAC
 * under EVIDENCE_KEY, so that who writes to it cannot either.
 */
export class SessionStore {
  constructor(
    private readonly database: Database,
    private readonly seal: EvidenceSeal,
    /** SIWE_DOMAINS: sessions of other pages do not count. */
    private readonly settings: { readonly siweDomains: readonly string[] },
  ) {}

  async open(session: NewSessionRow): Promise<void> {
    const { tokenHash, wallet, domain, expiresAtMs } = session;
    const mac = this.seal.mac(contentOf(session));
    const opened = { tokenHash, wallet, domain, expiresAt: new Date(expiresAtMs), mac };
    await this.database.entities((manager) => manager.insert(SessionEntity, opened));
  }

  /** Undefined where there is no such session, it has expired, or it was not opened by us. */
  async find(tokenHash: Buffer, nowMs: number): Promise<Address | undefined> {
    const row = await this.database.entities((manager) =>
      manager.findOneBy(SessionEntity, {
        tokenHash,
        expiresAt: MoreThan(new Date(nowMs)),
        domain: In(this.settings.siweDomains),
      }),
    );
    return row === null ? undefined : this.walletOf(row);
  }

  /** Those of these sessions that are still open, by their hashes in hex. */
  async stillOpen(tokenHashes: readonly Buffer[], nowMs: number): Promise<ReadonlySet<string>> {
    const rows = await this.database.entities((manager) =>
      manager.findBy(SessionEntity, {
        tokenHash: In([...tokenHashes]),
        expiresAt: MoreThan(new Date(nowMs)),
        domain: In(this.settings.siweDomains),
      }),
    );
    const open = rows.filter((row) => this.walletOf(row) !== undefined);
    return new Set(open.map(({ tokenHash }) => tokenHash.toString('hex')));
  }

  async close(tokenHash: Buffer): Promise<void> {
    await this.database.entities((manager) => manager.delete(SessionEntity, { tokenHash }));
  }

  async forgetExpired(nowMs: number): Promise<void> {
    const expired = { expiresAt: LessThanOrEqual(new Date(nowMs)) };
    await this.database.entities((manager) => manager.delete(SessionEntity, expired));
  }

  /** Undefined where the row is not one that we have written. */
  private walletOf(row: SessionEntity): Address | undefined {
    const { tokenHash, wallet, domain, expiresAt, mac } = row;
    if (domain === null) return undefined;
    const content = contentOf({ tokenHash, wallet, domain, expiresAtMs: expiresAt.getTime() });
    return this.seal.verify(content, mac) ? wallet : undefined;
  }
}

function contentOf({ tokenHash, ...terms }: NewSessionRow): string {
  return sessionContent({ ...terms, tokenHash: tokenHash.toString('hex') });
}
