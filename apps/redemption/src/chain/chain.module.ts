import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { PayoutModule } from '../payout/payout.module.js';
import { ChainController } from './chain.controller.js';
import { ChainFacts } from './chain-facts.js';

@Module({
  imports: [AuthModule, PayoutModule],
  controllers: [ChainController],
  providers: [ChainFacts],
  exports: [ChainFacts],
})
export class ChainModule {}
