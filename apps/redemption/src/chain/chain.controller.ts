import { Controller, Get, Ip } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Answers, FailsAnywhere } from '#libs/openapi';
import { RequestLimits } from '../auth/admission.js';
import { RedemptionSettings } from '../redemption.env.js';
import { ChainBody } from './chain.dto.js';
import { ChainFacts } from './chain-facts.js';

/** Tells pages about the chain before a player signs in. */
@Controller('api/chain')
@FailsAnywhere()
export class ChainController {
  constructor(
    private readonly facts: ChainFacts,
    private readonly limits: RequestLimits,
    private readonly settings: RedemptionSettings,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'The chain that tokens are paid on',
    description: 'Without a session.',
  })
  @Answers(200, 'The chain, its vault and its token.', ChainBody)
  async read(@Ip() clientAddress: string): Promise<ChainBody> {
    await this.limits.anyone(clientAddress);
    const { facts, settings } = this;
    const [refusal, symbol, finality] = await Promise.all([
      facts.payoutRefusal(),
      facts.tokenSymbol(),
      facts.finalitySeconds(),
    ]);
    return {
      chainId: settings.chainId,
      vault: settings.vaultContract,
      token: {
        address: settings.tokenContract,
        symbol: symbol ?? null,
        decimals: facts.tokenDecimals ?? null,
      },
      payouts: {
        available: refusal === undefined,
        reason: refusal?.reason ?? null,
        message: refusal?.message ?? null,
      },
      finalitySeconds: finality ?? null,
    };
  }
}
