import { Module } from '@nestjs/common';
import { PlayerApiController } from './player-api.controller.js';
import { PlayerConfigController } from './player-config.controller.js';
import { RedemptionService } from './redemption-service.js';
import { TestWalletController } from './test-wallet.controller.js';

@Module({
  controllers: [PlayerApiController, PlayerConfigController, TestWalletController],
  providers: [RedemptionService],
})
export class PlayerModule {}
