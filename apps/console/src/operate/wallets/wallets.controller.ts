import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import {
  Database,
  decimalText,
  PartnerStore,
  RedemptionPages,
  type StoredRedemption,
} from '#libs/db';
import { type Address, parseAddress, parseUuidV7, type PartnerId } from '#libs/domain';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import { tokensText } from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { ForOperators } from '../../auth/audience.js';
import { namedPartner, PAGE_SIZE } from '../schema.js';
import { WalletAudits } from './wallet-audits.js';
import { WalletHistoryService } from './wallet-history.service.js';
import {
  HistoryQuery,
  StakeSetQuery,
  WalletAuditBody,
  WalletHistoryBody,
  WalletPageQuery,
  type WalletRedemptionBody,
  WalletRedemptionsBody,
} from './wallets.dto.js';

const WALLET = {
  name: 'wallet',
  schema: Field.ADDRESS,
  description: 'An address, in any capitals.',
};

@Controller('api/operate/wallets/:wallet')
@ApiParam(WALLET)
@ForOperators('viewer')
export class WalletsController {
  constructor(
    private readonly histories: WalletHistoryService,
    private readonly audits: WalletAudits,
    private readonly partners: PartnerStore,
    private readonly database: Database,
  ) {}

  @Get('history')
  @Operation(
    'What a wallet kept staked',
    'The low-water mark of each UTC day, and each change of its balance.',
  )
  @Answers(200, 'Its history.', WalletHistoryBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No such stake set, or no index of it yet.', 'STAKE_SET_UNKNOWN', 'NO_INDEX')
  history(
    @Param('wallet') wallet: string,
    @Query() { stakeSet, days = '30' }: HistoryQuery,
  ): Promise<WalletHistoryBody> {
    return this.histories.read({ wallet: walletOf(wallet), range: days, stakeSet });
  }

  @Get('redemptions')
  @Operation('The redemptions of a wallet', 'Newest first.')
  @Answers(200, 'A page of them.', WalletRedemptionsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async redemptions(
    @Param('wallet') text: string,
    @Query() { after }: WalletPageQuery,
  ): Promise<WalletRedemptionsBody> {
    const wallet = walletOf(text);
    const page = { limit: PAGE_SIZE, after: after === undefined ? undefined : parseUuidV7(after) };
    const { found, unreadable, next } = await new RedemptionPages(this.database).newest(
      { wallet },
      page,
    );
    const names = await this.partners.names(found.map(({ redemption }) => redemption.partner));
    return {
      items: found.map((one) => redemptionBody(one, names)),
      unreadable: unreadable.map(({ redemptionId }) => redemptionId),
      next: next ?? null,
    };
  }

  @Post('audit')
  @HttpCode(200)
  @ForOperators('operator')
  @Operation(
    'Compare a wallet with the contract now',
    'At the newest final block. It costs some calls of the provider, and changes nothing.',
  )
  @Answers(200, 'Both figures.', WalletAuditBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'No such stake set.', 'STAKE_SET_UNKNOWN')
  @Fails(409, 'It cannot be made: the message says why.', 'AUDIT_IMPOSSIBLE')
  audit(
    @Param('wallet') wallet: string,
    @Query() { stakeSet }: StakeSetQuery,
  ): Promise<WalletAuditBody> {
    return this.audits.run(walletOf(wallet), stakeSet);
  }
}

function redemptionBody(
  { redemption }: StoredRedemption,
  names: ReadonlyMap<PartnerId, string>,
): WalletRedemptionBody {
  const { id, partner, state, points, usdAmount, initialAtMs } = redemption;
  return {
    ...{ id, state, partner: namedPartner(names, partner) },
    points: points.toString(),
    tokens: tokensText(redemption),
    usd: decimalText(usdAmount),
    at: new Date(initialAtMs),
  };
}

/** @throws HttpProblem 400 */
function walletOf(text: string): Address {
  const wallet = parseAddress(text);
  if (wallet !== undefined) return wallet;
  throw HttpProblem.badRequest('wallet', 'wallet must be an address: 0x and 40 hex digits.');
}
