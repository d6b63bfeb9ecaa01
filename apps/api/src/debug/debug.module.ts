import { Module } from '@nestjs/common';
import { SignatureDebuggerController } from './signature-debugger.controller.js';

/** What helps a partner on staging; never there in production. */
@Module({ controllers: [SignatureDebuggerController] })
export class DebugModule {}
