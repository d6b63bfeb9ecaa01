import { Global, Module } from '@nestjs/common';
import { type RateLimiter } from '#libs/cache';
import {
  ConsoleSessionStore,
  Database,
  GrantedRoleStore,
  InvitationStore,
  ConformanceRunStore,
  LoginAttemptStore,
  MemberLimitStore,
  MemberStore,
  NonceStore,
  SignInLinkStore,
  SignInLog,
} from '#libs/db';
import { CLOCK } from '#libs/platform';
import { provide, Registry } from '#libs/service';
import { SignInLimits, type SiweSite, SiweVerifier } from '#libs/sign-in';
import { RATE_LIMITER } from '../connections.module.js';
import { ConsoleSettings } from '../console.env.js';
import { AudienceGuard } from './audience.guard.js';
import { SessionController, SignInController } from './auth.controller.js';
import { ForgetExpired } from './forget-expired.js';
import { MemberLimitGuard } from './member-limits.js';
import { OidcProvider } from './oidc-provider.js';
import { OidcSignIn } from './oidc-sign-in.js';
import { OidcController } from './oidc.controller.js';
import { OperatorRights } from './operator-rights.js';
import { Sessions } from './sessions.js';
import { SignInAudit } from './sign-in-audit.js';
import { SignInService } from './sign-in.service.js';

const NONCE_SCHEMA = Symbol('NonceSchema');
const SIWE_SITE = Symbol('SiweSite');

/**
 * Sign-in, and the sessions and the guard behind `ForOperators`, `ForPartners` and `ForSignedIn` for all other modules.
 */
@Global()
@Module({
  controllers: [SessionController, SignInController, OidcController],
  providers: [
    AudienceGuard,
    ForgetExpired,
    MemberLimitGuard,
    OidcProvider,
    OidcSignIn,
    OperatorRights,
    Sessions,
    SignInAudit,
    SignInService,
    provide(SignInLog, Database),
    { provide: SignInLimits, inject: [RATE_LIMITER, Registry], useFactory: signInLimits },
    { provide: SIWE_SITE, inject: [ConsoleSettings], useFactory: siweSite },
    provide(SiweVerifier, NonceStore, SIWE_SITE, CLOCK),
    { provide: NONCE_SCHEMA, useValue: 'console' },
    provide(NonceStore, Database, NONCE_SCHEMA),
    provide(ConsoleSessionStore, Database),
    provide(GrantedRoleStore, Database),
    provide(InvitationStore, Database),
    provide(ConformanceRunStore, Database),
    provide(LoginAttemptStore, Database),
    provide(MemberLimitStore, Database),
    provide(MemberStore, Database),
    provide(SignInLinkStore, Database),
  ],
  exports: [
    AudienceGuard,
    InvitationStore,
    MemberLimitGuard,
    MemberLimitStore,
    MemberStore,
    OperatorRights,
    Sessions,
    SignInLimits,
  ],
})
export class AuthModule {}

function signInLimits(limiter: RateLimiter, registry: Registry): SignInLimits {
  const limits = ['body', 'sign-in', 'guess'];
  const refusals = { metric: 'lowmark_console_rate_limited_total', limits };
  return new SignInLimits(limiter, registry, refusals, { rate: 1, burst: 20 });
}

/**
 * Accepts messages for the console's own origin, signed by an account's key. Signatures of contract wallets are not
 * accepted: they need a call to the chain, and a lying node could sign in for any wallet.
 */
function siweSite({ consoleOrigin }: ConsoleSettings): SiweSite {
  return {
    domains: [new URL(consoleOrigin).host],
    hasPage: ({ origin }) => origin === consoleOrigin,
  };
}
