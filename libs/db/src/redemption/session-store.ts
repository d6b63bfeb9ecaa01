import { In, LessThanOrEqual, MoreThan } from 'typeorm';
import { type Address, isUnheldAddress, sessionContent, type SessionTerms } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { type EvidenceSeal } from './redemption-row.js';
import { SessionEntity } from './session.entity.js';

/** `tokenHash` has 32 bytes, in all functions of this file. */
export type NewSessionRow = Omit<SessionTerms, 'tokenHash'> & { readonly tokenHash: Buffer };

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
    const opened = { tokenHash, wallet, domain, expiresAt: new Date(expiresAtMs), mac };
    await this.database.entities((manager) => manager.insert(SessionEntity, opened));
  }

  /** @returns undefined where the session does not exist, has expired, or was not opened by this service */
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

  async close(tokenHash: Buffer): Promise<void> {
    await this.database.entities((manager) => manager.delete(SessionEntity, { tokenHash }));
  }

  async forgetExpired(nowMs: number): Promise<void> {
    const expired = { expiresAt: LessThanOrEqual(new Date(nowMs)) };
    await this.database.entities((manager) => manager.delete(SessionEntity, expired));
  }

  /**
   * @returns undefined where the row has no valid MAC, so that this service did not write it, or where the wallet
   * is an address without a key
   */
  private walletOf(row: SessionEntity): Address | undefined {
    const { tokenHash, wallet, domain, expiresAt, mac } = row;
    if (isUnheldAddress(wallet)) return undefined;
    const content = contentOf({ tokenHash, wallet, domain, expiresAtMs: expiresAt.getTime() });
    return this.seal.verify(content, mac) ? wallet : undefined;
  }
}

function contentOf({ tokenHash, ...terms }: NewSessionRow): string {
  return sessionContent({ ...terms, tokenHash: tokenHash.toString('hex') });
}
