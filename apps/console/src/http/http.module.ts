import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CsrfGuard } from './csrf.guard.js';

/** What stands before the routes of all areas. */
@Module({ providers: [{ provide: APP_GUARD, useClass: CsrfGuard }] })
export class HttpModule {}
