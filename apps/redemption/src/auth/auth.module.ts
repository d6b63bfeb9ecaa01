import { Module } from '@nestjs/common';
import { WalletSignatures } from '#libs/chain';
import { Database, NonceStore, SessionStore } from '#libs/db';
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
    { provide: SIWE_SITE, inject: [RedemptionSettings, WalletSignatures], useFactory: siweSite },
    provide(SiweVerifier, NonceStore, SIWE_SITE, CLOCK),
    provide(NonceStore, Database),
    provide(SessionStore, Database, EvidenceKeys, RedemptionSettings),
  ],
  exports: [NonceStore, RequestLimits, SessionStore],
})
export class AuthModule {}

/** Accepts sign-ins on any of SIWE_DOMAINS, by accounts and contract wallets of our chain. */
function siweSite(
  { siweDomains: domains, chainId }: RedemptionSettings,
  signatures: WalletSignatures,
): SiweSite {
  return {
    ...{ domains, chainId },
    hasPage: ({ host }) => domains.includes(host),
    isSignedBy: (wallet, text, signature) => signatures.isSignedBy(wallet, text, signature),
  };
}
