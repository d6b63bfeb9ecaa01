import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import {
  type ClaimKey,
  Database,
  IndexStore,
  type LastRun,
  PartnerStore,
  ReconciliationStore,
  type UnexplainedClaim,
} from '#libs/db';
import { Answers, Fails, Operation } from '#libs/openapi';
import { AcknowledgeClaim, tokensText, unexplainedClaims } from '#libs/operations';
import { CLOCK, type Clock } from '#libs/platform';
import { ForOperators } from '../../auth/audience.js';
import { namedPartner, PAGE_SIZE } from '../schema.js';
import {
  AcknowledgementBody,
  CLAIM_KEY,
  type ClaimBody,
  ClaimsBody,
  ClaimsQuery,
  type LedgerBody,
  type MoneyBody,
  ReconciliationBody,
} from './reconciliation.dto.js';

/**
 * Kinds of claims that an operator may acknowledge. The redemption service itself records `open` and `overdue` claims.
 */
const ACKNOWLEDGEABLE: ReadonlySet<string> = new Set(['without-row', 'unpayable', 'different']);

interface Token {
  readonly symbol: string;
  readonly text: (amount: bigint) => string;
}

@Controller('api/operate/reconciliation')
@ApiExtraModels(AcknowledgementBody)
@ForOperators('viewer')
export class ReconciliationController {
  constructor(
    private readonly database: Database,
    private readonly partners: PartnerStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @Operation('The last reconciliation', 'Its sums and differences.')
  @Answers(200, 'What it found.', ReconciliationBody)
  async last(): Promise<ReconciliationBody> {
    const [run, token] = await Promise.all([
      new ReconciliationStore(this.database).lastRun(),
      this.token(),
    ]);
    const ledgers = run?.ledgers ?? [];
    const names = await this.partners.names(ledgers.map(({ partner }) => partner));
    return {
      at: run?.at ?? null,
      isOutdated: run?.isOutdated ?? false,
      tokenSymbol: token?.symbol ?? null,
      chainClaims: run?.chain.count ?? 0,
      chainTokens: (run && token?.text(run.chain.tokens)) ?? null,
      ledgerClaims: run?.ledger.count ?? 0,
      ledgerTokens: (run && token?.text(run.ledger.tokens)) ?? null,
      differences: [...(run?.differences ?? [])],
      ledgers: ledgers.map(({ partner, ...sums }) => ({
        partner: namedPartner(names, partner),
        ...ledgerSums(sums, token),
      })),
    };
  }

  @Get('claims')
  @Operation(
    'Claims that the ledger does not explain',
    'The oldest first, as far as the chain was read.',
  )
  @Answers(200, 'A page of them.', ClaimsBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  async claims(@Query() { which = 'open', after }: ClaimsQuery): Promise<ClaimsBody> {
    const page = { all: which === 'all', limit: PAGE_SIZE, after: keyOf(after) };
    const [claims, token] = await Promise.all([
      unexplainedClaims(this.database, this.clock, page),
      this.token(),
    ]);
    const last = claims.length < PAGE_SIZE ? undefined : claims.at(-1);
    return {
      consequence: AcknowledgeClaim.spec.consequence,
      tokenSymbol: token?.symbol ?? null,
      items: claims.map((claim) => claimBody(claim, token)),
      next: last === undefined ? null : `${last.block}_${last.id}_${last.transactionHash}`,
    };
  }

  /** The token of the default stake set, which is the token that the vaults pay. */
  private async token(): Promise<Token | undefined> {
    const state = await new IndexStore(this.database).state();
    if (state === undefined) return undefined;
    const { tokenSymbol: symbol, tokenDecimals } = state;
    return { symbol, text: (tokenAmount) => tokensText({ tokenAmount, tokenDecimals }) };
  }
}

function ledgerSums(
  { deducted, claimed, reverted, open }: Omit<LastRun['ledgers'][number], 'partner'>,
  token: Token | undefined,
): Omit<LedgerBody, 'partner'> {
  const money = ({ count, points, tokens }: typeof open): MoneyBody => ({
    count,
    points: points.toString(),
    tokens: token?.text(tokens) ?? null,
  });
  return {
    deducted: money(deducted),
    claimed: money(claimed),
    reverted: money(reverted),
    open: money(open),
  };
}

function keyOf(after: string | undefined): ClaimKey | undefined {
  const [, block, id, transactionHash] = CLAIM_KEY.exec(after ?? '') ?? [];
  if (block === undefined || id === undefined || transactionHash === undefined) return undefined;
  return { block: BigInt(block), id, transactionHash };
}

function claimBody(claim: UnexplainedClaim, token: Token | undefined): ClaimBody {
  const { amount, block, ...rest } = claim;
  return {
    ...rest,
    tokens: token?.text(amount) ?? null,
    amount: amount.toString(),
    block: block.toString(),
    canAcknowledge: claim.acknowledged === null && ACKNOWLEDGEABLE.has(claim.kind),
  };
}
