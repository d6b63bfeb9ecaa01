import { Global, Module } from '@nestjs/common';
import {
  ConsoleSessionStore,
  Database,
  InvitationStore,
  LoginAttemptStore,
  MemberStore,
  NonceStore,
  SignInLinkStore,
} from '#libs/db';
import { provide } from '#libs/service';
import { AudienceGuard } from './audience.guard.js';
import { SessionController, SignInController } from './auth.controller.js';
import { ForgetExpired } from './forget-expired.js';
import { OidcProvider } from './oidc-provider.js';
import { OidcSignIn } from './oidc-sign-in.js';
import { OidcController } from './oidc.controller.js';
import { Sessions } from './sessions.js';
import { SignInLimits } from './sign-in-limits.js';
import { SignInService } from './sign-in.service.js';
import { WalletSignIn } from './wallet-sign-in.js';

/** Signing in, and for all other modules who is signed in: the guard of `ForOperators`, `ForPartners` and `ForSignedIn`. */
@Global()
@Module({
  controllers: [SessionController, SignInController, OidcController],
  providers: [
    AudienceGuard,
    ForgetExpired,
    OidcProvider,
    OidcSignIn,
    Sessions,
    SignInLimits,
    SignInService,
    WalletSignIn,
    provide(ConsoleSessionStore, Database),
    provide(InvitationStore, Database),
    provide(LoginAttemptStore, Database),
    provide(MemberStore, Database),
    provide(SignInLinkStore, Database),
    {
      provide: NonceStore,
      inject: [Database],
      useFactory: (database: Database) => new NonceStore(database, 'console'),
    },
  ],
  exports: [AudienceGuard, InvitationStore, MemberStore, Sessions, SignInLimits],
})
export class AuthModule {}
