import { Module } from '@nestjs/common';
import { WalletSignatures } from '#libs/chain';
import {
  Database,
  IndexReader,
  NonceStore,
  SessionStore,
  stakeContractsOf,
  StakeSetStore,
} from '#libs/db';
import { type Address } from '#libs/domain';
import { CLOCK } from '#libs/platform';
import { provide } from '#libs/service';
import { SignInLimits, type SiweSite, SiweVerifier } from '#libs/sign-in';
import { EvidenceKeys } from '#libs/signing';
import { RedemptionSettings } from '../redemption.env.js';
import { RequestLimits } from './admission.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';

const SIWE_SITE = Symbol('SiweSite');

/** Signing in and out. Gives other modules the sessions and the rate limits. */
@Module({
  controllers: [AuthController],
  providers: [
    AuthService,
    RequestLimits,
    { provide: SignInLimits, useExisting: RequestLimits },
    {
      provide: SIWE_SITE,
      inject: [RedemptionSettings, WalletSignatures, Database],
      useFactory: siweSite,
    },
    provide(SiweVerifier, NonceStore, SIWE_SITE, CLOCK),
    provide(NonceStore, Database),
    provide(SessionStore, Database, EvidenceKeys, RedemptionSettings),
  ],
  exports: [NonceStore, RequestLimits, SessionStore],
})
export class AuthModule {}

/** Accepts sign-ins on any of SIWE_DOMAINS, by accounts and contract wallets of our chain. */
function siweSite(
  settings: RedemptionSettings,
  signatures: WalletSignatures,
  database: Database,
): SiweSite {
  const { siweDomains: domains, chainId } = settings;
  return {
    ...{ domains, chainId },
    hasPage: ({ host }) => domains.includes(host),
    contracts: async () => [...settings.ownContracts, ...(await stakeContracts(database))],
    isSignedByContract: (wallet, text, signature) => signatures.isSignedBy(wallet, text, signature),
  };
}

async function stakeContracts(database: Database): Promise<Address[]> {
  const sets = new StakeSetStore(database);
  const found: Address[] = [];
  for (const set of await sets.names()) {
    const state = await new IndexReader(await sets.open(set)).state();
    if (state !== undefined) found.push(...stakeContractsOf(state));
  }
  return found;
}
