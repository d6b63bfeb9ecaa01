import { Module } from '@nestjs/common';
import { Database, NonceStore, SessionStore } from '#libs/db';
import { provide } from '#libs/service';
import { EvidenceKeys } from '#libs/signing';
import { RequestLimits } from './admission.js';
import { RedemptionSettings } from '../redemption.env.js';
import { AuthController } from './auth.controller.js';
import { AuthService } from './auth.service.js';

/** Signing in and out; for others, who is signed in and how fast users may go. */
@Module({
  controllers: [AuthController],
  providers: [
    AuthService,
    RequestLimits,
    provide(NonceStore, Database),
    provide(SessionStore, Database, EvidenceKeys, RedemptionSettings),
  ],
  exports: [NonceStore, RequestLimits, SessionStore],
})
export class AuthModule {}
