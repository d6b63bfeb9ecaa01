import { Module } from '@nestjs/common';
import { Database, PartnerStore } from '#libs/db';
import { CLOCK } from '#libs/platform';
import { provide } from '#libs/service';
import { Admissions } from './admission.js';
import { CredentialCache, PartnerKeys } from './credential-cache.js';
import { LastUse } from './last-use.js';

@Module({
  providers: [
    provide(PartnerStore, Database),
    PartnerKeys,
    provide(CredentialCache, PartnerKeys, CLOCK),
    LastUse,
    Admissions,
  ],
  exports: [Admissions],
})
export class AuthModule {}
